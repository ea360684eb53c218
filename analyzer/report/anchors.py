"""Anchors of the page: short and stable for ids that may hold any character."""

from __future__ import annotations

import hashlib
from functools import cache


@cache
def _anchor(kind: str, identity: str) -> str:
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    return f"{kind}-{digest[:10]}"


def gate_anchor(identity: str) -> str:
    """The anchor of the card of the gate with this id."""
    return _anchor("g", identity)


def entry_anchor(name: str) -> str:
    """The anchor of the picture of all ways of the entry with this name."""
    return _anchor("e", name)


def path_anchor(identity: str) -> str:
    """The anchor of the path with this id."""
    return _anchor("p", identity)
