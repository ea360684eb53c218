"""The code that the page shows: every line that a report names, once, with the lines around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.model import Gate, Path, Report, Step
from analyzer.report import highlight
from analyzer.report.anchors import gate_anchor
from analyzer.report.source import Source

_AROUND = 2
"""Lines of code above and below a finding: five in all, more for a condition of several lines."""
_NEAR = 1
"""Lines above and below any other place."""
_LONGEST = 6
"""Lines of a condition that are shown beyond its first."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The shown lines of one file; ``number`` tells files apart in anchors."""

    file: str
    number: int
    runs: tuple[tuple[highlight.Line, ...], ...]
    """Lines that follow each other."""


#: Gates with the steps that are shown of each.
_Gates = Sequence[tuple[Gate, Iterable[Step]]]


class Code:
    """Which lines are shown, under which anchor, and their highlighted text."""

    def __init__(
        self,
        report: Report,
        source: Source,
        gates: Iterable[tuple[Gate, Iterable[Step]]],
        paths: Iterable[Path],
    ) -> None:
        """Of the gates with the steps that are shown of them, of these paths, of builds and predicates."""
        self._gates = tuple(gates)
        wanted = _places(report, self._gates, paths)
        found = ((file, source(file)) for file in sorted(wanted))
        self._sources: dict[str, Sequence[str]] = {file: lines for file, lines in found if lines is not None}
        self._numbers = {file: index for index, file in enumerate(self._sources)}
        self._shown = {
            file: {n for n in wanted[file] if 0 < n <= len(lines)} for file, lines in self._sources.items()
        }

    def anchor(self, file: str, line: int) -> str:
        """The anchor of a line; empty where its code is not shown."""
        number = self._numbers.get(file)
        return f"f{number}-{line}" if number is not None and line in self._shown[file] else ""

    @cached_property
    def listings(self) -> list[Listing]:
        """All code of the page, by file."""
        marks = self._marks()
        return [
            Listing(
                file,
                self._numbers[file],
                _runs(highlight.lines(file, lines, self._shown[file], marks.get(file, {}))),
            )
            for file, lines in self._sources.items()
        ]

    def _marks(self) -> dict[str, dict[int, list[highlight.Mark]]]:
        """The deciding part of every gate, by file and line."""
        marks: dict[str, dict[int, list[highlight.Mark]]] = {}
        for gate, _ in self._gates:
            for number, mark in _gate_marks(gate, self._sources.get(gate.file, ())):
                marks.setdefault(gate.file, {}).setdefault(number, []).append(mark)
        return {file: {n: sorted(m) for n, m in lines.items()} for file, lines in marks.items()}


def _runs(lines: list[highlight.Line]) -> tuple[tuple[highlight.Line, ...], ...]:
    runs: list[list[highlight.Line]] = []
    for line in lines:
        if not runs or line.number != runs[-1][-1].number + 1:
            runs.append([])
        runs[-1].append(line)
    return tuple(tuple(run) for run in runs)


def _gate_marks(gate: Gate, source: Sequence[str]) -> Iterator[tuple[int, highlight.Mark]]:
    for number in range(gate.line, min(gate.end_line, gate.line + _LONGEST) + 1):
        if not 0 < number <= len(source):
            continue
        line = source[number - 1]
        column = gate.column if number == gate.line else len(line) - len(line.lstrip()) + 1
        code = gate.code if gate.line == gate.end_line else ""
        start, end = highlight.marked_part(line, column, code)
        yield number, highlight.Mark(start, end, gate_anchor(gate.id))


def _places(report: Report, gates: _Gates, paths: Iterable[Path]) -> dict[str, set[int]]:
    """Lines to show, by file: every place that the page names, with the lines around it."""
    wanted: dict[str, set[int]] = {}
    for file, first, last, around in _named(report, gates, paths):
        end = min(max(first, last), first + _LONGEST)
        wanted.setdefault(file, set()).update(range(first - around, end + around + 1))
    return wanted


def _named(report: Report, gates: _Gates, paths: Iterable[Path]) -> Iterator[tuple[str, int, int, int]]:
    """``(file, first line, last line, lines around)`` of every place in the report."""
    for gate, steps in gates:
        yield gate.file, gate.line, gate.end_line, _AROUND if gate.effect != "none" else _NEAR
        evidence = gate.justification.evidence if gate.justification else ()
        for step in (*steps, *evidence):
            yield step.file, step.line, 0, _NEAR
        for loss in gate.loses:
            yield loss.file, loss.line, 0, _NEAR
    nodes = {node.id: node for node in report.nodes}
    for path in paths:
        yield path.entry.file, path.entry.line, 0, _NEAR
        for identity in path.steps:
            if identity in nodes:
                yield nodes[identity].file, nodes[identity].line, 0, _NEAR
    for build in report.builds:
        yield build.file, build.line, 0, _NEAR
    for predicate in report.predicates:
        yield predicate.file, predicate.line, 0, _NEAR
