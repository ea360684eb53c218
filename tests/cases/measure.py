"""Scan the Python of a release for the target and the references alone; what it told is kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from analyzer import pipeline
from analyzer.jit.extract import extract
from analyzer.model import Gate, Predicate
from analyzer.python import fleet, gates, tuning
from analyzer.python.modules import ModuleIndex
from analyzer.python.words import words
from analyzer.tree.files import open_tree
from analyzer.tree.requirements import required
from tests.cases.records import CUDA, Release

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
REFERENCES = ("sm_90", "sm_100")
#: Beside targets and references: what tells a gate that leaves all others out from one that singles one out.
OTHERS = ("sm_89",)


def references(target: str) -> tuple[str, ...]:
    """What a target is compared with: a later member of a family with its first one, too."""
    return (*REFERENCES, "sm_120") if target == "sm_121" else REFERENCES


class Told(msgspec.Struct, frozen=True):
    """What the scan of one release told for one target."""

    gates: tuple[Gate, ...]
    predicates: tuple[Predicate, ...]
    unresolved: int
    decided: int


class Absent(Exception):
    """A release cannot be had."""


def tree(release: Release) -> Path:
    """The unpacked wheel of a release, fetched once.

    Raises:
        Absent: the package index does not give it.
    """
    folder = CACHE / "trees" / f"{release.name}-{release.version}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
        wheel = _wheel(release)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(part)
        try:
            Path(part).rename(folder)
        except OSError:  # another process was faster
            return folder
        Path(part).mkdir()
    return folder


@contextmanager
def together(releases: Sequence[Release]) -> Iterator[Path]:
    """A folder with these releases, as if they were installed together.

    Raises:
        Absent: a release cannot be had.
    """
    trees = [tree(release) for release in releases]
    if len(trees) == 1:
        yield trees[0]
        return
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="together-") as folder:
        for each in trees:
            shutil.copytree(each, folder, copy_function=os.link, dirs_exist_ok=True)
        yield Path(folder)


def _wheel(release: Release) -> Path:
    wheels = CACHE / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pattern = f"{release.name.replace('-', '_')}-{release.version}-*.whl"
    if not any(wheels.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        done = subprocess.run([*command, "--dest", str(wheels), str(release)], capture_output=True, text=True)
        if done.returncode:
            raise Absent(f"{release} cannot be had: {done.stderr.strip().splitlines()[-1:]}")
    return next(wheels.glob(pattern))


@cache
def code() -> str:
    """What tells one state of the analyzer from another: a digest of its sources and data."""
    found = hashlib.sha256()
    for path in sorted([*(ROOT / "analyzer").rglob("*.py"), *(ROOT / "queries").iterdir(), Path(__file__)]):
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def told(
    releases: Sequence[Release], targets: Sequence[str], kept: bool = True, cuda: tuple[int, int] = CUDA
) -> Mapping[str, Told]:
    """What the scan of one release, or of several installed together, told, by target.

    ``kept``: take it from ``.cache`` where this state of the analyzer has told it already.

    Raises:
        Absent: a release cannot be had.
    """
    name = "+".join(f"{item.name}-{item.version}" for item in releases)
    toolkit = "" if cuda == CUDA else f"-cuda-{cuda[0]}.{cuda[1]}"
    store = CACHE / "cases" / code() / f"{name}{toolkit}.json"
    if kept and store.is_file():
        known = msgspec.json.decode(store.read_bytes(), type=dict[str, Told])
        if set(targets) <= set(known):
            return known
    found = _scan(releases, targets, cuda)
    store.parent.mkdir(parents=True, exist_ok=True)
    part = store.with_suffix(f".{os.getpid()}")
    part.write_bytes(msgspec.json.encode(found))
    part.replace(store)
    for old in sorted(store.parent.parent.iterdir(), key=lambda path: path.stat().st_mtime)[:-20]:
        shutil.rmtree(old, ignore_errors=True)
    return found


def apart(
    releases: Sequence[Release], targets: Sequence[str], cuda: tuple[int, int] = CUDA
) -> Mapping[str, Told]:
    """The same, scanned in a process of its own: what a scan leaves behind in memory is gone with it.

    Raises:
        subprocess.CalledProcessError: a release cannot be had or scanned.
    """
    wanted = json.dumps([[[item.name, item.version] for item in releases], targets, cuda])
    subprocess.run([sys.executable, "-m", "tests.cases.measure", wanted], check=True, cwd=ROOT)
    return told(releases, targets, cuda=cuda)


def _scan(releases: Sequence[Release], targets: Sequence[str], cuda: tuple[int, int]) -> dict[str, Told]:
    with together(releases) as root:
        opened = open_tree(root, ())
        files = [file.path for file in opened.files]
        index = ModuleIndex([*files, *opened.others], opened.read, required(opened.packages))
        texts = {file.path: words(opened.read(file.path)) for file in opened.of("python")}
        task = fleet.Task(index, texts, cuda, (), extract)
        every_reference = [name for target in targets for name in references(target)]
        names = tuple(dict.fromkeys([*OTHERS, *every_reference, *targets]))
        seen = fleet.run(task, targets[0], REFERENCES, names, 1)
        found = {arch: item.findings for arch, item in seen.items()}
        extracts = {arch: item.extract for arch, item in seen.items()}
        result: dict[str, Told] = {}
        for target in targets:
            told_here = gates.gates(found, target, references(target))
            tuned = tuning.gates(index, texts, opened.others, target, references(target), names)
            every = [*(draft.gate for draft in told_here.gates), *tuned]
            predicates = pipeline.predicates(found, extracts, every)  # type: ignore[arg-type]
            decided = sum(gate.verdict.get(target) != "unknown" for gate in every)
            result[target] = Told(tuple(every), predicates, len(told_here.unresolved), decided)
        return result


def main() -> None:
    """Scan one release and leave what it told in ``.cache``."""
    releases, targets, (major, minor) = json.loads(sys.argv[1])
    told([Release(*item) for item in releases], targets, cuda=(major, minor))


if __name__ == "__main__":
    main()
