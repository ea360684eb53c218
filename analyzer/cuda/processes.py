"""Chunks of work on several processes, each with an object of its own that does the work."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Worker = Callable[[Chunk], Result]
Answer = tuple[Any, Exception | None]
"""What a process tells of a chunk: its result, or what was raised."""


def parallel(
    chunks: Sequence[Chunk], make: Callable[[], Worker[Chunk, Result]], jobs: int
) -> Iterator[tuple[int, Result]]:
    """The index of each chunk with its result, as they finish.

    ``make`` is called once in each process. The processes are forked, so that neither it nor the chunks are
    copied; results must be picklable. A chunk whose process died is done in this one, as all are where
    processes cannot be forked.
    """
    forks = "fork" in multiprocessing.get_all_start_methods()
    shares = Shares(len(chunks), min(jobs, len(chunks)) if forks else 1)
    here: Worker[Chunk, Result] | None = None
    with _Team(chunks, make, shares) as team:
        for index, answer in team.answers() if forks else ():
            if answer is None:
                here = here or make()
                yield index, here(chunks[index])
                continue
            result, error = answer
            if error is not None:
                raise error
            yield index, result
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


class _Team:
    """The processes, each at the other end of a pipe."""

    def __init__(
        self, chunks: Sequence[Any], make: Callable[[], Callable[[Any], Any]], shares: Shares
    ) -> None:
        self.chunks, self.make, self.shares = chunks, make, shares
        self.processes: list[BaseProcess] = []
        self.busy: dict[Connection, tuple[int, int]] = {}

    def __enter__(self) -> _Team:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()

    def answers(self) -> Iterator[tuple[int, Answer | None]]:
        """The chunks as they are done; None where the process died of one."""
        context = multiprocessing.get_context("fork")
        for job in range(len(self.shares)):
            near, far = context.Pipe()
            process = context.Process(target=_serve, args=(far, self.chunks, self.make), daemon=True)
            process.start()
            far.close()  # now the pipe ends when the process does
            self.processes.append(process)
            yield from self._hand(job, near)
        while self.busy:
            for pipe in wait(list(self.busy)):
                assert isinstance(pipe, Connection)  # nothing else was waited for
                job, index = self.busy.pop(pipe)
                try:
                    answer: Answer = pipe.recv()
                except (EOFError, OSError):
                    yield index, None
                    continue
                yield from self._hand(job, pipe)  # before the answer is worked on
                yield index, answer

    def _hand(self, job: int, pipe: Connection) -> Iterator[tuple[int, None]]:
        """Give a process its next chunk; yields the chunk where the process is dead."""
        index = self.shares.take(job)
        if index is None:
            return
        try:
            pipe.send(index)
        except OSError:
            yield index, None
            return
        self.busy[pipe] = job, index


def _serve(pipe: Connection, chunks: Sequence[Any], make: Callable[[], Callable[[Any], Any]]) -> None:
    """In a process of its own: do the chunks that are asked for, until the other side is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # nearly all that is made lives as long as the process
    work = make()
    while True:
        try:
            chunk = chunks[pipe.recv()]
        except EOFError:
            return
        try:
            answer: Answer = work(chunk), None
        except Exception as error:
            answer = None, error
        pipe.send(answer)
