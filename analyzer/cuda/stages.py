"""Kernels of a template library whose pipeline has so many stages, where others count what memory holds.

A builder of kernels is told for which architecture it builds and how many stages of tiles lie in shared
memory: a number, or as many as fit. A kernel with a number on one architecture, whose namesakes on another
count, is held to what its writer thought would do (``queries/resources.toml``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from analyzer import archs, data
from analyzer.cuda.functions import outline
from analyzer.cuda.requests import Place
from analyzer.cuda.source import Source, read, shown

_TAG = re.compile(r"\barch\s*::\s*Sm(\d+)\b")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=\s*([^;]+);")
_NUMBER = re.compile(r"[Ss][Mm]_?\d+[af]?")


@dataclass(frozen=True, slots=True)
class Staged:
    """A builder's stages: ``count`` of them, or None for as many as fit.

    ``number`` is the architecture that it builds for (``120``), ``owner`` the macro or definition that it
    stands in, ``kin`` that name without what tells the architecture.
    """

    number: int
    count: int | None
    owner: str
    kin: str
    decides: Place

    @property
    def runs_on(self) -> frozenset[str]:
        """The architectures that run what is built for this one."""
        name = f"sm_{self.number}"
        return frozenset(archs.find(name).family if name in archs.names() else ())


def _knowledge() -> dict[str, Any]:
    table: dict[str, Any] = data.table("resources")["builder"]
    return table


def facts(content: bytes) -> tuple[Staged, ...]:
    """The builders of a file of which the stages are told; a pure function of its bytes."""
    row = _knowledge()
    if row["name"].encode() not in content or row["fixed"].encode() not in content:
        return ()
    source = read(content)
    owners = list(_owners(source))
    starts = [start for start, _, _ in owners]
    fixed = re.compile(rf"\b{row['fixed']}\s*<\s*(\d+)\s*>")
    counted = re.compile(rf"\b{row['counted']}\w*")
    found = []
    for match in re.finditer(rf"\b{row['name']}\s*<", source.code):
        end = source.code.find(";", match.end())
        place = bisect_right(starts, match.start()) - 1
        first, last, owner = owners[place] if place >= 0 else (0, 0, "")
        if not first <= match.start() < last:
            continue
        known = {m[1]: (m[2], m.start(2)) for m in _ALIAS.finditer(source.code, first, match.start())}
        texts = [(source.code[match.end() : end], match.end())]
        texts += [known[word] for word in re.findall(r"\w+", texts[0][0]) if word in known]
        tag = next((tag for text, _ in texts if (tag := _TAG.search(text)) is not None), None)
        if tag is None:
            continue
        for text, at in texts:
            number, automatic = fixed.search(text), counted.search(text)
            told = number or automatic
            if told is not None:
                line = source.line(at + told.start())
                begin = at + told.start() - source.code.rfind("\n", 0, at + told.start())
                decides = Place(line, source.line(at + told.end() - 1), begin, shown(told[0]))
                count = int(number[1]) if number is not None else None
                found.append(Staged(int(tag[1]), count, owner, _NUMBER.sub("", owner), decides))
                break
    return tuple(found)


def _owners(source: Source) -> Iterator[tuple[int, int, str]]:
    """The macros and the outermost functions and classes of a file, in order: where each is, and its name."""
    spans = [
        (one.start, one.end, one.name)
        for one in outline(source.whole).definitions
        if one.is_function or one.kind == "class"
    ]
    for keyword, start, end in source.directives:
        named = re.match(r"\s*#\s*define\s+(\w+)", source.code[start:end]) if keyword == "define" else None
        if named is not None:
            spans.append((start, end, named[1]))
    last = 0
    for start, end, name in sorted(spans):
        if start >= last:
            yield start, end, name
            last = end
