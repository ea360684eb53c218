"""Progress of long work on standard error: a bar on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Display(Protocol):
    """Shows how far the work is; used as ``with display: ... display(stage, done, total)``."""

    def __enter__(self) -> Display: ...
    def __exit__(self, *error: object) -> None: ...
    def __call__(self, stage: str, done: int, total: int) -> None:
        """Stage by name, steps done and steps in all (0: not known)."""


class Quiet:
    """Shows nothing."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Nothing is shown."""


class Lines:
    """One line when a stage starts, for logs."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._stage = ""

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Name a stage the first time it is heard of."""
        if stage != self._stage:
            self._stage = stage
            self._write(f"{stage} ({total})\n" if total else f"{stage}\n")


class Bar:
    """A bar for each stage, removed when the work is over."""

    def __init__(self, stream: TextIO) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=stream),
            transient=True,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Move the bar of a stage."""
        if stage not in self._tasks:
            self._tasks[stage] = self._progress.add_task(stage, total=total or None)
        self._progress.update(self._tasks[stage], completed=done, total=total or None)


def display(stream: TextIO, quiet: bool) -> Display:
    """The display that suits a stream."""
    if quiet:
        return Quiet()
    return Bar(stream) if stream.isatty() else Lines(stream.write)
