"""The history of a package on a terminal, in Markdown, and in HTML with its plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from analyzer.ci.history import STATUSES, History, Point
from analyzer.report import markdown, words
from analyzer.report.html import environment
from analyzer.report.screen import Screen, text
from analyzer.report.sheets import diff
from analyzer.report.sheets.sheet import Sheet

_LEVELS = ("error", "warning", "note")
_HEIGHT, _BAR, _GAP, _LEFT = 220, 46, 26, 44
"""Of a plot, in pixels: the tallest bar, the width of a bar, the room between two, the room for numbers."""


def title(history: History) -> str:
    """What the page is about."""
    first, last = history.points[0].version, history.points[-1].version
    span = first if first == last else f"{first} to {last}"
    return f"{history.package} {span}: what {history.target} loses against {words.listed(history.references)}"


def rows(history: History) -> list[list[str]]:
    """The table: a head, then a row for each release."""
    layers, cells = history.layers, _statuses(history)
    head = ["release", *_LEVELS, *(f"{layer} findings" for layer in layers), *cells, "worse", "better"]
    return [head, *(_row(point, layers, cells) for point in history.points)]


def _row(point: Point, layers: Sequence[str], cells: Sequence[str]) -> list[str]:
    numbers: list[int | None] = [
        *(_count(point.severities, level) for level in _LEVELS),
        *(_count(point.findings, layer) for layer in layers),
        *(_count(point.cells, status) for status in cells),
        point.worse,
        point.better,
    ]
    return [point.version, *("" if number is None else str(number) for number in numbers)]


def _count(counts: Mapping[Any, int], name: str) -> int:
    return counts.get(name, 0)


def _statuses(history: History) -> list[str]:
    return [status for status in STATUSES if any(status in point.cells for point in history.points)]


def terminal(history: History, screen: Screen | None = None) -> str:
    """A table."""
    screen = screen or Screen()
    head, *body = rows(history)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left")
    for row in body:
        table.add_row(*(text(cell) for cell in row))
    return screen.render([text(title(history), "bold"), "", table])


def as_markdown(history: History) -> bytes:
    """The table, and what is new or worse in each release."""
    head, *body = rows(history)
    lines = [f"## {markdown.escape(title(history))}", "", "| " + " | ".join(head) + " |"]
    lines.append("|:--" + "|--:" * (len(head) - 1) + "|")
    lines += ["| " + " | ".join(markdown.escape(cell) for cell in row) + " |" for row in body]
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: its place in the plot, its number, which of the plot's names it stands for."""

    y: float
    height: float
    count: int
    kind: int


@dataclass(frozen=True, slots=True)
class Bar:
    """One release in a plot."""

    x: int
    version: str
    total: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """Stacked bars over releases; sizes in pixels."""

    title: str
    names: tuple[str, ...]
    bars: tuple[Bar, ...]
    width: int
    height: int = _HEIGHT
    bar: int = _BAR


def plot(title: str, names: Sequence[str], points: Sequence[tuple[str, Mapping[Any, int]]]) -> Plot:
    """Lay out the bars: the tallest fills the height, all begin at the bottom."""
    top = max((sum(counts.get(name, 0) for name in names) for _, counts in points), default=0) or 1
    bars = []
    for number, (version, counts) in enumerate(points):
        bottom = float(_HEIGHT)
        parts = []
        for kind, name in enumerate(names):
            count = counts.get(name, 0)
            height = round(count / top * _HEIGHT, 2)
            bottom = round(bottom - height, 2)
            if count:
                parts.append(Part(bottom, height, count, kind))
        total = sum(part.count for part in parts)
        bars.append(Bar(_LEFT + number * (_BAR + _GAP), version, total, tuple(parts)))
    return Plot(title, tuple(names), tuple(bars), _LEFT + len(points) * (_BAR + _GAP))


def as_html(history: History) -> bytes:
    """One file: plots, the table, and the changes of each release."""
    plots = [plot("Findings by layer", history.layers, [(p.version, p.findings) for p in history.points])]
    if statuses := _statuses(history):
        cells = [(p.version, p.cells) for p in history.points]
        plots.append(plot(f"The support matrix for {history.target}", statuses, cells))
    sheets: list[Sheet] = [diff.sheet(step) for step in reversed(history.diffs)]
    page = environment().get_template("history.html.j2")
    return page.render(title=title(history), plots=plots, rows=rows(history), sheets=sheets).encode()
