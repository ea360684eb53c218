"""The survey on every architecture, spread over processes; the result does not depend on how many."""

from __future__ import annotations

import gc
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer import archs
from analyzer.processes import Team, received
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

#: So many new objects are worth a look for those that only hold each other.
_GARBAGE = 600_000

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


_BEGUN: dict[str, Survey] = {}
"""What a process has begun, by architecture: explorations, and surveys of references."""
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

    An exploration is the beginning of the survey, if it would have come out the same with all names.

    ``names`` are the architectures in the order of the result; with one job everything runs in this process;
    ``progress`` is told how many surveys are done, and of how many.

    Raises:
        ChildProcessError: a process has ended before its work was done.
    """
    _BEGUN.clear()
    _TASK[:] = [task]
    _INTEREST[:] = [Interest(task.index, task.words, task.natives)]
    _ = task.index.item_stores  # asked for by every process, and the same for all
    sys.setrecursionlimit(max(RECURSION, sys.getrecursionlimit()))
    collecting = gc.isenabled()
    gc.disable()  # nearly all that is made lives until the end of a survey
    gc.freeze()  # what every process starts from is not looked at again: it stays one copy for all of them
    apart = False
    try:
        with Team(min(jobs, len(names)) if jobs > 1 else 0, _work) as team:
            apart = bool(team.pipes)
            return _run(_Workers(team), target, references, names, progress)
    finally:
        _BEGUN.clear()
        gc.unfreeze()
        if apart:
            gc.freeze()  # what the processes told is used to the end, and holds no cycles
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
    first = [*((arch, True) for arch in references), (target, False)]
    for (arch, _), (found, telling, cut) in workers.each(_explore, first):
        known, chosen = _union(known, found), chosen | telling
        unfinished |= cut if arch == target else frozenset()
        progress(next(steps), total)
    led: dict[str, tuple[Names, frozenset[Defined], frozenset[str]]] = {}
    pending = list(references)
    while pending:
        for (arch, _), result in workers.each(_lead, [(arch, known) for arch in pending]):
            led[arch] = result
        for seen, *_ in led.values():
            known = _union(known, seen)
        # A name that another reference brought up may have been passed over here.
        pending = [arch for arch in references if led[arch][0][:3] != known[:3]]
    chosen = chosen.union(*(telling for _, telling, _ in led.values()))
    leading = frozenset[str]().union(*(names for *_, names in led.values()))
    # What is given up on the target is told even if no decision was seen before that.
    # Later architectures have more code that is theirs: what takes longest is begun first.
    later = sorted(names, key=lambda arch: archs.find(arch).number, reverse=True)
    others = dict.fromkeys(arch for arch in (target, *later) if arch not in led)
    tasks: list[tuple[str, Names, frozenset[str], frozenset[Defined] | None, bool]] = [
        (arch, known, leading, None, True) for arch in references
    ]
    for arch in others:
        own = chosen | unfinished if arch == target else chosen
        tasks.append((arch, known, leading, own, arch == target))
    told: dict[str, Told] = {}
    for (arch, *_), result in workers.each(_survey, tasks):
        told[arch] = result
        progress(next(steps), total)
    return {arch: told[arch] for arch in names}


def _union(left: Names, right: Names) -> Names:
    answers, attributes, builders, callers = (one | other for one, other in zip(left, right, strict=True))
    return answers, attributes, builders, callers


class _Workers:
    """Runs functions in several processes, each of which keeps what it began; or in this one if one will do.

    An architecture that was begun in a process is gone on with there; others go to whoever is free.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        self.places: dict[str, int] = {}

    def each(
        self, run: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Each task, an architecture before all, with what the function gives for it, as they finish."""
        if not self.team.pipes:
            for task in tasks:
                yield task, _freeing(run, *task)
            return
        waiting = list(tasks)
        for (_, task), answer in self.team.answers(lambda place: self._next(run, place, waiting)):
            if answer is None:
                raise ChildProcessError("a process of the scan has ended: is there enough memory?")
            yield task, received(answer)

    def _next(
        self, run: Callable[..., Any], place: int, waiting: list[tuple[Any, ...]]
    ) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
        """The next task of a process: one that was begun there, else the first that was begun nowhere."""
        mine = [task for task in waiting if self.places.get(task[0]) == place]
        free = [task for task in waiting if task[0] not in self.places]
        for task in (mine or free)[:1]:
            waiting.remove(task)
            self.places[task[0]] = place
            return run, task
        return None


def _work() -> Callable[[tuple[Callable[..., Any], tuple[Any, ...]]], Any]:
    return lambda asked: _freeing(asked[0], *asked[1])


def _freeing(run: Callable[..., Any], *task: Any) -> Any:
    """What a task gives; if those before it left much in cycles, that is freed, and what stays passed over.

    Nobody waits for that after the last task.
    """
    if gc.get_count()[0] > _GARBAGE:
        gc.collect()
        gc.freeze()
    return run(*task)


def _new(arch: str, explaining: bool = True) -> tuple[Survey, Interest]:
    task = _TASK[0]
    observer = Observer(explaining)
    machine = Machine(Host(archs.find(arch), task.cuda, task.environment), task.index, observer)
    return Survey(machine, observer), _INTEREST[0].fresh()


def _explore(arch: str, upward: bool) -> tuple[Names, frozenset[Defined], frozenset[Defined]]:
    """The names that lead to answers and builds, the functions that told something, and those given up.

    ``upward``: those of callers of what makes builds, too.
    """
    work, interest = _new(arch)
    _BEGUN[arch] = work
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


def _informed(names: Names) -> Interest:
    """What is followed from the start: these names."""
    interest = _INTEREST[0].fresh()
    interest.names |= names[0]
    interest.attributes |= names[1]
    interest.builders |= names[2]
    interest.callers |= names[3]
    return interest


def _begun(arch: str, interest: Interest, explaining: bool = True) -> Survey:
    """The survey of an architecture that its exploration has begun; a new one if more names change that."""
    work = _BEGUN.pop(arch, None)
    return work if work is not None and survey.holds(work, interest) else _new(arch, explaining)[0]


def _lead(arch: str, names: Names) -> tuple[Names, frozenset[Defined], frozenset[str]]:
    """Survey a reference: the names that it followed, what told something, and what leads to builds."""
    interest = _informed(names)
    work = _begun(arch, interest)
    survey.run(work, interest)
    _BEGUN[arch] = work
    return _names(interest), survey.telling(work), work.machine.leading


def _survey(
    arch: str, names: Names, leading: frozenset[str], chosen: frozenset[Defined] | None, explaining: bool
) -> Told:
    """What an architecture tells: a reference, which was surveyed; another, of the chosen functions alone."""
    if chosen is None:
        work = _BEGUN.pop(arch)
    else:
        interest = _informed(names)
        work = _begun(arch, interest, explaining)
        survey.run_only(work, interest, chosen)
    work.machine.leading = leading  # not all of these are walked on others
    told = findings.collect(work, arch)
    return Told(told, _TASK[0].extract(work), _seconds(work))
