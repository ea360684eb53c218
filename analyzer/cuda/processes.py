"""Chunks of work on several processes, each with an object of its own that does the work."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Worker = Callable[[Chunk], Result]

_workers: list[Callable[[Any], Any]] = []
"""In a worker process: its one worker."""


def parallel(
    chunks: Sequence[Chunk], make: Callable[[], Worker[Chunk, Result]], jobs: int
) -> Iterator[Result]:
    """The results of all chunks, in their order.

    ``make`` is called once in each process and must be picklable; chunks and results too. A chunk whose
    process died is done in this one.
    """
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)  # not forked from this process, which may have threads
    count = min(jobs, len(chunks))
    here: Worker[Chunk, Result] | None = None
    with ProcessPoolExecutor(count, mp_context=context, initializer=_start, initargs=(make,)) as pool:
        futures = {index: _submit(pool, chunks[index]) for index in _spread(len(chunks), count)}
        try:
            for index, chunk in enumerate(chunks):
                try:
                    result: Result = futures[index].result()
                except BrokenProcessPool:
                    here = here or make()
                    result = here(chunk)
                yield result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _submit(pool: ProcessPoolExecutor, chunk: object) -> Future[Any]:
    try:
        return pool.submit(_work, chunk)
    except BrokenProcessPool as error:  # a process died while others were still being given work
        failed: Future[Any] = Future()
        failed.set_exception(error)
        return failed


def _spread(chunks: int, jobs: int) -> list[int]:
    """An order in which each process meets chunks near to one another, which are likely to share files."""
    span = -(-chunks // jobs)
    spread = (job * span + at for at in range(span) for job in range(jobs))
    return [index for index in spread if index < chunks]


def _start(make: Callable[[], Callable[[Any], Any]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    gc.disable()  # nearly all that is made lives as long as the process
    _workers.append(make())


def _work(chunk: Any) -> Any:
    return _workers[0](chunk)
