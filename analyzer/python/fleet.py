"""The survey on every architecture, spread over processes; the result does not depend on how many."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

from analyzer import archs
from analyzer.python import findings, survey
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.natives import Natives
from analyzer.python.observe import Observer
from analyzer.python.survey import Defined, Interest, Survey

#: What runs of APIs and of options' choices are charged to: they lead through many files.
RUNS = "(runs for the matrix)"
#: The evaluator follows calls and nested syntax by recursion.
RECURSION = 20_000

Names = tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]
"""Names that lead to answers, attributes that hold them, names that lead to builds, to callers of builds."""


@dataclass(frozen=True, slots=True)
class Task:
    """What every process needs to know."""

    index: ModuleIndex
    words: Mapping[str, frozenset[str]]
    cuda: tuple[int, int]
    environment: tuple[tuple[str, str], ...]
    extract: Callable[[Survey], object]
    """Makes what is wanted of each survey beside its findings; must be picklable and give picklable data."""
    natives: Natives = field(default_factory=Natives)


@dataclass(frozen=True, slots=True)
class Told:
    """What one architecture's survey told."""

    findings: findings.Findings
    extract: object
    seconds: Mapping[str, float]
    """Time spent on each file."""


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A survey's result, the names that it followed, and the functions that told something."""

    told: Told
    names: Names
    telling: frozenset[Defined]


_TASK: list[Task] = []
_INTEREST: list[Interest] = []
"""What every process starts from; filled before they are forked."""


def run(
    task: Task,
    target: str,
    references: Sequence[str],
    names: Sequence[str],
    jobs: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Told]:
    """Survey all architectures.

    First the target and the references are explored for the names that lead to device answers and to builds:
    each alone may miss some. Then the references are surveyed, from which the call graph is drawn; at last
    all others, in the functions alone that told something.

    ``names`` are the architectures in the order of the result; with one job everything runs in this process;
    ``progress`` is told how many surveys are done, and of how many.
    """
    _TASK[:] = [task]
    _INTEREST[:] = [Interest(task.index, task.words, task.natives)]
    _ = task.index.item_stores  # asked for by every process, and the same for all
    sys.setrecursionlimit(max(RECURSION, sys.getrecursionlimit()))
    collecting = gc.isenabled()
    gc.disable()  # nearly all that is made lives until the end of a survey
    gc.unfreeze()
    gc.collect()
    gc.freeze()  # what every process starts from is not looked at again: it stays one copy for all of them
    try:
        with _Workers(min(jobs, len(names))) as workers:
            return _run(workers, target, references, names, progress)
    finally:
        if collecting:
            gc.enable()


def _run(
    workers: _Workers,
    target: str,
    references: Sequence[str],
    names: Sequence[str],
    progress: Callable[[int, int], None],
) -> dict[str, Told]:
    total = 1 + len(references) + len(names)
    steps = itertools.count(1)
    known: Names = (frozenset(), frozenset(), frozenset(), frozenset())
    chosen: frozenset[Defined] = frozenset()
    unfinished: frozenset[Defined] = frozenset()
    first = [(target, False), *((arch, True) for arch in references)]
    for (arch, _), (found, telling, cut) in workers.each(_explore, first):
        known, chosen = _union(known, found), chosen | telling
        unfinished |= cut if arch == target else frozenset()
        progress(next(steps), total)
    surveyed: dict[str, Surveyed] = {}
    pending = list(references)
    while pending:
        for (arch, *_), result in workers.each(_survey, [(arch, known, None) for arch in pending]):
            if arch not in surveyed:
                progress(next(steps), total)
            surveyed[arch] = result
        for result in surveyed.values():
            known = _union(known, result.names)
        # A name that another reference brought up may have been passed over here.
        pending = [arch for arch in references if surveyed[arch].names[:3] != known[:3]]
    chosen = chosen.union(*(result.telling for result in surveyed.values()))
    others = [arch for arch in names if arch not in surveyed]
    # What is given up on the target is told even if no decision was seen before that.
    tasks = [(arch, known, chosen | unfinished if arch == target else chosen) for arch in others]
    for (arch, *_), result in workers.each(_survey, tasks):
        surveyed[arch] = result
        progress(next(steps), total)
    return {arch: surveyed[arch].told for arch in names}


def _union(left: Names, right: Names) -> Names:
    answers, attributes, builders, callers = (one | other for one, other in zip(left, right, strict=True))
    return answers, attributes, builders, callers


class _Workers:
    """Runs functions on several processes, or in this one if one is enough."""

    def __init__(self, jobs: int) -> None:
        context = multiprocessing.get_context("fork")
        self.pool = ProcessPoolExecutor(jobs, mp_context=context) if jobs > 1 else None

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def each(
        self, run: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Each task with what the function gives for it, as they finish."""
        if self.pool is None:
            for task in tasks:
                yield task, _freeing(run, *task)
            return
        pending = {self.pool.submit(_freeing, run, *task): task for task in tasks}
        for finished in as_completed(pending):
            yield pending[finished], finished.result()


def _freeing(run: Callable[..., Any], *task: Any) -> Any:
    """What a task gives; what it leaves in cycles is freed, what stays is passed over from then on."""
    found = run(*task)
    gc.collect()
    gc.freeze()
    return found


def _new(arch: str) -> tuple[Survey, Interest]:
    task = _TASK[0]
    observer = Observer()
    machine = Machine(Host(archs.find(arch), task.cuda, task.environment), task.index, observer)
    return Survey(machine, observer), _INTEREST[0].fresh()


def _explore(arch: str, upward: bool) -> tuple[Names, frozenset[Defined], frozenset[Defined]]:
    """The names that lead to answers and builds, the functions that told something, and those given up.

    ``upward``: those of callers of what makes builds, too.
    """
    work, interest = _new(arch)
    survey.run(work, interest, upward)
    telling, cut = survey.telling(work), survey.cut(work)
    return _names(interest), telling, cut


def _seconds(work: Survey) -> dict[str, float]:
    machine = work.machine
    return {
        machine.index.path(module) if module else RUNS: seconds for module, seconds in machine.seconds.items()
    }


def _names(interest: Interest) -> Names:
    return (
        frozenset(interest.names),
        frozenset(interest.attributes),
        frozenset(interest.builders),
        frozenset(interest.callers),
    )


def _survey(arch: str, names: Names, chosen: frozenset[Defined] | None) -> Surveyed:
    """Survey one architecture; ``chosen``: in these functions alone."""
    work, interest = _new(arch)
    interest.names |= names[0]
    interest.attributes |= names[1]
    interest.builders |= names[2]
    interest.callers |= names[3]
    if chosen is None:
        survey.run(work, interest)
    else:
        survey.run_only(work, interest, chosen)
    told = Told(findings.collect(work, arch), _TASK[0].extract(work), _seconds(work))
    telling = survey.telling(work) if chosen is None else frozenset()
    return Surveyed(told, _names(interest), telling)
