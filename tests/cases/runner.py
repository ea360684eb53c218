"""Measure how many recorded changes and faults of Python gates the analyzer sees as it should.

Run as ``python -m tests.cases.runner [--releases NAME==VERSION …]``; wheels are fetched once into ``.cache``.
A case is one side of a recorded change: what a scan for sm_120 does at that place, ``report`` or ``silent``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer import archs
from analyzer.model import Gate
from analyzer.python import fleet, gates
from analyzer.python.modules import ModuleIndex
from analyzer.python.survey import Survey
from analyzer.python.words import words

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT.parent / "shared" / "cases"
CACHE = ROOT / ".cache"
LAYERS = frozenset(["runtime_gate", "triton_config", "decorator", "build_arch_list"])
TARGET, REFERENCES = "sm_120", ("sm_90", "sm_100")
#: The architectures surveyed: more than these decide nothing here.
ARCHS = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121")


@dataclass(frozen=True, slots=True)
class Case:
    """One place in one release and what a scan for the target does there."""

    name: str
    release: tuple[str, str]
    layer: str
    form: str
    file: str
    line: int
    code: str
    wanted: str


def cases() -> Iterator[Case]:
    """Every recorded place of a Python gate in a released wheel."""
    for row in map(json.loads, (CASES / "dev-fixes.jsonl").read_text().splitlines()):
        if row["layer"] not in LAYERS or row.get("source") != "wheel" or not row["file"].endswith(".py"):
            continue
        for side in ("before", "after"):
            if row[f"line_{side}"] is not None:
                yield Case(
                    f"{row['id']}/{side}",
                    (row["package"], row[side]),
                    row["layer"],
                    row["form"],
                    row["file"],
                    row[f"line_{side}"],
                    row[f"code_{side}"] or "",
                    row["check"][f"sm120_{side}"],
                )
    for row in map(json.loads, (CASES / "dev-bugs.jsonl").read_text().splitlines()):
        if row.get("layer") in LAYERS and row["arch"] == "120" and row["file"].endswith(".py"):
            yield Case(
                row["id"],
                (row["package"], row["version_with_fault"]),
                row["layer"],
                row["effect"],
                row["file"],
                row["line"],
                row["code"],
                "report",
            )


def tree(name: str, version: str) -> Path:
    """The unpacked wheel of a release, fetched once."""
    folder = CACHE / "trees" / f"{name}-{version}"
    if folder.is_dir():
        return folder
    wheels = CACHE / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not any(wheels.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--dest", str(wheels), f"{name}=={version}"], check=True)
    with zipfile.ZipFile(next(wheels.glob(pattern))) as archive:
        archive.extractall(folder)
    return folder


def _nothing(survey: Survey) -> None:
    """What is taken of a survey beside its findings."""


def scan(root: Path, jobs: int) -> list[Gate]:
    """The Python gates of a tree."""
    files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    index = ModuleIndex(files, lambda file: (root / file).read_bytes(), ["torch"])
    texts = {file: words((root / file).read_bytes()) for file in files if file.endswith(".py")}
    task = fleet.Task(index, texts, (13, 0), (), _nothing)
    told = fleet.run(task, TARGET, REFERENCES, ARCHS, jobs)
    found = {arch: item.findings for arch, item in told.items()}
    return [draft.gate for draft in gates.gates(found, TARGET, REFERENCES).gates]


def at(case: Case, found: Sequence[Gate]) -> list[Gate]:
    """The gates at the place of a case."""
    return [
        gate for gate in found if gate.file == case.file and gate.line - 1 <= case.line <= gate.end_line + 1
    ]


def main() -> None:
    """Print every case of the releases with what was found, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", nargs="*", help="only these, as NAME==VERSION")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    known: dict[tuple[str, str], list[Case]] = {}
    for case in cases():
        known.setdefault(case.release, []).append(case)
    chosen = [tuple(text.split("==")) for text in options.releases or ()] or sorted(known)
    right = total = 0
    for release in chosen:
        found = scan(tree(release[0], release[1]), options.jobs)
        for case in known.get((release[0], release[1]), []):
            here = at(case, found)
            reported = any(gate.effect != "none" for gate in here)
            good = case.wanted == "either" or reported is (case.wanted == "report")
            right, total = right + good, total + 1
            seen = "; ".join(f"{gate.line} {gate.effect} {gate.code[:60]}" for gate in here) or "nothing"
            mark = "ok  " if good else "MISS"
            print(f"{mark} {case.name} {case.form} {case.file}:{case.line}")
            print(f"     wanted {case.wanted}: {seen} | {case.code[:90]}")
        sys.stdout.flush()
    print(f"{right} of {total} as they should be, target {archs.find(TARGET).name}")


if __name__ == "__main__":
    main()
