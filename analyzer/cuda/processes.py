"""Chunks of work on several processes, each with an object of its own that does the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from analyzer.processes import Team, received

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Worker = Callable[[Chunk], Result]


def parallel(
    chunks: Sequence[Chunk], make: Callable[[], Worker[Chunk, Result]], jobs: int
) -> Iterator[tuple[int, Result]]:
    """The index of each chunk with its result, as they finish.

    ``make`` is called once in each process, which are forked, so that neither it nor the chunks are copied;
    results must be picklable. A chunk whose process died is done in this one, as all are where processes
    cannot be forked.
    """

    def by_index() -> Callable[[int], Result]:
        work = make()
        return lambda index: work(chunks[index])

    here: Worker[Chunk, Result] | None = None
    with Team(min(jobs, len(chunks)), by_index) as team:
        shares = Shares(len(chunks), len(team.pipes) or 1)
        for index, answer in team.answers(shares.take):
            if answer is None:
                here = here or make()
                yield index, here(chunks[index])
            else:
                yield index, received(answer)
    while (left := shares.take(0)) is not None:  # no process is alive
        here = here or make()
        yield left, here(chunks[left])


class Shares:
    """Who does which chunk: each its own part in order, then the last ones of who has most left.

    Chunks near to one another are likely to share files, which a process reads once.
    """

    def __init__(self, chunks: int, jobs: int) -> None:
        bounds = [chunks * job // jobs for job in range(jobs + 1)] if jobs else []
        self._parts = [list(range(start, stop)) for start, stop in pairwise(bounds)]

    def __len__(self) -> int:
        return len(self._parts)

    def take(self, job: int) -> int | None:
        """The next chunk for a process; None if none is left."""
        if job < len(self._parts) and self._parts[job]:
            return self._parts[job].pop(0)
        longest = max(self._parts, key=len, default=[])
        return longest.pop() if longest else None
