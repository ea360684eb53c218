"""What code needs of the chip: instructions, and names of a library that stand for instructions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import or_
from typing import Any

from analyzer import archs, data
from analyzer.cuda import instructions
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.program import Symbol
from analyzer.cuda.source import ActiveText
from analyzer.cuda.uses import Use, uses

#: The matrix instructions that every architecture from sm_80 on has in some form.
_COMMON = frozenset({"mma", "wmma"})


@dataclass(frozen=True, slots=True, order=True)
class Need:
    """One thing that code asks of the chip, and where.

    ``what`` is the instruction or name as it is written, ``asks`` the part or feature that not every chip
    has (empty: a matrix instruction that the target has). ``fails``: the target does not have it; ``why``
    says who does. ``chosen``: a program asks for it, not a library that offers it among others.
    """

    asks: str
    what: str
    file: str
    line: int
    chosen: bool
    fails: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something on the way that is not understood: an instruction that the table does not hold."""

    what: str
    why: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that some chips have, in words, and those that have it."""

    what: str
    archs: tuple[str, ...]


@cache
def features() -> Mapping[str, Feature]:
    """The features of ``archs.toml`` by name."""
    rows = data.table("archs")["feature"]
    return {row["name"]: Feature(row["what"], tuple(row["archs"])) for row in rows}


@cache
def _atom(name: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(row for pattern, row in _atoms() if pattern.fullmatch(name))


@cache
def _atoms() -> tuple[tuple[re.Pattern[str], Mapping[str, Any]], ...]:
    return tuple((re.compile(row["name"]), row) for row in data.table("atoms")["atom"])


@cache
def in_library(file: str) -> bool:
    """Whether a file belongs to a library whose names are in the table."""
    parts = file.split("/")
    folders = data.table("atoms")["library"]["folders"]
    return any(part in folders and "include" in parts[:at] for at, part in enumerate(parts))


Known = dict["Symbol | tuple[ActiveText, int, int]", "tuple[Need | Unread, ...]"]
"""What definitions ask for, and pieces of files as a pass sees them."""


class Needs:
    """What the definitions of some units need of a target; every definition is read once.

    ``known`` are those of other units, for the same target.
    """

    def __init__(self, units: Sequence[Unit], target: str, known: Known | None = None) -> None:
        self.target = target
        self.activities: dict[str, list[FileActivity]] = {}
        for unit in units:
            for path, activity in unit.files.items():
                there = self.activities.setdefault(path, [])
                if not any(activity is other for other in there):
                    there.append(activity)
        self._active: dict[tuple[str, int], int] = {}
        self._known: Known = {} if known is None else known

    def active(self, file: str, line: int, bit: int) -> bool:
        """Whether a pass compiles a line in some unit."""
        key = file, line
        if key not in self._active:
            activities = self.activities.get(file, ())
            self._active[key] = reduce(or_, (one.active(line) | one.unknown(line) for one in activities), 0)
        return bool(self._active[key] & bit)

    def of(self, symbol: Symbol) -> tuple[Need | Unread, ...]:
        """What a definition itself asks for, on any pass that it was read for."""
        found = self._known.get(symbol)
        if found is None:
            found = self._known[symbol] = tuple(dict.fromkeys(self._find(symbol)))
        return found

    def within(self, file: str, text: ActiveText, start: int, end: int) -> tuple[Need | Unread, ...]:
        """What a piece of a file asks for, as a pass sees it."""
        key = text, start, end
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(needs(text, (start, end), file, self.target))
        return found

    def _find(self, symbol: Symbol) -> Iterator[Need | Unread]:
        own = symbol.definition
        if symbol.kind == "macro":
            return
        expanded = own.line == own.end_line  # what a macro defines stands on one line, with a text of its own
        whole = own.is_function or not own.pieces
        chosen = not in_library(symbol.file) and any(map(_atom, symbol.words))
        named = symbol.uses if chosen else ()
        for start, end in [(own.start, own.end)] if whole else own.pieces:
            for need in needs(symbol.active, (start, end), symbol.file, self.target, named):
                yield replace(need, line=own.line) if expanded else need


def needs(
    text: ActiveText,
    span: tuple[int, int],
    file: str,
    target: str,
    mentioned: Sequence[Use] | None = None,
) -> Iterator[Need | Unread]:
    """What a piece of a file asks for, held against the target under its richest spelling.

    ``mentioned`` are the uses of names in ``text``, if they are known.
    """
    code = text.code
    start, end = span
    chosen = not in_library(file)
    richest = archs.find(target).richest
    for instruction, required in instructions.needs(text.text, code, start, end):
        line = text.source.line(instruction.at)
        opcode = instruction.opcode
        if not required.known:
            yield Unread(opcode.replace(instructions.HOLE, "…"), required.reason, file, line)
            continue
        lacking = required.lacking(richest)
        if lacking is not None:
            yield Need(lacking.words, opcode, file, line, chosen, True, _only(lacking))
        elif instruction.words[0] in _COMMON:
            yield Need("", opcode, file, line, chosen, False)
    if not chosen:
        return
    for use in mentioned if mentioned is not None else uses(code, start, end):
        if not start <= use.at < end:
            continue
        for row in _atom(use.name):
            if _means(row, use, code, start, end):
                yield _named(row, use, file, text.source.line(use.at), target)


def _only(need: instructions.Need) -> str:
    """Which targets have a part of an instruction."""
    names = sorted({spelling.target for spelling in need.targets}, key=lambda name: (len(name), name))
    return (
        f"{need.words} assembles for {', '.join(names)} only" if names else f"{need.words} assembles nowhere"
    )


def _means(row: Mapping[str, Any], use: Use, code: str, start: int, end: int) -> bool:
    """Whether a mention is that of the atom: by its qualifier, and by what stands beside it."""
    if "within" in row and not set(row["within"]) & set(use.qualifiers):
        return False
    return "with" not in row or any(word in code[start:end] for word in row["with"])


def _named(row: Mapping[str, Any], use: Use, file: str, line: int, target: str) -> Need:
    name = "::".join((*use.qualifiers, use.name))
    if "feature" not in row:
        fails = archs.find(target).number < archs.find(row["since"]).number
        return Need(row["since"] if fails else "", name, file, line, True, fails, f"from {row['since']} on")
    feature = features()[row["feature"]]
    why = f"stands for {feature.what}, which {', '.join(feature.archs)} have"
    return Need(row["feature"], name, file, line, True, target not in feature.archs, why)
