"""What kernels written in Python need: the operations of their language that stand for instructions."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from analyzer import archs, data
from analyzer.cuda.instructions import may_have
from analyzer.model import Step
from analyzer.python.values import Site


def lacking(calls: Iterable[tuple[str, Site]], target: str) -> list[Step]:
    """The calls among these for which the target has no instruction, each operation once.

    Args:
        calls: what is called outside the scanned tree, by its dotted name, and where.
        target: the name of an architecture.
    """
    steps: dict[str, Step] = {}
    for callee, site in calls:
        instruction = _instruction(callee)
        if instruction is not None and callee not in steps and not may_have(archs.find(target), instruction):
            name = ".".join(instruction.split(".")[:2])
            what = f"calls {callee}: {name}, which {target} does not have"
            steps[callee] = Step(site.file, site.line, what)
    return list(steps.values())


@lru_cache(maxsize=4096)
def _instruction(callee: str) -> str | None:
    for row in data.table("kernel_languages")["operation"]:
        if any(fnmatchcase(callee, pattern) for pattern in row["calls"]):
            found: str = row["instruction"]
            return found
    return None
