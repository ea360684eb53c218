"""Lays out a path as a picture: chains run down a column, every fork opens the next column to the right.

A path through an installed tree is long (entry, calls, a gate, a build) before it fans out (sources,
exports, kernels, guards). Columns of chains keep twenty to sixty boxes on a page at reading size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 260
HEIGHT = 56
ROW = HEIGHT + 14
BETWEEN = 12
GAP = 60
MARGIN = 12
_CHAIN = 7
"""Boxes of one chain in one column; a longer chain goes on in the next."""
_TALL = 8
"""Chains that lead nowhere in one column."""


@dataclass(frozen=True, slots=True)
class Box:
    """A vertex with its upper left corner, in pixels."""

    id: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes in the order of the path; ``links`` are pairs of indices into them."""

    boxes: tuple[Box, ...]
    links: tuple[tuple[int, int], ...]
    width: int
    height: int


def draw(steps: Sequence[str], edges: Sequence[tuple[str, str]]) -> Drawing:
    """Lay out the steps, each once, with the edges among them; without any edge the steps are a chain.

    Cycles are opened at the step that comes first. The result depends on the arguments alone.
    """
    order = list(dict.fromkeys(steps))
    position = {step: index for index, step in enumerate(order)}
    known = list(dict.fromkeys((a, b) for a, b in edges if a in position and b in position and a != b))
    if not known:
        known = list(pairwise(order))
    sequence, kept = _acyclic(order, known)
    columns = _columns(sequence, kept)
    boxes = _place(columns, kept)
    width = (max(box.x for box in boxes.values()) if boxes else 0) + WIDTH + MARGIN
    height = (max(box.y for box in boxes.values()) if boxes else 0) + HEIGHT + MARGIN
    links = tuple((position[a], position[b]) for a, b in known)
    return Drawing(tuple(boxes[step] for step in order), links, width, height)


def _acyclic(
    order: Sequence[str], edges: Sequence[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """A topological order that follows the path, and the edges that agree with it."""
    waiting = {step: {a for a, b in edges if b == step} for step in order}
    done: dict[str, None] = {}
    while len(done) < len(order):
        rest = [step for step in order if step not in done]
        ready = next((step for step in rest if waiting[step] <= done.keys()), rest[0])
        done[ready] = None
    rank = {step: index for index, step in enumerate(done)}
    return list(done), [(a, b) for a, b in edges if rank[a] < rank[b]]


def _columns(sequence: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[list[list[str]]]:
    """Chains by column: a vertex stays below its only predecessor if it is that one's only successor."""
    before: dict[str, list[str]] = {step: [] for step in sequence}
    after: dict[str, list[str]] = {step: [] for step in sequence}
    for a, b in edges:
        before[b].append(a)
        after[a].append(b)
    column: dict[str, int] = {}
    chain: dict[str, list[str]] = {}
    result: list[list[list[str]]] = []
    for step in sequence:
        parents = before[step]
        joins = len(parents) == 1 and len(after[parents[0]]) == 1 and len(chain[parents[0]]) < _CHAIN
        if joins:
            chain[step] = chain[parents[0]]
            chain[step].append(step)
            column[step] = column[parents[0]]
            continue
        column[step] = max((column[parent] + 1 for parent in parents), default=0)
        chain[step] = [step]
        while len(result) <= column[step]:
            result.append([])
        result[column[step]].append(chain[step])
    return _spread(result, after)


def _spread(columns: list[list[list[str]]], after: Mapping[str, Sequence[str]]) -> list[list[list[str]]]:
    """What leads nowhere goes on in the next column where one holds too much of it."""
    done: list[list[list[str]]] = []
    left: list[list[str]] = []
    for chains in columns:
        chains = [*left, *chains]
        ends = [chain for chain in chains if not after[chain[-1]]]
        left = ends[_TALL:]
        done.append([chain for chain in chains if chain not in left])
    while left:
        done.append(left[:_TALL])
        left = left[_TALL:]
    return done


def _place(columns: list[list[list[str]]], edges: Sequence[tuple[str, str]]) -> dict[str, Box]:
    """Each column's chains beside the middle of what leads to them, without overlap."""
    before: dict[str, list[str]] = {}
    for a, b in edges:
        before.setdefault(b, []).append(a)
    tops: dict[str, float] = {}
    for chains in columns:
        _stack(chains, before, tops)
    lowest = min(tops.values(), default=0.0)
    return {
        step: Box(step, MARGIN + index * (WIDTH + GAP), MARGIN + round(tops[step] - lowest))
        for index, chains in enumerate(columns)
        for chain in chains
        for step in chain
    }


def _stack(chains: list[list[str]], before: Mapping[str, list[str]], tops: dict[str, float]) -> None:
    """Give the chains of one column their tops: where they want to be, then pushed apart."""
    wishes = []
    for index, chain in enumerate(chains):
        parents = [tops[parent] for parent in before.get(chain[0], ()) if parent in tops]
        wishes.append((sum(parents) / len(parents) if parents else 0.0, index))
    wishes.sort()
    placed: list[float] = []
    free = float("-inf")
    for wish, index in wishes:
        top = max(wish, free)
        placed.append(top)
        free = top + len(chains[index]) * ROW + BETWEEN
    shift = sum(p - wish for p, (wish, _) in zip(placed, wishes, strict=True)) / max(1, len(placed))
    for top, (_, index) in zip(placed, wishes, strict=True):
        for row, step in enumerate(chains[index]):
            tops[step] = top - shift + row * ROW


def line(a: Box, b: Box) -> str:
    """The link between two boxes as data of an SVG path: down a column, a curve to the next, a bow back.

    The page's script draws by the same rules what is not drawn here.
    """
    if a.x == b.x:
        x = a.x + WIDTH // 2
        if 0 < b.y - a.y <= ROW:
            return f"M{x} {a.y + HEIGHT}V{b.y}"
        side = a.x + WIDTH
        return f"M{side} {a.y + HEIGHT // 2}C{side + 40} {a.y} {side + 40} {b.y} {side} {b.y + HEIGHT // 2}"
    left, right = (a, b) if a.x < b.x else (b, a)
    x1, y1 = left.x + WIDTH, left.y + HEIGHT // 2
    x2, y2 = right.x, right.y + HEIGHT // 2
    bend = (x2 - x1) // 2
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
