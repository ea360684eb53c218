"""Forked processes at the other ends of pipes: each does one task after the other and keeps what it makes."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import signal
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

Work = Callable[[Any], Any]
Answer = tuple[Any, Exception | None]
"""What a process tells of a task: its result, or what was raised."""


class Team:
    """Some processes; none where processes cannot be forked.

    ``make`` is called once in each and gives what does a task. They are forked: neither it nor what it
    holds is copied; tasks and results must be picklable.
    """

    def __init__(self, size: int, make: Callable[[], Work]) -> None:
        self.make = make
        self.processes: list[BaseProcess] = []
        self.pipes: list[Connection] = []
        self.size = size if "fork" in multiprocessing.get_all_start_methods() else 0

    def __enter__(self) -> Team:
        context = multiprocessing.get_context("fork") if self.size else None
        for _ in range(self.size):
            assert context is not None
            near, far = context.Pipe()
            process = context.Process(target=_serve, args=(far, self.make), daemon=True)
            process.start()
            far.close()  # now the pipe ends when the process does
            self.processes.append(process)
            self.pipes.append(near)
        return self

    def __exit__(self, *error: object) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()

    def answers(self, following: Callable[[int], Any]) -> Iterator[tuple[Any, Answer | None]]:
        """Tasks as they are done, each with the answer; None where the process died of it.

        ``following``: the next task of a process, by its place in the team; None if there is none for it.
        """
        busy: dict[Connection, tuple[int, Any]] = {}
        for place in range(len(self.pipes)):
            yield from self._hand(place, following, busy)
        while busy:
            for pipe in wait(list(busy)):
                assert isinstance(pipe, Connection)  # nothing else was waited for
                place, task = busy.pop(pipe)
                try:
                    answer = pipe.recv_bytes()
                except (EOFError, OSError):
                    yield task, None
                    continue
                yield from self._hand(place, following, busy)  # before the answer is looked at
                yield task, pickle.loads(answer)

    def _hand(
        self, place: int, following: Callable[[int], Any], busy: dict[Connection, tuple[int, Any]]
    ) -> Iterator[tuple[Any, None]]:
        """Give a process its next task; yields the task where the process is dead."""
        task = following(place)
        if task is None:
            return
        try:
            self.pipes[place].send(task)
        except OSError:
            yield task, None
            return
        busy[self.pipes[place]] = place, task


def received(answer: Answer) -> Any:
    """What a process gave; what it raised is raised here."""
    given, error = answer
    if error is not None:
        raise error
    return given


def _serve(pipe: Connection, make: Callable[[], Work]) -> None:
    """In a process of its own: do the tasks that are sent, until the other side is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # nearly all that is made lives as long as the process
    work = make()
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            answer: Answer = work(task), None
        except Exception as error:
            answer = None, error
        pipe.send(answer)
