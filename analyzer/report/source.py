"""How a view gets at the lines of a scanned file, and how text from outside is made safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

#: Gives the lines of a scanned file (without line ends), or None if the file cannot be had.
Source = Callable[[str], Sequence[str] | None]

#: General categories without a glyph of their own: control, format, surrogate, line and paragraph separator.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def no_source(file: str) -> None:
    """A :data:`Source` that has no file."""
    return None


def visible(text: str, keep: str = "\n\t") -> str:
    """The text with every invisible character but those in ``keep`` replaced by a sign that shows it.

    C0 controls become Unicode control pictures; bidirectional marks, other format characters and lone
    surrogates become ``⟦U+202E⟧``: what stands in a scanned file can neither hide, reorder nor command.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep else _shown(c) for c in text)


def _shown(char: str) -> str:
    if unicodedata.category(char) not in _INVISIBLE:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e6U+{code:04X}\u27e7"


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, white space run together; cut in the middle beyond ``limit`` (0: never)."""
    line = visible(" ".join(text.split()), keep="")
    return elide(line, limit) if limit else line


def elide(text: str, limit: int) -> str:
    """The text with its middle left out where it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def elide_start(text: str, limit: int) -> str:
    """The text with its beginning left out where it is too long: the end of a path tells most."""
    return text if len(text) <= limit else f"…{text[len(text) - limit + 1 :]}"
