"""The recorded changes and faults of gates, as cases: a place in a release, and what is told there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "cases"
#: The toolkit that is assumed, unless a fault is said to come up with another.
CUDA = (12, 9)
_TOOLKIT = re.compile(r"\b(?:[Ww]ith|[Uu]nder) CUDA (\d+)\.(\d+)\b")
_OLDER = re.compile(r"\btoolkit is older than (\d+)\.(\d+)\b")
#: Layers in which a Python condition decides; the others are counted beside them.
LAYERS = ("runtime_gate", "predicate_definition", "triton_config")
#: Layers of what is compiled ahead of time, and of lists of architectures in the environment.
COMPILED = ("binary_arch", "env_arch_list")
#: Layers of builds and of declared capabilities.
BUILT = ("decorator", "jit_arch_list", "build_arch_list", "other")
FURTHER = (*BUILT, *COMPILED)
#: What a report may call the effects by which people reported faults.
EFFECTS = {
    # A kernel without the memory or the image that it needs raises when it is launched.
    "raises": ("raises", "over_resource", "no_image"),
    "silently_degraded": ("degraded", "excluded", "lost_sync"),
    "excluded": ("excluded", "degraded", "no_image"),
    "wrongly_included": ("wrongly_admitted", "illegal_instruction", "over_resource", "raises"),
    "compile_error": ("illegal_instruction", "raises"),
}


@dataclass(frozen=True, slots=True)
class Release:
    """A released package."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class Case:
    """One place in one release and what a scan for a target says there.

    ``wanted``: ``report``, ``silent`` or ``either``; ``effects``: if any are named, the report bears one.
    ``beside``: releases of other packages in which what is told comes about.
    """

    name: str
    release: Release
    target: str
    layer: str
    form: str
    file: str
    line: int
    code: str
    wanted: str
    effects: tuple[str, ...] = ()
    silent: bool = False
    negative: bool = False
    cuda: tuple[int, int] = CUDA
    beside: tuple[Release, ...] = ()


def rows(name: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, (RECORDS / name).read_text(encoding="utf-8").splitlines())


def cases() -> Iterator[Case]:
    """Every recorded place of a Python gate in a released wheel, and of what only looks like one."""
    yield from _changes()
    yield from _faults()


def _changes() -> Iterator[Case]:
    for row in rows("dev-fixes.jsonl"):
        negative = row.get("negative", False)
        if row.get("source") != "wheel":
            continue
        for side in ("before", "after"):
            # Where a tuning file came, the place is the line that looks for it.
            file = (
                row.get("lookup_file") or (row.get("file_after") if side == "after" else None) or row["file"]
            )
            line = row.get("lookup_line") or row[f"line_{side}"]
            if line is None or row[side] is None or not file.endswith(".py"):
                continue
            yield Case(
                name=f"{row['id']}/{side}",
                release=Release(row["package"], row[side]),
                target="sm_120",
                layer="negative" if negative else row["layer"],
                form=row["form"],
                file=file,
                line=line,
                code=row[f"code_{side}"] or row.get("lookup_code") or "",
                wanted="silent" if negative else row["check"][f"sm120_{side}"],
                negative=negative,
                cuda=toolkit(row.get("why", "")),
            )


def _faults() -> Iterator[Case]:
    for row in rows("dev-bugs.jsonl"):
        if not row["file"].endswith(".py") or row.get("layer") not in (*LAYERS, *FURTHER):
            continue
        yield fault(row)


def toolkit(told: str) -> tuple[int, int]:
    """The toolkit with which something is said to come up."""
    if (found := _TOOLKIT.search(told)) is not None:
        return int(found[1]), int(found[2])
    if (found := _OLDER.search(told)) is not None:
        return int(found[1]), int(found[2]) - 1
    return CUDA


def fault(row: Mapping[str, Any]) -> Case:
    """A reported fault, with the effects that its word stands for."""
    return Case(
        name=row["id"],
        release=Release(row["package"], row["version_with_fault"]),
        target=f"sm_{row['arch']}",
        layer=row["layer"],
        form=row["effect"],
        file=row["file"],
        line=row["line"],
        code=row["code"],
        wanted="report",
        effects=EFFECTS[row["effect"]],
        silent=row["effect"] == "silently_degraded",
        cuda=toolkit(row["expected"]),
        beside=tuple(
            dict.fromkeys(
                Release(step["package"], step["version"])
                for step in row.get("chain", ())
                if step.get("package") not in (None, row["package"])
            )
        ),
    )
