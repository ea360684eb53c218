"""Faults of the analyzer itself: how they are told, and whether one of them ends a scan."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

#: Set to anything, it lets a fault end the scan with a traceback.
VARIABLE = "SMGATE_TRACEBACK"

_PACKAGE = Path(__file__).parent


def fatal() -> bool:
    """Whether a fault is to end what it happens in, for those who look for it."""
    return bool(os.environ.get(VARIABLE))


def tolerated(error: Exception) -> str:
    """How a fault is told that is not to end what it happens in; where it is to, it is raised on."""
    if fatal():
        raise error
    return told(error)


def told(error: BaseException) -> str:
    """What went wrong, and the innermost place in the analyzer that it came through."""
    places = [
        f" at {_PACKAGE.name}/{Path(frame.filename).relative_to(_PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_PACKAGE)
    ]
    return f"internal error: {type(error).__name__}: {error}{places[-1] if places else ''}"
