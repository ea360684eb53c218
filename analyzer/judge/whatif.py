"""The report as it would be if some gates let the target pass."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from analyzer.graph.paths import outcome
from analyzer.model import Build, BuildVerdict, Cell, Gate, Path, Report, Status, Verdict


def whatif(report: Report, opened: Collection[str]) -> Report:
    """The report with these gates open for the target: what it reaches then, and what stops it next.

    Args:
        report: of a scan.
        opened: ids of gates; those that let the target pass already change nothing.
    """
    target = report.target.arch
    gates = tuple(_open(gate, target) if gate.id in opened else gate for gate in report.gates)
    known = {gate.id: gate for gate in gates}
    return msgspec.structs.replace(
        report,
        gates=gates,
        builds=tuple(_build(build, report, known) for build in report.builds),
        paths=tuple(_path(path, opened, known) for path in report.paths),
        matrix=tuple(_cell(cell, opened, target) for cell in report.matrix),
    )


def _open(gate: Gate, target: str) -> Gate:
    admit: Verdict = "admit"
    return msgspec.structs.replace(
        gate,
        verdict={**gate.verdict, target: admit},
        verdict_by_build=tuple(
            BuildVerdict(row.build, {**row.verdict, target: admit}) for row in gate.verdict_by_build
        ),
        effect="none",
        severity="none",
        silent=False,
        falls_back_to=None,
        message=None,
        loses=(),
        justification=None,
    )


def _path(path: Path, opened: Collection[str], gates: Mapping[str, Gate]) -> Path:
    left = tuple(barrier for barrier in path.barriers if barrier.gate not in opened)
    if len(left) == len(path.barriers):
        return path
    effect, severity = outcome(left, gates)
    return msgspec.structs.replace(path, barriers=left, effect=effect, severity=severity)


def _cell(cell: Cell, opened: Collection[str], target: str) -> Cell:
    """A cell of the matrix; one whose every reason is open is supported."""
    reasons = cell.reasons.get(target, ())
    left = tuple(gate for gate in reasons if gate not in opened)
    if len(left) == len(reasons):
        return cell
    if left:
        return msgspec.structs.replace(cell, reasons={**cell.reasons, target: left})
    others = {arch: gates for arch, gates in cell.reasons.items() if arch != target}
    supported: Status = "supported"
    return msgspec.structs.replace(cell, reasons=others, status={**cell.status, target: supported})


def _build(build: Build, report: Report, gates: Mapping[str, Gate]) -> Build:
    """A build that raises on the target only because of gates that are open now."""
    target = report.target.arch
    if build.outcome.get(target) != "raises":
        return build
    node = f"build:{build.name}"
    guarding = [
        gates[edge.source]
        for edge in report.edges
        if edge.target == node and edge.kind == "opens" and edge.source in gates
    ]
    if not guarding or any(gate.verdict.get(target) != "admit" for gate in guarding):
        return build
    message = {arch: text for arch, text in build.message.items() if arch != target}
    return msgspec.structs.replace(build, outcome={**build.outcome, target: "ok"}, message=message)


@dataclass(frozen=True, slots=True)
class Advance:
    """Paths that got further, and the gate at which they all stop now.

    None: nothing stops the target that always counts.
    """

    next: Gate | None
    paths: tuple[Path, ...]


def advances(before: Report, after: Report) -> tuple[Advance, ...]:
    """The paths whose barriers became fewer, by what stops them next; those that are open come first."""
    known = {gate.id: gate for gate in after.gates}
    groups: dict[str, list[Path]] = {}
    for old, new in zip(before.paths, after.paths, strict=True):
        if len(new.barriers) < len(old.barriers):
            following = next((barrier.gate for barrier in new.barriers if barrier.when == "always"), "")
            groups.setdefault(following, []).append(new)
    return tuple(Advance(known.get(gate), tuple(groups[gate])) for gate in sorted(groups))
