"""Budgets of shared memory for one block that are a share of what a whole multiprocessor has.

A multiprocessor has more shared memory than one block of it may ask for. Code that divides the whole by the
number of blocks that it wants there gives a block that stands alone too much. Read are quotients of which
the file says all: the whole comes from the device, and the number of blocks is a constant, or one of two that
a comparison of the whole with so many times a demand chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from analyzer import data
from analyzer.archs import Arch
from analyzer.cuda.functions import outline
from analyzer.cuda.requests import Place, Reader
from analyzer.cuda.source import read

_QUOTIENT = re.compile(r"\s*([\w.>-]+?)\s*/\s*(\w+)\s*\Z")
_CHOICE = re.compile(
    r"\s*(?P<whole>[\w.>-]+?)\s*>=?\s*(?P<demand>.+?)\s*\?\s*(?P<many>\d+)\s*:\s*1\s*\Z", re.S
)
_DECLARED = re.compile(r"\b([A-Za-z_]\w*)\s*=\s*([^;{}=]+/[^;{}=]+);")


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget for a block: what a multiprocessor has, through a number of blocks.

    ``blocks`` share it if each demands no more than its part, else one has it all; ``chosen`` is false if
    there are always so many.
    """

    blocks: int
    chosen: bool
    function: str
    decides: Place
    steps: tuple[Place, ...]

    def largest(self, arch: Arch, demand: int) -> int:
        """The most bytes that a block is given, of those whose demand is at most so many bytes."""
        alone = self.chosen and self.blocks * demand > arch.shared_per_sm
        return arch.shared_per_sm if alone else arch.shared_per_sm // self.blocks


@cache
def _wholes() -> Mapping[str, Any]:
    return {row["name"]: row for row in data.table("resources")["whole"]}


def facts(content: bytes) -> tuple[Budget, ...]:
    """The budgets of a file, by line; a pure function of its bytes."""
    if not any(name.encode() in content for name in _wholes()):
        return ()
    source = read(content)
    text = source.active()
    found: dict[Place, Budget] = {}
    for function in outline(text).functions:
        first, last = function.body
        body = text.code[first:last]
        wholes = set(_asked(body))
        reader = Reader(source, text.code, function)
        for match in _DECLARED.finditer(body) if wholes or _members() & set(re.findall(r"\w+", body)) else ():
            budget = _budget(reader, match[1], wholes)
            if budget is not None and len(re.findall(rf"\b{match[1]}\b", body)) > 1:
                found.setdefault(budget.decides, budget)
    return tuple(sorted(found.values(), key=lambda one: (one.decides.line, one.decides.column)))


@cache
def _members() -> frozenset[str]:
    return frozenset(name for name, row in _wholes().items() if row.get("member"))


def _asked(body: str) -> Iterator[str]:
    """The variables that calls fill with what a multiprocessor has."""
    for name, row in _wholes().items():
        if not row.get("member"):
            for match in re.finditer(rf"&\s*(\w+)\s*,\s*(?:\w+::)*{name}\b", body):
                yield match[1]


def _is_whole(expression: str, wholes: set[str]) -> bool:
    return expression in wholes or re.split(r"\.|->", expression)[-1] in _members()


def _budget(reader: Reader, name: str, wholes: set[str]) -> Budget | None:
    found = reader.initial(name)
    quotient = _QUOTIENT.match(found[0]) if found is not None else None
    if found is None or quotient is None or not _is_whole(quotient[1], wholes):
        return None
    place = found[1]
    if quotient[2].isdigit():
        return Budget(int(quotient[2]), False, reader.function.qualified, place, (place,))
    shares = reader.initial(quotient[2])
    choice = _CHOICE.match(shares[0]) if shares is not None else None
    if shares is None or choice is None or not _is_whole(choice["whole"], wholes):
        return None
    many = int(choice["many"])
    times = re.match(rf"{many}\s*\*|.*\*\s*{many}\Z", choice["demand"], re.S)
    if many < 2 or times is None:
        return None
    return Budget(many, True, reader.function.qualified, place, (shares[1], place))
