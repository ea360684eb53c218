"""A gate as a baseline remembers it: what it decides and how grave that is, but no line number."""

from __future__ import annotations

import datetime
from collections.abc import Collection

import msgspec

from analyzer.judge.severity import EFFECT_ORDER
from analyzer.model import SEVERITIES, Effect, Gate, Layer, Report, Severity, Verdict

#: Verdicts, effect and severity: equal where nothing changed for anybody.
Outcome = tuple[tuple[tuple[str, Verdict], ...], Effect, Severity]


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, order=True):
    """One gate without the places that shift: equal for equal code, wherever it stands in its file.

    ``order`` counts equal conditions of one scope from 0. ``reason`` and ``expires`` are the user's own:
    why the gate is put up with, and the last day on which it is.
    """

    id: str
    layer: Layer
    file: str
    scope: str
    order: int
    condition: str
    verdict: dict[str, Verdict]
    effect: Effect
    severity: Severity
    reason: str | None = None
    expires: datetime.date | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """Layer, file and scope."""
        return self.layer, self.file, self.scope

    def outcome(self, archs: Collection[str]) -> Outcome:
        """What the gate does: its verdicts on these architectures, its effect and how grave that is."""
        verdict = tuple(sorted((arch, v) for arch, v in self.verdict.items() if arch in archs))
        return verdict, self.effect, self.severity

    @property
    def gravity(self) -> tuple[int, int]:
        """Severity from 0 (error) to 3 (none), and what harms most first among equals."""
        return SEVERITIES.index(self.severity), EFFECT_ORDER.index(self.effect)


def known(gate: Gate) -> Known:
    """What is remembered of a gate."""
    return Known(
        gate.id,
        gate.layer,
        gate.file,
        gate.scope,
        gate.order,
        gate.code,
        gate.verdict,
        gate.effect,
        gate.severity,
    )


def remembered(report: Report) -> tuple[Known, ...]:
    """The gates of a report, by id; without those in test folders of a package, which no user runs."""
    return tuple(sorted((known(gate) for gate in report.gates if not gate.in_tests), key=lambda k: k.id))
