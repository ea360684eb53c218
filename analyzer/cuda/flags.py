"""Flags that a build lacks: synchronisation that the target would compile if they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from analyzer import data
from analyzer.cuda import intrinsics
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.preprocess import Memory, Sources, walk
from analyzer.cuda.program import Reader
from analyzer.model import Loss


@dataclass(frozen=True, slots=True)
class Lacking:
    """A flag that a build lacks, and what the target loses; ``kept``: who has the first loss without it."""

    flag: str
    losses: tuple[Loss, ...]
    kept: int


class Finder:
    """Finds them by preprocessing units once more, as the target sees them with the flag."""

    def __init__(self, sources: Sources, reader: Reader, device: int, target: int) -> None:
        self.sources, self.reader = sources, reader
        self.device, self.target = device, target
        self._memory = Memory()
        self._mentions: dict[tuple[str, str], bool] = {}

    def lacking(self, units: Sequence[Unit], include_dirs: Sequence[str]) -> tuple[Lacking, ...]:
        """The flags that these units of a build lack, in the order of the table."""
        found: list[Lacking] = []
        for flag in flag_names():
            losses: dict[Loss, int] = {}
            for unit in units:
                for loss, kept in self._lost(unit, flag, include_dirs):
                    losses.setdefault(loss, kept)
            if losses:
                first = min(losses)
                found.append(Lacking(flag, tuple(sorted(losses)), losses[first]))
        return tuple(found)

    def _lost(self, unit: Unit, flag: str, include_dirs: Sequence[str]) -> Iterator[tuple[Loss, int]]:
        own = unit.configurations[self.target.bit_length() - 1]
        if flag in own.macros or not any(self._mentioned(path, flag) for path in unit.files):
            return
        given = replace(own, macros={**own.macros, flag: "1"})
        implicit = None if unit.path.endswith(".cu") else ()
        other = walk(unit.path, self.sources, include_dirs, [given], memory=self._memory, implicit=implicit)
        for path, activity in other.files.items():
            before = unit.files.get(path)
            if before is not None and before.inactive(self.target) != activity.inactive(1):
                yield from self._gained(path, before, activity)

    def _mentioned(self, path: str, flag: str) -> bool:
        """Whether a directive of the file may name the flag."""
        key = path, flag
        if key not in self._mentions:
            self._mentions[key] = flag in self.reader.source(path).code
        return self._mentions[key]

    def _gained(self, path: str, before: FileActivity, after: FileActivity) -> Iterator[tuple[Loss, int]]:
        """The synchronisation in lines that the flag brings, with the mask of those that have it without."""
        source = self.reader.source(path)
        text = self.reader.file(path, after.inactive(1)).text
        for first, last in before.inactive(self.target):
            start, end = source.span(first, last)
            for site in intrinsics.sites(text.text, text.code, start, end):
                wrapper = "::" in site.spelled  # what it does is told where its body stands
                if site.intrinsic.kind in intrinsics.SYNCHRONISATION and not wrapper:
                    line = source.line(site.at)
                    yield (
                        Loss(site.spelled, site.intrinsic.kind, path, line),
                        before.active(line) & self.device,
                    )


@cache
def flag_names() -> tuple[str, ...]:
    """The macros without which synchronisation is compiled out."""
    return tuple(row["name"] for row in data.table("intrinsics")["flag"])
