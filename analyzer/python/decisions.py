"""Decisions of all hosts put together: which are places of their own, which are parts or uses of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from analyzer.python.findings import Answer, Findings, Place, Static
from analyzer.python.observe import Key
from analyzer.python.values import Site, Truth


@dataclass(slots=True)
class Merged:
    """One decision over all hosts."""

    place: Place
    static: Static
    answers: dict[str, Answer] = field(default_factory=dict)

    @property
    def mixed(self) -> bool:
        """Something beside the architecture decides it on some host."""
        return any(answer.mixed for answer in self.answers.values())


@dataclass(frozen=True, slots=True)
class Sorted:
    """Decisions by what they are.

    ``own``: places at which an answer of the device meets a purpose; ``kept``: those and the ones that only
    forward another; ``forwarded``: by the key of a decision, the places that forward it; ``forwards``: the
    reverse.
    """

    own: tuple[Merged, ...]
    kept: Mapping[Place, Merged]
    forwarded: Mapping[Key, frozenset[Place]]
    forwards: Mapping[Key, frozenset[Key]]


def sort(found: Mapping[str, Findings]) -> Sorted:
    """Tell decisions with a purpose from parts of a condition, parts of a predicate, and mere uses."""
    merged = merge(found)
    inner = _contained(merged)
    parts = _parts_of_predicates(merged, found)
    ways = _Ways(merged, {place[0] for place in inner} | parts)
    kept = {place: item for place, item in merged.items() if place not in inner and place[0] not in parts}
    own: list[Merged] = []
    forwarded: dict[Key, set[Place]] = defaultdict(set)
    forwards: dict[Key, frozenset[Key]] = {}
    for place, item in kept.items():
        if place[0] in ways.transparent:
            continue
        direct, through = ways.of(place)
        if direct:
            own.append(item)
        else:
            forwards[place[0]] = frozenset(through)
            for key in through:
                forwarded[key].add(place)
    return Sorted(tuple(own), kept, {key: frozenset(places) for key, places in forwarded.items()}, forwards)


def merge(found: Mapping[str, Findings]) -> dict[Place, Merged]:
    """The decisions of all hosts by place, in the order of the places."""
    merged: dict[Place, Merged] = {}
    for arch, findings in found.items():
        for place, answer in findings.answers.items():
            item = merged.get(place)
            if item is None:
                item = merged[place] = Merged(place, findings.statics[place])
            item.answers[arch] = answer
    return {place: merged[place] for place in sorted(merged, key=place_key)}


def place_key(place: Place) -> tuple[Key, tuple[str, int, int]]:
    """An order of places."""
    return place[0], site_key(place[1])


def site_key(site: Site | None) -> tuple[str, int, int]:
    """An order of sites; ``None`` comes first."""
    return site.start if site is not None else ("", 0, 0)


def _contained(merged: Mapping[Place, Merged]) -> set[Place]:
    """``and``/``or`` expressions that stand inside another decision's condition: parts of it.

    Unless the whole says nothing, since something else may make it true on every architecture, and the part
    tells them apart: then that way to it is what is shut.
    """
    by_file: dict[str, list[Merged]] = defaultdict(list)
    for item in merged.values():
        by_file[item.static.site.file].append(item)
    inner: set[Place] = set()
    for items in by_file.values():
        for item in items:
            if item.static.kind != "bool":
                continue
            here = item.static.site
            for other in items:
                there = other.static.site
                if other.place[0] == item.place[0]:
                    continue
                if _holds(there, here) and (there != here or other.static.kind != "bool"):
                    if _shut(item) and not _tells(other):
                        continue
                    inner.add(item.place)
                    break
    return inner


def _tells(item: Merged) -> bool:
    """Whether a decision comes out differently somewhere."""
    return len({answer.outcome for answer in item.answers.values()}) > 1


def _shut(item: Merged) -> bool:
    """Whether a conjunction is false on some architectures and open on others."""
    outcomes = {answer.outcome for answer in item.answers.values()}
    return item.static.conjunction and outcomes == {Truth.FALSE, Truth.FREE}


def _holds(outer: Site, inner: Site) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return (
        starts
        and outer.end_line >= inner.end_line
        and (outer.line < inner.line or outer.end_line > inner.end_line or outer.column <= inner.column)
        and inner.line <= outer.end_line
    )


def _parts_of_predicates(merged: Mapping[Place, Merged], found: Mapping[str, Findings]) -> set[Key]:
    """Decisions that only help to find a truth value which the architecture alone decides.

    These are: an ``if`` that binds local names to true and false; what decides inside a function that does
    nothing but answer true or false. Where such a function is given the architectures to look for, its answer
    belongs to whoever asks.
    """
    groups: dict[Key, list[Merged]] = defaultdict(list)
    for item in merged.values():
        groups[item.place[0]].append(item)
    parts: set[Key] = set()
    for key, items in groups.items():
        static = items[0].static
        if static.kind == "bool":
            continue
        asked = [item for item in items if item.place[1] is not None]
        plain = [item for item in items if item.place[1] is None]
        if any(item.mixed for item in asked):
            continue
        if static.shape.forwards and not any(item.mixed for item in plain):
            parts.add(key)
        elif not static.answers or (asked and not static.truth):
            continue
        elif all(_within_predicate(item, bool(asked), found) for item in plain):
            parts.add(key)
    return parts


def _within_predicate(item: Merged, asked: bool, found: Mapping[str, Findings]) -> bool:
    """Whether a decision is a part of a function that is true or false on every host.

    ``asked``: the function is also asked for certain architectures; then its run on free arguments counts
    for nothing.
    """
    if asked and all(answer.outcome is Truth.FREE for answer in item.answers.values()):
        return True
    if item.mixed:
        return False
    outcomes = [
        findings.outcomes[item.static.function]
        for findings in found.values()
        if item.static.function in findings.outcomes
    ]
    return bool(outcomes) and all(outcome.boolean for outcome in outcomes)


class _Ways:
    """By which gates an answer reaches a decision, seeing through decisions that are only parts of others."""

    def __init__(self, merged: Mapping[Place, Merged], parts: set[Key]) -> None:
        self.merged = merged
        self.by_key: dict[Key, list[Place]] = defaultdict(list)
        for place in merged:
            self.by_key[place[0]].append(place)
        self.transparent = set(parts)
        for place, item in merged.items():
            if item.static.kind == "bool" and not item.mixed:
                self.transparent.add(place[0])
        self.known: dict[Place, tuple[bool, set[Key]]] = {}

    def of(self, place: Place) -> tuple[bool, set[Key]]:
        """Whether a device answer reaches it directly, and the keys of the gates that it forwards."""
        if place in self.known:
            return self.known[place]
        self.known[place] = (False, set())
        direct, through = False, set[Key]()
        for answer in self.merged[place].answers.values():
            direct = direct or answer.direct
            for key in answer.through:
                if key == place[0]:
                    continue
                if key not in self.transparent:
                    through.add(key)
                    continue
                for other in self.by_key.get(key, ()):
                    if other != place:
                        inner_direct, inner_through = self.of(other)
                        direct = direct or inner_direct
                        through |= inner_through
        self.known[place] = (direct, through)
        return direct, through
