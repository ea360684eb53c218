"""Whether a report is worse for the target than a baseline: what fails, what is put up with, what is gone."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.ci.baseline import Baseline
from analyzer.ci.compare import Change, compare
from analyzer.ci.known import Known, remembered
from analyzer.ci.suppress import Rule, Suppressed, suppress
from analyzer.model import SEVERITIES, Gate, Report, Severity


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found.

    ``changes``: every gate of both sides. ``failing``: those by which the check fails, gravest first.
    ``put_up_with``: those that would fail but for a suppression. ``expired``: gates of the baseline whose
    last day is over; they count as if the baseline did not hold them.
    """

    report: Report
    changes: tuple[Change, ...]
    failing: tuple[Change, ...]
    put_up_with: tuple[Change, ...]
    suppressed: Suppressed
    expired: tuple[Known, ...]

    @property
    def gone(self) -> tuple[Change, ...]:
        """Gates of the baseline that are not there any more."""
        return tuple(change for change in self.changes if change.kind == "gone")

    @property
    def gates(self) -> dict[str, Gate]:
        """The gates of the report by id."""
        return {gate.id: gate for gate in self.report.gates}


def check(
    report: Report,
    baseline: Baseline,
    *,
    fail_on: Severity = "error",
    strict: bool = False,
    rules: Sequence[Rule] = (),
    today: datetime.date,
) -> Result:
    """Hold a report against a baseline.

    A gate fails if it is new or worse for the target and at least as grave as ``fail_on``; if ``strict``,
    also if its verdict for the target came to be unknown and it stands on a path.
    """
    expired = baseline.expired(today)
    held = [known for known in baseline.gates if known not in expired]
    changes = compare(held, remembered(report))
    target = report.target.arch
    on_path = _on_paths(report) if strict else frozenset()
    worse = [c for c in changes if _fails(c, target, SEVERITIES.index(fail_on), on_path)]
    suppressed = suppress(report, rules, today)
    return Result(
        report,
        changes,
        tuple(c for c in worse if c.known.id not in suppressed.gates),
        tuple(c for c in worse if c.known.id in suppressed.gates),
        suppressed,
        expired,
    )


def worse(change: Change, target: str) -> bool:
    """Whether the target is worse off: something is denied or damaged that was not, or more gravely so."""
    old, new = change.old, change.new
    if new is None or new.effect == "none":
        return False
    if old is None or old.effect == "none":
        return True
    denied = old.verdict.get(target) != "reject" and new.verdict.get(target) == "reject"
    return denied or new.gravity < old.gravity


def better(change: Change, target: str) -> bool:
    """Whether the target is better off: something is admitted or harmless that was not, or a loss is gone."""
    old, new = change.old, change.new
    if old is None:
        return False
    if new is None:
        return old.effect != "none"
    admitted = old.verdict.get(target) != "admit" and new.verdict.get(target) == "admit"
    return (admitted and new.effect == "none") or new.gravity > old.gravity


def _fails(change: Change, target: str, limit: int, on_path: frozenset[str]) -> bool:
    new = change.new
    if new is None:
        return False
    if worse(change, target) and new.gravity[0] <= limit:
        return True
    was_unknown = change.old is not None and change.old.verdict.get(target) == "unknown"
    return new.id in on_path and new.verdict.get(target) == "unknown" and not was_unknown


def _on_paths(report: Report) -> frozenset[str]:
    return frozenset(
        step for path in report.paths for step in (*path.steps, *(barrier.gate for barrier in path.barriers))
    )
