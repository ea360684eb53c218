"""Which lines of a translation unit survive the preprocessor, for each configuration, and why."""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from analyzer.cuda import headers
from analyzer.cuda.directives import CONTINUING, OPENING, Directive, FileDirectives
from analyzer.cuda.presence import Frame, Outcome, State
from analyzer.model import Step


@dataclass(frozen=True, slots=True)
class Configuration:
    """One pass of the compiler, one bit of every mask.

    ``label`` names it (``12.0a``, ``host``); ``macros`` are those that the compiler predefines and those
    of ``-D`` flags, name (with parameters, if any) to replacement text.
    """

    label: str
    macros: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """Lines with equal masks, from ``line`` to ``end_line``."""

    line: int
    end_line: int
    active: int
    unknown: int


@dataclass(frozen=True, slots=True)
class MissingInclude:
    """An ``#include`` that leads out of the tree to a header that nothing is known about."""

    file: str
    line: int
    header: str
    mask: int


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """An ``#error`` and the configurations that run into it."""

    file: str
    line: int
    text: str
    active: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a conditional group: from its directive to the line before the group's next one.

    Masks: ``enclosing`` where the branch's surroundings are active (or may be), ``active`` where its own
    lines are, ``unknown`` where that could not be decided (``reason`` says why). ``arch_dependent``:
    taking it depends on macros that differ between configurations, through its own condition or those of
    the group's earlier branches. ``condition`` is empty for ``#else``; ``group`` is the line that opens
    the group.
    """

    file: str
    line: int
    end_line: int
    column: int
    kind: str
    condition: str
    group: int
    block_end: int
    enclosing: int
    active: int
    unknown: int
    reason: str
    arch_dependent: bool
    outcomes: tuple[Outcome, ...] = field(repr=False, compare=False)

    @property
    def because(self) -> tuple[Step, ...]:
        """Where each macro that decided was defined, back to the compiler's own macros."""
        return tuple(dict.fromkeys(_explain(self.outcomes, self.file, self.line, set())))


@dataclass(slots=True, eq=False)
class Visits:
    """What the walk noted about one file: masks by directive index, merged over all inclusions.

    Not changed once a walk has left the file: then walks share it.
    """

    facts: FileDirectives
    sure: int
    possible: int
    sure_by: list[int]
    possible_by: list[int]
    outcomes: dict[int, tuple[Outcome, ...]] = field(default_factory=dict)
    reasons: dict[int, str] = field(default_factory=dict)
    activity: FileActivity | None = None
    _joined: dict[Visits, Visits] = field(default_factory=dict)

    def joined(self, later: Visits) -> Visits:
        """These notes and those of a later passage through the file."""
        found = self._joined.get(later)
        if found is None:
            found = self._joined[later] = Visits(
                self.facts,
                self.sure | later.sure,
                self.possible | later.possible,
                list(map(operator.or_, self.sure_by, later.sure_by)),
                list(map(operator.or_, self.possible_by, later.possible_by)),
                later.outcomes | self.outcomes,
                later.reasons | self.reasons,
            )
        return found

    @classmethod
    def of(cls, facts: FileDirectives) -> Visits:
        """Nothing noted yet."""
        count = len(facts.directives)
        return cls(facts, 0, 0, [0] * count, [0] * count)

    def key(self) -> tuple[object, ...]:
        """Equal for equal notes about one file. Outcomes are interned: what they read is equal, too."""
        outcomes = tuple(self.outcomes.items())
        reasons = tuple(self.reasons.items())
        return (self.sure, self.possible, tuple(self.sure_by), tuple(self.possible_by), outcomes, reasons)


class FileActivity:
    """The activity of one file in one translation unit.

    A file that is included several times has, for each line, the union of the masks: a line is active
    where any inclusion keeps it. Units that share a memory share these objects, where they are equal.
    """

    def __init__(self, path: str, visits: Visits) -> None:
        self.path = path
        self._visits = visits

    @property
    def facts(self) -> FileDirectives:
        """The file's directives."""
        return self._visits.facts

    @property
    def entered(self) -> int:
        """The configurations that include the file."""
        return self._visits.sure

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal activity of the same file content, in whatever unit: for caches."""
        visits = self._visits
        return (self.path, visits.sure, visits.possible, tuple(visits.sure_by), tuple(visits.possible_by))

    def active(self, line: int) -> int:
        """The configurations under which the line survives."""
        return self._run(line).active

    def unknown(self, line: int) -> int:
        """The configurations under which that is not known."""
        return self._run(line).unknown

    def _run(self, line: int) -> Run:
        return self.runs[bisect_right(self._starts, line) - 1]

    def inactive(self, bit: int) -> tuple[tuple[int, int], ...]:
        """The runs of lines that one configuration (a mask of one bit) certainly does not compile."""
        found = self._inactive.get(bit)
        if found is None:
            found = self._inactive[bit] = tuple(_left_out(self.runs, bit))
        return found

    @cached_property
    def _inactive(self) -> dict[int, tuple[tuple[int, int], ...]]:
        return {}

    @cached_property
    def _starts(self) -> list[int]:
        return [run.line for run in self.runs]

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All lines, in runs of equal masks; a conditional's own lines belong to its surroundings."""
        visits = self._visits
        pieces: list[tuple[int, int, int]] = [(1, visits.sure, visits.possible)]
        outer = [(visits.sure, visits.possible)]
        for index, directive in enumerate(visits.facts.directives):
            if directive.kind in OPENING:
                outer.append(outer[-1])
            elif directive.kind in CONTINUING or directive.kind == "endif":
                outer.pop()
            else:
                continue
            if directive.kind == "endif":
                pieces.append((directive.line, *outer[-1]))
                continue
            if directive.kind in CONTINUING:
                pieces.append((directive.line, *outer[-1]))
                outer.append(outer[-1])
            outer[-1] = (visits.sure_by[index], visits.possible_by[index])
            pieces.append((directive.end_line + 1, *outer[-1]))
        return tuple(_join(pieces, max(1, visits.facts.lines)))

    @cached_property
    def dependent(self) -> tuple[Branch, ...]:
        """The branches that depend on the architecture."""
        return tuple(b for b in self.branches if b.arch_dependent) if self._visits.outcomes else ()

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """All branches of the file's conditional groups, in order."""
        return tuple(self._branches())

    def _branches(self) -> Iterator[Branch]:
        visits = self._visits
        directives = visits.facts.directives
        groups: list[tuple[int, int]] = []
        around = [visits.possible]
        for index, directive in enumerate(directives):
            if directive.kind == "endif":
                groups.pop()
                around.pop()
                continue
            if directive.kind in OPENING:
                groups.append((directive.line, around[-1]))
                around.append(0)
            elif directive.kind not in CONTINUING:
                continue
            line, enclosing = groups[-1]
            around[-1] = visits.possible_by[index]
            yield self._branch(index, directive, line, enclosing)

    def _branch(self, index: int, directive: Directive, group: int, enclosing: int) -> Branch:
        visits = self._visits
        following = directive.following
        directives = visits.facts.directives
        end = directives[following].line - 1 if following < len(directives) else visits.facts.lines
        outcomes = visits.outcomes.get(index, ())
        return Branch(
            file=self.path,
            line=directive.line,
            end_line=directive.end_line,
            column=directive.column,
            kind=directive.kind,
            condition=condition_text(directive),
            group=group,
            block_end=max(end, directive.end_line),
            enclosing=enclosing,
            active=visits.sure_by[index],
            unknown=visits.possible_by[index] & ~visits.sure_by[index],
            reason=visits.reasons.get(index, ""),
            arch_dependent=bool(outcomes),
            outcomes=outcomes,
        )

    @cached_property
    def errors(self) -> tuple[ErrorLine, ...]:
        """The ``#error`` directives that some configuration runs into, or may."""
        found = []
        for directive in self._visits.facts.directives:
            if directive.kind == "error":
                run = self._run(directive.line)
                if run.active or run.unknown:
                    text = directive.text.strip("\"'")
                    found.append(ErrorLine(self.path, directive.line, text, run.active, run.unknown))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Unit:
    """A translation unit as the preprocessor sees it: files in the order of their first inclusion."""

    path: str
    configurations: tuple[Configuration, ...]
    files: Mapping[str, FileActivity]
    missing: tuple[MissingInclude, ...]

    @property
    def full(self) -> int:
        """The mask of all configurations."""
        return (1 << len(self.configurations)) - 1

    @property
    def errors(self) -> tuple[ErrorLine, ...]:
        """Every ``#error`` that some configuration runs into, or may."""
        return tuple(error for activity in self.files.values() for error in activity.errors)

    def labels(self, mask: int) -> tuple[str, ...]:
        """The labels of the configurations in a mask."""
        return tuple(c.label for i, c in enumerate(self.configurations) if mask >> i & 1)


def condition_text(directive: Directive) -> str:
    """The condition as reports show it: one line, comments gone, ``#ifdef X`` as ``defined(X)``."""
    match directive.kind:
        case "if" | "elif":
            return directive.text
        case "ifdef" | "elifdef":
            return f"defined({directive.condition[2]})"
        case "ifndef" | "elifndef":
            return f"!defined({directive.condition[3]})"
        case _:
            return ""


def _join(pieces: list[tuple[int, int, int]], last: int) -> Iterator[Run]:
    pending: tuple[int, int, int] | None = None
    for piece in pieces:
        if pending is not None and pending[1:] != piece[1:]:
            if pending[0] < piece[0]:
                yield Run(pending[0], piece[0] - 1, pending[1], pending[2] & ~pending[1])
            pending = piece
        elif pending is None:
            pending = piece
    if pending is not None:
        yield Run(pending[0], max(last, pending[0]), pending[1], pending[2] & ~pending[1])


def _left_out(runs: Sequence[Run], bit: int) -> Iterator[tuple[int, int]]:
    """First and last lines of the runs without the bit, neighbours joined."""
    first = 0
    for run in runs:
        if (run.active | run.unknown) & bit:
            if first:
                yield first, run.line - 1
                first = 0
        elif not first:
            first = run.line
    if first:
        yield first, runs[-1].end_line


def _explain(outcomes: tuple[Outcome, ...], file: str, line: int, seen: set[int]) -> Iterator[Step]:
    for outcome in outcomes:
        if id(outcome) in seen:
            continue
        seen.add(id(outcome))
        for name, state in outcome.used:
            if state is None:
                if headers.is_door(name):
                    yield Step(file, line, f"reads {name}, which the compiler does not define")
            elif state.varies:
                yield from _explain_macro(name, state, file, line, seen)
            elif state.alternatives:
                yield from _plain(name, state)


def _plain(name: str, state: State) -> Iterator[Step]:
    for _, definition in state.alternatives:
        if definition.file:
            yield Step(definition.file, definition.line, f"defines {name}")


def _explain_macro(name: str, state: State, file: str, line: int, seen: set[int]) -> Iterator[Step]:
    for _, definition in state.alternatives:
        if not definition.file:
            yield Step(file, line, f"reads {name}, which the compiler or a -D flag defines")
            continue
        body = "".join(definition.macro.body)
        what = f"defines {name}" + (f" as {body}" if body else "")
        yield Step(definition.file, definition.line, what)
        yield from _explain_frame(definition.frame, seen)
    if state.absence is not None and state.absence.frame is not None:
        yield Step(state.absence.file, state.absence.line, f"would define or undefine {name}")
        yield from _explain_frame(state.absence.frame, seen)
    if not state.alternatives and state.absence is None:
        yield Step(file, line, f"reads {name}, which the compiler does not define")


def _explain_frame(frame: Frame | None, seen: set[int]) -> Iterator[Step]:
    while frame is not None:
        if id(frame) in seen:
            return
        seen.add(id(frame))
        yield Step(frame.file, frame.line, f"only under #{frame.text}")
        yield from _explain(frame.outcomes, frame.file, frame.line, seen)
        frame = frame.outer
