"""The stable ids of gates: built from place, scope, layer and condition, never from line numbers."""

from __future__ import annotations

import hashlib
from collections import Counter


def digest(text: str) -> str:
    """Eight hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def identity(layer: str, file: str, scope: str, code: str, order: int) -> str:
    """The stable id of a gate: place, scope, layer and normalised condition; equal ones are counted."""
    suffix = f".{order + 1}" if order else ""
    return f"{layer}:{file}:{scope}:{digest(code)}{suffix}"


class Numbering:
    """Tells gates apart that are alike in layer, place and condition: by their order."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str, str]] = Counter()

    def next(self, layer: str, file: str, scope: str, code: str) -> tuple[str, int]:
        """The id of the next such gate, and its place among those alike, from 0."""
        alike = layer, file, scope, code
        order = self._counts[alike]
        self._counts[alike] += 1
        return identity(layer, file, scope, code, order), order
