"""What the device API answers: dotted paths outside the tree, valued for one architecture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType
from typing import Any

from analyzer import data
from analyzer.archs import Arch, Spelling


@dataclass(frozen=True, slots=True)
class Host:
    """What is assumed of the machine: one or more devices of one architecture, toolkit, environment."""

    arch: Arch
    cuda: tuple[int, int]
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def cuda_text(self) -> str:
        """The release as ``"13.0"``."""
        return f"{self.cuda[0]}.{self.cuda[1]}"


class Record(tuple[Any, ...]):
    """A tuple whose items have names as well, such as ``sys.version_info``."""

    names: tuple[str, ...]
    ordered_by: int
    """How many of the items count where two are put in order; all of them where they are held equal."""

    def __new__(cls, ordered_by: int = 0, **items: Any) -> Record:
        """The items in order, by name."""
        made = super().__new__(cls, items.values())
        made.names = tuple(items)
        made.ordered_by = ordered_by
        return made


@dataclass(frozen=True, slots=True)
class Door:
    """One entry of ``queries/device_api.toml``.

    ``kind``: ``device`` (its answer depends on the architecture), ``toolkit``, ``host`` (fixed by what is
    assumed of the machine), ``absent`` or ``free``. ``expression``: the value, ``None`` for an object whose
    attributes are entries of their own; what such a ``device`` object has beyond them is unknown.
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
        for each in row.get("each", [""]):
            text = row["value"].replace("{each}", each) if "value" in row else None
            code = compile(text, row["path"], "eval") if text is not None else None
            for path in [row["path"], *row.get("same", [])]:
                own = path.replace("{each}", each)
                found[own] = Door(own, row["kind"], code, text or "")
    return found


@cache
def words() -> frozenset[str]:
    """The names that lead to a device answer: a file without any of them holds no door."""
    asking = [door.path for door in doors().values() if door.kind == "device"]
    objects = tuple(f"{path}." for path in asking)
    return frozenset(re.findall(r"\w+", path)[-1] for path in asking if not path.startswith(objects))


@cache
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


@cache
def roots() -> frozenset[str]:
    """The top-level modules that hold an entry: they answer as described, wherever their files are."""
    return frozenset(re.split(r"\W", path, maxsplit=1)[0] for path in doors())


@lru_cache(maxsize=4096)
def exists(path: str) -> bool | None:
    """Whether a dotted path outside the tree exists on the host; ``None`` where no entry tells."""
    door = lookup(path)
    if door is not None:
        return door.kind != "absent"
    parent = path
    while parent:
        parent = parent.removesuffix("()") if parent.endswith("()") else parent.rpartition(".")[0]
        above = doors().get(parent)
        if above is not None and above.kind == "absent":
            return False
    whole = tuple(path + end for end in (".", "()", "["))
    return True if any(d.kind != "absent" and d.path.startswith(whole) for d in doors().values()) else None


@cache
def _constants() -> dict[str, tuple[int, int]]:
    """Named constants: which group they belong to, and which of its members they are."""
    found: dict[str, tuple[int, int]] = {}
    for group, row in enumerate(data.table("device_api").get("distinct", [])):
        for member, names in enumerate(row["members"]):
            for name in names:
                found[f"{row['within']}.{name}"] = (group, member)
    return found


@cache
def _types() -> dict[str, str]:
    groups = [row.get("type") for row in data.table("device_api").get("distinct", [])]
    found = ((path, groups[group]) for path, (group, _) in _constants().items())
    return {path: kind for path, kind in found if kind is not None}


def type_of(path: str) -> str | None:
    """The class, by dotted path, of a constant outside the tree; ``None`` where no entry tells."""
    return _types().get(path)


@cache
def _canonical() -> dict[str, str]:
    first: dict[tuple[int, int], str] = {}
    return {path: first.setdefault(place, path) for path, place in _constants().items()}


def canonical(path: str) -> str | None:
    """One name for all names of a constant outside the tree; ``None`` if it is not described."""
    return _canonical().get(path)


def equal(left: str, right: str) -> bool | None:
    """Whether two dotted paths outside the tree are the same constant; ``None`` where no entry tells."""
    a, b = _constants().get(left), _constants().get(right)
    if a is None or b is None or a[0] != b[0]:
        return None
    return a == b


@dataclass(frozen=True, slots=True)
class Command:
    """A program that the scanned code may ask, as it answers on the host."""

    program: str
    arguments: tuple[str, ...]
    kind: str
    output: CodeType


@cache
def _commands() -> tuple[Command, ...]:
    return tuple(
        Command(
            row["program"],
            tuple(row["arguments"]),
            row["kind"],
            compile(row["output"], row["program"], "eval"),
        )
        for row in data.table("device_api").get("command", [])
    )


def command(words: list[str]) -> Command | None:
    """The entry for a command line; the program may be given with its folder."""
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    for entry in _commands():
        if entry.program == program and entry.arguments == tuple(words[1:]):
            return entry
    return None


def printed(entry: Command, host: Host) -> str:
    """What a command prints on a host."""
    return str(eval(entry.output, {"__builtins__": {}, "str": str}, _names(host)))


def answer(door: Door, host: Host) -> Any:
    """The value of an entry on a host, as a plain Python object."""
    if door.expression is None:
        raise ValueError(f"{door.path} is an object")
    known = {"__builtins__": {}, "str": str, "record": Record, "spelled": _spelled}
    return eval(door.expression, known, _names(host))


def _spelled(text: str) -> Record:
    """An architecture as a kernel language names it (``103f``): put in order by capability alone."""
    made = Spelling.parse(text)
    major, minor = divmod(made.number, 10)
    return Record(2, major=major, minor=minor, suffix=made.suffix, name=f"sm_{text}")


def _names(host: Host) -> dict[str, Any]:
    """What the expressions of the entries are written over."""
    arch = host.arch
    return {
        "major": arch.major,
        "minor": arch.minor,
        "number": arch.number,
        "cuda": host.cuda_text,
        "cuda_major": host.cuda[0],
        "cuda_minor": host.cuda[1],
        "shared_per_block": arch.shared_per_block,
        "shared_per_sm": arch.shared_per_sm,
        "suffix": "a" if arch.suffixes else "",
    }
