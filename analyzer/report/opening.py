"""What opens the gates of a report, as the page shows it: in one line, and as a patch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from analyzer.judge.edits import gate as edits
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import NoEditError, patch
from analyzer.model import Gate, Report
from analyzer.report.source import Source

#: Characters of a diff that the page shows; ``smgate unlock`` writes longer ones.
_LONGEST_DIFF = 4000


@dataclass(frozen=True, slots=True)
class Opening:
    """What lets the target pass a gate: in one line, and if it is short as a diff for ``patch -p0``."""

    what: str
    diff: str


class Openings:
    """The openings of a report's gates, each worked out once."""

    def __init__(self, report: Report, source: Source) -> None:
        self._predicates = Predicates(report)
        self._found: dict[str, Opening | None] = {}

        @cache
        def text(file: str) -> str | None:
            """The text of a scanned file, if it can be had."""
            lines = source(file)
            return "".join(f"{line}\n" for line in lines) if lines is not None else None

        self._text = text

    def of(self, gate: Gate) -> Opening | None:
        """How a gate is opened; None where its text alone cannot do it, or the hardware stands behind it."""
        if gate.id not in self._found:
            self._found[gate.id] = self._opening(gate)
        return self._found[gate.id]

    def _opening(self, gate: Gate) -> Opening | None:
        if gate.effect == "none" or (gate.justification and gate.justification.kind == "hardware"):
            return None
        try:
            planned = edits.edit(gate, self._predicates, self._text)
        except NoEditError:
            return None
        diff = patch([planned], self._text)
        return Opening(planned.what, diff if len(diff) <= _LONGEST_DIFF else "")
