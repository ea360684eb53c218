"""The values of number and string literals, computed from their text."""

from __future__ import annotations

import re
import unicodedata

from analyzer.python.lowering.nodes import UnreadableError

_SIMPLE = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "",
}
_OCTAL = r"[0-7]{1,3}"
_ESCAPE = re.compile(
    rf"\\(?:(?P<octal>{_OCTAL})|x(?P<hex>[0-9a-fA-F]{{2}})|u(?P<short>[0-9a-fA-F]{{4}})"
    r"|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[^}]*)\}|(?P<bad>[xuUN])|(?P<other>[\s\S]))"
)
_BYTES_ESCAPE = re.compile(
    rb"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})|(?P<bad>x)|(?P<other>[\s\S]))"
)
_LITERAL = re.compile(rb"([a-zA-Z]*)('''|\"\"\"|'|\")")


def number(text: str) -> int | float | complex:
    """The value of a numeric literal.

    Raises:
        UnreadableError: no such literal in Python 3 (``0777``, ``1L``), or too many digits to convert.
    """
    try:
        if text[-1] in "jJ":
            return complex(0.0, float(text[:-1]))
        if text.isdecimal() or text[:2].lower() in ("0x", "0o", "0b"):
            return int(text, 0)
        return float(text) if any(mark in text for mark in ".eE") else int(text, 0)
    except ValueError as error:
        raise UnreadableError(f"not a number of Python 3: {text[:40]}") from error


def split(literal: bytes) -> tuple[str, int, int]:
    """The prefix of a string literal in lower case, and where its content starts and ends in it.

    Raises:
        UnreadableError: the literal is not closed, or its prefix is none of Python 3.
    """
    match = _LITERAL.match(literal)
    if match is None:
        raise UnreadableError("not a string literal")
    prefix = match.group(1).decode().lower()
    if prefix not in ("", "r", "u", "b", "f", "br", "rb", "fr", "rf"):
        raise UnreadableError(f"unknown string prefix {prefix}")
    quote = match.group(2)
    if len(literal) < match.end() + len(quote) or not literal.endswith(quote):
        raise UnreadableError("string literal is not closed")
    return prefix, match.end(), len(literal) - len(quote)


def _replace(match: re.Match[str]) -> str:
    kind = match.lastgroup
    text = match.group(kind) if kind else ""
    if kind == "other":
        return _SIMPLE.get(text, "\\" + text)
    if kind == "octal":
        return chr(int(text, 8))
    if kind in ("hex", "short", "long"):
        try:
            return chr(int(text, 16))
        except (ValueError, OverflowError) as error:
            raise UnreadableError("escape beyond the last character of Unicode") from error
    if kind == "name":
        try:
            return unicodedata.lookup(text)
        except KeyError as error:
            raise UnreadableError(f"unknown character name {text}") from error
    raise UnreadableError("truncated escape in a string literal")


def unescape(text: str) -> str:
    """The content of a string literal that is not raw; unknown escapes stay as they are."""
    return _ESCAPE.sub(_replace, text) if "\\" in text else text


def _replace_byte(match: re.Match[bytes]) -> bytes:
    kind = match.lastgroup
    text = match.group(kind) if kind else b""
    if kind == "other":
        simple = _SIMPLE.get(text.decode("latin-1"))
        return b"\\" + text if simple is None else simple.encode()
    if kind == "octal":
        return bytes([int(text, 8) & 0xFF])
    if kind == "hex":
        return bytes([int(text, 16)])
    raise UnreadableError("truncated escape in a bytes literal")


def unescape_bytes(text: bytes) -> bytes:
    """The content of a bytes literal that is not raw."""
    return _BYTES_ESCAPE.sub(_replace_byte, text) if b"\\" in text else text
