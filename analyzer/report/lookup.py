"""Which gates or file of a report a user means: by id, by FILE:LINE, or by FILE."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.model import Gate, Report

_FILE_LINE = re.compile(r"(.+?):([0-9]+)(?::[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Found:
    """Gates that were meant, or a file without one at the place that was named."""

    gates: tuple[Gate, ...]
    file: str | None = None


def find(report: Report, text: str, others: Iterable[str] = ()) -> Found:
    """The gates of that id (or its beginning) or place; or the file, by its path or the end of it.

    ``others`` are scanned files that the report does not mention.

    Raises:
        LookupError: nothing fits, or the text fits several files; the message says so.
    """
    by_id = [gate for gate in report.gates if gate.id == text]
    by_id = by_id or [gate for gate in report.gates if gate.id.startswith(text) and len(text) >= 4]
    if len(by_id) == 1:
        return Found(tuple(by_id))
    if len(by_id) > 1:
        raise LookupError(f"{text!r} is the beginning of {len(by_id)} gate ids")
    placed = _FILE_LINE.fullmatch(text)
    if placed is None:
        return Found((), _file(report, text, others))
    file, line = _file(report, placed.group(1), others), int(placed.group(2))
    gates = tuple(gate for gate in report.gates if gate.file == file and _spans(gate, line))
    return Found(gates, None if gates else file)


def _spans(gate: Gate, line: int) -> bool:
    """Whether the gate stands on that line, or is listed as used there."""
    return gate.line <= line <= gate.end_line or any(
        use.file == gate.file and use.line == line for use in gate.uses
    )


def _file(report: Report, text: str, others: Iterable[str]) -> str:
    """The one file whose path is, or ends with, this text."""
    wanted = text.replace("\\", "/").removeprefix("./")
    files = {
        *others,
        *(gate.file for gate in report.gates),
        *(facts.file for facts in report.coverage.read),
        *(skipped.file for skipped in report.coverage.files.skipped),
    }
    if wanted in files:
        return wanted
    ends = sorted(file for file in files if file.endswith("/" + wanted) or wanted.endswith("/" + file))
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise LookupError(f"{text!r} fits {len(ends)} files, among them {ends[0]} and {ends[1]}")
    raise LookupError(f"no gate and no scanned file is called {text!r}")
