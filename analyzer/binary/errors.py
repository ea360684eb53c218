"""The error for a binary that is damaged or not of the format that it claims."""

from __future__ import annotations


class DamagedError(ValueError):
    """A binary cannot be read; the message says why in a few words."""
