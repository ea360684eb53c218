"""Headers outside the tree: stand-ins for those of toolkit and system, from ``queries/macros.toml``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import cache

from analyzer import data
from analyzer.cuda.directives import FileDirectives, facts


@dataclass(frozen=True, slots=True, eq=False)
class StandIn:
    """A header known by its macros.

    ``path`` is its name in angle brackets, never a path of the tree. ``may_define`` matches names that it
    may define beside those in its text; ``key`` identifies it among all stand-ins with such names.
    """

    path: str
    facts: FileDirectives
    may_define: re.Pattern[str] | None
    key: str


@dataclass(frozen=True, slots=True)
class _Entry:
    names: re.Pattern[str]
    facts: FileDirectives
    may_define: re.Pattern[str] | None
    present: bool


def _pattern(globs: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(translate(glob) for glob in globs)) if globs else None


@cache
def _entries() -> tuple[_Entry, ...]:
    entries = []
    for row in data.table("macros")["header"]:
        names = _pattern(row["names"])
        assert names is not None  # every entry names its headers
        entries.append(
            _Entry(
                names,
                facts(row.get("text", "").encode()),
                _pattern(row.get("may_define", [])),
                row.get("present", True),
            )
        )
    return tuple(entries)


@cache
def _entry(header: str) -> tuple[int, _Entry] | None:
    return next(((i, e) for i, e in enumerate(_entries()) if e.names.match(header)), None)


@cache
def find(header: str) -> StandIn | None:
    """The stand-in for a header that the tree lacks; None where nothing is known about it."""
    found = _entry(header)
    if found is None or not found[1].present:
        return None
    index, entry = found
    return StandIn(f"<{header}>", entry.facts, entry.may_define, f"<{index}>")


def present(header: str) -> bool | None:
    """Whether a header outside the tree exists on the machine that builds; None where not known."""
    found = _entry(header)
    return None if found is None else found[1].present


@cache
def openers(name: str) -> tuple[str, ...]:
    """The keys of the stand-ins that may define a macro of this name, and whose text does not say when."""
    return tuple(
        f"<{index}>"
        for index, entry in enumerate(_entries())
        if entry.may_define and entry.may_define.match(name) and name not in _told(index)
    )


@cache
def _told(index: int) -> frozenset[str]:
    """The macros of which a stand-in's text says whether they are defined."""
    directives = _entries()[index].facts.directives
    return frozenset(d.macro.name for d in directives if d.kind == "define" and d.macro is not None)


@cache
def compiler() -> FileDirectives:
    """The macros that the host compiler predefines."""
    return facts(data.table("macros")["compiler"]["text"].encode())


@cache
def is_door(name: str) -> bool:
    """Whether the compiler tells the architecture through a macro of this name."""
    pattern = _pattern(data.table("macros")["doors"]["names"])
    return bool(pattern and pattern.match(name))


def answer(operator: str, operand: str) -> int | None:
    """What the host compiler answers to ``__has_builtin(X)`` and its kin; None where it is not known."""
    found: int | None = data.table("macros")["answers"].get(operator, {}).get(operand)
    return found


def implicit() -> str:
    """The header that the CUDA compiler includes before every unit."""
    return str(data.table("macros")["toolkit"]["implicit"])
