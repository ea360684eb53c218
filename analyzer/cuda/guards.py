"""The guards of one build: architecture-dependent branches, their masks, and what the target loses there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from analyzer.cuda.activity import Branch, FileActivity, Unit
from analyzer.cuda.directives import FileDirectives
from analyzer.cuda.functions import Definition
from analyzer.cuda.losses import GRAVITY, Guarded, Guards, Stoppers
from analyzer.cuda.program import Reader, ReadFile, execution_kind
from analyzer.cuda.source import Lines, Macro
from analyzer.model import Effect, Layer, Loss, Step

MacroRows = tuple[tuple[str, Macro], ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A guard as one build sees it. ``admit`` and ``unknown`` are masks of architectures.

    ``scope`` is the qualified name of the function or class around it, ``kind`` what that is (empty at file
    level); ``[line, last]`` the lines from the directive to the end of what it decides. ``breaks``:
    the target's unit does not compile. ``within`` are the lines at which it acts, where these are others.
    """

    file: str
    line: int
    end_line: int
    column: int
    last: int
    scope: str
    kind: str
    code: str
    group: int
    chained: bool
    admit: int
    unknown: int
    reason: str
    effect: Effect
    losses: tuple[Loss, ...]
    falls_back_to: str | None
    message: str | None
    because: tuple[Step, ...]
    layer: Layer = "guard"
    breaks: bool = False
    within: tuple[Lines, ...] = ()

    @property
    def gravity(self) -> tuple[int, int]:
        """Smaller is graver."""
        return GRAVITY.index(self.effect), -len(self.losses)


def bare(condition: str) -> str:
    """A condition without parentheses around the whole of it."""
    while condition.startswith("(") and condition.endswith(")"):
        depth = 0
        for at, character in enumerate(condition):
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth == 0 and at < len(condition) - 1:
                return condition
        condition = condition[1:-1].strip()
    return condition


@dataclass(frozen=True, slots=True)
class Bits:
    """Which bits of a mask are which passes: all device passes, the target's, those of the references.

    ``older`` is the newest architecture before the target's generation; 0 if there is none.
    """

    device: int
    target: int
    references: tuple[int, ...]
    older: int = 0


class UnitMacros(Mapping[str, MacroRows]):
    """The macros that a unit's files define for one pass, found when asked for; notes what is asked."""

    def __init__(self, unit: Unit, bit: int, index: MacroIndex) -> None:
        self._unit, self._bit, self._index = unit, bit, index
        self._known: dict[str, MacroRows] = {}
        self.asked: dict[str, MacroRows] = {}

    def __getitem__(self, name: str) -> MacroRows:
        rows = self._known.get(name)
        if rows is None:
            rows = self._known[name] = tuple(self._rows(name))
        self.asked[name] = rows
        if not rows:
            raise KeyError(name)
        return rows

    def _rows(self, name: str) -> Iterator[tuple[str, Macro]]:
        for path in self._index.files(name):
            activity = self._unit.files.get(path)
            if activity is None:
                continue
            for macro in self._index.macros(path)[name]:
                if (activity.active(macro.line) | activity.unknown(macro.line)) & self._bit:
                    yield path, macro

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class MacroIndex:
    """Which files define which macros: of every file that a unit was seen to include."""

    def __init__(self) -> None:
        self._by_file: dict[str, dict[str, list[Macro]]] = {}
        self._by_name: dict[str, list[str]] = {}

    def add(self, unit: Unit) -> None:
        """Take in the unit's files."""
        for path, activity in unit.files.items():
            if path not in self._by_file:
                self._by_file[path] = _macros(activity.facts)
                for name in self._by_file[path]:
                    self._by_name.setdefault(name, []).append(path)

    def files(self, name: str) -> list[str]:
        """The files that define the name, by path."""
        return sorted(self._by_name.get(name, ()))

    def macros(self, path: str) -> dict[str, list[Macro]]:
        """The macros of a file by name."""
        return self._by_file[path]


def _macros(facts: FileDirectives) -> dict[str, list[Macro]]:
    found: dict[str, list[Macro]] = {}
    for directive in facts.directives:
        if directive.kind == "define" and directive.macro is not None:
            own = directive.macro
            macro = Macro(own.name, own.parameters, "".join(own.body), directive.line, directive.end_line)
            found.setdefault(own.name, []).append(macro)
    return found


@dataclass(frozen=True, slots=True)
class _Answer:
    """The drafts of a file, and the macros that they were found by."""

    asked: tuple[tuple[str, MacroRows], ...]
    drafts: tuple[Draft, ...]


class Finder:
    """Finds the guards of unit after unit; files that look alike to two units are worked out once.

    The units must stem from walks with one memory, so that equal activity is one object.
    """

    def __init__(self, reader: Reader, bits: Bits) -> None:
        self.reader, self.bits = reader, bits
        self.index = MacroIndex()
        self._branches: dict[FileActivity, list[Branch]] = {}
        self._known: dict[FileActivity, list[_Answer]] = {}

    def guards(self, units: Sequence[Unit]) -> tuple[Draft, ...]:
        """The guards of a build, by file and line; where its units disagree, as the gravest has it."""
        found: dict[tuple[str, int], Draft] = {}
        told: set[int] = set()
        for unit in units:
            self.index.add(unit)
            macros = UnitMacros(unit, self.bits.target, self.index)
            for activity in unit.files.values():
                drafts = self._of_file(activity, macros) if activity.dependent else ()
                if id(drafts) in told:
                    continue  # what several units see alike
                told.add(id(drafts))
                for draft in drafts:
                    place = (draft.file, draft.line)
                    if place not in found or draft.gravity < found[place].gravity:
                        found[place] = draft
        return tuple(found[place] for place in sorted(found))

    def own(self, unit: Unit) -> tuple[Draft, ...]:
        """The guards of the unit's own file alone."""
        activity = unit.files[unit.path]
        if not activity.dependent:
            return ()
        self.index.add(unit)
        return self._of_file(activity, UnitMacros(unit, self.bits.target, self.index))

    def _of_file(self, activity: FileActivity, macros: UnitMacros) -> tuple[Draft, ...]:
        branches = self._branches.get(activity)
        if branches is None:
            branches = [branch for branch in activity.dependent if self._is_guard(branch)]
            self._branches[activity] = branches
        if not branches:
            return ()
        answers = self._known.setdefault(activity, [])
        for answer in answers:
            if all(macros.get(name, ()) == rows for name, rows in answer.asked):
                return answer.drafts
        macros.asked = {}
        file = _File(self, activity, macros)
        drafts = tuple(file.draft(branch) for branch in branches)
        answers.append(_Answer(tuple(macros.asked.items()), drafts))
        return drafts

    def _is_guard(self, branch: Branch) -> bool:
        """Whether the branch depends on the architecture, and not all architectures fare alike."""
        if not branch.arch_dependent or not branch.condition:
            return False
        device = self.bits.device
        return bool(branch.unknown & device) or branch.active & device not in (0, device)


def _breaks(message: str, kind: str) -> bool:
    """Whether what stops the target stops its compiler: in a template, an assertion waits for its use."""
    return message.startswith("#error") or (not kind and "assert" in message.partition("(")[0].lower())


class _File:
    """One file of a unit."""

    def __init__(self, finder: Finder, activity: FileActivity, macros: UnitMacros) -> None:
        self.finder, self.activity, self.macros = finder, activity, macros

    def _seen(self, bit: int) -> ReadFile:
        return self.finder.reader.file(self.activity.path, self.activity.inactive(bit))

    @cached_property
    def _losses(self) -> Guards:
        bits = self.finder.bits
        references = [self._seen(bit) for bit in bits.references]
        return Guards(references, self._seen(bits.target), Stoppers(self.macros))

    def draft(self, branch: Branch) -> Draft:
        """The guard at a branch."""
        bits = self.finder.bits
        lost = self._lost(branch)
        around = self._around(branch)
        kind = execution_kind(around, self.macros) if around is not None else ""
        return Draft(
            file=branch.file,
            line=branch.line,
            end_line=branch.end_line,
            column=branch.column,
            last=branch.block_end,
            scope=around.qualified if around is not None else "",
            kind=kind,
            code=bare(branch.condition),
            group=branch.group,
            chained=branch.line != branch.group or self._continues(branch),
            admit=branch.active & bits.device,
            unknown=branch.unknown & bits.device,
            reason=branch.reason,
            effect=lost.effect,
            losses=lost.losses,
            falls_back_to=lost.falls_back_to,
            message=lost.message,
            because=branch.because,
            breaks=lost.effect == "raises" and _breaks(lost.message or "", kind),
        )

    def _lost(self, branch: Branch) -> Guarded:
        """What the target loses; nothing is claimed where it is not known what is compiled."""
        bits = self.finder.bits
        asked = bits.target
        for bit in bits.references:
            asked |= bit
        if branch.unknown & asked:
            return Guarded("none")
        lost = self._losses.at(branch.line)
        if lost.effect in ("excluded", "degraded") and self._has_own(branch):
            return replace(lost, effect="none", losses=(), falls_back_to=None)
        return lost

    def _has_own(self, branch: Branch) -> bool:
        """Whether the target takes a branch of the chain whose condition its generation brought."""
        target, older = self.finder.bits.target, self.finder.bits.older
        return any(
            other.group == branch.group and other.condition and other.active & (target | older) == target
            for other in self.activity.dependent
            if other.enclosing & older
        )

    def _continues(self, branch: Branch) -> bool:
        found = self.finder.reader.source(branch.file).chain(branch.line)
        return found is not None and any(b.keyword.startswith("elif") for b in found[0].branches)

    def _around(self, branch: Branch) -> Definition | None:
        """The function or class around the branch, as the newest architecture that comes by sees it.

        Not as target or references see it: a gate's scope is part of its id, which must not depend on them.
        """
        here = branch.enclosing & self.finder.bits.device
        if not here:
            return None
        facts = self._seen(1 << (here.bit_length() - 1)).facts
        function = facts.enclosing(branch.line)
        if function is not None:
            return function
        classes = (d for d in facts.definitions if d.kind == "class")
        holding = [d for d in classes if d.header_line <= branch.line <= d.end_line]
        return max(holding, key=lambda d: d.header_line, default=None)
