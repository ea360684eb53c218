"""What the HTML page shows, worked out from a report: groups of architectures, links, lists, areas."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import get_args

import msgspec

from analyzer.ci.marks import UNMARKED, Marks
from analyzer.graph.paths import met
from analyzer.model import (
    SEVERITIES,
    Build,
    Cell,
    Gate,
    Input,
    Path,
    Predicate,
    Report,
    Severity,
    Status,
    Step,
    Unresolved,
    Verdict,
)
from analyzer.report import tally
from analyzer.report.anchors import gate_anchor, path_anchor
from analyzer.report.gallery import Gallery, Picture
from analyzer.report.listing import Code
from analyzer.report.opening import Opening, Openings
from analyzer.report.source import Source

_BARREN = "read, no gate"
_BUILD = "build:"
_STATES = {"new": "new", "updated": "changed", "unchanged": "known"}

#: A caption with its value on each architecture.
_Values = tuple[str, Mapping[str, str] | Mapping[str, Verdict]]


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
class Folder:
    """Files of one folder that were read and hold no gate; ``names`` without the folder."""

    path: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the matrix: a cell; or several choices of one API of which nothing is known, for one reason.

    ``why`` is that reason, empty for a row of its own.
    """

    cells: tuple[Cell, ...]
    why: str = ""

    @property
    def cell(self) -> Cell:
        """The first of them."""
        return self.cells[0]

    @property
    def backend(self) -> str:
        """Its choice, or all of them."""
        return ", ".join(cell.backend for cell in self.cells)


@dataclass(frozen=True)
class Area:
    """Rows of the matrix that belong together: a field of work; ``number`` tells areas apart in anchors."""

    name: str
    number: int
    cells: tuple[Cell, ...]

    @cached_property
    def lines(self) -> list[Line]:
        """The rows by API, those of which something is known first; the others of an API in one row."""
        found: list[Line] = []
        for _, cells in groupby(self.cells, key=lambda cell: cell.api):
            dark: dict[str, list[Cell]] = {}
            for cell in cells:
                why = _nothing_known(cell)
                if why:
                    dark.setdefault(why, []).append(cell)
                else:
                    found.append(Line((cell,)))
            found += [Line(tuple(alike), why) for why, alike in dark.items()]
        return found

    @cached_property
    def names(self) -> dict[str, str]:
        """What each API is called here: its last word; in full where two end alike."""
        short = {api: api.rpartition(".")[2] for api in dict.fromkeys(cell.api for cell in self.cells)}
        counts = Counter(short.values())
        return {api: name if counts[name] == 1 else api for api, name in short.items()}

    @cached_property
    def notes(self) -> dict[str, int]:
        """Reasons of its unknown cells, numbered from 1 in the order of the rows."""
        shown = [line.cell for line in self.lines if not line.why]
        whys = dict.fromkeys(why for cell in shown for why in cell.why.values())
        return {why: number for number, why in enumerate(whys, 1)}

    def tally(self, arch: str) -> list[tuple[Status, int]]:
        """How many of its cells have each status on an architecture; those that none has are left out."""
        counts = Counter(cell.status.get(arch, "unknown") for cell in self.cells)
        return [(status, counts[status]) for status in get_args(Status) if counts[status]]


@dataclass(frozen=True, slots=True)
class Detail:
    """How much a page tells of what matters least; ``smgate explain`` and the JSON have all.

    ``harmless``: gates that take nothing from the target have a card each, not a row of the table alone.
    ``drawn``: how many ways are drawn and can be followed step by step, worst first. ``steps``: of a finding.
    ``alike``: findings of a package that share condition and effect have a card each, not the first alone.
    """

    harmless: bool = True
    drawn: int = sys.maxsize
    steps: int = sys.maxsize
    alike: bool = True


#: From all to the least. A page is written with the first that leaves it small enough.
DETAILS = (
    Detail(),
    Detail(harmless=False, drawn=600),
    Detail(harmless=False, drawn=100, steps=4, alike=False),
)
#: Steps shown of a gate that takes nothing from the target.
_STEPS = 6


class Page:
    """Everything that the templates ask for. A pure function of a report, its marks and the code it names."""

    def __init__(
        self,
        report: Report,
        source: Source,
        marks: Marks = UNMARKED,
        detail: Detail = DETAILS[0],
        openings: Openings | None = None,
    ) -> None:
        self.report = report
        self.marks = marks
        self.detail = detail
        self.compared = marks.states is not None
        self.target = report.target.arch
        self.gates: dict[str, Gate] = {gate.id: gate for gate in report.gates}
        self.nodes = {node.id: node for node in report.nodes}
        self.findings = tally.worst_first(report.findings)
        found = {gate.id for gate in self.findings}
        self.others = tally.worst_first(gate for gate in report.gates if gate.id not in found)
        self.paths = tally.paths_worst_first(report.paths)
        self.by_severity = tally.by_severity(report)
        self.by_layer = tally.by_layer(report)
        self.drawn = self.paths[: detail.drawn]
        named = {barrier.gate for path in self.paths for barrier in path.barriers}
        named |= {step for path in self.drawn for step in path.steps}
        self.told = [
            gate
            for gate in self.others
            if detail.harmless or gate.id in named or gate.verdict.get(self.target) == "unknown"
        ]
        few = named | {group.first.id for group in tally.alike(self.findings, self.package)}
        self.cards = [gate for gate in self.findings if detail.alike or gate.id in few]
        self.carded = {gate.id for gate in (*self.cards, *self.told)}
        self.code = Code(
            report,
            source,
            [(gate, self.steps(gate)) for gate in (*self.cards, *self.told)],
            self.drawn,
        )
        self._openings = openings or Openings(report, source)

    # Against a baseline

    def state(self, gate: Gate) -> str:
        """What a gate is to the baseline: ``new``, ``changed`` or ``known``; empty where there is none."""
        return (
            _STATES[self.marks.states[gate.id]] if self.marks.states and gate.id in self.marks.states else ""
        )

    def fresh(self, severity: Severity) -> int:
        """How many findings of a severity are new or changed."""
        return sum(g.severity == severity and self.state(g) in ("new", "changed") for g in self.findings)

    # Gates

    def steps(self, gate: Gate) -> tuple[Step, ...]:
        """What is shown of how a gate is decided."""
        return gate.because[: _STEPS if gate.effect == "none" else self.detail.steps]

    def facts(self, gate: Gate) -> tuple[str, ...]:
        """What lists are filtered by, in the order in which the page's script takes it."""
        return (
            gate.severity,
            gate.layer,
            gate.effect,
            self.package(gate.file),
            gate.justification.kind if gate.justification else "none given",
            "silent" if gate.silent else "announced",
            self.state(gate),
        )

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

    def opening(self, gate: Gate) -> Opening | None:
        """How a gate is opened; None where its text alone cannot do it, or the hardware stands behind it."""
        return self._openings.of(gate)

    @cached_property
    def ways(self) -> dict[str, list[Path]]:
        """For each gate, the paths that it bars, worst first."""
        found: dict[str, list[Path]] = {}
        for path in self.paths:
            for identity in dict.fromkeys(barrier.gate for barrier in path.barriers):
                found.setdefault(identity, []).append(path)
        return found

    def end(self, path: Path) -> str:
        """What tells a way in from others of its entry: the build or the library that it leads to."""
        ends = [self.nodes[step] for step in path.steps if step in self.nodes]
        return next((node.name for node in ends if node.kind in ("build", "library")), "")

    def package(self, file: str) -> str:
        """The scanned package that a file belongs to; its first folder where none claims it."""
        return next(
            (i.package for i in self._inputs if file == i.root or file.startswith(f"{i.root}/")),
            file.partition("/")[0],
        )

    @cached_property
    def _inputs(self) -> list[Input]:
        return sorted(self.report.inputs, key=lambda i: -len(i.root))

    # Builds

    @cached_property
    def builds(self) -> list[Build]:
        """Every build, those that the target cannot make first."""
        order = ("raises", "unknown", "ok")
        return sorted(self.report.builds, key=lambda b: order.index(b.outcome.get(self.target, "unknown")))

    @cached_property
    def refusing(self) -> dict[str, list[Gate]]:
        """For each build, by name, the gates that keep the target from making it, or let it in wrongly."""
        found: dict[str, dict[str, Gate]] = {}
        for edge in self.report.edges:
            gate = self.gates.get(edge.source)
            if edge.kind == "opens" and edge.target.startswith(_BUILD) and gate and gate.effect != "none":
                found.setdefault(edge.target.removeprefix(_BUILD), {})[gate.id] = gate
        lists = [gate for gate in self.report.gates if gate.layer == "jit" and gate.effect != "none"]
        for build in self.report.builds:
            own = build.file, build.function.rpartition(".")[2]
            for gate in lists:
                if (gate.file, gate.scope) == own:
                    found.setdefault(build.name, {})[gate.id] = gate
        return {name: list(gates.values()) for name, gates in found.items()}

    # Matrix

    @cached_property
    def columns(self) -> list[str]:
        """The architectures of the matrix: the target, the references, the others."""
        return list(dict.fromkeys((self.target, *self.report.references, *self.report.archs)))

    @cached_property
    def areas(self) -> list[Area]:
        """The matrix by field of work, in its own order."""
        groups: dict[str, list[Cell]] = {}
        for cell in self.report.matrix:
            groups.setdefault(cell.area or cell.api.rpartition(".")[0] or cell.api, []).append(cell)
        return [Area(name, number, tuple(cells)) for number, (name, cells) in enumerate(groups.items())]

    def cell_link(self, cell: Cell, arch: str) -> str:
        """Where a cell leads: the path that its first reason bars, else that gate; empty without reason."""
        for identity in cell.reasons.get(arch, ()):
            ways = self.ways.get(identity) if arch == self.target else None
            own = [p for p in ways or () if _enters(p, cell)]
            if own:
                return path_anchor(own[0].id)
            if identity in self.gates:
                return gate_anchor(identity)
        return ""

    def cell_ways(self, cell: Cell) -> list[Path]:
        """The ways in of a cell's API that its reasons bar: what stands behind these counts as well."""
        reasons = set(cell.reasons.get(self.target, ()))
        found = (path for path in self.paths if _enters(path, cell))
        return [path for path in found if reasons.intersection(barrier.gate for barrier in path.barriers)]

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
        read = _BARREN if not gates else ""
        note = f"not read: {skipped}" if skipped else read
        return FileRow(
            file, self.package(file), expressions, tuple(ordered), len(findings), SEVERITIES[worst], note
        )

    @cached_property
    def barren(self) -> list[Folder]:
        """Files that were read in which nothing depends on the architecture, by folder."""
        folders: dict[str, list[str]] = {}
        for row in self.files:
            if not row.gates and not row.expressions and row.note == _BARREN:
                folder, _, name = row.file.rpartition("/")
                folders.setdefault(folder, []).append(name)
        return [Folder(path, tuple(names)) for path, names in sorted(folders.items())]

    @cached_property
    def telling(self) -> list[FileRow]:
        """All other files."""
        return [row for row in self.files if row.gates or row.expressions or row.note != _BARREN]

    @cached_property
    def unresolved(self) -> list[tuple[str, list[Unresolved]]]:
        """Undecided places by reason, what blocks most conditions first."""
        groups: dict[str, list[Unresolved]] = {}
        for place in self.report.coverage.unresolved:
            groups.setdefault(" ".join(place.why.split()), []).append(place)
        return sorted(groups.items(), key=lambda item: (-sum(one.blocks for one in item[1]), item[0]))

    # Paths

    @cached_property
    def entries(self) -> dict[str, list[Path]]:
        """The ways of each entry that has several, by its name, worst first."""
        found: dict[str, list[Path]] = {}
        for path in self.paths:
            found.setdefault(path.entry.name, []).append(path)
        return {name: ways for name, ways in found.items() if len(ways) > 1}

    @cached_property
    def wholes(self) -> dict[str, Picture]:
        """All ways of an entry that has several as one picture, by its name."""
        wholes = [
            msgspec.structs.replace(
                ways[0],
                id=name,
                steps=tuple(dict.fromkeys(step for way in ways for step in way.steps)),
                barriers=tuple(met({b.gate: b for way in ways for b in way.barriers}.values(), self.gates)),
            )
            for name, ways in self.entries.items()
            if all(way.id in self.pictures for way in ways)
        ]
        return Gallery(self.report, self.code.anchor, 0).pictures(wholes)

    @cached_property
    def pictures(self) -> dict[str, Picture]:
        """Every path drawn, by path id."""
        return Gallery(self.report, self.code.anchor).pictures(self.drawn)


def _nothing_known(cell: Cell) -> str:
    """Why a cell is unknown on every architecture without a gate to name; empty if something is known."""
    whys = set(cell.why.values())
    if cell.reasons or len(whys) != 1 or set(cell.status.values()) != {"unknown"}:
        return ""
    return whys.pop()


def _enters(path: Path, cell: Cell) -> bool:
    """Whether a way in starts at a cell's API or a method of it, and is not one of other back ends."""
    if path.entry.name != cell.api and not path.entry.name.startswith(f"{cell.api}."):
        return False
    return not cell.backend or not path.backends or cell.backend in path.backends
