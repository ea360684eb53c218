"""Measure how many recorded changes and faults of gates the analyzer tells as it should.

Run as ``make cases``, or ``python -m tests.cases.runner [--releases NAME==VERSION …]``. Wheels are fetched
once into ``.cache``; what a scan told is kept there for each state of the analyzer. Only the Python stage
runs.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from analyzer.model import Gate, Predicate
from tests.cases import measure
from tests.cases.records import BUILT, COMPILED, LAYERS, RECORDS, Case, Release, cases

#: Releases with many records, which every change is measured on.
FIXED = (
    "sglang==0.5.7",
    "sglang==0.5.9",
    "sglang==0.5.10.post1",
    "sglang==0.5.12.post1",
    "sglang==0.5.13.post1",
    "sglang==0.5.19",
    "sglang==0.5.20",
    "flashinfer-python==0.6.4",
)
#: Too large to be fetched for a few records: half a gigabyte each, for the code compiled in them.
HEAVY = frozenset(["vllm"])
#: Tuning values that no Python condition chooses: what they ask for is told of kernels, not of conditions.
NO_CONDITION = "triton, no condition"
#: The target is let in here and stopped further on: that is told by what the builds behind hold.
FURTHER_ON = "let in, stopped later"
#: Releases that are installed together, and the toolkit.
Scanned = tuple[tuple[Release, ...], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Result:
    """How a case came out; ``seen``: what was told at its place."""

    case: Case
    good: bool
    seen: str


def judge(case: Case, told: measure.Told) -> Result:
    """Hold what a scan told against a case."""
    here = [gate for gate in told.gates if gate.file == case.file and gate.line <= case.line <= gate.end_line]
    found = [gate for gate in here if gate.effect != "none"]
    seen = "; ".join(_shown(gate) for gate in here)
    named = [item for item in told.predicates if _about(case, item)]
    if case.layer == "predicate_definition" or any(_begins(case, item) for item in named):
        seen = "; ".join([*(f"{item.name} {item.value}" for item in named), seen])
        reported = bool(found) or any(_shuts_out(case, item) for item in named)
    else:
        reported = bool(found)
    good = case.wanted == "either" or reported is (case.wanted == "report")
    if good and case.effects and found:
        good = any(gate.effect in case.effects for gate in found)
        if case.silent:
            good = good and any(gate.silent for gate in found)
    return Result(case, good, seen or "nothing")


def _shown(gate: Gate) -> str:
    silent = " silent" if gate.silent else ""
    return f"{gate.line}-{gate.end_line} {gate.effect}{silent} {gate.code[:60]} {gate.verdict}"


def _begins(case: Case, item: Predicate) -> bool:
    """Whether a case's line is a predicate's: where it begins, or a later one of an assignment to it."""
    if item.line == case.line:
        return True
    module = ast.parse((measure.tree(case.release) / case.file).read_bytes())
    return any(isinstance(node, ast.Assign) and node.lineno == item.line for node in ast.walk(module))


def _about(case: Case, item: Predicate) -> bool:
    return item.file == case.file and item.line <= case.line <= item.end_line


def _shuts_out(case: Case, item: Predicate) -> bool:
    """Whether a predicate says no to the target and yes to a reference."""
    false = ("false", "unknown", "free", "None", "")
    return item.value.get(case.target) in false and any(
        item.value.get(arch) not in (None, *false) for arch in measure.REFERENCES
    )


def decides(case: Case) -> bool:
    """Whether the place of a case lies in a Python condition: what is no condition is a resource claim."""
    module = ast.parse((measure.tree(case.release) / case.file).read_bytes())
    conditions = [
        getattr(node, "test", node)
        for node in ast.walk(module)
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert, ast.BoolOp, ast.Compare))
    ]
    return any(node.lineno <= case.line <= (node.end_lineno or 0) for node in conditions)


def scans(wanted: Sequence[Case]) -> dict[Scanned, list[Case]]:
    """The cases by the releases that one scan must see, and the toolkit that it assumes."""
    found: dict[Scanned, list[Case]] = defaultdict(list)
    for case in wanted:
        found[(case.release,), case.cuda].append(case)
    return dict(found)


def run(wanted: Mapping[Scanned, list[Case]], jobs: int) -> Iterator[Result | measure.Absent]:
    """The result of every case, scan by scan; a release that cannot be had tells why."""

    def scan(scanned: Scanned) -> Mapping[str, measure.Told]:
        releases, cuda = scanned
        return measure.apart(releases, sorted({case.target for case in wanted[scanned]}), cuda)

    with ThreadPoolExecutor(jobs) as pool:
        pending = [(scanned, pool.submit(scan, scanned)) for scanned in wanted]
        for scanned, done in pending:
            try:
                told = done.result()
            except subprocess.CalledProcessError:
                yield measure.Absent(" and ".join(map(str, scanned[0])))
                continue
            yield from (judge(case, told[case.target]) for case in wanted[scanned])


def main() -> None:
    """Print the cases that came out wrong (all with ``--all``), and recall and noise by layer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", nargs="*", help="only these, as NAME==VERSION")
    parser.add_argument("--fixed", action="store_true", help="only the eight with many records")
    parser.add_argument("--least", type=float, default=0, help="fail below this recall or silence (%%)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--layers", nargs="*", help="only cases of these layers")
    parser.add_argument("--all", action="store_true", help="print every case, not only those that are wrong")
    options = parser.parse_args()
    if not RECORDS.is_dir():
        print("there are no records here: nothing to measure")
        return
    layers = options.layers or (*LAYERS, *BUILT, *(() if options.fixed else COMPILED), "negative")
    releases = FIXED if options.fixed else options.releases
    chosen = [
        case
        for case in cases()
        if case.layer in layers
        and (str(case.release) in releases if releases else case.release.name not in HEAVY)
    ]
    results: list[Result] = []
    absent: list[measure.Absent] = []
    for item in run(scans(chosen), options.jobs):
        if isinstance(item, measure.Absent):
            absent.append(item)
            continue
        case = item.case
        if case.layer == "triton_config" and not decides(case):
            item = replace(item, case=replace(case, layer=NO_CONDITION))
        elif "wrongly_admitted" in case.effects:
            item = replace(item, case=replace(case, layer=FURTHER_ON))
        results.append(item)
        if options.all or not item.good:
            mark = "ok  " if item.good else "MISS"
            print(f"{mark} {case.layer} {case.name} {case.form} {case.release} {case.file}:{case.line}")
            print(
                f"     wanted {case.wanted} {'/'.join(case.effects)}: {item.seen} | {case.code[:90]}",
                flush=True,
            )
    least = _summary(results, absent)
    sys.exit(1 if absent or least < options.least else 0)


def _summary(results: Sequence[Result], absent: Sequence[measure.Absent]) -> float:
    """Print recall and noise; the lesser of recall and of the share of silent sides that are so."""
    for layer in (*LAYERS, *BUILT, NO_CONDITION, FURTHER_ON, *COMPILED, "negative"):
        for wanted in ("report", "silent"):
            here = [item for item in results if item.case.layer == layer and item.case.wanted == wanted]
            right = sum(item.good for item in here)
            if here:
                print(f"{layer:22}{wanted:8}{right:4} of {len(here):3}  {100 * right / len(here):5.1f} %")
    least = 100.0
    for wanted, what in (("report", "recall"), ("silent", "silence kept")):
        here = [
            item for item in results if item.case.layer in (*LAYERS, *BUILT) and item.case.wanted == wanted
        ]
        right = sum(item.good for item in here)
        if here:
            print(f"{what:30}{right:4} of {len(here):3}  {100 * right / len(here):5.1f} %")
            least = min(least, 100 * right / len(here))
    for error in absent:
        print(f"cannot be had or scanned: {error}", file=sys.stderr)
    return least


if __name__ == "__main__":
    main()
