"""The preprocessor for all configurations at once: one walk of a translation unit with presence masks.

Instead of true and false, every place has a mask: one bit for each configuration under which it is
reached. A macro holds one definition for each mask. ``#if`` splits the mask, ``#endif`` joins it. Beside
the certain mask (``sure``) a second one (``possible``) holds what may be reached; they differ under a
condition that could not be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
)
from analyzer.cuda.conditions import ANY, MARK, Conditions, Remembered
from analyzer.cuda.directives import Directive, FileDirectives, Macro
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.includes import Resolved, Resolver, Sources
from analyzer.cuda.passages import Known, Masks, Passage, Passages, Place, Recording
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

#: Nesting of includes at which gcc gives up, and inclusions in a unit beyond which it must be a loop.
DEPTH = 200
INCLUSIONS = 50_000


@dataclass(frozen=True, slots=True)
class _Started:
    """Where walks with the same macros and implicit headers stand before the first line of their unit."""

    macros: Mapping[str, State]
    entered: Mapping[str, Masks]
    notes: Mapping[str, Visits]
    missing: Mapping[Place, MissingInclude]
    inclusions: int


@dataclass(slots=True)
class Memory:
    """What walks over the same sources share: states, outcomes, resolved includes.

    Nothing in it depends on the order of walks, so sharing changes speed only. A memory serves one
    ``Sources`` and one number of configurations.
    """

    states: States = field(default_factory=States)
    remembered: Remembered = field(default_factory=Remembered)
    resolved: dict[tuple[str, ...], Resolved] = field(default_factory=dict)
    macros: dict[tuple[str, str], Macro] = field(default_factory=dict)
    activities: dict[tuple[object, ...], FileActivity] = field(default_factory=dict)
    passages: dict[tuple[str, ...], Passages] = field(default_factory=dict)
    started: dict[tuple[object, ...], _Started] = field(default_factory=dict)

    def activity(self, path: str, visits: Visits) -> FileActivity:
        """The activity that these notes make: one object for equal ones, so that its parts are made once."""
        if visits.activity is None:
            key = (path, *visits.key())
            visits.activity = self.activities.setdefault(key, FileActivity(path, visits))
        return visits.activity


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

    Args:
        unit: the path of the source file.
        sources: the tree.
        include_dirs: folders of the tree in the order in which the compiler searches them.
        configurations: the compiler's passes; the first is bit 0 of every mask.
        memory: shared between walks with the same sources and equally many configurations, for speed.
        implicit: headers included before the first line; default: the CUDA compiler's own.

    Raises:
        FileNotFoundError: the unit itself cannot be read.
    """
    facts = sources.facts(unit)
    if facts is None:
        raise FileNotFoundError(unit)
    memory = memory or Memory()
    walker = _Walker(sources, tuple(include_dirs), tuple(configurations), memory)
    walker.start((headers.implicit(),) if implicit is None else implicit)
    walker.enter(unit, facts, walker.everywhere)
    walker.run()
    files = {
        path: memory.activity(path, walker.notes[path])
        for path in walker.entered
        if not path.startswith(MARK)
    }
    return Unit(unit, walker.configurations, files, tuple(walker.missing.values()))


class _Here(NamedTuple):
    """Under what a place is reached: for certain, perhaps (and why not for certain), by which branches."""

    sure: int
    possible: int
    frame: Frame | None = None
    doubt: str = ""


@dataclass(slots=True)
class _Group:
    """An open conditional group: what is around it, and what its branches so far have left."""

    around: _Here
    sure: int
    possible: int
    doubt: str
    varying: tuple[Outcome, ...] = ()


class _Walker:
    """The state of a walk that outlives a file: macros, what was included, what was noted."""

    def __init__(
        self,
        sources: Sources,
        include_dirs: tuple[str, ...],
        configurations: tuple[Configuration, ...],
        memory: Memory,
    ) -> None:
        self.sources = sources
        self.configurations = configurations
        self.full = (1 << len(configurations)) - 1
        self.everywhere = _Here(self.full, self.full)
        self.memory = memory
        self.states = memory.states
        self.resolver = Resolver(sources, include_dirs, memory.resolved.setdefault(include_dirs, {}))
        self.macros: dict[str, State] = {}
        self.log: list[tuple[str, State | None]] = []
        self.entered: dict[str, Masks] = {}
        self.files_log: list[tuple[str, Masks | None]] = []
        self.notes: dict[str, Visits] = {}
        self.open: dict[str, _File] = {}
        self.passages = memory.passages.setdefault(include_dirs, Passages())
        self.recordings: list[Recording] = []
        self.stack: list[_File] = []
        self.inclusions = 0
        self.conditions = Conditions(self.macros, self.full, memory.remembered, self._has_header)
        self.missing: dict[Place, MissingInclude] = {}

    def start(self, implicit: Sequence[str]) -> None:
        """Define the compiler's and the command line's macros, enter the implicit headers."""
        key = (
            self.resolver.include_dirs,
            tuple(implicit),
            *(tuple(c.macros.items()) for c in self.configurations),
        )
        started = self.memory.started.get(key)
        if started is None:
            self._start(implicit)
            started = _Started(
                dict(self.macros), dict(self.entered), dict(self.notes), dict(self.missing), self.inclusions
            )
            self.memory.started[key] = started
            return
        self.macros.update(started.macros)
        self.entered.update(started.entered)
        self.notes.update(started.notes)
        self.missing.update(started.missing)
        self.inclusions = started.inclusions

    def _start(self, implicit: Sequence[str]) -> None:
        asked = self._asked()
        self._define_all(asked)
        self.enter("<compiler>", headers.compiler(), self.everywhere)
        self.run()
        self._define_all(asked)  # a -D flag wins over the predefined macro of that name
        for header in implicit:
            directive = Directive("include", 0, 0, 1, header, header=header)
            self.include("<command line>", directive, self.everywhere)
            self.run()

    def _asked(self) -> dict[str, dict[Macro, int]]:
        by_name: dict[str, dict[Macro, int]] = {}
        for index, configuration in enumerate(self.configurations):
            for name, text in configuration.macros.items():
                macro = self._macro(name, text)
                masks = by_name.setdefault(macro.name, {})
                masks[macro] = masks.get(macro, 0) | 1 << index
        return by_name

    def _define_all(self, by_name: Mapping[str, Mapping[Macro, int]]) -> None:
        for name, masks in by_name.items():
            alternatives = tuple((mask, macro) for macro, mask in masks.items())
            self.macros[name] = self.states.initial(alternatives, self.full, headers.is_door(name))

    def _macro(self, name: str, text: str) -> Macro:
        found = self.memory.macros.get((name, text))
        if found is None:
            bare, opened, parameters = name.partition("(")
            names = tuple(p.strip() for p in parameters.rstrip(")").split(",")) if opened else None
            found = self.memory.macros[name, text] = Macro(bare, names, tokens.split(text))
        return found

    def run(self) -> None:
        """Walk the entered files to their ends; an include is walked before the rest of its file."""
        while self.stack:
            self.stack[-1].advance()

    def put(self, name: str, old: State | None, state: State) -> None:
        """Give a macro another state."""
        if state is not old:
            self.log.append((name, old))
            self.macros[name] = state

    def enter(
        self, path: str, facts: FileDirectives, here: _Here, key: tuple[object, ...] | None = None
    ) -> None:
        """Put a file on the stack, to be walked from its top under these masks.

        ``key`` asks for the passage to be recorded.
        """
        around = self.open.get(path)
        if around is not None:  # it includes itself: what lies between cannot be told apart from it
            for recording in self.recordings:
                recording.sound = recording.sound and recording.level <= around.level
            key = None
        if key is not None:
            recording = Recording(key, len(self.stack), len(self.log), len(self.files_log))
            self.recordings.append(recording)
            self.conditions.names = recording.names
        self.inclusions += 1
        before = self.entered.get(path)
        sure, possible = before or (0, 0)
        self.entered[path] = sure | here.sure, possible | here.possible
        self.files_log.append((path, before))
        if self.recordings:
            recording = self.recordings[-1]
            recording.files[path] = None
            recording.inclusions += 1
        for recording in self.recordings:
            recording.depth = max(recording.depth, len(self.stack) - recording.level + 1)
        visits = around.visits if around is not None else Visits.of(facts)
        visits.sure |= here.sure
        visits.possible |= here.possible
        file = _File(self, path, facts, visits, here, possible, len(self.stack), key is not None)
        if around is None:
            self.open[path] = file
        self.stack.append(file)

    def leave(self, file: _File) -> None:
        """Take a file that was walked to its end from the stack."""
        self.stack.pop()
        if self.open[file.path] is file:
            del self.open[file.path]
            self._note(file.path, file.visits)
        if file.recorded:
            recording = self.recordings.pop()
            passage = self.passages.store(recording, self.macros, self.entered, self.log, self.files_log)
            self._take_in(recording.names, recording.files, passage)

    def _note(self, path: str, visits: Visits) -> None:
        before = self.notes.get(path)
        self.notes[path] = visits if before is None else before.joined(visits)
        if self.recordings:
            self.recordings[-1].note(path, visits)

    def _take_in(
        self, names: set[str] | tuple[str, ...], files: dict[str, None] | tuple[str, ...], passage: Passage
    ) -> None:
        """Note in the recording around it what a passage read and did."""
        if self.recordings:
            self.recordings[-1].take_in(names, files, passage)
        self.conditions.names = self.recordings[-1].names if self.recordings else set()

    def _repeat(self, known: Known, passage: Passage) -> None:
        """Do what a passage did before."""
        macros = self.macros
        self.log += zip(passage.names, map(macros.get, passage.names), strict=True)
        macros.update(zip(passage.names, passage.states, strict=True))
        self.files_log += zip(passage.entered, map(self.entered.get, passage.entered), strict=True)
        self.entered.update(passage.entered)
        for path, visits in passage.notes.items():
            before = self.notes.get(path)
            self.notes[path] = visits if before is None else before.joined(visits)
        for (path, line, header), mask in passage.missing.items():
            self._missed((path, line, header), mask)
        self.inclusions += passage.inclusions
        for recording in self.recordings:
            recording.depth = max(recording.depth, len(self.stack) - recording.level + passage.depth)
        self._take_in(known.names, (*passage.entered, *known.files), passage)

    def _has_header(self, text: str) -> int | Unknown:
        return self.resolver.has_header(self.stack[-1].path, text)

    def include(self, path: str, directive: Directive, here: _Here) -> None:
        """Follow an ``#include`` of the file ``path``."""
        if directive.header is not None:
            self._follow(path, directive, directive.header, directive.quoted, here)
            return
        headers_by_mask = self.conditions.header(directive)
        alone = len(headers_by_mask) == 1
        for mask, header in reversed(headers_by_mask):  # the first ends up on top
            part = _Here(here.sure & mask, here.possible & mask, here.frame, here.doubt)
            if part.possible and header is None:
                self._miss(path, directive, directive.text, part.possible)
            elif part.possible and header is not None:
                self._follow(path, directive, *header, part, alone)

    def _follow(
        self, path: str, directive: Directive, header: str, quoted: bool, here: _Here, alone: bool = True
    ) -> None:
        """Walk an included header now, or (not ``alone``) after those that are entered after it."""
        target, facts = self._found(path, directive, header, quoted, here)
        too_many = len(self.stack) > DEPTH or self.inclusions > INCLUSIONS
        if too_many:
            for recording in self.recordings:
                recording.sound = False
        if target is None or facts is None or too_many:
            if target is not None or headers.present(header) is None:
                self._miss(path, directive, header, here.possible)
            return
        sure, possible = self._not_yet(target, facts, here)
        if not possible:
            return
        if sure != here.sure or possible != here.possible:
            here = _Here(sure, possible, here.frame, here.doubt)
        if not (alone and self._repeated(target, here)):
            self.enter(target, facts, here, (target, *here) if alone else None)

    def _found(
        self, path: str, directive: Directive, header: str, quoted: bool, here: _Here
    ) -> tuple[str | None, FileDirectives | None]:
        """The file of the tree or the stand-in that is included, and its directives, where known."""
        target = self.resolver.resolve(path, directive, header, quoted)
        if target is not None:
            return target, self.sources.facts(target)
        stand_in = headers.find(header)
        if stand_in is None:
            return None, None
        if stand_in.may_define is not None:
            self._open(stand_in.key, here.possible, f"{header} may define it")
        return stand_in.path, stand_in.facts

    def _repeated(self, path: str, here: _Here) -> bool:
        """Do what a passage from this state did before, if there was one and it can be repeated here."""
        found = self.passages.find((path, *here), self.macros, self.entered)
        if found is None or not self._repeats(found[1]):
            return False
        self._repeat(*found)
        return True

    def _repeats(self, passage: Passage) -> bool:
        """Whether a passage can be repeated here: it stays within bounds, and no file includes itself."""
        deep = len(self.stack) + passage.depth > DEPTH
        long = self.inclusions + passage.inclusions > INCLUSIONS
        return not deep and not long and self.open.keys().isdisjoint(passage.notes)

    def _not_yet(self, path: str, facts: FileDirectives, here: _Here) -> tuple[int, int]:
        """The masks without the configurations that have the file already.

        A guarded file that was included under a doubt and is now included for certain has been
        included by now, in whichever place. It is walked again for certain: headers with a guard are
        made to mean the same wherever their first inclusion stands.
        """
        sure, possible = here.sure, here.possible
        entered = self.entered.get(path)
        if self.recordings:
            self.recordings[-1].files.setdefault(path)
        if facts.once and entered is not None:
            sure &= ~entered[0]
            possible = possible & ~entered[1] | sure
        if facts.guard is not None:
            self.conditions.names.add(facts.guard)
            state = self.macros.get(facts.guard)
            if state is not None and entered is not None:
                sure &= ~(state.defined & entered[0])
                possible = possible & ~((state.defined | state.unknown) & entered[1]) | sure
        return sure, possible

    def _miss(self, path: str, directive: Directive, header: str, mask: int) -> None:
        key = (path, directive.line, header)
        self._missed(key, mask)
        if self.recordings:
            missing = self.recordings[-1].missing
            missing[key] = missing.get(key, 0) | mask
        self._open(ANY, mask, f"{header}, which is not in the tree, may define it")

    def _missed(self, key: Place, mask: int) -> None:
        before = self.missing.get(key)
        self.missing[key] = MissingInclude(*key, mask | (before.mask if before else 0))

    def _open(self, key: str, mask: int, reason: str) -> None:
        old = self.macros.get(key)
        self.conditions.names.add(key)
        if old is None or mask & ~old.unknown:
            self.put(key, old, self.states.open(old, mask, reason))


@dataclass(slots=True)
class _File:
    """One passage through a file. Each action takes a directive's index and returns the next one."""

    walker: _Walker
    path: str
    facts: FileDirectives
    visits: Visits
    here: _Here
    before: int
    level: int
    recorded: bool
    index: int = 0
    groups: list[_Group] = field(default_factory=list)

    def advance(self) -> None:
        """Go on to the next include that is entered, or to the end."""
        directives = self.facts.directives
        stack = self.walker.stack
        index, count = self.index, len(directives)
        while index < count:
            directive = directives[index]
            action = _ACTIONS.get(directive.kind)
            if action is None:
                index += 1
                continue
            index = action(self, index, directive)
            if stack[-1] is not self:
                self.index = index
                return
        self.index = index
        self.walker.leave(self)

    def _opening(self, index: int, directive: Directive) -> int:
        here = self.here
        group = _Group(here, here.sure, here.possible, here.doubt)
        self.groups.append(group)
        guard = self.facts.guard
        conditions = self.walker.conditions
        # A guard is the file's first directive (but for #pragma once): its outermost group.
        own = guard is not None and len(self.groups) == 1
        outcome = conditions.guard(guard, self.before) if own and guard else conditions.outcome(directive)
        return self._branch(index, directive, group, outcome)

    def _continuing(self, index: int, directive: Directive) -> int:
        group = self.groups[-1]
        outcome = self.walker.conditions.outcome(directive) if group.possible else None
        return self._branch(index, directive, group, outcome)

    def _else(self, index: int, directive: Directive) -> int:
        return self._branch(index, directive, self.groups[-1], None)

    def _endif(self, index: int, directive: Directive) -> int:
        self.here = self.groups.pop().around
        return index + 1

    def _branch(self, index: int, directive: Directive, group: _Group, outcome: Outcome | None) -> int:
        """Note the masks of a branch, enter it where any configuration may take it."""
        sure, possible = group.sure, group.possible
        if outcome is not None:
            undecided = outcome.unknown
            group.sure &= ~(outcome.true | undecided)
            group.possible &= ~outcome.true
            sure &= outcome.true
            possible &= outcome.true | undecided
            if undecided & possible:
                group.doubt = outcome.reason
            if outcome.varies and outcome not in group.varying:
                group.varying += (outcome,)
        visits = self.visits
        if group.varying:
            visits.outcomes.setdefault(index, group.varying)
        if not possible:
            if directive.names and group.around.possible:
                self._pass_over(directive, group)
            return directive.following
        visits.sure_by[index] |= sure
        visits.possible_by[index] |= possible
        if possible != sure:
            visits.reasons.setdefault(index, group.doubt)
        if directive.following == index + 1:  # no directive inside: nothing to enter for
            return index + 1
        self.here = _Here(sure, possible, self._frame(directive, group), group.doubt)
        return index + 1

    def _frame(self, directive: Directive, group: _Group) -> Frame | None:
        outer = group.around.frame
        if not group.varying:
            return outer
        text = f"{directive.kind} {directive.text}".strip()
        return self.walker.states.frame(self.path, directive.line, text, group.varying, outer)

    def _pass_over(self, directive: Directive, group: _Group) -> None:
        """A branch that nothing takes: its definitions make their names known, if nothing else."""
        frame = self._frame(directive, group)
        walker = self.walker
        macros, names = walker.macros, walker.conditions.names
        for name, line in directive.names:
            old = macros.get(name)
            names.add(name)
            if old is None or (group.varying and not old.varies):
                walker.put(name, old, walker.states.pass_over(old, (self.path, line), frame))

    def _define(self, index: int, directive: Directive) -> int:
        macro, here = directive.macro, self.here
        if macro is not None:
            walker, name = self.walker, macro.name
            old = walker.macros.get(name)
            walker.conditions.names.add(name)
            state = walker.states.define(
                old, macro, (self.path, directive.line), here.frame, here.sure, here.possible, here.doubt
            )
            walker.put(name, old, state)
        return index + 1

    def _undef(self, index: int, directive: Directive) -> int:
        macro, here = directive.macro, self.here
        if macro is not None:
            walker, name = self.walker, macro.name
            old = walker.macros.get(name)
            walker.conditions.names.add(name)
            if old is not None:
                state = walker.states.undefine(
                    old, (self.path, directive.line), here.frame, here.sure, here.possible, here.doubt
                )
                walker.put(name, old, state)
        return index + 1

    def _include(self, index: int, directive: Directive) -> int:
        self.walker.include(self.path, directive, self.here)
        return index + 1


_ACTIONS: dict[str, Callable[[_File, int, Directive], int]] = {
    "if": _File._opening,
    "ifdef": _File._opening,
    "ifndef": _File._opening,
    "elif": _File._continuing,
    "elifdef": _File._continuing,
    "elifndef": _File._continuing,
    "else": _File._else,
    "endif": _File._endif,
    "define": _File._define,
    "undef": _File._undef,
    "include": _File._include,
    "include_next": _File._include,
    "import": _File._include,
}
