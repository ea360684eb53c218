"""What the HTML page shows, worked out from a report: anchors, groups of architectures, code, drawings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.model import (
    SEVERITIES,
    Cell,
    Gate,
    Input,
    Path,
    Predicate,
    Report,
    Severity,
    Unresolved,
    Verdict,
)
from analyzer.report import drawing, highlight, tally, words
from analyzer.report.source import Source

_AROUND = 2
"""Lines of code above and below a place: five in all, up to seven for a condition of several lines."""
_DRAWN = 6000
"""Boxes drawn on the whole page before the milder paths are folded to what decides them."""
_FOLD_ABOVE = 60

#: A caption with its value on each architecture.
_Values = tuple[str, Mapping[str, str] | Mapping[str, Verdict]]


def anchor(kind: str, identity: str) -> str:
    """A short, stable anchor for an id that may hold any character."""
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    return f"{kind}-{digest[:10]}"


@dataclass(frozen=True, slots=True)
class Column:
    """Architectures that are treated alike, the target's or the references' among them or not."""

    archs: tuple[str, ...]
    target: bool
    reference: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of a gate: a part of the condition (or the verdict) in every column."""

    code: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What each architecture does at a gate; equal architectures share a column."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Vertex:
    """A box of a drawing. ``number`` is its place among the barriers, 0 for none."""

    x: int
    y: int
    kind: str
    name: str
    place: str
    href: str
    number: int
    gate: bool
    title: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A path as drawn."""

    vertices: tuple[Vertex, ...]
    lines: str
    width: int
    height: int
    folded: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The shown lines of one file."""

    file: str
    number: int
    lines: tuple[highlight.Line, ...]


@dataclass(frozen=True, slots=True)
class FileRow:
    """One scanned file: how many expressions depend on the architecture, its gates and findings."""

    file: str
    package: str
    expressions: int
    gates: tuple[Gate, ...]
    findings: int
    severity: Severity
    note: str


@dataclass(frozen=True, slots=True)
class Area:
    """Rows of the matrix that belong together: the module that holds the APIs."""

    name: str
    cells: tuple[Cell, ...]


class Page:
    """Everything that the templates ask for. A pure function of a report and the code that it names."""

    def __init__(self, report: Report, source: Source) -> None:
        self.report = report
        self.source = source
        self.target = report.target.arch
        self.gates: dict[str, Gate] = {gate.id: gate for gate in report.gates}
        self.nodes = {node.id: node for node in report.nodes}
        self.findings = tally.worst_first(report.findings)
        found = {gate.id for gate in self.findings}
        self.others = tally.worst_first(gate for gate in report.gates if gate.id not in found)
        self.paths = tally.paths_worst_first(report.paths)
        self.by_severity = tally.by_severity(report)
        self.by_layer = tally.by_layer(report)
        self._edges = _outgoing(report)
        self._left = _DRAWN

    # Anchors

    def gate_anchor(self, identity: str) -> str:
        """The anchor of a gate's card."""
        return anchor("g", identity)

    def path_anchor(self, path: Path) -> str:
        """The anchor of a path."""
        return anchor("p", path.id)

    def line_anchor(self, file: str, line: int) -> str:
        """The anchor of a line of code on this page; empty where its code is not shown."""
        number = self._file_numbers.get(file)
        return f"f{number}-{line}" if number is not None and line in self._shown[file] else ""

    # Gates

    def table(self, gate: Gate) -> Table:
        """Verdict and parts of a gate by architecture, equal architectures in one column."""
        rows: list[_Values] = [(part.code, part.value) for part in gate.parts]
        return self._grouped([*rows, ("verdict", gate.verdict)])

    def value_table(self, predicate: Predicate) -> Table:
        """The value of a predicate by architecture."""
        return self._grouped([("value", predicate.value)])

    def _grouped(self, rows: Sequence[_Values]) -> Table:
        groups: dict[tuple[str, ...], list[str]] = {}
        for arch in self.report.archs:
            groups.setdefault(tuple(values.get(arch, "") for _, values in rows), []).append(arch)
        columns = tuple(
            Column(tuple(archs), self.target in archs, any(a in self.report.references for a in archs))
            for archs in groups.values()
        )
        values = list(groups)
        return Table(
            columns, tuple(Row(code, tuple(v[i] for v in values)) for i, (code, _) in enumerate(rows))
        )

    def strip(self, verdict: Mapping[str, Verdict]) -> list[tuple[str, str]]:
        """References and target with their verdicts, the target last."""
        names = [*self.report.references, self.target]
        return [(name, verdict.get(name, "unknown")) for name in names]

    @cached_property
    def ways(self) -> dict[str, list[Path]]:
        """For each gate, the paths that it bars, worst first."""
        found: dict[str, list[Path]] = {}
        for path in self.paths:
            for identity in dict.fromkeys(barrier.gate for barrier in path.barriers):
                found.setdefault(identity, []).append(path)
        return found

    def package(self, file: str) -> str:
        """The scanned package that a file belongs to; its first folder where none claims it."""
        return next(
            (i.package for i in self._inputs if file == i.root or file.startswith(f"{i.root}/")),
            file.partition("/")[0],
        )

    @cached_property
    def _inputs(self) -> list[Input]:
        return sorted(self.report.inputs, key=lambda i: -len(i.root))

    # Matrix

    @cached_property
    def areas(self) -> list[Area]:
        """The matrix by the module that holds each API."""
        groups: dict[str, list[Cell]] = {}
        for cell in self.report.matrix:
            groups.setdefault(cell.api.rpartition(".")[0] or cell.api, []).append(cell)
        return [Area(name, tuple(cells)) for name, cells in sorted(groups.items())]

    def cell_link(self, cell: Cell, arch: str) -> str:
        """Where a cell leads: the path that its first reason bars, else that gate; empty without reason."""
        for identity in cell.reasons.get(arch, ()):
            ways = self.ways.get(identity) if arch == self.target else None
            own = [
                p for p in ways or () if p.entry.name == cell.api or p.entry.name.startswith(f"{cell.api}.")
            ]
            if own:
                return self.path_anchor(own[0])
            if identity in self.gates:
                return self.gate_anchor(identity)
        return ""

    # Files and coverage

    @cached_property
    def files(self) -> list[FileRow]:
        """Every file of which something is known, by name."""
        gates: dict[str, list[Gate]] = {}
        for gate in self.report.gates:
            gates.setdefault(gate.file, []).append(gate)
        expressions = {facts.file: facts.expressions for facts in self.report.coverage.read}
        skipped = {skip.file: skip.why for skip in self.report.coverage.files.skipped}
        names = sorted({*gates, *expressions, *skipped})
        return [self._file_row(n, gates.get(n, []), expressions.get(n, 0), skipped.get(n, "")) for n in names]

    def _file_row(self, file: str, gates: list[Gate], expressions: int, skipped: str) -> FileRow:
        ordered = sorted(gates, key=lambda g: (g.line, g.column, g.id))
        findings = [gate for gate in ordered if gate.effect != "none" and not gate.in_tests]
        worst = min((SEVERITIES.index(gate.severity) for gate in findings), default=len(SEVERITIES) - 1)
        read = "read, no gate" if not gates else ""
        note = f"not read: {skipped}" if skipped else read
        return FileRow(
            file, self.package(file), expressions, tuple(ordered), len(findings), SEVERITIES[worst], note
        )

    @cached_property
    def unresolved(self) -> list[tuple[str, list[Unresolved]]]:
        """Undecided places by reason, the most frequent reason first."""
        groups: dict[str, list[Unresolved]] = {}
        for place in self.report.coverage.unresolved:
            groups.setdefault(" ".join(place.why.split()), []).append(place)
        return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))

    # Code

    @cached_property
    def _places(self) -> dict[str, set[int]]:
        """Lines to show, by file: every place that the page names, with the lines around it."""
        wanted: dict[str, set[int]] = {}

        def want(file: str, line: int, last: int = 0, around: int = _AROUND) -> None:
            end = min(max(line, last), line + 6)
            wanted.setdefault(file, set()).update(range(line - around, end + around + 1))

        for gate in self.report.gates:
            want(gate.file, gate.line, gate.end_line, _AROUND if gate.effect != "none" else 1)
            evidence = gate.justification.evidence if gate.justification else ()
            for step in (*gate.because, *evidence):
                want(step.file, step.line)
            for loss in gate.loses:
                want(loss.file, loss.line)
        for path in self.report.paths:
            want(path.entry.file, path.entry.line)
            for identity in path.steps:
                if identity in self.nodes:
                    want(self.nodes[identity].file, self.nodes[identity].line, around=1)
        for build in self.report.builds:
            want(build.file, build.line)
        for predicate in self.report.predicates:
            want(predicate.file, predicate.line, around=1)
        return wanted

    @cached_property
    def _sources(self) -> dict[str, Sequence[str]]:
        """The files that can be shown, with their lines."""
        found = ((file, self.source(file)) for file in sorted(self._places))
        return {file: content for file, content in found if content is not None}

    @cached_property
    def _file_numbers(self) -> dict[str, int]:
        return {file: index for index, file in enumerate(self._sources)}

    @cached_property
    def _shown(self) -> dict[str, set[int]]:
        """Lines shown, by file."""
        return {
            file: {n for n in self._places[file] if 0 < n <= len(content)}
            for file, content in self._sources.items()
        }

    @cached_property
    def listings(self) -> list[Listing]:
        """The code of the page, each line once."""
        marks = self._marks()
        return [
            Listing(
                file,
                self._file_numbers[file],
                tuple(highlight.lines(file, content, self._shown[file], marks.get(file, {}))),
            )
            for file, content in self._sources.items()
        ]

    def _marks(self) -> dict[str, dict[int, list[highlight.Mark]]]:
        """The deciding part of every gate, by file and line."""
        marks: dict[str, dict[int, list[highlight.Mark]]] = {}
        for gate in self.report.gates:
            content = self._sources.get(gate.file, ())
            for number in range(gate.line, min(gate.end_line, gate.line + 6) + 1):
                if not 0 < number <= len(content):
                    continue
                line = content[number - 1]
                column = gate.column if number == gate.line else len(line) - len(line.lstrip()) + 1
                code = gate.code if gate.line == gate.end_line else ""
                start, end = highlight.marked_part(line, column, code, bool(code))
                mark = highlight.Mark(start, end, self.gate_anchor(gate.id))
                marks.setdefault(gate.file, {}).setdefault(number, []).append(mark)
        return {file: {n: sorted(m) for n, m in lines.items()} for file, lines in marks.items()}

    # Paths

    def picture(self, path: Path) -> Picture:
        """A path as a drawing; long ones, and mild ones once the page is full, folded to what decides."""
        steps = list(dict.fromkeys(path.steps))
        edges = [(a, b) for a in steps for b in self._edges.get(a, ()) if b in set(steps)]
        folded = 0
        if len(steps) > min(_FOLD_ABOVE, self._left):
            kept = self._kept(steps, path)
            edges = _bridged(steps, edges, kept)
            folded = len(steps) - len(kept)
            steps = [step for step in steps if step in kept]
        self._left = max(0, self._left - len(steps))
        drawn = drawing.draw(steps, edges)
        numbers = {b.gate: i for i, b in reversed(list(enumerate(path.barriers, 1)))}
        vertices = tuple(self._vertex(box, numbers.get(box.id, 0)) for box in drawn.boxes)
        return Picture(vertices, drawn.lines, drawn.width, drawn.height, folded)

    def _kept(self, steps: Sequence[str], path: Path) -> set[str]:
        """Entry, barriers, builds, exports; then kernels as long as there is room."""
        barriers = {barrier.gate for barrier in path.barriers}
        kinds = {"entry", "build", "export", "library"}
        kept = [s for s in steps if s in barriers or (s in self.nodes and self.nodes[s].kind in kinds)]
        kernels = [s for s in steps if s in self.nodes and self.nodes[s].kind == "kernel"]
        return {*steps[:1], *(kept + kernels)[:_FOLD_ABOVE]}

    def _vertex(self, box: drawing.Box, number: int) -> Vertex:
        gate = self.gates.get(box.id)
        if gate is not None:
            name = gate.code if gate.layer in ("jit", "guard") else gate.scope or gate.code
            kind = f"{gate.layer} gate"
            file, line, href = gate.file, gate.line, self.gate_anchor(gate.id)
            title = words.plain(words.sentence(gate, self.target))
        elif box.id in self.nodes:
            node = self.nodes[box.id]
            name, kind, file, line = node.name, node.kind, node.file, node.line
            href, title = self.line_anchor(file, line), f"{node.kind} {node.name}"
        else:
            return Vertex(box.x, box.y, "", box.id, "", "", number, False, box.id)
        return Vertex(
            box.x,
            box.y,
            kind,
            name,
            f"{file}:{line}",
            href,
            number,
            gate is not None,
            f"{title}\n{file}:{line}",
        )

    # Data for the page's script

    @cached_property
    def script_data(self) -> dict[str, object]:
        """What the script needs beside the page itself: steps with their places, barriers, open cells."""
        files: dict[str, int] = {}
        index: dict[str, int] = {}
        steps: list[list[object]] = []

        def step(identity: str) -> int:
            if identity not in index:
                index[identity] = len(steps)
                steps.append(self._step(identity, files))
            return index[identity]

        paths = {
            self.path_anchor(path): {
                "steps": [step(identity) for identity in dict.fromkeys(path.steps)],
                "barriers": [[self.gate_anchor(b.gate), b.when] for b in path.barriers],
            }
            for path in self.paths
        }
        return {
            "target": self.target,
            "paths": paths,
            "steps": steps,
            "files": list(files),
            "ids": {self.gate_anchor(gate.id): gate.id for gate in self.report.gates},
        }

    def _step(self, identity: str, files: dict[str, int]) -> list[object]:
        """``[kind, name, file, line, anchor of the gate or ""]``."""
        gate = self.gates.get(identity)
        if gate is not None:
            number = files.setdefault(gate.file, len(files))
            caption = words.plain(words.sentence(gate, self.target))
            return [f"{gate.layer} gate", caption, number, gate.line, self.gate_anchor(identity)]
        node = self.nodes.get(identity)
        if node is None:
            return ["", identity, -1, 0, ""]
        return [node.kind, node.name, files.setdefault(node.file, len(files)), node.line, ""]


def _outgoing(report: Report) -> dict[str, list[str]]:
    """Edges of the graph by where they begin."""
    found: dict[str, list[str]] = {}
    for edge in report.edges:
        found.setdefault(edge.source, []).append(edge.target)
    return found


def _bridged(steps: Iterable[str], edges: Iterable[tuple[str, str]], kept: set[str]) -> list[tuple[str, str]]:
    """The edges among the kept steps, a way over steps that are left out counted as one."""
    after: dict[str, list[str]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    result: dict[tuple[str, str], None] = {}
    for start in steps:
        if start not in kept:
            continue
        seen: set[str] = set()
        pending = list(reversed(after.get(start, [])))
        while pending:
            step = pending.pop()
            if step in seen:
                continue
            seen.add(step)
            if step in kept:
                result[start, step] = None
            else:
                pending.extend(reversed(after.get(step, [])))
    return list(result)
