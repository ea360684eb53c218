"""The edit of any gate, by its layer."""

from __future__ import annotations

from analyzer.judge.edits import condition, directive
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import NoEditError, Planned, Text
from analyzer.model import Gate


def edit(gate: Gate, predicates: Predicates, text: Text) -> Planned:
    """The edit that lets the target pass a gate.

    Raises:
        NoEditError: none can be given; the message says why.
    """
    if gate.layer == "guard":
        return directive.edit(gate, predicates.target, text)
    if gate.layer in ("runtime", "api", "jit", "env") and gate.file.endswith(".py"):
        return condition.edit(gate, predicates, text)
    raise NoEditError("what stands here is not text that a line could change")
