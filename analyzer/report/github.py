"""Failing gates as annotations of a GitHub workflow run.

Source: GitHub Docs, "Workflow commands for GitHub Actions" (``::error file=...::message``, and how its
toolkit escapes data and properties). A step shows ten annotations of a level: the worst come first.
"""

from __future__ import annotations

from analyzer.ci.marks import Marks
from analyzer.model import Gate, Report
from analyzer.report import tally, words
from analyzer.report.source import one_line

_COMMAND = {"error": "error", "warning": "warning", "note": "notice", "none": "notice"}


def render(report: Report, marks: Marks) -> bytes:
    """One line for each failing gate, worst first; nothing where none fails."""
    failing = tally.worst_first(gate for gate in report.gates if gate.id in marks.failing)
    return "".join(_line(gate, report.target.arch) for gate in failing).encode("utf-8", "replace")


def _line(gate: Gate, target: str) -> str:
    properties = {
        "file": gate.file,
        "line": str(gate.line),
        "endLine": str(max(gate.line, gate.end_line)),
        "title": f"{target}: {words.EFFECTS[gate.effect]}",
    }
    listed = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    return f"::{_COMMAND[gate.severity]} {listed}::{_data(words.plain(words.sentence(gate, target)))}\n"


def _data(text: str) -> str:
    return one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
