"""The preprocessor for all configurations at once: one walk of a translation unit with presence masks.

Instead of true and false, every place has a mask: one bit for each configuration under which it is
reached. A macro holds one definition for each mask. ``#if`` splits the mask, ``#endif`` joins it. Beside the
certain mask (``sure``) a second one (``possible``) holds what may be reached; they differ under a condition
that could not be decided.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from analyzer.cuda import headers, tokens
from analyzer.cuda.activity import (
    Branch,
    Configuration,
    ErrorLine,
    FileActivity,
    MissingInclude,
    Run,
    Unit,
    Visits,
    condition_text,
)
from analyzer.cuda.directives import Directive, FileDirectives, Macro
from analyzer.cuda.expansion import TooLong, Unknown, expand
from analyzer.cuda.expressions import evaluate
from analyzer.cuda.presence import Frame, Outcome, State, States

__all__ = [
    "Branch",
    "Configuration",
    "ErrorLine",
    "FileActivity",
    "Memory",
    "MissingInclude",
    "Run",
    "Sources",
    "Unit",
    "walk",
]

#: Nesting of includes at which gcc gives up.
DEPTH = 200
#: Key of the state "a header that nothing is known about may have defined any name".
_OPEN = "<any>"

_OPENING = frozenset({"if", "ifdef", "ifndef"})
_CONTINUING = frozenset({"elif", "elifdef", "elifndef", "else"})
_INCLUDES = frozenset({"include", "include_next", "import"})


class Sources(Protocol):
    """The files of a tree; paths are relative to its root, with ``/``."""

    def facts(self, path: str) -> FileDirectives | None:
        """The directives of a file; None where it cannot be read."""

    def exists(self, path: str) -> bool:
        """Whether there is a file (no folder) at that path."""


@dataclass(slots=True)
class _Known:
    """Outcomes of one condition, by the states of the macros that it was seen to read."""

    reads: list[str] = field(default_factory=list)
    outcomes: dict[tuple[State | None, ...], Outcome] = field(default_factory=dict)


@dataclass(slots=True)
class _Texts:
    """Results of one computed include, kept as outcomes are: for each mask the text, None if unknown."""

    reads: list[str] = field(default_factory=list)
    results: dict[tuple[State | None, ...], tuple[tuple[int, str | None], ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Memory:
    """What walks over the same sources share: states, outcomes, resolved includes.

    Holds nothing that depends on the order of walks, so sharing it changes speed only. For one
    ``Sources`` and one number of configurations.
    """

    states: States = field(default_factory=States)
    conditions: dict[tuple[str, ...], _Known] = field(default_factory=dict)
    texts: dict[tuple[str, ...], _Texts] = field(default_factory=dict)
    guards: dict[State, Outcome] = field(default_factory=dict)
    resolved: dict[tuple[object, ...], str | None] = field(default_factory=dict)
    macros: dict[tuple[str, str], Macro] = field(default_factory=dict)


def walk(
    unit: str,
    sources: Sources,
    include_dirs: Sequence[str],
    configurations: Sequence[Configuration],
    *,
    memory: Memory | None = None,
    implicit: Sequence[str] | None = None,
) -> Unit:
    """Preprocess one translation unit for all configurations.

    ``include_dirs`` are folders of the tree in the order in which the compiler searches them.
    ``implicit`` are headers included before the first line (default: the CUDA compiler's own). ``memory``
    may be shared between walks with the same sources and the same number of configurations.

    Raises:
        FileNotFoundError: the unit itself cannot be read.
    """
    facts = sources.facts(unit)
    if facts is None:
        raise FileNotFoundError(unit)
    walker = _Walker(sources, tuple(include_dirs), tuple(configurations), memory or Memory())
    walker.start((headers.implicit(),) if implicit is None else implicit)
    full = walker.full
    walker.file(unit, facts, full, full, None, "", 0)
    files = {
        path: FileActivity(path, visits) for path, visits in walker.visits.items() if not path.startswith("<")
    }
    return Unit(unit, walker.configurations, files, tuple(walker.missing.values()))


@dataclass(slots=True)
class _Group:
    """An open conditional group: masks and frame around it, what earlier branches left, and why."""

    sure: int
    possible: int
    frame: Frame | None
    doubt: str
    left_sure: int
    left_possible: int
    varying: tuple[Outcome, ...] = ()


class _Walker:
    def __init__(
        self,
        sources: Sources,
        include_dirs: tuple[str, ...],
        configurations: tuple[Configuration, ...],
        memory: Memory,
    ) -> None:
        self.sources = sources
        self.include_dirs = include_dirs
        self.configurations = configurations
        self.full = (1 << len(configurations)) - 1
        self.memory = memory
        self.macros: dict[str, State] = {}
        self.once: dict[str, tuple[int, int]] = {}
        self.visits: dict[str, Visits] = {}
        self.missing: dict[tuple[str, int, str], MissingInclude] = {}

    # What is defined before the first line.

    def start(self, implicit: Sequence[str]) -> None:
        """Define the compiler's and the command line's macros, enter the implicit headers."""
        by_name: dict[str, dict[Macro, int]] = {}
        for index, configuration in enumerate(self.configurations):
            for name, text in configuration.macros.items():
                macro = self._macro(name, text)
                masks = by_name.setdefault(macro.name, {})
                masks[macro] = masks.get(macro, 0) | 1 << index
        self._initial(by_name)
        self.file("<compiler>", headers.compiler(), self.full, self.full, None, "", 0)
        self._initial(by_name)  # what was asked for wins over the predefined
        for header in implicit:
            self._include("", Directive("include", 0, 0, 1, header, header=header), self.full, self.full, None, "", 0)

    def _initial(self, by_name: Mapping[str, Mapping[Macro, int]]) -> None:
        for name, masks in by_name.items():
            alternatives = tuple((mask, macro) for macro, mask in masks.items())
            self.macros[name] = self.memory.states.initial(alternatives, self.full, headers.is_door(name))

    def _macro(self, name: str, text: str) -> Macro:
        found = self.memory.macros.get((name, text))
        if found is None:
            bare, opened, parameters = name.partition("(")
            names = tuple(p.strip() for p in parameters.rstrip(")").split(",")) if opened else None
            found = self.memory.macros[name, text] = Macro(bare, names, tokens.split(text))
        return found

    # The walk.

    def file(
        self, path: str, facts: FileDirectives, sure: int, possible: int, frame: Frame | None, doubt: str, depth: int
    ) -> None:
        """Walk one file from top to bottom, entered under these masks."""
        visits = self._visit(path, facts, sure, possible)
        directives = facts.directives
        guard = facts.guard
        groups: list[_Group] = []
        index, count = 0, len(directives)
        while index < count:
            directive = directives[index]
            kind = directive.kind
            if kind in _OPENING or kind in _CONTINUING:
                if kind in _OPENING:
                    group = _Group(sure, possible, frame, doubt, sure, possible)
                    groups.append(group)
                else:
                    group = groups[-1]
                outcome = None
                if kind != "else" and group.left_possible:
                    if guard is not None and not index:
                        outcome = self._guard(guard)
                    else:
                        outcome = self._outcome(directive)
                sure, possible, frame, doubt = self._branch(path, index, directive, group, outcome, visits)
                if not possible:
                    self._pass_over(path, directive, group, frame)
                    index = directive.following
                    continue
            elif kind == "endif":
                group = groups.pop()
                sure, possible, frame, doubt = group.sure, group.possible, group.frame, group.doubt
            elif kind == "define":
                macro = directive.macro
                if macro is not None:
                    place = (path, directive.line)
                    self.macros[macro.name] = self.memory.states.define(
                        self.macros.get(macro.name), macro, place, frame, sure, possible, doubt
                    )
            elif kind in _INCLUDES:
                self._include(path, directive, sure, possible, frame, doubt, depth)
            elif kind == "undef" and directive.macro is not None:
                name = directive.macro.name
                old = self.macros.get(name)
                if old is not None:
                    self.macros[name] = self.memory.states.undefine(
                        old, (path, directive.line), frame, sure, possible, doubt
                    )
            index += 1

    def _visit(self, path: str, facts: FileDirectives, sure: int, possible: int) -> Visits:
        visits = self.visits.get(path)
        if visits is None:
            count = len(facts.directives)
            visits = self.visits[path] = Visits(facts, 0, 0, [0] * count, [0] * count, {}, {})
        visits.sure |= sure
        visits.possible |= possible
        if facts.once:
            before = self.once.get(path, (0, 0))
            self.once[path] = (before[0] | sure, before[1] | possible)
        return visits

    def _branch(
        self, path: str, index: int, directive: Directive, group: _Group, outcome: Outcome | None, visits: Visits
    ) -> tuple[int, int, Frame | None, str]:
        """Masks, frame and doubt inside a branch; note them, and what is left for the next one."""
        sure, possible = group.left_sure, group.left_possible
        doubt = group.doubt
        if outcome is not None:
            decided, unknown = outcome.true, outcome.unknown
            group.left_sure &= ~(decided | unknown)
            group.left_possible &= ~decided
            sure &= decided
            possible &= decided | unknown
            if outcome.reason and possible & ~sure:
                doubt = group.doubt = outcome.reason
            if outcome.varies and outcome not in group.varying:
                group.varying += (outcome,)
        frame = group.frame
        if group.varying:
            text = directive.kind + (f" {directive.text}" if directive.text else "")
            frame = self.memory.states.frame(path, directive.line, text, group.varying, group.frame)
            visits.outcomes.setdefault(index, group.varying)
        if possible:
            visits.sure_by[index] |= sure
            visits.possible_by[index] |= possible
            if possible & ~sure:
                visits.reasons.setdefault(index, doubt)
        return sure, possible, frame, doubt

    def _pass_over(self, path: str, directive: Directive, group: _Group, frame: Frame | None) -> None:
        """A branch that nothing takes: its definitions make their names known, if nothing else."""
        if not directive.names or not group.possible:
            return
        varies = frame is not group.frame
        for name, line in directive.names:
            old = self.macros.get(name)
            if old is None or (varies and not old.varies):
                self.macros[name] = self.memory.states.pass_over(old, (path, line), frame)

    # Conditions.

    def _guard(self, name: str) -> Outcome | None:
        """An include guard's own condition: no header but the file itself defines its guard."""
        state = self.macros.get(name)
        if state is None:
            return _ALWAYS
        outcome = self.memory.guards.get(state)
        if outcome is None:
            true = self.full & ~(state.defined | state.unknown)
            outcome = Outcome(f"!defined({name})", true, state.unknown, state.varies, ((name, state),), state.reason)
            self.memory.guards[state] = outcome
        return outcome

    def _outcome(self, directive: Directive) -> Outcome:
        condition = directive.condition
        known = self.memory.conditions.get(condition)
        if known is None:
            known = self.memory.conditions[condition] = _Known()
        macros = self.macros
        outcome = known.outcomes.get(tuple([macros.get(name) for name in known.reads]))
        if outcome is None:
            outcome, reads = self._evaluate(directive)
            new = [name for name in reads if name not in known.reads]
            if new:
                known.reads += new
                known.outcomes.clear()
            known.outcomes[tuple([macros.get(name) for name in known.reads])] = outcome
        return outcome

    def _evaluate(self, directive: Directive) -> tuple[Outcome, dict[str, State | None]]:
        """Evaluate once for each set of configurations among which no macro that is read differs."""
        reads: dict[str, State | None] = {}
        true = unknown = 0
        reason = ""
        rest = self.full
        while rest:
            bit = rest & -rest
            view = _View(self, bit)
            value = evaluate(directive.condition, view.lookup, view.feature)
            reads.update(view.reads)
            alike = self._alike(view, bit) & rest
            if isinstance(value, Unknown):
                unknown |= alike
                reason = reason or value.reason
            elif value:
                true |= alike
            rest &= ~alike
        used = tuple((name, state) for name, state in reads.items() if not name.startswith("<"))
        varies = any(state.varies if state else headers.is_door(name) for name, state in used)
        return Outcome(condition_text(directive), true, unknown, varies, used, reason), reads

    def _alike(self, view: _View, bit: int) -> int:
        mask = self.full
        for name, state in view.reads.items():
            if state is None:
                continue
            if name.startswith("<"):
                mask &= state.unknown if state.unknown & bit else ~state.unknown
            else:
                mask &= state.alike(bit)
        return mask

    # Includes.

    def _include(
        self, path: str, directive: Directive, sure: int, possible: int, frame: Frame | None, doubt: str, depth: int
    ) -> None:
        if directive.header is not None:
            self._enter(path, directive, directive.header, directive.quoted, sure, possible, frame, doubt, depth)
            return
        for mask, text in self._computed(directive):
            if not possible & mask:
                continue
            if text is None:
                self._miss(path, directive, directive.text, possible & mask)
                continue
            header, quoted = text[1:-1].strip(), text[0] == '"'
            self._enter(path, directive, header, quoted, sure & mask, possible & mask, frame, doubt, depth)

    def _enter(
        self, path: str, directive: Directive, header: str, quoted: bool, sure: int, possible: int,
        frame: Frame | None, doubt: str, depth: int,
    ) -> None:  # fmt: skip
        target = self._resolve(path, header, quoted, directive.kind == "include_next")
        facts = self.sources.facts(target) if target is not None else None
        if target is None:
            stand_in = headers.find(header)
            if stand_in is not None:
                target, facts = stand_in.path, stand_in.facts
                if stand_in.may_define is not None:
                    self._open(stand_in.key, possible, f"{header} may define it")
        if target is None or facts is None or depth >= DEPTH:
            if headers.present(header) is None:
                self._miss(path, directive, header, possible)
            return
        sure, possible = self._once(target, facts, directive.kind, sure, possible)
        if possible:
            self.file(target, facts, sure, possible, frame, doubt or _RECURRING, depth + 1)

    def _once(self, path: str, facts: FileDirectives, kind: str, sure: int, possible: int) -> tuple[int, int]:
        """Masks without the configurations that have the file already."""
        if facts.once or kind == "import":
            certain, perhaps = self.once.get(path, (0, 0))
            possible &= ~certain
            sure &= ~perhaps
        if facts.guard is not None:
            state = self.macros.get(facts.guard)
            if state is not None:
                possible &= ~state.defined
                sure &= ~(state.defined | state.unknown)
        return sure, possible

    def _miss(self, path: str, directive: Directive, header: str, mask: int) -> None:
        key = (path, directive.line, header)
        before = self.missing.get(key)
        self.missing[key] = MissingInclude(*key, mask | (before.mask if before else 0))
        self._open(_OPEN, mask, f"{header}, which is not in the tree, may define it")

    def _open(self, key: str, mask: int, reason: str) -> None:
        old = self.macros.get(key)
        if old is None or mask & ~old.unknown:
            self.macros[key] = self.memory.states.open(old, mask, reason)

    def _computed(self, directive: Directive) -> tuple[tuple[int, str | None], ...]:
        """The texts of ``#include MACRO``, by mask."""
        known = self.memory.texts.get(directive.condition)
        if known is None:
            known = self.memory.texts[directive.condition] = _Texts()
        found = known.results.get(tuple(self.macros.get(name) for name in known.reads))
        if found is not None:
            return found
        reads: dict[str, State | None] = {}
        results: list[tuple[int, str | None]] = []
        rest = self.full
        while rest:
            bit = rest & -rest
            view = _View(self, bit)
            text = _header_text(directive, view)
            reads.update(view.reads)
            alike = self._alike(view, bit) & rest
            results.append((alike, text))
            rest &= ~alike
        new = [name for name in reads if name not in known.reads]
        if new:
            known.reads += new
            known.results.clear()
        known.results[tuple(self.macros.get(name) for name in known.reads)] = tuple(results)
        return tuple(results)

    def _resolve(self, path: str, header: str, quoted: bool, next_only: bool = False) -> str | None:
        folder = posixpath.dirname(path)
        key = (folder if quoted or next_only else None, header, next_only, self.include_dirs)
        if key in self.memory.resolved:
            return self.memory.resolved[key]
        found = None
        for candidate in self._candidates(path, folder, header, quoted, next_only):
            target = posixpath.normpath(candidate)
            if not target.startswith("..") and self.sources.exists(target):
                found = target
                break
        self.memory.resolved[key] = found
        return found

    def _candidates(self, path: str, folder: str, header: str, quoted: bool, next_only: bool) -> list[str]:
        if header.startswith("/"):
            return []
        dirs = list(self.include_dirs)
        if next_only:
            holding = [i for i, d in enumerate(dirs) if path.startswith(d.rstrip("/") + "/")]
            dirs = dirs[holding[0] + 1 :] if holding else dirs
        elif quoted and not path.startswith("<"):
            dirs.insert(0, folder)
        return [posixpath.join(d, header) for d in dirs]

    def has_header(self, path: str, text: str) -> int | Unknown:
        """The answer to ``__has_include``."""
        header = text[1:-1].strip()
        if not header:
            return Unknown("malformed __has_include")
        if self._resolve(path, header, text[0] == '"') is not None:
            return 1
        known = headers.present(header)
        return Unknown(f"{header} is not in the tree") if known is None else int(known)


class _View:
    """The macros as one configuration sees them, noting what is read."""

    def __init__(self, walker: _Walker, bit: int) -> None:
        self._walker = walker
        self._bit = bit
        self.reads: dict[str, State | None] = {}

    def lookup(self, name: str) -> Macro | None | Unknown:
        """What the name stands for."""
        macros = self._walker.macros
        state = self.reads[name] = macros.get(name)
        if state is not None:
            if state.unknown & self._bit:
                return Unknown(f"{name}: {state.reason}")
            definition = state.at(self._bit)
            return definition.macro if definition else self._opened(name, headers.openers(name))
        keys = headers.openers(name)
        # Names that begin with "__" belong to the compiler (C++ [lex.name]): no foreign header defines them.
        return self._opened(name, keys if name.startswith("__") else (*keys, _OPEN))

    def _opened(self, name: str, keys: tuple[str, ...]) -> Unknown | None:
        for key in keys:
            state = self.reads[key] = self._walker.macros.get(key)
            if state is not None and state.unknown & self._bit:
                return Unknown(f"{name}: {state.reason}")
        return None

    def feature(self, operator: str, operand: str) -> int | Unknown:
        """The answer to ``__has_include`` and its kin."""
        if operator.startswith("__has_include"):
            return self._walker.has_header("", operand)
        return Unknown(f"{operator}({operand}) depends on the compiler")


_ALWAYS = Outcome("", -1, 0, False, ())
_RECURRING = "the file may have been included before"


def _header_text(directive: Directive, view: _View) -> str | None:
    try:
        items = expand(directive.condition, view.lookup, view.feature, condition=False)
    except (TooLong, RecursionError):
        return None
    text = "".join(item if isinstance(item, str) else "\0" for item in items).strip()
    if "\0" in text or len(text) < 3 or (text[0], text[-1]) not in (("<", ">"), ('"', '"')):
        return None
    return text
