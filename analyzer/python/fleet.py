"""The survey on every architecture, spread over processes; the result does not depend on how many."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from analyzer import archs
from analyzer.python import findings, survey
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.survey import Interest, Survey

#: The evaluator follows calls and nested syntax by recursion.
RECURSION = 20_000

Names = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""Names that lead to answers, to builds, to callers of builds."""


@dataclass(frozen=True, slots=True)
class Task:
    """What every process needs to know."""

    index: ModuleIndex
    words: Mapping[str, frozenset[str]]
    cuda: tuple[int, int]
    environment: tuple[tuple[str, str], ...]
    extract: Callable[[Survey], object]
    """Makes what is wanted of each survey beside its findings; must be picklable and give picklable data."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one architecture's survey told."""

    findings: findings.Findings
    extract: object


_TASK: list[Task] = []


def run(
    task: Task,
    target: str,
    references: Sequence[str],
    names: Sequence[str],
    jobs: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Told]:
    """Survey all architectures.

    First the target and the references are explored, each by itself, for the names that lead to device
    answers; then every architecture is surveyed with the names of all of them.

    ``names`` are the architectures in the order of the result; with one job everything runs in this process;
    ``progress`` is told how many surveys are done, and of how many.
    """
    leading = list(dict.fromkeys([target, *references]))
    total = len(leading) + len(names)
    done = 0
    _TASK[:] = [task]
    sys.setrecursionlimit(max(RECURSION, sys.getrecursionlimit()))
    if jobs <= 1:
        found = _Found()
        for arch in leading:
            found.add(_explore(arch))
            done += 1
            progress(done, total)
        told = {}
        for arch in names:
            told[arch] = _survey(arch, found.names)
            done += 1
            progress(done, total)
        return told
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=context) as pool:
        found = _Found()
        for future in as_completed([pool.submit(_explore, arch) for arch in leading]):
            found.add(future.result())
            done += 1
            progress(done, total)
        pending = {pool.submit(_survey, arch, found.names): arch for arch in names}
        results: dict[str, Told] = {}
        for finished in as_completed(pending):
            results[pending[finished]] = finished.result()
            done += 1
            progress(done, total)
    return {arch: results[arch] for arch in names}


class _Found:
    """The union of what explorations found."""

    def __init__(self) -> None:
        self.names: Names = (frozenset(), frozenset(), frozenset())

    def add(self, names: Names) -> None:
        a, b, c = self.names
        self.names = (a | names[0], b | names[1], c | names[2])


def _new(arch: str) -> tuple[Survey, Interest]:
    task = _TASK[0]
    observer = Observer()
    machine = Machine(Host(archs.find(arch), task.cuda, task.environment), task.index, observer)
    return Survey(machine, observer), Interest(task.index, task.words)


def _explore(arch: str) -> Names:
    work, interest = _new(arch)
    survey.run(work, interest)
    return frozenset(interest.names), frozenset(interest.builders), frozenset(interest.callers)


def _survey(arch: str, names: Names) -> Told:
    work, interest = _new(arch)
    interest.names |= names[0]
    interest.builders |= names[1]
    interest.callers |= names[2]
    survey.run(work, interest)
    return Told(findings.collect(work, arch), _TASK[0].extract(work))
