"""The ways in which lists and comparisons of scanned code spell architectures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from analyzer import archs
from analyzer.archs import Arch

_Notation = Callable[[Arch], object]
_STRING = re.compile(r"(?P<prefix>(?:sm|compute)?_?)(?P<digits>\d+)(?P<dot>\.\d)?(?P<suffix>[af]?)\Z")


def another(values: Sequence[object], target: str) -> object | None:
    """The target as these values spell architectures; None where they do not name architectures.

    ``[9, 10]`` names majors, ``[100, 103]`` numbers, ``["90a"]`` strings, ``[(9, 0)]`` capabilities. A value
    that no known architecture has makes it none of these.
    """
    if not values:
        return None
    for notation in _notations(values[0]):
        known = {notation(arch) for arch in archs.profiles()}
        if all(type(value) is type(values[0]) for value in values) and known.issuperset(values):
            return notation(archs.find(target))
    strings = [value for value in values if isinstance(value, str)]
    if len(strings) == len(values) and all(_names_one(value) for value in strings):
        return next(iter(_notations(values[0])))(archs.find(target))
    return None


def _names_one(text: str) -> bool:
    return any(text in {notation(arch) for arch in archs.profiles()} for notation in _notations(text))


def _notations(value: object) -> list[_Notation]:
    """The notations that a value like this may be written in."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [lambda arch: arch.major, lambda arch: arch.number]
    if isinstance(value, tuple):
        return [lambda arch: (arch.major, arch.minor)]
    match = _STRING.match(value) if isinstance(value, str) else None
    if match is None:
        return []
    prefix, suffix = match["prefix"], match["suffix"]
    if match["dot"]:
        return [lambda arch: f"{prefix}{arch.capability}{suffix}"]
    return [lambda arch: f"{prefix}{arch.number}{suffix}", lambda arch: f"{prefix}{arch.major}{suffix}"]
