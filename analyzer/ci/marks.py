"""What a check makes of single gates, for formats that list gates one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from analyzer.ci.check import Result
from analyzer.ci.suppress import Suppressed
from analyzer.model import SEVERITIES, Report, Severity

State = Literal["new", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class Marks:
    """By gate id: what the baseline says, why it is put up with, whether it fails.

    ``states`` is None where there is no baseline.
    """

    failing: frozenset[str] = frozenset()
    states: Mapping[str, State] | None = None
    suppressed: Mapping[str, str] = field(default_factory=dict)


#: A report that was held against nothing.
UNMARKED = Marks()


def of_scan(report: Report, fail_on: Severity, suppressed: Suppressed) -> Marks:
    """Without a baseline every finding as grave as ``fail_on`` fails that is not suppressed."""
    bad = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return Marks(
        frozenset(g.id for g in report.findings if g.severity in bad and g.id not in suppressed.gates),
        None,
        {gate: rule.reason for gate, rule in suppressed.gates.items()},
    )


def of_check(result: Result) -> Marks:
    """What is new or worse fails; a renamed, moved or rewritten gate is the one that it was."""
    states: dict[str, State] = {}
    for change in result.changes:
        if change.new is not None:
            same = change.kind in ("same", "moved", "rewritten")
            states[change.new.id] = "new" if change.old is None else "unchanged" if same else "updated"
    return Marks(
        frozenset(change.known.id for change in result.failing),
        states,
        {gate: rule.reason for gate, rule in result.suppressed.gates.items()},
    )
