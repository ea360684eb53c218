"""Replacements in the text of files, what an edit consists of, and the unified diff of many of them."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analyzer.model import Value

#: Gives the text of a scanned file with its own line ends, or None if the file cannot be had.
Text = Callable[[str], str | None]


class NoEditError(Exception):
    """No edit of this gate can be given; the message says why."""


class Change(Value, frozen=True, order=True):
    """One replacement: what stands at a line, and what should stand there."""

    file: str
    line: int
    before: str
    after: str


class Edit(Value, frozen=True):
    """How to open a gate: in one line, and every change."""

    what: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, order=True)
class Splice:
    """Characters ``start`` to ``end`` of a file give way to ``text``."""

    file: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Planned:
    """An edit as replacements; ``what`` shows the deciding one of them."""

    what: str
    splices: tuple[Splice, ...]

    def edit(self, text: Text) -> Edit:
        """The edit as a report tells it."""
        changes = []
        for splice in sorted(self.splices):
            content = text(splice.file) or ""
            line = content.count("\n", 0, splice.start) + 1
            before, after = content[splice.start : splice.end], splice.text
            changes.append(Change(splice.file, line, before.strip("\r\n"), after.strip("\r\n")))
        return Edit(self.what, tuple(changes))


def apply(content: str, splices: Iterable[Splice]) -> str:
    """The content after all replacements; one that lies inside or at the place of another is left out."""
    done: list[Splice] = []
    for splice in sorted(set(splices)):
        if done and splice.start < done[-1].end:
            continue
        done.append(splice)
    for splice in reversed(done):
        content = content[: splice.start] + splice.text + content[splice.end :]
    return content


def patch(planned: Iterable[Planned], text: Text) -> str:
    """All edits as one unified diff that ``patch -p0`` applies in the scanned root."""
    by_file: dict[str, list[Splice]] = defaultdict(list)
    for one in planned:
        for splice in one.splices:
            by_file[splice.file].append(splice)
    return "".join(_diff(file, text(file) or "", by_file[file]) for file in sorted(by_file))


def _diff(file: str, before: str, splices: Iterable[Splice]) -> str:
    # Lines end with "\n" alone here: a "\r" before it is part of the line, as patch sees it.
    old, new = _lines(before), _lines(apply(before, splices))
    pieces = []
    for line in difflib.unified_diff(old, new, file, file):
        pieces.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(pieces)


def _lines(text: str) -> list[str]:
    whole, _, rest = text.rpartition("\n")
    ended = [line + "\n" for line in whole.split("\n")] if len(rest) < len(text) else []
    return [*ended, rest] if rest else ended
