"""Two reports side by side: packages, gates, cells of the matrix and ways in that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.ci.compare import Change, compare
from analyzer.ci.known import remembered
from analyzer.model import SEVERITIES, Cell, Effect, Entry, Gate, Report, Severity, Status
from analyzer.tree.errors import TreeError


@dataclass(frozen=True, slots=True)
class Release:
    """A package and its version on both sides; None where it is not there."""

    package: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class CellChange:
    """One API with one backend whose status differs on the target or a reference; None: no such row."""

    api: str
    backend: str
    arch: str
    old: Status | None
    new: Status | None


@dataclass(frozen=True, slots=True)
class EntryChange:
    """What becomes of one entry on the target, at worst; None: it leads nowhere that a gate decides."""

    entry: Entry
    old: tuple[Effect, Severity] | None
    new: tuple[Effect, Severity] | None


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that differs between two reports on the same question."""

    old: Report
    new: Report
    releases: tuple[Release, ...]
    changes: tuple[Change, ...]
    cells: tuple[CellChange, ...]
    entries: tuple[EntryChange, ...]

    @property
    def target(self) -> str:
        """The architecture in question."""
        return self.new.target.arch

    def before(self, change: Change) -> Gate | None:
        """The gate of the old report."""
        return _gate(self.old, change.old.id) if change.old is not None else None

    def after(self, change: Change) -> Gate | None:
        """The gate of the new report."""
        return _gate(self.new, change.new.id) if change.new is not None else None


def diff(old: Report, new: Report) -> Diff:
    """Compare two reports.

    Raises:
        TreeError: they answer different questions (target, references or toolkit).
    """
    for name, before, after in (
        ("target", old.target.arch, new.target.arch),
        ("references", ",".join(old.references), ",".join(new.references)),
        ("CUDA release", old.target.cuda, new.target.cuda),
    ):
        if before != after:
            raise TreeError(f"the reports differ in their {name}: {before} and {after}")
    return Diff(
        old,
        new,
        _releases(old, new),
        compare(remembered(old), remembered(new)),
        _cells(old, new),
        _entries(old, new),
    )


def _gate(report: Report, name: str) -> Gate | None:
    return next((gate for gate in report.gates if gate.id == name), None)


def _releases(old: Report, new: Report) -> tuple[Release, ...]:
    before = {i.package: i.version for i in old.inputs}
    after = {i.package: i.version for i in new.inputs}
    names = sorted({*before, *after})
    return tuple(Release(name, before.get(name), after.get(name)) for name in names)


def _cells(old: Report, new: Report) -> tuple[CellChange, ...]:
    before, after = _rows(old.matrix), _rows(new.matrix)
    archs = (new.target.arch, *new.references)
    return tuple(
        CellChange(api, backend, arch, was, now)
        for api, backend in sorted({*before, *after})
        for arch in archs
        if (was := _status(before.get((api, backend)), arch))
        != (now := _status(after.get((api, backend)), arch))
    )


def _rows(matrix: Sequence[Cell]) -> dict[tuple[str, str], Cell]:
    return {(cell.api, cell.backend): cell for cell in matrix}


def _status(cell: Cell | None, arch: str) -> Status | None:
    return cell.status.get(arch) if cell is not None else None


def _entries(old: Report, new: Report) -> tuple[EntryChange, ...]:
    before, after = _worst(old), _worst(new)
    found = []
    for key in sorted({*before, *after}):
        was, now = before.get(key), after.get(key)
        outcomes = [None if one is None else one[1] for one in (was, now)]
        if outcomes[0] != outcomes[1]:
            entry = (now or was or (None, None))[0]
            assert entry is not None
            found.append(EntryChange(entry, outcomes[0], outcomes[1]))
    return tuple(found)


def _worst(report: Report) -> dict[tuple[str, str], tuple[Entry, tuple[Effect, Severity]]]:
    """For each entry, by kind and name, its worst outcome."""
    found: dict[tuple[str, str], tuple[Entry, tuple[Effect, Severity]]] = {}
    for path in sorted(report.paths, key=lambda p: (SEVERITIES.index(p.severity), p.effect, p.id)):
        found.setdefault((path.entry.kind, path.entry.name), (path.entry, (path.effect, path.severity)))
    return found
