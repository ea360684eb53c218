"""Where the time of a scan goes: by stage, and by file of the scanned tree."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Spent:
    """Seconds that a stage took: on the clock, and of processors, in all processes; ``kept``: see there."""

    wall: float
    processor: float
    kept: bool
    """Its result was taken from an earlier scan."""


@dataclass(slots=True)
class Profile:
    """What is measured in one scan. ``files``: seconds of a processor by tree-relative path."""

    stages: dict[str, Spent] = field(default_factory=dict)
    files: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[Spent]:
        """Measure a stage; what it gives back is filled in when the stage is over."""
        wall, processor = time.perf_counter(), _processor()
        spent = self.stages[name] = Spent(0.0, 0.0, kept=False)
        try:
            yield spent
        finally:
            spent.wall, spent.processor = time.perf_counter() - wall, _processor() - processor

    def charge(self, files: Mapping[str, float]) -> None:
        """Add the seconds that were spent on files."""
        for path, seconds in files.items():
            self.files[path] = self.files.get(path, 0.0) + seconds

    def dearest(self, count: int) -> list[tuple[str, float]]:
        """The files that took most, the dearest first."""
        return sorted(self.files.items(), key=lambda item: (-item[1], item[0]))[:count]


def _processor() -> float:
    """Seconds of processors used so far by this process and by those that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system
