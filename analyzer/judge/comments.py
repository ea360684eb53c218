"""The comment beside a gate, where it tells why the gate is there."""

from __future__ import annotations

import re
from functools import cache

from analyzer import data
from analyzer.model import Gate, Step

_PYTHON = re.compile(r"#\s*(?P<text>.*\S)")
_CPP = re.compile(r"//+\s*(?P<text>.*\S)|/\*+\s*(?P<block>.*?)\s*(?:\*/|$)")
#: Comment lines above a gate that are read as one.
ABOVE = 6
#: How a step begins that quotes a comment.
QUOTES = "a comment here says: "


def beside(gate: Gate, lines: list[str] | None) -> tuple[Step, ...]:
    """The comment above a gate, or at the end of its lines, if it explains something.

    ``lines`` are those of the gate's file. A comment explains if it names a fault, a regression, an
    architecture, what is supported or what is to be done (``contracts.toml``).
    """
    if lines is None or not 0 < gate.line <= len(lines):
        return ()
    pattern = _PYTHON if gate.file.endswith(".py") else _CPP
    above: list[tuple[int, str]] = []
    for number in range(gate.line - 1, max(0, gate.line - 1 - ABOVE), -1):
        text = lines[number - 1].strip()
        found = pattern.match(text)
        if found is None:
            break
        above.insert(0, (number, _said(found)))
    after = []
    for number in range(gate.line, min(gate.end_line, len(lines)) + 1):
        found = _trailing(lines[number - 1], pattern)
        if found is not None:
            after.append((number, _said(found)))
    steps = []
    for comment in (above, after):
        said = " ".join(text for _, text in comment)
        if said and _explaining().search(said):
            steps.append(Step(gate.file, comment[0][0], f"{QUOTES}{said[:300]}"))
    return tuple(steps)


def _said(found: re.Match[str]) -> str:
    groups = found.groupdict()
    return groups["text"] or groups.get("block") or ""


def _trailing(line: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The comment at the end of a line; a mark inside a string is none."""
    for found in pattern.finditer(line):
        before = line[: found.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
            return found
    return None


@cache
def _explaining() -> re.Pattern[str]:
    return re.compile("|".join(data.table("contracts")["explains"]["words"]), re.IGNORECASE)
