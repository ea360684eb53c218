"""What a target loses at a guard against its references: synchronisation, bodies, code; what replaces it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.cuda import intrinsics, work
from analyzer.cuda.functions import Definition, Kind
from analyzer.cuda.program import ReadFile, execution_kind
from analyzer.cuda.source import Chain, Lines, Macro, shown
from analyzer.cuda.uses import uses
from analyzer.model import Effect, Loss

Macros = Mapping[str, Sequence[tuple[str, Macro]]]

#: From the gravest to the mildest, for the choice among several references.
GRAVITY: tuple[Effect, ...] = (
    "raises",
    "illegal_instruction",
    "empty_kernel",
    "lost_sync",
    "excluded",
    "degraded",
    "none",
)
_ERROR = re.compile(r"\s*#\s*error\b\s*(.*)", re.DOTALL)
_STATIC_ASSERT = re.compile(r"\b(?:static_assert|_Static_assert)\s*(?=\()")
_FALSE = re.compile(r"\s*\(\s*(?:false|0)\s*[,)]")
#: What a call looks like, and more: template arguments may stand before the parenthesis.
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*[({<]")
#: Directives that do something by themselves, where they stand.
_TELLING = frozenset({"error", "include", "define"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """What happens to the target at one branch of an ``#if`` chain.

    ``function`` encloses the branch (None at file level), ``kind`` is its kind; ``losses`` are what the
    target does not compile and a reference does. ``falls_back_to`` is the first line that the target runs in
    their place, ``message`` the statement or directive that stops it.
    """

    effect: Effect
    losses: tuple[Loss, ...] = ()
    falls_back_to: str | None = None
    message: str | None = None
    function: Definition | None = None
    kind: Kind | None = None


class Stoppers:
    """Which macros of a unit stop the kernel that runs into them."""

    def __init__(self, macros: Macros | None = None) -> None:
        self.macros: Macros = macros or {}
        self._known: dict[str, bool] = {}

    def stops(self, name: str) -> bool:
        """Whether some definition of the macro holds a trap, itself or through other macros."""
        if name not in self._known:
            self._known[name] = False  # a macro that leads to itself adds nothing
            bodies = [macro.body.replace("\\\n", " \n") for _, macro in self.macros.get(name, ())]
            self._known[name] = any(self._body_stops(body) for body in bodies)
        return self._known[name]

    def _body_stops(self, body: str) -> bool:
        if any(s.intrinsic.kind == "trap" for s in intrinsics.sites(body, body, 0, len(body))):
            return True
        return any(self.stops(use.name) for use in uses(body) if use.name in self.macros)


class Guards:
    """The guards of one file: what the target misses of what the references (other passes) compile."""

    def __init__(
        self, references: Sequence[ReadFile], target: ReadFile, stoppers: Stoppers | None = None
    ) -> None:
        self.target, self.stoppers = target, stoppers or Stoppers()
        self.source = target.text.source
        distinct = {reference.text.inactive: reference for reference in references}
        self._pairs = [_Pair(reference, target, self.stoppers) for reference in distinct.values()]

    def at(self, line: int) -> Guarded:
        """What the target loses at the branch whose ``#if`` or ``#elif`` stands at ``line``.

        The gravest answer among the references. Effect ``none``: the branch is not reached, treats all
        alike, singles the target out without harm, or the target takes a branch with a condition of its own
        as some reference does.
        """
        found = self.source.chain(line)
        if found is None or not self._pairs:
            return Guarded("none")
        answers = [pair.at(line, *found) for pair in self._pairs]
        worst = min(answers, key=lambda answer: GRAVITY.index(answer.effect))
        if worst.effect in ("excluded", "degraded", "lost_sync") and self._follows_a_reference(found[0]):
            return Guarded("none", (), None, None, worst.function, worst.kind)
        return worst

    def _follows_a_reference(self, chain: Chain) -> bool:
        """Whether the target takes a branch with its own condition that some reference takes as well."""
        for index, branch in enumerate(chain.branches):
            first, last = chain.lines(index)
            if branch.keyword != "else" and first <= last and self.target.text.is_active(first):
                return any(pair.reference.text.is_active(first) for pair in self._pairs)
        return False


class _Pair:
    """One file as one reference and the target see it."""

    def __init__(self, reference: ReadFile, target: ReadFile, stoppers: Stoppers) -> None:
        self.reference, self.target, self.stoppers = reference, target, stoppers
        self.path, self.source = reference.path, reference.text.source

    def at(self, line: int, chain: Chain, index: int) -> Guarded:
        function = self.reference.facts.enclosing(line) or self.target.facts.enclosing(line)
        kind = execution_kind(function, self.stoppers.macros) if function is not None else None
        nothing = Guarded("none", (), None, None, function, kind)
        if not self.target.text.is_active(line):
            return nothing  # decided by the branch around it
        everywhere = [chain.lines(i) for i in range(len(chain.branches))]
        taken = _taken(self.target, everywhere)
        if taken is not None and taken == _taken(self.reference, everywhere):
            return nothing  # what differs is decided by a branch within
        own = [everywhere[index]]
        gone = _within(self._gone, own)
        instead = _within(self._instead, everywhere)
        singled_out = not gone and bool(_within(self._instead, own))
        if singled_out:
            gone = _within(self._gone, everywhere)
        elif not gone:
            return nothing
        if self._raised(self.reference, gone, function) is not None:
            return nothing  # the reference itself stops there
        losses = self._losses(gone, instead, function, kind)
        effect, message = self._effect(losses, gone, instead, function)
        if singled_out and effect in ("excluded", "degraded", "none"):
            return nothing
        fallback = self._first(instead) if effect != "raises" else None
        return Guarded(effect, losses, fallback, message, function, kind)

    @cached_property
    def _gone(self) -> list[int]:
        """All lines that say something to the reference alone."""
        return self._differing(self.reference, self.target)

    @cached_property
    def _instead(self) -> list[int]:
        """All lines that say something to the target alone."""
        return self._differing(self.target, self.reference)

    def _differing(self, one: ReadFile, other: ReadFile) -> list[int]:
        left_out = [line for first, last in other.text.inactive for line in range(first, last + 1)]
        return [line for line in left_out if one.text.is_active(line) and self._says(one, line)]

    def _says(self, file: ReadFile, line: int) -> bool:
        start, end = self.source.span(line, line)
        return bool(file.text.text[start:end].strip()) or self.source.directive_lines.get(line) in _TELLING

    def _sites(
        self, file: ReadFile, lines: Sequence[int], function: Definition | None
    ) -> list[intrinsics.Site]:
        """The intrinsics in these lines of a pass."""
        around = (function.start, function.end) if function is not None else None
        found: list[intrinsics.Site] = []
        for first, last in _runs(lines):
            start, end = self.source.span(first, last)
            found += intrinsics.sites(file.text.text, file.text.code, start, end, around)
        return found

    def _losses(
        self, gone: Sequence[int], instead: Sequence[int], function: Definition | None, kind: Kind | None
    ) -> tuple[Loss, ...]:
        kept = {site.intrinsic.name for site in self._sites(self.target, instead, function)}
        losses = [
            Loss(site.spelled, site.intrinsic.kind, self.path, self.source.line(site.at))
            for site in self._sites(self.reference, gone, function)
            if site.intrinsic.kind in intrinsics.SYNCHRONISATION and site.intrinsic.name not in kept
        ]
        if function is None:
            losses += self._definitions_gone(frozenset(gone))
        elif kind == "kernel" and self._is_emptied(function):
            losses.append(Loss(function.name, "body", self.path, function.line))
        losses += self._macros_gone(gone)
        return tuple(sorted(losses, key=lambda loss: (loss.line, loss.kind, loss.what)))

    def _macros_gone(self, gone: Sequence[int]) -> list[Loss]:
        """Macros that are defined in the lost lines, and nowhere in the file on the target."""
        here = {macro.name for macro in self.target.facts.macros}
        macros = [m for m in self.reference.facts.macros if m.line in gone and m.name not in here]
        return [Loss(macro.name, "macro", self.path, macro.line) for macro in macros]

    def _definitions_gone(self, gone: frozenset[int]) -> list[Loss]:
        """Functions, classes and aliases in the lost lines that the target defines nowhere in the file."""
        losses: list[Loss] = []
        end = -1
        for definition in self.reference.facts.definitions:
            if definition.start < end or definition.line not in gone or definition.kind == "variable":
                continue  # a member of a lost class goes with it
            if definition.path not in self._target_paths:
                kind = "function" if definition.is_function else definition.kind
                losses.append(Loss(definition.qualified, kind, self.path, definition.line))
                end = definition.end
        return losses

    @cached_property
    def _target_paths(self) -> frozenset[tuple[str, ...]]:
        return frozenset(definition.path for definition in self.target.facts.definitions)

    def _is_emptied(self, function: Definition) -> bool:
        """Whether the function does something on the reference and nothing on the target."""
        other = _counterpart(self.target, function)
        if other is None or work.has_work(self.target.text.text, other.parameters, other.end):
            return False
        return work.has_work(self.reference.text.text, function.parameters, function.end)

    def _effect(
        self,
        losses: tuple[Loss, ...],
        gone: Sequence[int],
        instead: Sequence[int],
        function: Definition | None,
    ) -> tuple[Effect, str | None]:
        message = self._raised(self.target, instead, function)
        if message is not None:
            return "raises", message
        kinds = {loss.kind for loss in losses}
        if "body" in kinds:
            return "empty_kernel", None
        if kinds & intrinsics.SYNCHRONISATION and not self._replaced(instead, kinds, function):
            return "lost_sync", None
        if kinds <= {"macro"} and not self._has_code(gone):
            return "none", None  # what the macros decide shows where they are used
        return ("degraded" if self._has_code(instead) else "excluded"), None

    def _has_code(self, lines: Sequence[int]) -> bool:
        """Whether any of the lines is more than a macro definition."""
        return any(self.source.directive_lines.get(line) != "define" for line in lines)

    def _replaced(self, instead: Sequence[int], kinds: set[str], function: Definition | None) -> bool:
        """Whether other code takes the place of the lost synchronisation and synchronises in its own way."""
        here = {site.intrinsic.kind for site in self._sites(self.target, instead, function)}
        return kinds & intrinsics.SYNCHRONISATION <= here

    def _raised(self, file: ReadFile, lines: Sequence[int], function: Definition | None) -> str | None:
        """What stops a pass in these lines: ``#error``, a false ``static_assert``, a trap; else None."""
        code = file.text.code
        for line in lines:
            if self.source.directive_lines.get(line) == "error":
                match = _ERROR.match(self._line(line))
                return f"#error {shown(match[1])}" if match else "#error"
        for first, last in _runs(lines):
            start, end = self.source.span(first, last)
            for match in _STATIC_ASSERT.finditer(code, start, end):
                if _FALSE.match(code, match.end()):
                    return self._statement(match.start())
            named = {match[1] for match in _CALLED.finditer(code, start, end)}
            for use in uses(code, start, end) if any(map(self.stoppers.stops, named)) else ():
                if use.called and self.stoppers.stops(use.name):
                    return self._statement(use.at)
        return self._stopped(file, lines, function)

    def _stopped(self, file: ReadFile, lines: Sequence[int], function: Definition | None) -> str | None:
        """The trap in these lines, or the message that is all that the function has left to do."""
        sites = self._sites(file, lines, function)
        for site in sites:
            if site.intrinsic.kind == "trap":
                return self._statement(site.at)
        messages = [site for site in sites if site.intrinsic.kind == "message"]
        other = _counterpart(file, function) if messages and function is not None else None
        text = file.text
        if other is not None and work.only_stops(text.text, text.code, other.parameters, other.end):
            return self._statement(messages[0].at)
        return None

    def _statement(self, at: int) -> str:
        """The source text from an offset up to the next ``;``; inside a string, its whole line."""
        if self.source.code[at].isspace():
            return shown(self._line(self.source.line(at)))
        end = self.source.code.find(";", at)
        return shown(self.source.text[at : end if end >= 0 else len(self.source.text)])

    def _first(self, lines: Sequence[int]) -> str | None:
        """What the target runs instead: the text of the first line that names something."""
        return next((shown(self._line(line)) for line in lines if re.search(r"\w", self._line(line))), None)

    def _line(self, line: int) -> str:
        start, end = self.source.span(line, line)
        return self.source.text[start:end]


def _taken(file: ReadFile, branches: Sequence[Lines]) -> int | None:
    """Which branch a pass takes; None where none is seen to be taken."""
    return next(
        (at for at, (first, last) in enumerate(branches) if first <= last and file.text.is_active(first)),
        None,
    )


def _counterpart(file: ReadFile, function: Definition) -> Definition | None:
    """The same function as another pass sees it: the nearest one of that path."""
    kind, path = function.kind, function.path
    alike = [d for d in file.facts.functions if d.path == path and d.kind == kind]
    same = [d for d in alike if d.arguments == function.arguments] or alike
    return min(same, key=lambda d: abs(d.line - function.line), default=None)


def _within(lines: Sequence[int], areas: Sequence[Lines]) -> list[int]:
    """Those of the ascending lines that lie in one of the areas."""
    return [
        line for first, last in areas for line in lines[bisect_left(lines, first) : bisect_right(lines, last)]
    ]


def _runs(lines: Sequence[int]) -> list[Lines]:
    """Ascending lines as runs."""
    runs: list[Lines] = []
    for line in lines:
        if runs and runs[-1][1] + 1 == line:
            runs[-1] = runs[-1][0], line
        else:
            runs.append((line, line))
    return runs
