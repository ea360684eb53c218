"""Comparisons as JSON: the types that ``smgate check`` and ``smgate diff`` write with ``--format json``."""

from __future__ import annotations

import msgspec

from analyzer.ci.check import Result, better, worse
from analyzer.ci.compare import Change, Kind
from analyzer.ci.diff import Diff
from analyzer.ci.history import History
from analyzer.ci.known import Known
from analyzer.ci.suppress import Rule
from analyzer.model import Effect, Severity, Status, Target, Value
from analyzer.report import words
from analyzer.report.sheets import changes
from analyzer.report.sheets.diff import title

VERSION = "1"


class ChangeRow(Value, frozen=True):
    """One gate before and after (one may be missing), where it stands now (or stood), and what that means."""

    kind: Kind
    what: str
    place: str
    old: Known | None
    new: Known | None


class Check(Value, frozen=True):
    """What a check found; ``same`` and ``moved`` are counts."""

    comparison_version: str
    target: Target
    references: tuple[str, ...]
    ok: bool
    failing: tuple[ChangeRow, ...]
    suppressed: tuple[ChangeRow, ...]
    gone: tuple[ChangeRow, ...]
    others: tuple[ChangeRow, ...]
    same: int
    expired: tuple[Known, ...]
    expired_rules: tuple[Rule, ...]
    unused_rules: tuple[Rule, ...]


class ReleaseRow(Value, frozen=True):
    """A package and its version on both sides."""

    package: str
    old: str | None
    new: str | None


class Outcome(Value, frozen=True):
    """What becomes of an entry at worst."""

    effect: Effect
    severity: Severity


class EntryRow(Value, frozen=True):
    """An API or option whose outcome on the target differs."""

    kind: str
    name: str
    old: Outcome | None
    new: Outcome | None


class CellRow(Value, frozen=True):
    """A cell of the matrix that differs."""

    api: str
    backend: str
    arch: str
    old: Status | None
    new: Status | None


class Difference(Value, frozen=True):
    """What differs between two reports; ``others`` neither harms nor helps the target."""

    comparison_version: str
    title: str
    target: Target
    references: tuple[str, ...]
    releases: tuple[ReleaseRow, ...]
    worse: tuple[ChangeRow, ...]
    better: tuple[ChangeRow, ...]
    others: tuple[ChangeRow, ...]
    same: int
    entries: tuple[EntryRow, ...]
    matrix: tuple[CellRow, ...]


def of_check(result: Result) -> bytes:
    """A check as JSON; equal results, equal bytes."""
    gates = result.gates

    def row(change: Change) -> ChangeRow:
        after = gates.get(change.new.id) if change.new is not None else None
        item = changes.item(change, result.report.target.arch, None, after)
        return ChangeRow(change.kind, words.plain(item.sentence), item.place, change.old, change.new)

    named = {c.known.id for c in (*result.failing, *result.put_up_with)}
    others = (c for c in result.changes if c.kind not in ("same", "gone") and c.known.id not in named)
    return _encoded(
        Check(
            VERSION,
            result.report.target,
            result.report.references,
            not result.failing,
            tuple(map(row, result.failing)),
            tuple(map(row, result.put_up_with)),
            tuple(map(row, result.gone)),
            tuple(map(row, others)),
            sum(change.kind == "same" for change in result.changes),
            result.expired,
            result.suppressed.expired,
            result.suppressed.unused,
        )
    )


def of_diff(diff: Diff) -> bytes:
    """A diff as JSON; equal reports, equal bytes."""
    before, after = ({gate.id: gate for gate in report.gates} for report in (diff.old, diff.new))

    def row(change: Change) -> ChangeRow:
        gates = (
            before.get(change.old.id) if change.old is not None else None,
            after.get(change.new.id) if change.new is not None else None,
        )
        item = changes.item(change, diff.target, *gates)
        return ChangeRow(change.kind, words.plain(item.sentence), item.place, change.old, change.new)

    every = [change for change in diff.changes if change.kind != "same"]
    bad = [change for change in every if worse(change, diff.target)]
    good = [change for change in every if better(change, diff.target)]
    return _encoded(
        Difference(
            VERSION,
            title(diff.releases),
            diff.new.target,
            diff.new.references,
            tuple(ReleaseRow(r.package, r.old, r.new) for r in diff.releases),
            tuple(map(row, bad)),
            tuple(map(row, good)),
            tuple(row(change) for change in every if change not in bad and change not in good),
            len(diff.changes) - len(every),
            tuple(
                EntryRow(
                    e.entry.kind,
                    e.entry.name,
                    None if e.old is None else Outcome(*e.old),
                    None if e.new is None else Outcome(*e.new),
                )
                for e in diff.entries
            ),
            tuple(CellRow(c.api, c.backend, c.arch, c.old, c.new) for c in diff.cells),
        )
    )


class ReleaseCounts(Value, frozen=True):
    """One release: gates, findings by layer and severity, cells by status, changes against the one before."""

    version: str
    gates: int
    findings: dict[str, int]
    severities: dict[str, int]
    cells: dict[str, int]
    worse: int | None
    better: int | None


class Releases(Value, frozen=True):
    """A package over its releases, oldest first."""

    comparison_version: str
    package: str
    target: str
    references: tuple[str, ...]
    cuda: str
    releases: tuple[ReleaseCounts, ...]


def of_history(history: History) -> bytes:
    """A history as JSON; equal reports, equal bytes."""
    return _encoded(
        Releases(
            VERSION,
            history.package,
            history.target,
            history.references,
            history.cuda,
            tuple(
                ReleaseCounts(
                    point.version,
                    point.gates,
                    {str(name): count for name, count in point.findings.items()},
                    {str(name): count for name, count in point.severities.items()},
                    {str(name): count for name, count in point.cells.items()},
                    point.worse,
                    point.better,
                )
                for point in history.points
            ),
        )
    )


def _encoded(value: Value) -> bytes:
    encoder = msgspec.json.Encoder(order="deterministic")
    return msgspec.json.format(encoder.encode(value), indent=2) + b"\n"
