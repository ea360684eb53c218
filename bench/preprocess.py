"""What the preprocessor costs: one walk of all units for all architectures, against gcc for one of them.

Run as ``python -m bench.preprocess ROOT``. Both sides see every CUDA source of flashinfer below ROOT, with
the package's own folders and flags. gcc is run as ``nvcc --dryrun`` shows, with ``-fdirectives-only``: it
evaluates every condition and leaves the text alone, as the walk does. Counted is processor time, reading
included.
"""

from __future__ import annotations

import argparse
import gc
import resource
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda import passes
from analyzer.cuda.preprocess import Memory, Run, Unit, walk
from tests.cuda.tree import Disk
from tests.oracle.lines import SOURCES, Asked, nvcc
from tests.oracle.test_branches import COMMON, INCLUDE_DIRS

#: The share of gcc's time that the walk may take.
SHARE = 0.1


def used(who: int) -> float:
    """Seconds of processor time so far: of this process, or of its children."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(root: Path, sources: Sequence[str], spellings: Sequence[Spelling], empty: Iterable[str]) -> float:
    """Processor seconds of one walk of each unit for all spellings, nothing known before."""
    flags = (*COMMON, "-std=c++17")
    gc.collect()
    gc.disable()  # as in the analyzer's own processes
    start = used(resource.RUSAGE_SELF)
    known = Disk(root, (f"stubs/{header}" for header in empty))
    configurations = [passes.device_pass(one, flags) for one in spellings]
    memory = Memory()
    units = [walk(source, known, INCLUDE_DIRS, configurations, memory=memory) for source in sources]
    lines = sum(run.end_line - run.line + 1 for run in _runs(units))
    seconds = used(resource.RUSAGE_SELF) - start
    gc.enable()
    assert lines > 0
    return seconds


def _runs(units: Sequence[Unit]) -> Iterator[Run]:
    """All lines of all files with their masks, each file once for each way to see it."""
    for activity in dict.fromkeys(activity for unit in units for activity in unit.files.values()):
        yield from activity.runs


def gcc(asked: Asked, sources: Sequence[str], spelling: Spelling) -> float:
    """Processor seconds of ``gcc -E -fdirectives-only`` over each unit for one spelling."""
    command = asked.command(spelling)
    start = used(resource.RUSAGE_CHILDREN)
    for source in sources:
        asked.preprocess(source, command)
    return used(resource.RUSAGE_CHILDREN) - start


def main() -> None:
    """Measure and print; exit code 1 where the walk takes more than its share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--spelling", type=Spelling.parse, default=Spelling.parse("120a"))
    given = parser.parse_args()
    if nvcc() is None or shutil.which("gcc") is None:
        print("the preprocessor is not measured: needs nvcc (make toolkit) and gcc")
        return
    root = given.root.resolve()
    sources = [path.relative_to(root).as_posix() for path in sorted((root / SOURCES).rglob("*.cu"))]
    spellings = [Spelling(arch.number, "a" if "a" in arch.suffixes else "") for arch in archs.profiles()]
    with tempfile.TemporaryDirectory() as folder:
        asked = Asked(root, Path(folder))
        command = asked.command(given.spelling)
        for source in sources:  # which headers are in neither the tree nor the toolkit: empty on both sides
            asked.preprocess(source, command)
        theirs = statistics.median(gcc(asked, sources, given.spelling) for _ in range(given.repeat))
        walked = statistics.median(ours(root, sources, spellings, asked.empty) for _ in range(given.repeat))
    print(f"{len(sources)} units; processor time, median of {given.repeat}")
    print(f"gcc -E -fdirectives-only, {given.spelling.target:10}{theirs:8.2f} s")
    print(f"one walk for {len(spellings)} architectures        {walked:8.2f} s")
    print(f"ratio                               {walked / theirs:8.3f}   (at most {SHARE})")
    sys.exit(walked > SHARE * theirs)


if __name__ == "__main__":
    main()
