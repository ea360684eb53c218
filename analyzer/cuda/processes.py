"""Chunks of work on several processes, each with an object of its own that does the work."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
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
    pool = ProcessPoolExecutor(
        min(jobs, len(chunks)), mp_context=context, initializer=_start, initargs=(make,)
    )
    here: Worker[Chunk, Result] | None = None
    with pool:
        futures = [pool.submit(_work, chunk) for chunk in chunks]
        try:
            for chunk, future in zip(chunks, futures, strict=True):
                try:
                    result: Result = future.result()
                except BrokenProcessPool:
                    here = here or make()
                    result = here(chunk)
                yield result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _start(make: Callable[[], Callable[[Any], Any]]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _workers.append(make())


def _work(chunk: Any) -> Any:
    return _workers[0](chunk)
