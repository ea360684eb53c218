"""How a block of statements ends, and the ways out of it that are kept until they meet the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from analyzer.python.heap import Way
from analyzer.python.values import Value

Names = dict[str, Value]


class Outcome(Enum):
    """How a block of statements ends. ``GONE``: no way goes on here, each was kept where it leads to."""

    NORMAL = "normal"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    GONE = "gone"


@dataclass(slots=True, eq=False)
class Ended:
    """A way that has left a function by ``return``, or a loop's body by ``break`` or ``continue``."""

    way: Way
    value: Value | None = None
    names: Names | None = None


@dataclass(slots=True)
class Loop:
    """The ways that have left the body of a running loop."""

    broken: list[Ended] = field(default_factory=list)
    continued: list[Ended] = field(default_factory=list)
