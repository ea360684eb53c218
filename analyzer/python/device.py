"""What the device API answers: dotted paths outside the tree, valued for one architecture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

from analyzer import data
from analyzer.archs import Arch


@dataclass(frozen=True, slots=True)
class Host:
    """What is assumed of the machine: one or more devices of one architecture, toolkit, environment."""

    arch: Arch
    cuda: tuple[int, int]
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def cuda_text(self) -> str:
        return f"{self.cuda[0]}.{self.cuda[1]}"


@dataclass(frozen=True, slots=True)
class Door:
    """One entry of ``queries/device_api.toml``.

    ``kind``: ``device`` (its answer depends on the architecture), ``toolkit``, ``host`` (fixed by what is
    assumed of the machine), ``absent`` or ``free``. ``expression``: the value, ``None`` for an object whose attributes
    are entries of their own; what such a ``device`` object has beyond them is unknown.
    """

    path: str
    kind: str
    expression: CodeType | None
    text: str


@cache
def doors() -> dict[str, Door]:
    """All entries by path. Calls in a path are written ``()``, whatever their arguments."""
    found: dict[str, Door] = {}
    for row in data.table("device_api")["api"]:
        text = row.get("value")
        code = compile(text, row["path"], "eval") if text is not None else None
        for path in [row["path"], *row.get("same", [])]:
            found[path] = Door(path, row["kind"], code, text or "")
    return found


@cache
def words() -> frozenset[str]:
    """The last names of all entries that are answers of a device: files without any hold no door."""
    return frozenset(
        re.findall(r"\w+", door.path)[-1]
        for door in doors().values()
        if door.kind == "device" and not door.path.rpartition("()")[0].endswith("]")
    )


def lookup(path: str) -> Door | None:
    """The entry for a path, or for the longest device object that it is a part of."""
    table = doors()
    if path in table:
        return table[path]
    parent = path
    while "." in parent or "()" in parent:
        parent = parent.removesuffix("()") if parent.endswith("()") else parent.rpartition(".")[0]
        door = table.get(parent)
        if door is not None:
            return door if door.kind == "device" and door.expression is None else None
    return None


def answer(door: Door, host: Host) -> Any:
    """The value of an entry on a host, as a plain Python object."""
    arch = host.arch
    names = {
        "major": arch.major,
        "minor": arch.minor,
        "number": arch.number,
        "cuda": host.cuda_text,
        "cuda_major": host.cuda[0],
        "cuda_minor": host.cuda[1],
        "shared_per_block": arch.shared_per_block,
        "shared_per_sm": arch.shared_per_sm,
        "suffix": "a" if arch.suffixes else "",
        "f_string": str,
    }
    if door.expression is None:
        raise ValueError(f"{door.path} is an object")
    return eval(door.expression, {"__builtins__": {}, "str": str}, names)
