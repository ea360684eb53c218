"""The stable ids of gates: built from place, scope, layer and condition, never from line numbers."""

from __future__ import annotations

import hashlib


def digest(text: str) -> str:
    """Eight hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def identity(layer: str, file: str, scope: str, code: str, order: int) -> str:
    """The stable id of a gate: place, scope, layer and normalised condition; equal ones are counted."""
    suffix = f".{order + 1}" if order else ""
    return f"{layer}:{file}:{scope}:{digest(code)}{suffix}"
