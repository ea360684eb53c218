"""The support matrix as a table for the terminal, as JSON, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from analyzer.model import Cell, Gate, Report
from analyzer.report import words
from analyzer.report.screen import Screen, text
from analyzer.report.source import elide_start

#: Each state in few letters, and its colour.
_SIGNS = {
    "supported": ("yes", "green"),
    "degraded": ("degraded", "yellow"),
    "unsupported": ("no", "red"),
    "unknown": ("?", "magenta"),
}
#: The same as one sign, where there are many columns.
_MARKS = {"yes": "✓", "degraded": "◐", "no": "✕", "?": "?"}
_DECIDING = 3
"""Deciding places that a row names."""


@dataclass(frozen=True, slots=True)
class View:
    """The rows and columns of a report's matrix that were asked for; reasons are given for ``arch``."""

    report: Report
    cells: tuple[Cell, ...]
    archs: tuple[str, ...]
    arch: str


def view(report: Report, pattern: str | None = None, archs: Sequence[str] = ()) -> View:
    """Choose rows by a pattern with ``*`` and ``?`` (or a part of the name), columns by architecture.

    Reasons are given for the target, or, where that is not among the columns, for the first of them.
    """
    cells = tuple(cell for cell in report.matrix if pattern is None or _fits(cell, pattern))
    columns = tuple(arch for arch in archs if arch in report.archs) or report.archs
    target = report.target.arch
    return View(report, cells, columns, target if target in columns else columns[0])


def _fits(cell: Cell, pattern: str) -> bool:
    names = (cell.api, f"{cell.api}={cell.backend}", f"{cell.api} {cell.backend}")
    if any(sign in pattern for sign in "*?["):
        return any(fnmatchcase(name, pattern) for name in names)
    return any(pattern in name for name in names)


def deciding(chosen: View, cell: Cell) -> list[Gate]:
    """The gates that decide a row on the architecture that reasons are given for."""
    gates = {gate.id: gate for gate in chosen.report.gates}
    return [gates[identity] for identity in cell.reasons.get(chosen.arch, ()) if identity in gates]


def table(chosen: View, screen: Screen | None = None) -> str:
    """The matrix for a terminal, by area."""
    screen = screen or Screen()
    return screen.render(_parts(chosen, screen))


def _parts(chosen: View, screen: Screen) -> Iterator[RenderableType]:
    if not chosen.cells:
        yield Text("no row of the matrix fits")
        return
    for area, cells in groupby(chosen.cells, key=lambda cell: cell.area):
        grid = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
        grid.add_column(area or "other", overflow="fold")
        grid.add_column("back end", overflow="fold")
        for arch in chosen.archs:
            grid.add_column(arch.removeprefix("sm_"), no_wrap=True)
        grid.add_column(f"decided on {chosen.arch} at", no_wrap=True)
        last = ""
        for cell in cells:
            signs = [Text(_MARKS[_sign(cell, arch)[0]], _sign(cell, arch)[1]) for arch in chosen.archs]
            name = "" if cell.api == last else cell.api
            grid.add_row(text(name, "bold"), text(_backend(chosen, cell)), *signs, text(_first(chosen, cell)))
            last = cell.api
        yield grid
        yield Text("")
    yield Text("✓ works   ◐ degraded   ✕ does not   ? not decided", "dim")
    yield text(_counted(chosen), "dim")


def _sign(cell: Cell, arch: str) -> tuple[str, str]:
    return _SIGNS[cell.status.get(arch, "unknown")]


def _backend(chosen: View, cell: Cell) -> str:
    """The back end, with what an automatic choice comes to."""
    picked = cell.chosen.get(chosen.arch)
    return f"{cell.backend} → {picked}" if picked and picked != cell.backend else cell.backend


def _why(chosen: View, cell: Cell) -> str:
    places = list(dict.fromkeys(f"{gate.file}:{gate.line}" for gate in deciding(chosen, cell)))
    shown = places[:_DECIDING]
    if len(places) > _DECIDING:
        shown.append(f"and {len(places) - _DECIDING} more")
    return ", ".join(shown)


def _first(chosen: View, cell: Cell) -> str:
    """The place at which the target is stopped first, and how many more there are."""
    places = list(dict.fromkeys(f"{gate.file}:{gate.line}" for gate in deciding(chosen, cell)))
    more = f" +{len(places) - 1}" if len(places) > 1 else ""
    return elide_start(places[0], 36) + more if places else ""


def _counted(chosen: View) -> str:
    counts = dict.fromkeys(_SIGNS, 0)
    for cell in chosen.cells:
        counts[cell.status.get(chosen.arch, "unknown")] += 1
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    return f"{words.counted(len(chosen.cells), 'row')} on {chosen.arch}: {told}"


def as_json(chosen: View, screen: Screen | None = None) -> str:
    """The rows as the report holds them, limited to the columns that were asked for."""
    kept = set(chosen.archs)
    rows = [
        msgspec.structs.replace(
            cell,
            status={arch: value for arch, value in cell.status.items() if arch in kept},
            chosen={arch: value for arch, value in cell.chosen.items() if arch in kept},
            reasons={arch: value for arch, value in cell.reasons.items() if arch in kept},
            message={arch: value for arch, value in cell.message.items() if arch in kept},
        )
        for cell in chosen.cells
    ]
    encoded = msgspec.json.Encoder(order="deterministic").encode(rows)
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def markdown(chosen: View, screen: Screen | None = None) -> str:
    """The rows as Markdown tables, one for each area."""
    lines: list[str] = []
    for area, cells in groupby(chosen.cells, key=lambda cell: cell.area):
        head = ["API", "back end", *chosen.archs, f"decided on {chosen.arch} at"]
        lines += [f"### {area or 'other'}", "", _row(head), _row([":--"] * len(head))]
        for cell in cells:
            states = [_sign(cell, arch)[0] for arch in chosen.archs]
            lines.append(
                _row([_code(cell.api), _code(_backend(chosen, cell)), *states, _code(_why(chosen, cell))])
            )
        lines.append("")
    return "\n".join([*lines, _counted(chosen)]) + "\n"


def _row(fields: Sequence[str]) -> str:
    return "| " + " | ".join(fields) + " |"


def _code(content: str) -> str:
    return f"`{content.replace('|', chr(92) + '|')}`" if content else ""


def as_csv(chosen: View, screen: Screen | None = None) -> str:
    """The rows as comma-separated values, with a header (RFC 4180, lines end in LF)."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    extra = ["chosen", "gates", "places", "message"]
    writer.writerow(["area", "api", "backend", *chosen.archs, *(f"{name} ({chosen.arch})" for name in extra)])
    for cell in chosen.cells:
        found = deciding(chosen, cell)
        writer.writerow(
            [
                cell.area,
                cell.api,
                cell.backend,
                *(cell.status.get(arch, "unknown") for arch in chosen.archs),
                cell.chosen.get(chosen.arch, ""),
                "; ".join(gate.id for gate in found),
                "; ".join(f"{gate.file}:{gate.line}" for gate in found),
                cell.message.get(chosen.arch, ""),
            ]
        )
    return buffer.getvalue()


#: Renderers by the name of the format.
FORMATS: dict[str, Callable[[View, Screen | None], str]] = {
    "table": table,
    "json": as_json,
    "markdown": markdown,
    "csv": as_csv,
}
