"""Tables of tile sizes in Python: how much shared memory a Triton kernel with them asks for at least."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from analyzer import data
from analyzer.archs import Arch
from analyzer.python.values import Site


@dataclass(frozen=True, slots=True)
class Tiles:
    """One table: sizes in elements, pipeline stages, the least bits of an element; where it is written.

    ``tuned``: it is one of several that a tuner tries; ``tuner`` then are the lines of the call that is given
    them, if they stand in it. One of which too little is known has no stages.
    """

    site: Site
    m: int
    n: int
    k: int
    stages: int
    bits: int
    code: str
    module: str
    scope: str
    tuned: bool = False
    tuner: tuple[int, int] | None = None

    def demand(self, arch: Arch) -> int | None:
        """The least shared memory in bytes of one block; nothing where the loop is not pipelined."""
        pipeline = _knowledge()["pipeline"]
        if arch.number < int(pipeline["first"].rpartition("_")[2]):
            return None
        held = self.stages if arch.name in pipeline["reads_shared"] else self.stages - 1
        return held * (self.m + self.n) * self.k * self.bits // 8


@cache
def _knowledge() -> dict[str, Any]:
    return data.table("resources")


@cache
def _roles() -> dict[str, str]:
    """Role by name: ``BLOCK_SIZE_M`` is ``m``."""
    table = _knowledge()["tiles"]
    return {name: role for role in ("m", "n", "k") for name in table[role]} | {table["stages"]: "stages"}


def stages() -> str:
    """The name of the entry that makes a table of tiles one that asks for memory."""
    return str(_knowledge()["tiles"]["stages"])


def alternative() -> str:
    """The dotted name of what makes one of the configurations that a tuner tries."""
    return str(_knowledge()["alternatives"]["config"])


def tuner() -> str:
    """The dotted name of the tuner."""
    return str(_knowledge()["alternatives"]["tuner"])


def words(present: frozenset[str]) -> set[str]:
    """What to look for in a file, given its identifiers, if it may hold tables."""
    roles = {_roles()[name] for name in present & _roles().keys()}
    return {stages()} if len(roles) == 4 else set()


def sizes(entries: Mapping[str, object]) -> tuple[int, int, int, int] | None:
    """``m, n, k, stages`` of a table that has all of them as numbers, with stages to pipeline."""
    found: dict[str, int] = {}
    for name, value in entries.items():
        role = _roles().get(name)
        if role is not None and isinstance(value, int) and not isinstance(value, bool):
            found[role] = value
    if len(found) < 4 or found["stages"] < 2:
        return None
    return found["m"], found["n"], found["k"], found["stages"]


def bits(inside: Sequence[ast.stmt], line: int) -> int:
    """The least bits of an element of a table on a line of a function's or module's body.

    A format that the conditions around it name counts; else one of four bits if the code names any.
    """
    around = " ".join(
        ast.unparse(node.test)
        for statement in inside
        for node in ast.walk(statement)
        if isinstance(node, (ast.If, ast.IfExp))
        and node.lineno <= line <= (node.end_lineno or line)
        and not _elsewhere(node, line)
    )
    formats = _knowledge()["format"]
    for row in formats:
        if re.search(row["pattern"], around):
            return int(row["bits"])
    code = "\n".join(map(ast.unparse, inside))
    return min([8, *(int(row["bits"]) for row in formats if re.search(row["pattern"], code))])


def _elsewhere(node: ast.If | ast.IfExp, line: int) -> bool:
    """Whether a line lies in what runs if the condition does not hold."""
    other = node.orelse if isinstance(node.orelse, list) else [node.orelse]
    return any(part.lineno <= line <= (part.end_lineno or line) for part in other)


def defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[dict[str, int], ast.arg, ast.arg] | None:
    """The numbers that parameters are by default, with the first and last that name a tile."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    given = [*zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)]
    given += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    found = {
        parameter: default.value
        for parameter, default in given
        if parameter.arg in _roles() and isinstance(default, ast.Constant) and isinstance(default.value, int)
    }
    if not found:
        return None
    ordered = sorted(found, key=lambda parameter: (parameter.lineno, parameter.col_offset))
    return {parameter.arg: found[parameter] for parameter in ordered}, ordered[0], ordered[-1]
