"""What later stages need of each architecture's survey beside its decisions."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.jit import builds
from analyzer.python import applied
from analyzer.python.survey import Survey


@dataclass(frozen=True, slots=True)
class Extract:
    """What is taken from each architecture's survey beside its decisions; picklable."""

    builds: dict[str, builds.BuildSeen]
    applied: dict[str, applied.Applied]
    parsed: frozenset[str]
    damaged: frozenset[str]


def extract(survey: Survey) -> Extract:
    """Take what later stages need of a survey."""
    parsed, damaged = applied.parsed(survey)
    return Extract(builds.collect(survey), applied.applied(survey), parsed, damaged)
