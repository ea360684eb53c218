"""What later stages need of each architecture's survey beside its decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from analyzer.jit import builds
from analyzer.python import applied, trials
from analyzer.python.options import Option, option_trials
from analyzer.python.survey import Survey
from analyzer.python.trials import Trial


@dataclass(frozen=True, slots=True)
class Extract:
    """What is taken from each architecture's survey beside its decisions; picklable."""

    builds: dict[str, builds.BuildSeen]
    applied: dict[str, applied.Applied]
    parsed: frozenset[str]
    damaged: frozenset[str]
    apis: tuple[Trial, ...]
    options: tuple[Trial, ...]


def extract(
    survey: Survey,
    public: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    declared: Sequence[Option] = (),
    words: Mapping[str, frozenset[str]] = MappingProxyType({}),
    followed: frozenset[str] | None = None,
) -> Extract:
    """Take what later stages need of a survey.

    ``public``: the public names by definition, ``declared``: server options, ``words``: file to the
    identifiers in it. ``followed``: the architectures for which it is looked at what asks for choices that
    are kept as members of enumerations; all without.
    """
    apis = trials.trials(survey, public)
    asked = followed is None or survey.machine.host.arch.name in followed
    chosen = option_trials(survey, declared, words, asked)
    parsed, damaged = applied.parsed(survey)
    return Extract(builds.collect(survey), applied.applied(survey), parsed, damaged, apis, chosen)
