"""Measure how many recorded changes and faults a whole scan tells as it should that no stage tells alone.

Those of CUDA and C++ gates, and those at which Python lets the target in where something behind stops it,
in the same package or in another. Run as ``python -m tests.cases.cuda [--releases NAME==VERSION …]``. Wheels
are fetched once into ``.cache``; each report is kept there for each state of the analyzer.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzer import model
from analyzer.scan import ScanOptions, scan
from tests.cases import measure
from tests.cases.records import Case, Release, fault, rows
from tests.cases.runner import FURTHER_ON, HEAVY, judge

_KERNELS = re.compile(r"^Requires-Dist: (sgl-kernel|sglang-kernel)==([\d.a-z]+)$", re.MULTILINE)
LAYERS = ("cuda_guard", "host_cpp_check", "isa", "isa_illegal", "resource_limit")


def cases() -> Iterator[Case]:
    """Every recorded place of these layers in a released wheel, and what is let in and stopped later."""
    for row in rows("dev-fixes.jsonl"):
        if row["layer"] not in LAYERS or row.get("source") != "wheel":
            continue
        for side in ("before", "after"):
            if row[f"line_{side}"] is None or row[side] is None:
                continue
            yield Case(
                name=f"{row['id']}/{side}",
                release=Release(row["package"], row[side]),
                target="sm_120",
                layer=row["layer"],
                form=row["form"],
                file=row["file"],
                line=row[f"line_{side}"],
                code=row[f"code_{side}"] or "",
                wanted=row["check"][f"sm120_{side}"],
            )
    for row in rows("dev-bugs.jsonl"):
        if row.get("layer") in LAYERS:
            yield fault(row)
        elif row["effect"] == "wrongly_included" and row["package"] not in HEAVY:
            case = replace(fault(row), layer=FURTHER_ON)
            # Where no layer of its own decides, what stops it lies in the kernels that it is installed with.
            yield replace(case, beside=_kernels(case.release)) if row["layer"] == "other" else case


def _kernels(release: Release) -> tuple[Release, ...]:
    """The compiled kernels that a release demands, by its own metadata."""
    (metadata,) = measure.tree(release).glob("*.dist-info/METADATA")
    return tuple(Release(*found) for found in _KERNELS.findall(metadata.read_text(encoding="utf-8")))


def told(releases: Sequence[Release], target: str, jobs: int) -> measure.Told:
    """What a scan of releases tells for a target; kept for this state of the analyzer."""
    name = "+".join(f"{item.name}-{item.version}" for item in releases)
    store = measure.CACHE / "cases" / measure.code() / f"{name}-{target}.report.json"
    if not store.is_file():
        with measure.together(releases) as root:
            options = ScanOptions(
                root=root,
                target=target,
                references=measure.references(target),
                cuda="12.9",
                env={},
                packages=(),
                jobs=jobs,
                cache=True,
            )
            report = scan(options)
        store.parent.mkdir(parents=True, exist_ok=True)
        store.write_bytes(model.encode(report))
    report = model.decode(store.read_bytes())
    return measure.Told(report.gates, report.predicates, 0, 0)


def main() -> None:
    """Print the cases that came out wrong, and how many came out right by layer and side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", nargs="*", help="only these, as NAME==VERSION")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    wanted: dict[tuple[tuple[Release, ...], str], list[Case]] = defaultdict(list)
    for case in cases():
        if not options.releases or str(case.release) in options.releases:
            wanted[(case.release, *case.beside), case.target].append(case)
    right: Counter[tuple[str, str]] = Counter()
    count: Counter[tuple[str, str]] = Counter()
    for (releases, target), here in sorted(wanted.items(), key=str):
        try:
            found = told(releases, target, options.jobs)
        except measure.Absent as error:
            print(error, file=sys.stderr)
            continue
        for case in here:
            result = judge(case, found)
            side = case.layer, case.wanted
            count[side] += 1
            right[side] += result.good
            if not result.good:
                print(f"MISS {case.layer} {case.name} {case.form} {case.release} {case.file}:{case.line}")
                wish = "/".join(case.effects)
                print(f"     wanted {case.wanted} {wish}: {result.seen} | {case.code[:90]}", flush=True)
    for layer, side in sorted(count):
        print(f"{layer:18}{side:8}{right[layer, side]:4} of {count[layer, side]:3}")
    for side in ("report", "silent"):
        good, of = (sum(n for (_, s), n in counter.items() if s == side) for counter in (right, count))
        if of:
            print(f"{side:26}{good:4} of {of:3}  {100 * good / of:5.1f} %")


if __name__ == "__main__":
    main()
