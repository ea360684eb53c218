"""The baseline file: the gates that are put up with, one a line, in a form that merges and reads well.

The first line says what the verdicts are for; every other line is one gate, sorted by id. There is nothing
in it that changes while the code does not: no line number, no clock, no version of this program.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from analyzer.ci.compare import Change
from analyzer.ci.known import Known
from analyzer.model import Report
from analyzer.tree.errors import TreeError

VERSION = 1
_CONFLICT = re.compile(r"(<{7}|\|{7}|={7}|>{7})(\s|$)")


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: the version of the format, and the question that the verdicts answer."""

    smgate_baseline: int
    target: str
    references: tuple[str, ...]
    cuda: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a baseline file holds."""

    header: Header
    gates: tuple[Known, ...]

    def expired(self, today: datetime.date) -> tuple[Known, ...]:
        """The gates that were put up with until a day that is over."""
        return tuple(k for k in self.gates if k.expires is not None and k.expires < today)


def header(report: Report) -> Header:
    """The first line for a report."""
    return Header(VERSION, report.target.arch, report.references, report.target.cuda)


def kept(changes: Iterable[Change]) -> tuple[Known, ...]:
    """The gates as they are now, each with the reason and the day that its former self had."""
    return tuple(
        msgspec.structs.replace(change.new, reason=change.old.reason, expires=change.old.expires)
        if change.old is not None
        else change.new
        for change in changes
        if change.new is not None
    )


def encode(baseline: Baseline) -> bytes:
    """The content of the file; equal baselines, equal bytes."""
    encoder = msgspec.json.Encoder(order="deterministic")
    lines = [baseline.header, *sorted(baseline.gates, key=lambda k: k.id)]
    return b"".join(_line(encoder, line) for line in lines)


def _line(encoder: msgspec.json.Encoder, content: msgspec.Struct) -> bytes:
    # A struct's own order of fields, so that the id comes first; only mappings are sorted.
    fields = {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name in content.__struct_fields__
        if (value := getattr(content, name)) is not None
    }
    return msgspec.json.format(msgspec.json.encode(fields), indent=-1) + b"\n"


def load(file: Path) -> Baseline:
    """Read a baseline file.

    Raises:
        TreeError: it is missing, or a line is not as :func:`encode` writes them; the message names the line.
    """
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise TreeError(f"cannot read the baseline {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TreeError(f"{file} is no baseline: not UTF-8 at byte {error.start}") from error
    return decode(text, str(file))


def decode(text: str, name: str) -> Baseline:
    """Read the content of a baseline file; ``name`` is for messages.

    Raises:
        TreeError: as :func:`load`.
    """
    # Not splitlines: a condition may hold other characters that end a line for it.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        if _CONFLICT.match(line):
            raise TreeError(f"{name}:{number}: a merge conflict is not resolved here")
    if not lines:
        raise TreeError(f"{name} is empty: make a baseline with --update")
    head = _header(lines[0][1], f"{name}:{lines[0][0]}")
    return Baseline(head, _gates(lines[1:], name))


class _Version(msgspec.Struct):
    smgate_baseline: int


def _header(line: str, place: str) -> Header:
    try:
        version = msgspec.json.decode(line, type=_Version).smgate_baseline
        if version != VERSION:
            raise TreeError(f"{place}: baseline of version {version}; this program reads version {VERSION}")
        return msgspec.json.decode(line, type=Header)
    except msgspec.MsgspecError as error:
        raise TreeError(f"{place}: not the first line of a baseline: {error}") from error


def _gates(lines: Sequence[tuple[int, str]], name: str) -> tuple[Known, ...]:
    decoder = msgspec.json.Decoder(Known)
    seen: dict[str, int] = {}
    gates: list[Known] = []
    for number, line in lines:
        try:
            gate = decoder.decode(line)
        except msgspec.MsgspecError as error:
            raise TreeError(f"{name}:{number}: not a gate: {error}") from error
        if gate.id in seen:
            raise TreeError(f"{name}:{number}: the gate of line {seen[gate.id]} once more: {gate.id}")
        seen[gate.id] = number
        gates.append(gate)
    return tuple(gates)
