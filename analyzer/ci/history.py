"""A package over its releases: findings by layer, cells of the matrix, and what each release changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from analyzer.ci.check import better, worse
from analyzer.ci.diff import Diff, diff
from analyzer.model import Layer, Report, Severity, Status

STATUSES: tuple[Status, ...] = ("supported", "degraded", "unsupported", "unknown")


@dataclass(frozen=True, slots=True)
class Point:
    """One release.

    ``findings``: gates with a loss for the target, by layer; ``severities``: the same by severity.
    ``cells``: rows of the matrix by what they are for the target. ``worse``, ``better``: gates against the
    release before; None for the first.
    """

    version: str
    gates: int
    findings: dict[Layer, int]
    severities: dict[Severity, int]
    cells: dict[Status, int]
    worse: int | None
    better: int | None


@dataclass(frozen=True, slots=True)
class History:
    """Releases of a package, oldest first, on one question; ``diffs`` lie between neighbours."""

    package: str
    target: str
    references: tuple[str, ...]
    cuda: str
    points: tuple[Point, ...]
    diffs: tuple[Diff, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that have a finding in any release, by name."""
        return tuple(sorted({layer for point in self.points for layer in point.findings}))


def history(package: str, reports: Sequence[Report]) -> History:
    """Draw up the history from the reports of releases, oldest first; at least one.

    Raises:
        TreeError: the reports answer different questions.
    """
    diffs = tuple(diff(old, new) for old, new in pairwise(reports))
    steps: list[Diff | None] = [None, *diffs]
    first = reports[0]
    return History(
        package,
        first.target.arch,
        first.references,
        first.target.cuda,
        tuple(_point(package, report, step) for report, step in zip(reports, steps, strict=True)),
        diffs,
    )


def _point(package: str, report: Report, step: Diff | None) -> Point:
    target = report.target.arch
    versions = {i.package: i.version for i in report.inputs}
    return Point(
        versions.get(package, ", ".join(f"{i.package} {i.version}" for i in report.inputs)),
        len([gate for gate in report.gates if not gate.in_tests]),
        dict(sorted(Counter(gate.layer for gate in report.findings).items())),
        dict(Counter(gate.severity for gate in report.findings)),
        dict(Counter(cell.status[target] for cell in report.matrix if target in cell.status)),
        None if step is None else sum(worse(change, target) for change in step.changes),
        None if step is None else sum(better(change, target) for change in step.changes),
    )
