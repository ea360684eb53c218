"""The identifiers that occur in a file, as a cheap filter before parsing."""

from __future__ import annotations

import re

_WORD = re.compile(rb"[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*")


def words(data: bytes) -> frozenset[str]:
    """All words of a file, those in comments and strings included (identifiers are a subset of them)."""
    return frozenset(word.decode("utf-8", "replace") for word in set(_WORD.findall(data)))
