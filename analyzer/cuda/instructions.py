"""On which targets an instruction assembles, by the table ``queries/instructions.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from analyzer import archs, data
from analyzer.archs import Arch, Spelling
from analyzer.cuda.ptx import HOLE, Instruction
from analyzer.cuda.ptx import instructions as inline

#: How the marks of operands read.
_OPERANDS = {"#n": "with a number as the last operand"}

__all__ = ["HOLE", "Need", "Requirement", "may_have", "may_hold", "needs", "requirement", "targets"]


@dataclass(frozen=True, slots=True)
class Need:
    """A part of an instruction that not every target has: its words, and the targets that have it."""

    words: str
    targets: frozenset[Spelling]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What an instruction needs; ``reason`` says why that is not known, else it is empty."""

    needs: tuple[Need, ...] = ()
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether the table holds the instruction."""
        return not self.reason

    def admits(self, target: Spelling) -> bool | None:
        """Whether it assembles for the target; None where that is not known."""
        return None if self.reason else self.lacking(target) is None

    def lacking(self, target: Spelling) -> Need | None:
        """The first part that the target does not have."""
        return next((need for need in self.needs if target not in need.targets), None)


def needs(
    text: str, code: str, start: int = 0, end: int | None = None
) -> Iterator[tuple[Instruction, Requirement]]:
    """The instructions in a piece of code, each with what it needs.

    First those of inline PTX, then the calls that stand for one, each in their order.

    Args:
        text: C++ without comments, as one pass of the compiler sees it (``source.ActiveText.text``).
        code: the same with the contents of strings blanked (``source.ActiveText.code``).
        start: where the piece begins; offsets are positions in the file.
        end: where it ends.
    """
    last = len(code) if end is None else end
    for instruction in inline(text, code, start, last):
        yield instruction, requirement(instruction)
    pattern, calls = _calls()
    named = any(code.find(name, start, last) >= 0 for name in calls)  # most code names none: told fast
    for match in pattern.finditer(code, start, last) if named else ():
        name = match[1]
        yield Instruction(name, (name,), (), match.start(1)), calls[name]


def may_hold(code: str) -> bool:
    """Whether code, whose strings' contents are blanked, may hold an instruction; told fast."""
    return "asm" in code or any(name in code for name in _calls()[1])


def requirement(instruction: Instruction) -> Requirement:
    """What an instruction needs."""
    return _requirement(instruction.words, instruction.operands)


def may_have(arch: Arch, name: str) -> bool:
    """Whether an architecture may have an instruction, under any of its spellings; so if that is not known.

    ``name``: with its modifiers, such as ``tcgen05.mma.cta_group::1.kind::f16``.
    """
    known = _requirement(tuple(name.split(".")), ())
    return any(known.admits(Spelling(arch.number, suffix)) is not False for suffix in ("", *arch.suffixes))


@lru_cache(maxsize=8192)
def _requirement(words: tuple[str, ...], operands: tuple[str, ...]) -> Requirement:
    if any(HOLE in word for word in words):
        return Requirement(reason="a macro that is part of the instruction is not followed")
    row = _row(words)
    if row is None:
        return Requirement(reason=f"the instruction {words[0]} is not in the table")
    rest = words[len(row.name) :]
    stranger = next((word for word in rest if not row.knows(word)), None)
    if stranger is not None:
        return Requirement(reason=f"{'.'.join(row.name)} with .{stranger} is not in the table")
    found = [Need(".".join(row.name), row.targets)]
    found += [Need(key.shown(row.name), key.targets) for key in row.keys if key.fits((*rest, *operands))]
    found += [Need(mark, _special()[mark]) for mark in operands if mark in _special()]
    return Requirement(tuple(need for need in found if need.targets != _all()))


def targets(text: str) -> frozenset[Spelling]:
    """The targets that an expression of the table stands for (``sm_90+``, ``sm_90a``, ``sm_100f``).

    Raises:
        ValueError: it names no target.
    """
    found: set[Spelling] = set()
    for word in text.split():
        if word.endswith("+"):
            least = Spelling.parse(word[:-1]).number
            found.update(spelling for spelling in _all() if spelling.number >= least)
            continue
        spelling = Spelling.parse(word)
        if spelling.suffix == "f":
            members = [archs.find(name) for name in archs.find(f"sm_{spelling.number}").family]
            found.update(Spelling(arch.number, suffix) for arch in members for suffix in arch.suffixes)
        else:
            found.add(spelling)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class _Key:
    """Words that cost more: one of each group must be there, none of ``absent``."""

    groups: tuple[tuple[str, ...], ...]
    absent: frozenset[str]
    targets: frozenset[Spelling]

    def fits(self, words: tuple[str, ...]) -> bool:
        if not self.absent.isdisjoint(words):
            return False
        return all(any(_is(word, one) for word in words for one in group) for group in self.groups)

    def shown(self, name: tuple[str, ...]) -> str:
        parts = [group for group in self.groups if group[0][0] != "#"]
        marks = [one for group in self.groups for one in group if one[0] == "#"]
        words = ".".join([*name, *("|".join(group) for group in parts)])
        return " ".join([words, *(_OPERANDS.get(mark, f"with {mark[1:]} operands") for mark in marks)])


@dataclass(frozen=True, slots=True)
class _Row:
    name: tuple[str, ...]
    targets: frozenset[Spelling]
    plain: frozenset[str]
    patterns: tuple[str, ...]
    keys: tuple[_Key, ...]

    def knows(self, word: str) -> bool:
        return word in self.plain or any(fnmatchcase(word, pattern) for pattern in self.patterns)


def _is(word: str, pattern: str) -> bool:
    return word == pattern or ("*" in pattern and fnmatchcase(word, pattern))


def _row(words: tuple[str, ...]) -> _Row | None:
    """The row with the longest name that the words begin with."""
    rows = _rows().get(words[0], ())
    return next((row for row in rows if words[: len(row.name)] == row.name), None)


@cache
def _rows() -> dict[str, list[_Row]]:
    """The rows by the first word of their names, long names first."""
    table = data.table("instructions")
    lists: dict[str, str] = table["words"]
    found: dict[str, list[_Row]] = {}
    for row in table["instruction"]:
        keys = tuple(_key(key, value) for key, value in row.get("needs", {}).items())
        known = [word for part in row["with"].split() for word in _words(part, lists)]
        known += [word for key in keys for group in key.groups for word in group if word[0] != "#"]
        name = tuple(row["name"].split("."))
        patterns = tuple(word for word in known if "*" in word)
        plain = frozenset(known) - {*patterns}
        found.setdefault(name[0], []).append(_Row(name, targets(row["targets"]), plain, patterns, keys))
    for rows in found.values():
        rows.sort(key=lambda row: -len(row.name))
    return found


@cache
def _calls() -> tuple[re.Pattern[str], dict[str, Requirement]]:
    """The intrinsics that not every target has: a pattern of their calls, and what each needs."""
    found: dict[str, Requirement] = {}
    for row in data.table("instructions")["intrinsic"]:
        for name in row["call"]:
            found[name] = Requirement((Need(name, targets(row["targets"])),))
    names = "|".join(sorted(found, key=lambda name: (-len(name), name)))
    return re.compile(rf"\b({names})\s*\("), found


def _words(part: str, lists: dict[str, str]) -> list[str]:
    return lists[part[1:]].split() if part.startswith("@") else [part]


def _key(text: str, value: str) -> _Key:
    parts = text.split()
    groups = tuple(tuple(part.split("|")) for part in parts if part[0] != "!")
    return _Key(groups, frozenset(part[1:] for part in parts if part[0] == "!"), targets(value))


@cache
def _special() -> dict[str, frozenset[Spelling]]:
    return {f"%{name}": targets(text) for name, text in data.table("instructions")["special"].items()}


@cache
def _all() -> frozenset[Spelling]:
    """Every spelling of every known architecture."""
    return frozenset(Spelling(a.number, suffix) for a in archs.profiles() for suffix in ("", *a.suffixes))
