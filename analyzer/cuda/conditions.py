"""Conditions and computed includes under all configurations at once, remembered by the states they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from analyzer.cuda import headers
from analyzer.cuda.directives import Directive, Macro
from analyzer.cuda.expansion import TooLongError, Unknown, expand
from analyzer.cuda.expressions import evaluate
from analyzer.cuda.presence import Outcome, State

#: Names of states that are no macros begin with this: "a header may have defined something".
MARK = "<"
#: The state "a header that nothing is known about may have defined any name".
ANY = "<any>"

Header = tuple[str, bool]
"""A header's name, and whether it stands in quotes."""

_ALWAYS = Outcome(-1, 0, False, ())
_T = TypeVar("_T")


@dataclass(slots=True)
class _Results(Generic[_T]):
    """What one condition came to, by the states of the macros that it was ever seen to read.

    Sound because evaluation is a function of what it reads: equal states of all those names, a superset
    of what any stored evaluation read, give an equal result.
    """

    reads: list[str] = field(default_factory=list)
    by_state: dict[tuple[State | None, ...], _T] = field(default_factory=dict)

    def store(self, view: View, macros: dict[str, State], result: _T) -> None:
        """Keep a result, unless it depends on files as well as on macros."""
        if view.local:
            return
        new = [name for name in view.reads if name not in self.reads]
        if new:
            self.reads += new
            self.by_state.clear()
        self.by_state[tuple([macros.get(name) for name in self.reads])] = result


@dataclass(slots=True)
class Remembered:
    """Results that all walks with equally many configurations share."""

    outcomes: dict[tuple[str, ...], _Results[Outcome]] = field(default_factory=dict)
    made: dict[tuple[object, ...], Outcome] = field(default_factory=dict)
    included: dict[tuple[str, ...], _Results[tuple[tuple[int, Header | None], ...]]] = field(
        default_factory=dict
    )
    guards: dict[tuple[str, State, int], Outcome] = field(default_factory=dict)


class View:
    """The macros as single configurations see them, noting what is read."""

    def __init__(self, macros: dict[str, State], has_header: Callable[[str], int | Unknown]) -> None:
        self._macros = macros
        self._has_header = has_header
        self.bit = 0
        self.reads: dict[str, State | None] = {}
        self.local = False

    def masks(self, full: int) -> Iterator[int]:
        """Split the configurations so that no macro read differs within a part.

        Before each mask is asked for, the caller evaluates for ``bit``; the mask then holds all
        configurations for which the same reads would have had the same answers.
        """
        rest = full
        while rest:
            self.bit = rest & -rest
            yield 0
            alike = rest
            for name, state in self.reads.items():
                if state is None:
                    continue
                if name.startswith(MARK):
                    alike &= state.unknown if state.unknown & self.bit else ~state.unknown
                else:
                    alike &= state.alike(self.bit)
            yield alike
            rest &= ~alike

    def lookup(self, name: str) -> Macro | Unknown | None:
        """What the name stands for."""
        state = self.reads[name] = self._macros.get(name)
        keys = headers.openers(name)
        if state is not None:
            if state.unknown & self.bit:
                return Unknown(f"{name}: {state.reason}")
            definition = state.at(self.bit)
            if definition is not None:
                return definition.macro
        elif not name.startswith("__"):
            # Names that begin with "__" belong to the compiler (C++ [lex.name]), those that the tree
            # defines somewhere to the tree: no foreign header is taken to define them.
            keys = (*keys, ANY)
        for key in keys:
            opened = self.reads[key] = self._macros.get(key)
            if opened is not None and opened.unknown & self.bit:
                return Unknown(f"{name}: {opened.reason}")
        return None

    def feature(self, operator: str, operand: str) -> int | Unknown:
        """The answer to ``__has_include`` and its kin: the tree's, or the host compiler's."""
        if not operator.startswith("__has_include"):
            known = headers.answer(operator, operand)
            return Unknown(f"{operator}({operand}) depends on the compiler") if known is None else known
        self.local = True
        return self._has_header(operand)


class Conditions:
    """Evaluates for one walk: over its macros, for its configurations."""

    def __init__(
        self,
        macros: dict[str, State],
        full: int,
        remembered: Remembered,
        has_header: Callable[[str], int | Unknown],
    ) -> None:
        self._macros = macros
        self._full = full
        self._remembered = remembered
        self._has_header = has_header
        self.names: set[str] = set()
        """Takes the names whose states were asked for, or might have been."""

    def outcome(self, directive: Directive) -> Outcome:
        """The value of an ``#if`` or ``#elif`` of any kind."""
        condition = directive.condition
        results = self._remembered.outcomes.get(condition)
        if results is None:
            results = self._remembered.outcomes[condition] = _Results()
        macros = self._macros
        found = results.by_state.get(tuple([macros.get(name) for name in results.reads]))
        if found is None:
            view = View(macros, self._has_header)
            found = self._evaluate(condition, view)
            results.store(view, macros, found)
            self.names.update(view.reads)
        self.names.update(results.reads)
        return found

    def _evaluate(self, condition: tuple[str, ...], view: View) -> Outcome:
        true = unknown = 0
        reason = ""
        parts = view.masks(self._full)
        for _ in parts:
            value = evaluate(condition, view.lookup, view.feature)
            mask = next(parts)
            if isinstance(value, Unknown):
                unknown |= mask
                reason = reason or value.reason
            elif value:
                true |= mask
        used = tuple((name, state) for name, state in view.reads.items() if not name.startswith(MARK))
        varies = any(state.varies if state else headers.is_door(name) for name, state in used)
        key = condition, true, unknown, varies, used, reason
        return self._remembered.made.setdefault(key, Outcome(true, unknown, varies, used, reason))

    def guard(self, name: str, before: int) -> Outcome:
        """The value of an include guard's own ``#ifndef``.

        No missing header defines it: only the file itself does. For configurations that perhaps had
        the file ``before`` and enter it again, it holds: whether to enter was decided already.
        """
        state = self._macros.get(name)
        self.names.add(name)
        if state is None:
            return _ALWAYS
        key = (name, state, before)
        outcome = self._remembered.guards.get(key)
        if outcome is None:
            unknown = state.unknown & ~before
            true = self._full & ~(state.defined | unknown)
            outcome = Outcome(true, unknown, state.varies, ((name, state),), state.reason)
            self._remembered.guards[key] = outcome
        return outcome

    def header(self, directive: Directive) -> tuple[tuple[int, Header | None], ...]:
        """The header of an ``#include MACRO``, by mask; None where it could not be told."""
        source = directive.condition
        results = self._remembered.included.get(source)
        if results is None:
            results = self._remembered.included[source] = _Results()
        found = results.by_state.get(tuple([self._macros.get(name) for name in results.reads]))
        if found is None:
            view = View(self._macros, self._has_header)
            parts = view.masks(self._full)
            by_mask = []
            for _ in parts:
                header = _header(source, view)
                by_mask.append((next(parts), header))
            found = tuple(by_mask)
            results.store(view, self._macros, found)
            self.names.update(view.reads)
        self.names.update(results.reads)
        return found


def _header(source: tuple[str, ...], view: View) -> Header | None:
    try:
        items = expand(source, view.lookup, view.feature, condition=False)
    except (TooLongError, RecursionError):
        return None
    text = "".join(item if isinstance(item, str) else "\0" for item in items).strip()
    if "\0" in text or len(text) < 3 or (text[0], text[-1]) not in (("<", ">"), ('"', '"')):
        return None
    return text[1:-1].strip(), text[0] == '"'
