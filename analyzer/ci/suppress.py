"""Suppressions: findings that a project puts up with, by rule, with a reason and perhaps a last day."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import msgspec

from analyzer.model import Gate, Input, Layer, Report


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One entry of ``suppress`` in the settings; a gate has to fit all that is given.

    ``id`` is a gate's id; ``path`` a glob over the path from the scanned root, in which ``*`` stays inside a
    folder and ``**`` does not; ``package`` the name of a distribution. ``expires`` is its last day.
    """

    reason: str
    id: str | None = None
    path: str | None = None
    layer: Layer | None = None
    package: str | None = None
    expires: datetime.date | None = None

    @property
    def text(self) -> str:
        """What the rule asks for, in one line."""
        named = [(name, getattr(self, name)) for name in ("id", "path", "layer", "package")]
        return ", ".join(f"{name} = {value!r}" for name, value in named if value is not None)

    def fits(self, gate: Gate, package: str) -> bool:
        """Whether the rule speaks of this gate, which belongs to that package."""
        return (
            (self.id is None or self.id == gate.id)
            and (self.path is None or _glob(self.path).fullmatch(gate.file) is not None)
            and (self.layer is None or self.layer == gate.layer)
            and (self.package is None or _plain(self.package) == _plain(package))
        )


@dataclass(frozen=True, slots=True)
class Suppressed:
    """What became of the rules: gates by id with the rule that covers each, and the rules that cover none."""

    gates: dict[str, Rule]
    expired: tuple[Rule, ...]
    unused: tuple[Rule, ...]


def suppress(report: Report, rules: Sequence[Rule], today: datetime.date) -> Suppressed:
    """Apply the rules to the findings and undecided gates of a report; the first that fits counts."""
    expired = tuple(rule for rule in rules if rule.expires is not None and rule.expires < today)
    valid = [rule for rule in rules if rule not in expired]
    covered: dict[str, Rule] = {}
    used: set[int] = set()
    for gate in report.gates:
        if gate.in_tests or (gate.effect == "none" and gate.verdict.get(report.target.arch) != "unknown"):
            continue
        package = _package(gate.file, report.inputs)
        fitting = [number for number, rule in enumerate(valid) if rule.fits(gate, package)]
        used.update(fitting)
        if fitting:
            covered[gate.id] = valid[fitting[0]]
    unused = tuple(rule for number, rule in enumerate(valid) if number not in used)
    return Suppressed(covered, expired, unused)


def _package(file: str, inputs: Sequence[Input]) -> str:
    """The distribution to which a file belongs, by its top folder."""
    return next((i.package for i in inputs if file == i.root or file.startswith(f"{i.root}/")), "")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/?|\*|\?)", pattern)
    meaning = {"**": ".*", "**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts), re.DOTALL)
