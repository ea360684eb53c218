"""What a survey leaves beside its decisions: names for applied predicates, and which files were parsed."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.python.findings import shown_fully
from analyzer.python.machine import Budget
from analyzer.python.survey import Survey
from analyzer.python.values import Free, Partial, Raised, Site, Unknown, Value


@dataclass(frozen=True, slots=True)
class Applied:
    """A name for a partial application whose call, without arguments, depends on the architecture."""

    site: Site
    value: str


def applied(survey: Survey) -> dict[str, Applied]:
    """Module names bound to partial applications that answer for the device, by dotted name."""
    m = survey.machine
    found: dict[str, Applied] = {}
    for module, state in list(m.modules.items()):
        for name, value in list(state.names.items()):
            if not isinstance(value.data, Partial) or value.data.bound is None:
                continue
            if value.data.bound.file != state.source.file:
                continue
            result = _called(survey, value)
            if result is None or result.source is None or not result.source.door:
                continue
            if isinstance(result.data, (Free, Unknown)):
                continue
            found[f"{module}.{name}"] = Applied(value.data.bound, shown_fully(result))
    return found


def _called(survey: Survey, value: Value) -> Value | None:
    m = survey.machine
    m.steps = 0
    try:
        with m.aside():
            return m.call(value, [], {}, value.data.site)
    except (Raised, Budget):
        return None


def parsed(survey: Survey) -> tuple[frozenset[str], frozenset[str]]:
    """The files that were parsed in this process, and those of them that hold something unreadable."""
    files: set[str] = set()
    damaged: set[str] = set()
    for source in survey.machine.index.sources.values():
        if "parsed" in source.__dict__:
            files.add(source.file)
            if source.parsed.errors:
                damaged.add(source.file)
    return frozenset(files), frozenset(damaged)
