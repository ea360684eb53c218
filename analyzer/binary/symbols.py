"""Names of kernels for people: the qualified name of a mangled one, without types of arguments.

Source: Itanium C++ ABI, "External Names (a.k.a. Mangling)". Libraries hold thousands of kernels whose names
are a page long each; what tells them apart for a reader are the function and the first class it is made for.
"""

from __future__ import annotations

import re

_LENGTH = re.compile(r"(\d+)")


def readable(mangled: str) -> str:
    """``scope::function<scope::First…>``; the name as it is where it is not mangled or is not understood."""
    if not mangled.startswith("_Z"):
        return mangled
    name, position = _qualified(mangled, 2)
    if not name:
        return mangled
    if mangled[position : position + 1] == "I":
        first, _ = _qualified(mangled, position + 1)
        return f"{name}<{first}…>" if first else f"{name}<…>"
    return name


def _qualified(text: str, position: int) -> tuple[str, int]:
    """The names from here up to template arguments or the end, and where they end."""
    nested = text[position : position + 1] == "N"
    position += nested
    parts: list[str] = []
    while True:
        match = _LENGTH.match(text, position)
        if match is None:
            break
        first, size = match.end(), int(match.group())
        if first + size > len(text):
            break
        part = text[first : first + size]
        parts.append("(anonymous)" if part.startswith(("_GLOBAL__N_", "_INTERNAL_")) else part)
        position = first + size
        if not nested:
            break
    return "::".join(parts), position
