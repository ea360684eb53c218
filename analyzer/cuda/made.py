"""Sources that a build makes of files of the tree: compiled as they are put, told of as they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, order=True)
class MadeSource:
    """A source that a build makes.

    ``path`` is where the build puts it, ``origin`` the file of the tree that it is made of, line for line.
    """

    path: str
    origin: str
    text: str


def relocated(told: _T, origins: Mapping[str, str]) -> _T:
    """What was told of made sources, told of their origins: every path in it is replaced."""
    return cast(_T, _Relocation(origins).of(told)) if origins else told


class _Relocation:
    """Replaces paths in plain data, dataclasses and structs; what holds none stays as it is."""

    def __init__(self, origins: Mapping[str, str]) -> None:
        self.origins = origins
        self._known: dict[int, tuple[Any, Any]] = {}

    def of(self, item: Any) -> Any:
        if isinstance(item, str):
            return self.origins.get(item, item)
        if item is None or isinstance(item, (int, float)):
            return item
        if id(item) not in self._known:
            self._known[id(item)] = item, self._replaced(item)
        return self._known[id(item)][1]

    def _replaced(self, item: Any) -> Any:
        if isinstance(item, tuple):
            parts = [self.of(part) for part in item]
            return tuple(parts) if any(a is not b for a, b in zip(parts, item, strict=True)) else item
        if isinstance(item, Mapping):
            return self._mapping(item)
        if isinstance(item, msgspec.Struct):
            changed = self._changed(item, item.__struct_fields__)
            return msgspec.structs.replace(item, **changed) if changed else item
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            changed = self._changed(item, _fields(type(item)))
            return dataclasses.replace(item, **changed) if changed else item
        return item

    def _mapping(self, item: Mapping[Any, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in item.items():
            place, told = self.of(key), self.of(value)
            if isinstance(told, int) and place in found:
                told |= found[place]  # masks of the architectures that take a branch
            found[place] = told
        return found

    def _changed(self, item: Any, names: Iterable[str]) -> dict[str, Any]:
        pairs = ((name, getattr(item, name)) for name in names)
        return {name: after for name, before in pairs if (after := self.of(before)) is not before}


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
