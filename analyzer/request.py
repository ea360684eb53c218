"""What a scan is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Progress = Callable[[str, int, int], None]
"""Told which step is done how far: its name, how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to scan, and for which architectures."""

    root: Path
    target: str
    references: tuple[str, ...]
    cuda: str
    env: Mapping[str, str]
    packages: tuple[str, ...]
    jobs: int
    cache: bool

    @property
    def release(self) -> tuple[int, int]:
        """The assumed CUDA release as numbers."""
        major, minor = self.cuda.split(".")
        return int(major), int(minor)

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """The fixed environment variables, in order."""
        return tuple(sorted(self.env.items()))
