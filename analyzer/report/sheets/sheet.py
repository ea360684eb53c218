"""A sheet: a title, and sections of items that are one sentence each; every view draws the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.model import Severity
from analyzer.report.words import Phrase


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence; how grave it is (None: neither good nor bad), where it is so, and a second line."""

    sentence: Phrase
    severity: Severity | None = None
    place: str = ""
    detail: Phrase = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Items of one kind. ``minor``: of interest only to who wants all of it."""

    title: str
    items: tuple[Item, ...]
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole comparison. ``lead``: a few plain lines below the title."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[Section, ...]


def sections(*some: tuple[str, Sequence[Item], bool]) -> tuple[Section, ...]:
    """Those that hold anything."""
    return tuple(Section(title, tuple(items), minor) for title, items, minor in some if items)
