"""What a macro stands for under each configuration: presence masks, one bit a configuration.

All types here are interned by :class:`States`, so that "the same state" is "the same object": what was
worked out for a state once holds wherever the object turns up again, in any translation unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from analyzer.cuda.directives import Macro


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A condition's value: ``true`` and ``unknown`` are masks, all other configurations are false.

    ``varies`` says that it depends on macros that differ between configurations; ``used`` holds every
    macro that was read, with its state at that moment.
    """

    true: int
    unknown: int
    varies: bool
    used: tuple[tuple[str, State | None], ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """An architecture-dependent branch around a definition, and the branches around that one."""

    file: str
    line: int
    text: str
    outcomes: tuple[Outcome, ...]
    outer: Frame | None


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One ``#define`` that was met, or a macro given to the compiler (then ``file`` is empty)."""

    macro: Macro
    file: str
    line: int
    frame: Frame | None


@dataclass(frozen=True, slots=True, eq=False)
class Absence:
    """A definition that some configuration passes over, or that is taken back there."""

    file: str
    line: int
    frame: Frame | None


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One definition for each mask.

    Where neither an alternative nor ``unknown`` has the bit, the macro is undefined. ``varies`` says that
    what it stands for depends on the architecture.
    """

    alternatives: tuple[tuple[int, Definition], ...]
    defined: int
    unknown: int = 0
    reason: str = ""
    varies: bool = False
    absence: Absence | None = None

    def at(self, bit: int) -> Definition | None:
        """The definition under one configuration; None where undefined (or unknown)."""
        for mask, definition in self.alternatives:
            if mask & bit:
                return definition
        return None

    def alike(self, bit: int) -> int:
        """All configurations under which the macro is what it is under this one, at least."""
        if self.unknown & bit:
            return self.unknown
        for mask, _ in self.alternatives:
            if mask & bit:
                return mask
        return ~(self.defined | self.unknown)


@dataclass(slots=True)
class States:
    """Makes states, each only once."""

    _frames: dict[tuple[object, ...], Frame] = field(default_factory=dict)
    _definitions: dict[tuple[object, ...], Definition] = field(default_factory=dict)
    _transitions: dict[tuple[object, ...], State] = field(default_factory=dict)
    _initial: dict[tuple[object, ...], State] = field(default_factory=dict)

    def frame(
        self, file: str, line: int, text: str, outcomes: tuple[Outcome, ...], outer: Frame | None
    ) -> Frame:
        """The branch at this place, decided by these outcomes."""
        key = (file, line, outcomes, outer)
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(file, line, text, outcomes, outer)
        return found

    def initial(self, macros: tuple[tuple[int, Macro], ...], full: int, varies: bool) -> State:
        """A macro that the compiler or the command line defines, by mask."""
        key = (macros, full, varies)
        found = self._initial.get(key)
        if found is None:
            alternatives = tuple((mask, Definition(macro, "", 0, None)) for mask, macro in macros)
            defined = 0
            for mask, _ in macros:
                defined |= mask
            varies = varies or len(macros) > 1 or defined != full
            found = self._initial[key] = State(alternatives, defined, varies=varies)
        return found

    def define(
        self, old: State | None, macro: Macro, place: tuple[str, int], frame: Frame | None,
        sure: int, possible: int, doubt: str,
    ) -> State:  # fmt: skip
        """After ``#define``, met for certain under ``sure`` and perhaps under ``possible``."""
        at = (*place, frame)
        definition = self._definitions.get(at)
        if definition is None:
            definition = self._definitions[at] = Definition(macro, *place, frame)
        key = (old, definition, sure, possible, doubt)
        found = self._transitions.get(key)
        if found is None:
            kept = _without(old, possible)
            unknown = ((old.unknown if old else 0) & ~sure) | (possible & ~sure)
            # An unconditional definition ends whatever an earlier passed-over one left open.
            absence = old.absence if old and (kept or frame) else None
            found = _state(((sure, definition),), kept, unknown, old, doubt, absence)
            self._transitions[key] = found
        return found

    def undefine(
        self, old: State, place: tuple[str, int], frame: Frame | None, sure: int, possible: int, doubt: str
    ) -> State:
        """After ``#undef``."""
        key = (old, place, frame, sure, possible, doubt)
        found = self._transitions.get(key)
        if found is None:
            unknown = (old.unknown & ~sure) | (possible & ~sure & old.defined)
            absence = Absence(*place, frame)
            found = _state((), _without(old, possible), unknown, old, doubt, absence)
            self._transitions[key] = found
        return found

    def pass_over(self, old: State | None, place: tuple[str, int], frame: Frame | None) -> State:
        """A definition stands in a branch that no configuration takes: the name is known, not defined."""
        key = (old, place, frame)
        found = self._transitions.get(key)
        if found is None:
            absence = Absence(*place, frame)
            if old is None:
                found = State((), 0, varies=frame is not None, absence=absence)
            else:
                found = replace(old, varies=old.varies or frame is not None, absence=absence)
            self._transitions[key] = found
        return found

    def open(self, old: State | None, mask: int, reason: str) -> State:
        """The state of "a missing header may have defined anything" after one more such header."""
        key = (old, mask, reason)
        found = self._transitions.get(key)
        if found is None:
            unknown = mask | (old.unknown if old else 0)
            found = self._transitions[key] = State((), 0, unknown, old.reason if old else reason)
        return found


def _without(old: State | None, mask: int) -> tuple[tuple[int, Definition], ...]:
    if old is None:
        return ()
    return tuple((m & ~mask, d) for m, d in old.alternatives if m & ~mask)


def _state(
    new: tuple[tuple[int, Definition], ...],
    kept: tuple[tuple[int, Definition], ...],
    unknown: int,
    old: State | None,
    doubt: str,
    absence: Absence | None,
) -> State:
    alternatives = tuple((mask, definition) for mask, definition in (*new, *kept) if mask)
    defined = 0
    for mask, _ in alternatives:
        defined |= mask
    unknown &= ~defined
    reason = ((old.reason if old else "") or doubt) if unknown else ""
    framed = any(definition.frame for _, definition in alternatives)
    lost = absence is not None and absence.frame is not None
    inherited = bool(old and old.varies and kept)
    return State(alternatives, defined, unknown, reason, framed or lost or inherited, absence)
