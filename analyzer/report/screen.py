"""A terminal as the text views see it: how wide, whether in colour; and rendering to a string for it."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console, RenderableType
from rich.text import Text

from analyzer.model import Severity, Verdict
from analyzer.report.source import visible
from analyzer.report.words import Code, Phrase

SEVERITY_STYLE: dict[Severity, str] = {
    "error": "bold red",
    "warning": "yellow",
    "note": "cyan",
    "none": "dim",
}
VERDICT_STYLE: dict[Verdict, str] = {"admit": "green", "reject": "red", "unknown": "magenta"}
_PIPE_WIDTH = 120


@dataclass(frozen=True, slots=True)
class Screen:
    """Columns of text and whether to colour them."""

    width: int = _PIPE_WIDTH
    color: bool = False

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Screen:
        """The screen behind a stream: a terminal's own width and colour, else 120 columns and none.

        ``NO_COLOR`` (no-color.org) and ``TERM=dumb`` switch colour off; ``COLUMNS`` sets the width.
        """
        columns = environment.get("COLUMNS", "")
        width = int(columns) if columns.isdigit() and int(columns) else 0
        if not stream.isatty():
            return cls(width or _PIPE_WIDTH, False)
        color = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        return cls(max(40, width or shutil.get_terminal_size().columns), color)

    def render(self, parts: Iterable[RenderableType]) -> str:
        """The parts one below the other, as text with or without colour; no trailing blanks."""
        buffer = io.StringIO()
        console = Console(
            file=buffer,
            width=self.width,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            no_color=not self.color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )
        for part in parts:
            console.print(part)
        return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def text(content: str, style: str = "") -> Text:
    """Text from outside, safe to print: no control character reaches the terminal."""
    return Text(visible(content, keep=""), style=style)


def phrase(words: Phrase, style: str = "") -> Text:
    """A sentence with its code set off."""
    line = Text(style=style)
    for piece in words:
        line.append(visible(piece, keep=""), style="bold" if isinstance(piece, Code) else "")
    return line
