"""What a changed gate means for the target, in a sentence."""

from __future__ import annotations

from analyzer.ci.compare import Change
from analyzer.ci.known import Known
from analyzer.model import Gate
from analyzer.report import words
from analyzer.report.sheets.sheet import Item
from analyzer.report.source import one_line
from analyzer.report.words import Code, Phrase


def item(change: Change, target: str, before: Gate | None, after: Gate | None) -> Item:
    """One change. The gates are those of the reports, where there is one: they know more and have a line."""
    return Item(
        _sentence(change, target, before, after),
        change.known.severity if change.new is not None else None,
        _place(after or before, change.known),
        _detail(change),
    )


def _place(gate: Gate | None, known: Known) -> str:
    return f"{gate.file}:{gate.line}" if gate is not None else known.file


def _sentence(change: Change, target: str, before: Gate | None, after: Gate | None) -> Phrase:
    if change.new is None:
        return _gone(change, target, before)
    if change.old is None:
        return words.sentence(after, target) if after is not None else (_where(change.new), " is new.")
    if change.kind == "changed":
        return _changed(change.old, change.new, target, after)
    if change.kind == "rewritten":
        return ("The condition in ", _where(change.new), " reads otherwise; every verdict is the same.")
    if change.old.file != change.new.file:
        return (_where(change.new), " came here from ", Code(change.old.file), ".")
    return ("The condition of ", _where(change.old), " stands in ", _where(change.new), " now.")


def _where(known: Known) -> Code:
    scope = known.scope if known.scope not in ("", "<module>") else known.file.rpartition("/")[2]
    return Code(one_line(scope, 80))


def _gone(change: Change, target: str, before: Gate | None) -> Phrase:
    old = change.known
    if old.effect == "none" or before is None:
        return ("No gate any more in ", _where(old), ".")
    return ("No more: ", *words.sentence(before, target))


def _changed(old: Known, new: Known, target: str, after: Gate | None) -> Phrase:
    archs = sorted(old.verdict.keys() & new.verdict.keys(), key=_number)
    moves = {arch: (old.verdict[arch], new.verdict[arch]) for arch in archs}
    admitted = [arch for arch, (was, now) in moves.items() if was != now == "admit"]
    denied = [arch for arch, (was, now) in moves.items() if was != now == "reject"]
    unknown = [arch for arch, (was, now) in moves.items() if was != now == "unknown"]
    phrase: list[str] = []
    for some, what in (
        (admitted, "admitted to "),
        (denied, "no longer admitted to "),
        (unknown, "undecided in "),
    ):
        if some:
            phrase += [f"{'; ' if phrase else ''}{words.listed(some)} {what}", _where(new)]
    phrase = phrase or [_where(new)]
    if (old.effect, old.severity) != (new.effect, new.severity):
        phrase.append(f"; for {target} {_effect(old)} became {_effect(new)}")
    phrase.append(".")
    if after is not None and new.effect != "none" and new.gravity <= old.gravity:
        phrase += [" ", *words.sentence(after, target)]
    return tuple(phrase)


def _effect(known: Known) -> str:
    if known.effect == "none":
        return "no loss"
    return f"“{words.EFFECTS[known.effect]}” ({known.severity})"


def _detail(change: Change) -> Phrase:
    old, new = change.old, change.new
    if old is not None and new is not None and old.condition != new.condition:
        return (Code(one_line(old.condition, 160)), " → ", Code(one_line(new.condition, 160)))
    return (Code(one_line(change.known.condition, 200)),)


def _number(arch: str) -> tuple[int, str]:
    digits = "".join(c for c in arch if c.isdigit())
    return int(digits or 0), arch
