"""A sheet for a terminal, in Markdown and in HTML."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from analyzer.report import markdown
from analyzer.report.html import environment
from analyzer.report.screen import SEVERITY_STYLE, Screen, phrase, text
from analyzer.report.sheets.sheet import Section, Sheet
from analyzer.report.source import elide_start


def terminal(sheet: Sheet, screen: Screen | None = None, limit: int = 8) -> str:
    """Text; ``limit`` bounds the minor sections (0: all), what is left out is counted."""
    screen = screen or Screen()
    return screen.render(_parts(sheet, screen, limit))


def _parts(sheet: Sheet, screen: Screen, limit: int) -> Iterator[RenderableType]:
    yield text(sheet.title, "bold")
    for line in sheet.lead:
        yield text(line, "dim")
    for section in sheet.sections:
        yield ""
        yield text(f"{section.title} ({len(section.items)})", "bold underline")
        yield from _rows(section, screen, limit if section.minor else 0)


def _rows(section: Section, screen: Screen, limit: int) -> Iterator[RenderableType]:
    shown = section.items[:limit] if limit else section.items
    for item in shown:
        severity = item.severity if item.severity not in (None, "none") else None
        tag = Text(f"{severity or '':<9}", SEVERITY_STYLE[severity] if severity else "")
        if item.place:
            yield Text.assemble(tag, text(elide_start(item.place, screen.width - 9), "cyan"))
            yield Padding(phrase(item.sentence), (0, 0, 0, 9))
        else:
            yield Padding(phrase(item.sentence), (0, 0, 0, 9))
        if item.detail:
            yield Padding(phrase(item.detail, "dim"), (0, 0, 0, 9))
    if len(section.items) > len(shown):
        yield Text(f"         … and {len(section.items) - len(shown)} more", "dim")


def as_markdown(sheet: Sheet, limit: int = 100) -> bytes:
    """Markdown for a job summary or a comment; ``limit`` bounds each section (0: all)."""
    return ("\n".join(_lines(sheet, limit)).rstrip() + "\n").encode("utf-8", "replace")


def _lines(sheet: Sheet, limit: int) -> Iterator[str]:
    yield f"## {markdown.escape(sheet.title)}"
    yield ""
    for line in sheet.lead:
        yield markdown.escape(line) + "  "
    for section in sheet.sections:
        yield ""
        heading = f"{markdown.escape(section.title)} ({len(section.items)})"
        if section.minor:
            yield f"<details><summary>{heading}</summary>"
        else:
            yield f"### {heading}"
        yield ""
        shown = section.items[:limit] if limit else section.items
        for item in shown:
            sign = f"{markdown.SIGN[item.severity]} " if item.severity else ""
            place = f"{markdown.code(item.place)}: " if item.place else ""
            yield f"- {sign}{place}{markdown.phrase(item.sentence)}" + ("  " if item.detail else "")
            if item.detail:
                yield f"  {markdown.phrase(item.detail)}"
        if len(section.items) > len(shown):
            yield f"- … and {len(section.items) - len(shown)} more"
        if section.minor:
            yield ""
            yield "</details>"


def as_html(sheet: Sheet) -> bytes:
    """One HTML file that opens from disk."""
    return environment().get_template("sheet.html.j2").render(sheet=sheet).encode()
