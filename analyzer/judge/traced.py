"""What kernels written in Python need: the operations of their language that stand for instructions."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from analyzer import archs, data
from analyzer.archs import Spelling
from analyzer.cuda.instructions import requirement
from analyzer.cuda.ptx import Instruction
from analyzer.model import Step
from analyzer.python.observe import Call


def lacking(calls: Iterable[Call], target: str) -> list[Step]:
    """The calls among these for which the target has no instruction, each operation once.

    Args:
        calls: calls that lead out of the scanned tree.
        target: the name of an architecture.
    """
    steps: dict[str, Step] = {}
    for call in calls:
        instruction = _instruction(call.callee) if call.kind == "outside" else None
        if instruction is not None and call.callee not in steps and not _has(target, instruction):
            name = ".".join(instruction.split(".")[:2])
            what = f"calls {call.callee}: {name}, which {target} does not have"
            steps[call.callee] = Step(call.site.file, call.site.line, what)
    return list(steps.values())


@lru_cache(maxsize=4096)
def _instruction(callee: str) -> str | None:
    for row in data.table("kernel_languages")["operation"]:
        if any(fnmatchcase(callee, pattern) for pattern in row["calls"]):
            found: str = row["instruction"]
            return found
    return None


@lru_cache(maxsize=64)
def _has(target: str, instruction: str) -> bool:
    chip = archs.find(target)
    known = requirement(Instruction(instruction, tuple(instruction.split(".")), (), 0))
    return any(known.admits(Spelling(chip.number, suffix)) is not False for suffix in ("", *chip.suffixes))
