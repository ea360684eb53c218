"""Paths as pictures: what each box says, and which boxes are left out when there are too many."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from analyzer.model import Gate, Node, Path, Report
from analyzer.report import drawing
from analyzer.report.anchors import gate_anchor
from analyzer.report.source import elide_start, one_line

_INLINE = 600
"""Boxes that stand in the page as SVG; pictures of milder paths are set from their layout by the script."""
_LONGEST = 60
"""Boxes of one picture that can still be read; a longer path is folded."""
_LINE, _SIGN, _BELOW = 31, 5, 37
"""Characters of a line of a label, of the sign before it, and of the smaller line below."""
_BREAK = re.compile(r"(?<=[-._:\s(])(?=[^-._:\s(])|(?<=[a-z])(?=[A-Z])")
_NAMESPACES = re.compile(r"^(?:\w+::)+(?=\w)")
_LANDMARKS = frozenset({"entry", "build", "export", "library"})


@dataclass(frozen=True, slots=True)
class Vertex:
    """A box. ``number`` is its place among the barriers of the path, 0 for none."""

    step: str
    x: int
    y: int
    kind: str
    name: str
    label: str
    """The name as drawn, on one or two lines."""
    place: str
    href: str
    number: int
    gate: bool

    @property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Lines with their height: the name, with a sign for what it does to the target; kind and place."""
        sign = f"✕ {self.number} " if self.number else "✓ " if self.gate else ""
        place = elide_start(one_line(self.place), max(8, _BELOW - len(self.kind)))
        below = f"{self.kind} {place}".strip()
        first, _, second = f"{sign}{self.label}".partition("\n")
        return ((first, 17), (second, 31), (below, 47)) if second else ((first, 23), (below, 42))

    @property
    def title(self) -> str:
        """In full, for the pointer."""
        return f"{self.kind} {one_line(self.name, 200)} {self.place}".strip()


@dataclass(frozen=True, slots=True)
class Picture:
    """A path as drawn; ``folded`` steps between the boxes are left out.

    ``links`` are pairs of indices into ``vertices``, ``lines`` the same as the data of one SVG path.
    """

    vertices: tuple[Vertex, ...]
    links: tuple[tuple[int, int], ...]
    lines: str
    width: int
    height: int
    folded: int
    inline: bool


class Gallery:
    """The pictures of a page; the first ``inline`` boxes, in the order of ``paths``, stand in it as SVG."""

    def __init__(self, report: Report, line_anchor: Callable[[str, int], str], inline: int = _INLINE) -> None:
        self._inline = inline
        self._gates = {gate.id: gate for gate in report.gates}
        self._nodes = {node.id: node for node in report.nodes}
        self._after: dict[str, list[str]] = {}
        for edge in report.edges:
            self._after.setdefault(edge.source, []).append(edge.target)
        self._line_anchor = line_anchor

    def pictures(self, paths: Iterable[Path]) -> dict[str, Picture]:
        """A picture for each path, by path id."""
        left = self._inline
        result: dict[str, Picture] = {}
        for path in paths:
            result[path.id] = self._picture(path, left > 0)
            left -= len(result[path.id].vertices)
        return result

    def _picture(self, path: Path, inline: bool) -> Picture:
        steps = list(dict.fromkeys(path.steps))
        among = set(steps)
        edges = [(a, b) for a in steps for b in self._after.get(a, ()) if b in among]
        folded = 0
        if len(steps) > _LONGEST:
            kept = self._kept(steps, path)
            edges = bridged(steps, edges, kept)
            folded = len(steps) - len(kept)
            steps = [step for step in steps if step in kept]
        drawn = drawing.draw(steps, edges)
        numbers = {b.gate: i for i, b in reversed(list(enumerate(path.barriers, 1)))}
        vertices = tuple(self._vertex(box, numbers.get(box.id, 0)) for box in drawn.boxes)
        lines = " ".join(drawing.line(drawn.boxes[a], drawn.boxes[b]) for a, b in drawn.links)
        return Picture(vertices, drawn.links, lines, drawn.width, drawn.height, folded, inline)

    def _kept(self, steps: Sequence[str], path: Path) -> set[str]:
        """Where the path begins, its barriers, builds and exports; then kernels as long as there is room."""
        barriers = {barrier.gate for barrier in path.barriers}
        kinds = {step: self._nodes[step].kind for step in steps if step in self._nodes}
        firm = [s for s in steps if s in barriers or kinds.get(s) in _LANDMARKS]
        kernels = [s for s in steps if kinds.get(s) == "kernel"]
        return {*steps[:1], *(firm + kernels)[:_LONGEST]}

    def _vertex(self, box: drawing.Box, number: int) -> Vertex:
        gate = self._gates.get(box.id)
        if gate is not None:
            name, kind = gate_name(gate), f"{gate.layer} gate"
            place, href = f"{gate.file}:{gate.line}", gate_anchor(gate.id)
            return Vertex(box.id, box.x, box.y, kind, name, label(name, True), place, href, number, True)
        node = self._nodes.get(box.id)
        if node is None:
            return Vertex(box.id, box.x, box.y, "", box.id, label(box.id), "", "", number, False)
        place, href = f"{node.file}:{node.line}", self._line_anchor(node.file, node.line)
        drawn = label(short(node))
        return Vertex(box.id, box.x, box.y, node.kind, node.name, drawn, place, href, number, False)


def gate_name(gate: Gate) -> str:
    """What a box calls a gate: what is lost, its condition where that is short by nature, else its scope."""
    if gate.effect == "empty_kernel":
        return f"nothing is left of {gate.scope.rpartition('::')[2]}"
    if gate.effect == "lost_sync" and gate.loses:
        return f"without {gate.loses[0].what}"
    return gate.code if gate.layer in ("jit", "guard") else gate.scope or gate.code


def short(node: Node) -> str:
    """The name of a node without what its place says: the module of a function, the folder of a file."""
    if node.kind in ("source", "library"):
        return node.name.rpartition("/")[2]
    module = node.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    name = node.name.removeprefix(f"{module}.")
    return name if node.kind == "entry" else _NAMESPACES.sub("", name)


def label(name: str, gate: bool = False) -> str:
    """A name on at most two lines, broken between its parts; what is too long for them is cut in the middle.

    The first line leaves room for the sign of a gate.
    """
    room = _LINE - _SIGN if gate else _LINE
    text = one_line(name, room + _LINE)
    if len(text) <= room:
        return text
    breaks = [at.start() for at in _BREAK.finditer(text) if len(text) - _LINE <= at.start() <= room]
    at = breaks[-1] if breaks else room
    return f"{text[:at].rstrip()}\n{text[at:].lstrip()}"


def bridged(steps: Iterable[str], edges: Iterable[tuple[str, str]], kept: set[str]) -> list[tuple[str, str]]:
    """The edges among the kept steps, a way over steps that are left out counted as one."""
    after: dict[str, list[str]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    result: dict[tuple[str, str], None] = {}
    for start in steps:
        if start in kept:
            for end in _next_kept(start, after, kept):
                result[start, end] = None
    return list(result)


def _next_kept(start: str, after: dict[str, list[str]], kept: set[str]) -> list[str]:
    """The kept steps that can be reached over steps that are left out, in a fixed order."""
    found: list[str] = []
    seen: set[str] = set()
    pending = list(reversed(after.get(start, [])))
    while pending:
        step = pending.pop()
        if step in seen:
            continue
        seen.add(step)
        if step in kept:
            found.append(step)
        else:
            pending.extend(reversed(after.get(step, [])))
    return found
