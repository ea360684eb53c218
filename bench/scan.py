"""What a scan costs: cold, warm and after one change, against cheaper looks at the same files.

Run as ``python -m bench.scan ROOT…``, or with ``NAME==VERSION+NAME==VERSION`` in place of a folder. All is
measured in one run on one machine, and told as ratios to what one core needs merely to parse the files with
tree-sitter. Seconds are wall time. Memory is what all processes of the scan hold together at once, what they
share counted once (``Pss`` in ``/proc``), looked at twice a second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_cpp
import tree_sitter_python
from tree_sitter import Language, Parser

from analyzer.python import device
from analyzer.tree.files import Tree, open_tree
from tests.cases.measure import together
from tests.cases.records import Release

RULES = Path(__file__).with_name("rules.yaml")
SEMGREP = "semgrep==1.185.0"
#: Words that guards in CUDA are written with, for the floor: a search for words alone.
GUARDS = ("__CUDA_ARCH__", "griddepcontrol")


@dataclass(frozen=True, slots=True)
class Row:
    """One way to look at the files: seconds, and megabytes where they were watched."""

    what: str
    seconds: float
    megabytes: float = 0.0


def measured(action: Callable[[], object], repeat: int) -> float:
    """Seconds of wall time, the median of several runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def parse(tree: Tree) -> None:
    """Parse every Python and CUDA/C++ file of the tree with tree-sitter, one after the other."""
    languages = {"python": tree_sitter_python.language(), "cuda": tree_sitter_cpp.language()}
    parsers = {kind: Parser(Language(language)) for kind, language in languages.items()}
    for file in tree.files:
        if file.kind in parsers:
            parsers[file.kind].parse(tree.read(file.path))


def search(root: Path) -> list[str]:
    """The command that searches for the words that smgate starts from: ripgrep, or grep without it."""
    words = [*sorted(device.words()), *GUARDS]
    patterns = [argument for word in words for argument in ("-e", word)]
    if (found := shutil.which("rg")) is not None:
        return [found, "--no-ignore", "--count", "--fixed-strings", *patterns, str(root)]
    return ["grep", "-r", "-I", "-c", "-F", *patterns, str(root)]


def semgrep(folder: Path) -> Path | None:
    """semgrep, installed into an environment of its own on first use; nothing where it cannot be had."""
    program = folder / "bin" / "semgrep"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", SEMGREP]
        if subprocess.run(pip, check=False).returncode:
            return None
    return program


def match(program: Path, root: Path, jobs: int) -> None:
    """Let semgrep look for the three rules."""
    command = [str(program), "scan", "--config", str(RULES), "--metrics=off", "--disable-version-check"]
    command += ["--no-git-ignore", "--max-target-bytes=0", f"--jobs={jobs}", "--quiet", "--json", str(root)]
    path = f"{program.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "SEMGREP_SEND_METRICS": "off"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def scan(root: Path, jobs: int, cache: Path, label: str) -> Row:
    """A scan in a process of its own that keeps what it finds out in a folder."""
    command = [sys.executable, "-m", "analyzer", "scan", str(root), "--jobs", str(jobs), "--quiet"]
    start = time.perf_counter()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with (
        subprocess.Popen(
            [*command, "--format", "json"], stdout=subprocess.DEVNULL, env=environment
        ) as process,
        watched(process.pid) as most,
    ):
        code = process.wait()
    if code:
        raise SystemExit(f"the scan of {root} ended with {code}")
    return Row(label, time.perf_counter() - start, most[0])


@contextmanager
def watched(process: int) -> Iterator[list[float]]:
    """The most megabytes that a process and its descendants hold at once, as far as it is looked at."""
    most = [0.0]
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            most[0] = max(most[0], sum(map(_held, _family(process))))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def _held(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def _family(process: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    family = [process]
    for one in family:
        family += parents.get(one, [])
    return family


def change(root: Path, tree: Tree) -> str:
    """Add a line to the first Python file that asks for a capability; its name."""
    asking = (file.path for file in tree.of("python") if b"get_device_capability" in tree.read(file.path))
    name = next(asking)
    path = root / name
    text = path.read_bytes()
    path.unlink()  # a file of its own: the tree is made of links
    path.write_bytes(text + b"\n_changed = 1\n")
    return name


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """The tree once more, made of links."""
    with tempfile.TemporaryDirectory(dir=root.parent, prefix="bench-") as folder:
        shutil.copytree(root, folder, copy_function=os.link, dirs_exist_ok=True)
        yield Path(folder)


def rows(root: Path, jobs: int, repeat: int, matcher: Path | None) -> Iterator[Row]:
    """Everything that is measured of a tree, the parse first."""
    tree = open_tree(root)
    yield Row("tree-sitter, 1 core: parse alone", measured(lambda: parse(tree), repeat))
    words = search(root)
    counted = measured(lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=False), repeat)
    yield Row(f"{Path(words[0]).name}: the words that lead to gates", counted)
    if matcher is not None:
        yield Row(f"semgrep, {jobs} jobs: 3 rules", measured(lambda: match(matcher, root, jobs), repeat))
    with copied(root) as copy, tempfile.TemporaryDirectory() as folder:
        cold = [scan(copy, jobs, Path(folder, str(turn)), "") for turn in range(repeat)]
        cache = Path(folder, "0")
        warm = [scan(copy, jobs, cache, "") for _ in range(repeat)]
        change(copy, tree)
        changed = scan(copy, jobs, cache, f"smgate, {jobs} jobs: one Python file changed")
        for label, told in (("cold", cold), ("nothing changed", warm)):
            seconds = statistics.median(one.seconds for one in told)
            yield Row(f"smgate, {jobs} jobs: {label}", seconds, max(one.megabytes for one in told))
        yield changed


@contextmanager
def opened(text: str) -> Iterator[Path]:
    """A folder, or releases unpacked into one."""
    if "==" not in text:
        yield Path(text)
        return
    parts = [one.partition("==") for one in text.split("+")]
    releases = [Release(name, version) for name, _, version in parts]
    with together(releases) as root:
        yield root


def printed(name: str, tree: Tree, told: Sequence[Row]) -> None:
    """A table of one tree."""
    counts: Mapping[str, int] = {kind: len(tree.of(kind)) for kind in ("python", "cuda")}
    sources = sum(file.size for file in tree.files if file.kind != "binary") / 1e6
    print(f"\n{name}: {counts['python']} Python and {counts['cuda']} CUDA files, {sources:.0f} MB")
    print(f"{'':44}{'seconds':>9}{'ratio':>9}{'MB':>8}")
    for row in told:
        memory = f"{row.megabytes:8.0f}" if row.megabytes else ""
        print(f"{row.what:44}{row.seconds:9.2f}{row.seconds / told[0].seconds:9.2f}{memory}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", metavar="ROOT")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--semgrep", type=Path, help="a folder for an environment with semgrep")
    given = parser.parse_args()
    matcher = semgrep(given.semgrep) if given.semgrep is not None else None
    with ExitStack() as stack:
        for text in given.roots:
            root = stack.enter_context(opened(text))
            printed(text, open_tree(root), list(rows(root, given.jobs, given.repeat, matcher)))


if __name__ == "__main__":
    main()
