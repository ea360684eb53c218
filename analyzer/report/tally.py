"""Order and counts that several views share: worst first, groups of alike findings, sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from analyzer.judge.severity import EFFECT_ORDER
from analyzer.model import LAYERS, SEVERITIES, Gate, Layer, Path, Report, Severity


def gravity(gate: Gate) -> tuple[int, int, int, str, int, int, str]:
    """Sort key: severity, effect, layer in the order in which a user meets them, place."""
    return (
        SEVERITIES.index(gate.severity),
        EFFECT_ORDER.index(gate.effect),
        LAYERS.index(gate.layer),
        gate.file,
        gate.line,
        gate.column,
        gate.id,
    )


def worst_first(gates: Iterable[Gate]) -> list[Gate]:
    """The gates from the gravest to the mildest; the same order for the same gates, always."""
    return sorted(gates, key=gravity)


def ways(paths: Iterable[Path]) -> list[list[Path]]:
    """Paths with the same barriers put together, in the order of the first of each."""
    groups: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for path in paths:
        key = tuple((barrier.gate, barrier.when) for barrier in path.barriers)
        groups.setdefault(key, []).append(path)
    return list(groups.values())


def paths_worst_first(paths: Iterable[Path]) -> list[Path]:
    """Paths from the gravest to the mildest; server options before APIs, for that is what a user typed."""
    kinds = ("option", "environment", "api")
    return sorted(
        paths,
        key=lambda p: (
            SEVERITIES.index(p.severity),
            kinds.index(p.entry.kind),
            EFFECT_ORDER.index(p.effect),
            p.entry.name,
            p.id,
        ),
    )


@dataclass(frozen=True, slots=True)
class Alike:
    """Findings that share condition and effect, of one file or of what else: one line in a list."""

    gates: tuple[Gate, ...]

    @property
    def first(self) -> Gate:
        """The one that stands for all."""
        return self.gates[0]


def alike(gates: Iterable[Gate], within: Callable[[str], str] = str) -> list[Alike]:
    """Group findings with equal condition, effect and severity; worst group first.

    ``within``: those of files for which it gives the same are put together; of one file by default.
    """
    groups: dict[tuple[str, ...], list[Gate]] = {}
    for gate in worst_first(gates):
        key = (within(gate.file), " ".join(gate.code.split()), gate.layer, gate.effect, gate.severity)
        groups.setdefault(key, []).append(gate)
    return [Alike(tuple(group)) for group in groups.values()]


def by_severity(report: Report) -> dict[Severity, int]:
    """How many findings of each severity, gravest first; zeros included."""
    counts = Counter(gate.severity for gate in report.findings)
    return {severity: counts[severity] for severity in SEVERITIES if severity != "none"}


def by_layer(report: Report) -> dict[Layer, dict[Severity, int]]:
    """How many findings of each severity in each layer that has one."""
    counts = Counter((gate.layer, gate.severity) for gate in report.findings)
    layers = [layer for layer in LAYERS if any(found == layer for found, _ in counts)]
    return {layer: {s: counts[layer, s] for s in SEVERITIES if s != "none"} for layer in layers}


def unresolved_reasons(report: Report) -> list[tuple[str, int]]:
    """Why places stayed undecided and how many did, what blocks most conditions first."""
    places: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    for place in report.coverage.unresolved:
        why = " ".join(place.why.split())
        places[why] += 1
        blocks[why] += place.blocks
    return sorted(places.items(), key=lambda item: (-blocks[item[0]], -item[1], item[0]))
