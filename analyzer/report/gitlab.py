"""Findings as a GitLab code quality report.

Source: GitLab Docs, "Code Quality", section "Code Quality report format": an array of objects with
description, check_name, fingerprint, severity and location.
"""

from __future__ import annotations

import hashlib
import json

from analyzer.ci.marks import Marks
from analyzer.model import Gate, Report, Severity
from analyzer.report import tally, words
from analyzer.report.source import visible

_SEVERITY: dict[Severity, str] = {"error": "critical", "warning": "major", "note": "minor", "none": "info"}


def render(report: Report, marks: Marks) -> bytes:
    """All findings but the suppressed, worst first: GitLab compares them with the target branch itself."""
    rows = [
        _row(gate, report.target.arch)
        for gate in tally.worst_first(report.findings)
        if gate.id not in marks.suppressed
    ]
    return (json.dumps(rows, ensure_ascii=True, indent=1) + "\n").encode()


def _row(gate: Gate, target: str) -> dict[str, object]:
    return {
        "description": visible(words.plain(words.sentence(gate, target)), keep=""),
        "check_name": gate.effect,
        "fingerprint": hashlib.sha256(gate.id.encode("utf-8", "replace")).hexdigest(),
        "severity": _SEVERITY[gate.severity],
        "location": {"path": visible(gate.file, keep=""), "lines": {"begin": gate.line}},
    }
