"""The sheet of a diff: what one release changes for the target against another."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.ci.check import better, worse
from analyzer.ci.compare import Change
from analyzer.ci.diff import CellChange, Diff, EntryChange, Release
from analyzer.report import words
from analyzer.report.sheets import changes
from analyzer.report.sheets.sheet import Item, Sheet, sections
from analyzer.report.words import Code


def sheet(diff: Diff) -> Sheet:
    """Draw up the sheet."""
    target = diff.target
    before = {gate.id: gate for gate in diff.old.gates}
    after = {gate.id: gate for gate in diff.new.gates}

    def items(some: Iterable[Change]) -> list[Item]:
        return [
            changes.item(
                change,
                target,
                before.get(change.old.id) if change.old is not None else None,
                after.get(change.new.id) if change.new is not None else None,
            )
            for change in some
        ]

    every = [change for change in diff.changes if change.kind != "same"]
    bad = [change for change in every if worse(change, target)]
    good = [change for change in every if better(change, target)]
    rest = [change for change in every if change not in bad and change not in good]
    return Sheet(
        f"{title(diff.releases)}: {_headline(bad, good, target)}",
        _lead(diff),
        sections(
            (f"New or worse for {target}", items(bad), False),
            (f"Better for {target}", items(good), False),
            ("What becomes of APIs and options", [_entry(change, target) for change in diff.entries], False),
            ("The support matrix", [_cell(change) for change in diff.cells], False),
            (f"Changed, but not for {target}", items(_of(rest, "changed")), False),
            (f"New, with no loss for {target}", items(_of(rest, "added")), True),
            ("Gone", items(_of(rest, "gone")), True),
            ("Rewritten, with the same verdicts", items(_of(rest, "rewritten")), True),
            ("Moved, with the same verdicts", items(_of(rest, "moved")), True),
        ),
    )


def title(releases: Iterable[Release]) -> str:
    """The packages whose version differs, or all that were compared."""
    every = list(releases)
    differing = [release for release in every if release.old != release.new] or every
    return ", ".join(_release(release) for release in differing) or "No package"


def _release(release: Release) -> str:
    if release.old is None:
        return f"{release.package} {release.new} (new)"
    if release.new is None:
        return f"{release.package} {release.old} (gone)"
    return f"{release.package} {release.old}" + ("" if release.old == release.new else f" → {release.new}")


def _headline(bad: list[Change], good: list[Change], target: str) -> str:
    if not bad and not good:
        return f"no gate changes anything for {target}"
    return f"{words.counted(len(bad), 'gate')} new or worse and {len(good)} better for {target}"


def _lead(diff: Diff) -> tuple[str, ...]:
    counts = {kind: sum(c.kind == kind for c in diff.changes) for kind in _KINDS}
    named = [f"{counts[kind]} {word}" for kind, word in _KINDS.items()]
    return (
        f"Against {words.listed(diff.new.references)}, CUDA {diff.new.target.cuda}.",
        f"Of {words.counted(len(diff.changes), 'gate')} on both sides: {words.listed(named)}.",
    )


_KINDS = {
    "added": "new",
    "gone": "gone",
    "changed": "with another outcome",
    "rewritten": "rewritten",
    "moved": "moved",
    "same": "the same",
}


def _of(some: Iterable[Change], kind: str) -> list[Change]:
    return [change for change in some if change.kind == kind]


def _entry(change: EntryChange, target: str) -> Item:
    was, now = (
        f"“{words.EFFECTS[outcome[0]]}” ({outcome[1]})" if outcome is not None else "no gated way"
        for outcome in (change.old, change.new)
    )
    return Item(
        (Code(change.entry.name), f" on {target}: {was} → {now}"),
        change.new[1] if change.new is not None else None,
        f"{change.entry.file}:{change.entry.line}",
    )


def _cell(change: CellChange) -> Item:
    backend = (" with ", Code(change.backend)) if change.backend else ()
    states = f" on {change.arch}: {change.old or 'not there'} → {change.new or 'not there'}"
    return Item((Code(change.api), *backend, states))
