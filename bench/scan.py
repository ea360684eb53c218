"""How long a cold scan takes, against merely parsing the same files: both figures and their ratio."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tree_sitter_cpp
import tree_sitter_python
from tree_sitter import Language, Parser

from analyzer.tree.files import Tree, open_tree


def median(action: Callable[[], object], repeat: int) -> float:
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


def scan(root: Path, jobs: int) -> None:
    """A scan in a process of its own that neither finds nor leaves any facts in the cache."""
    command = [
        sys.executable,
        "-m",
        "analyzer",
        "scan",
        str(root),
        "--jobs",
        str(jobs),
        "--no-cache",
        "--quiet",
    ]
    subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    tree = open_tree(given.root)
    sources = [file for file in tree.files if file.kind != "binary"]
    megabytes = sum(file.size for file in sources) / 1e6
    print(f"{len(sources)} files, {megabytes:.1f} MB; median of {given.repeat}")
    parsing = median(lambda: parse(tree), given.repeat)
    print(f"parse with tree-sitter, 1 core   {parsing:8.2f} s")
    scanning = median(lambda: scan(given.root, given.jobs), given.repeat)
    print(f"cold scan, {given.jobs} processes         {scanning:8.2f} s")
    print(f"ratio                            {scanning / parsing:8.2f}")


if __name__ == "__main__":
    main()
