"""What a target loses at a guard against a reference: synchronisation, bodies, code; what replaces it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.cuda import intrinsics, work
from analyzer.cuda.activity import FileActivity
from analyzer.cuda.functions import Definition
from analyzer.cuda.program import ReadFile, execution_kind
from analyzer.cuda.source import Chain, Lines, Macro, shown
from analyzer.cuda.uses import uses
from analyzer.model import Effect, Loss

Macros = Mapping[str, Sequence[tuple[str, Macro]]]

_ERROR = re.compile(r"\s*#\s*error\b\s*(.*)", re.DOTALL)
_STATIC_ASSERT = re.compile(r"\b(?:static_assert|_Static_assert)\s*(?=\()")
_FALSE = re.compile(r"\s*\(\s*(?:false|0)\s*[,)]")
_TELLING = frozenset({"error", "include", "define"})
_NESTED = 4
"""How many macros deep a trap is looked for."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """What happens to the target at one branch of an ``#if`` chain.

    ``function`` encloses the branch (None at file level); ``losses`` are compiled out on the target but not
    on the reference. ``falls_back_to`` is what the target runs in their place, ``message`` what it raises.
    """

    effect: Effect
    losses: tuple[Loss, ...] = ()
    falls_back_to: str | None = None
    message: str | None = None
    function: Definition | None = None
    kind: str | None = None


def inactive(activity: FileActivity, bit: int) -> tuple[Lines, ...]:
    """The lines of a file that one configuration (a mask of one bit) certainly does not compile."""
    found: list[Lines] = []
    for run in activity.runs:
        if not (run.active | run.unknown) & bit:
            if found and found[-1][1] + 1 == run.line:
                found[-1] = found[-1][0], run.end_line
            else:
                found.append((run.line, run.end_line))
    return tuple(found)


def lost(reference: ReadFile, target: ReadFile, line: int, macros: Macros | None = None) -> Guarded:
    """What the target loses at the branch whose directive stands at ``line``, against the reference.

    ``reference`` and ``target`` are the same file as two compiler passes see it; ``macros`` are those of the
    unit (``Program.macros``). Effect ``none`` if the branch treats both alike, or the target better.
    """
    return _Comparison(reference, target, macros or {}).at(line)


class _Comparison:
    """One branch, seen by a reference and by the target."""

    def __init__(self, reference: ReadFile, target: ReadFile, macros: Macros) -> None:
        self.reference, self.target, self.macros = reference, target, macros
        self.path, self.source = reference.path, reference.text.source

    def at(self, line: int) -> Guarded:
        found = self.source.chain(line)
        if found is None:
            return Guarded("none")
        chain, index = found
        here = chain.lines(index)
        gone = self._only(self.reference, self.target, [here])
        instead = self._only(self.target, self.reference, _all_lines(chain))
        function = self.reference.facts.enclosing(line) or self.target.facts.enclosing(line)
        kind = execution_kind(function, self.macros) if function is not None else None
        if not gone:
            own = self._only(self.target, self.reference, [here])
            message = self._raised(own, function)
            return Guarded("none" if message is None else "raises", (), None, message, function, kind)
        losses = self._losses(gone, instead, function, kind)
        effect, message = self._effect(losses, gone, instead, function)
        fallback = self._first(instead) if effect != "raises" else None
        return Guarded(effect, losses, fallback, message, function, kind)

    def _only(self, one: ReadFile, other: ReadFile, areas: Sequence[Lines]) -> list[int]:
        """The lines of the areas that ``one`` compiles and ``other`` does not: code and some directives."""
        found = []
        for first, last in areas:
            for line in range(first, last + 1):
                if one.text.is_active(line) and not other.text.is_active(line):
                    start, end = self.source.span(line, line)
                    if one.text.text[start:end].strip() or line in self._telling:
                        found.append(line)
        return found

    @cached_property
    def _telling(self) -> frozenset[int]:
        """The lines of directives that do something by themselves."""
        return frozenset(self.source.line(at) for word, at, _ in self.source.directives if word in _TELLING)

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
        self, gone: Sequence[int], instead: Sequence[int], function: Definition | None, kind: str | None
    ) -> tuple[Loss, ...]:
        kept = {site.intrinsic.name for site in self._sites(self.target, instead, function)}
        losses = [
            Loss(site.spelled, site.intrinsic.kind, self.path, self.source.line(site.at))
            for site in self._sites(self.reference, gone, function)
            if site.intrinsic.kind in intrinsics.SYNCHRONISATION and site.intrinsic.name not in kept
        ]
        if function is not None and kind == "kernel" and self._is_emptied(function):
            losses.append(Loss(function.name, "body", self.path, function.line))
        losses += [
            Loss(d.qualified, "function" if d.is_function else d.kind, self.path, d.line)
            for d in self.reference.facts.definitions
            if d.line in gone and self._at_top(d, function) and self._counterpart(d) is None
        ]
        losses += [Loss(m.name, "macro", self.path, m.line) for m in self._macros_gone(gone)]
        return tuple(sorted(losses, key=lambda loss: (loss.line, loss.kind, loss.what)))

    def _macros_gone(self, gone: Sequence[int]) -> list[Macro]:
        """Macros that are defined in the lost lines, and nowhere in the file on the target."""
        here = {macro.name for macro in self.target.facts.macros}
        return [m for m in self.reference.facts.macros if m.line in gone and m.name not in here]

    def _at_top(self, definition: Definition, function: Definition | None) -> bool:
        """Whether a definition stands on its own in the lost lines (no member of a lost class)."""
        if function is not None or definition.kind == "variable":
            return False
        owners = [d for d in self.reference.facts.definitions if d.kind == "class" and d is not definition]
        around = [d for d in owners if d.start <= definition.start and definition.end <= d.end]
        return not any(self._counterpart(d) is None for d in around)

    def _counterpart(self, function: Definition) -> Definition | None:
        """The same definition as the target's pass sees it: the nearest one of that path and kind."""
        alike = [
            d for d in self.target.facts.definitions if d.path == function.path and d.kind == function.kind
        ]
        same = [d for d in alike if d.arguments == function.arguments] or alike
        return min(same, key=lambda d: abs(d.line - function.line), default=None)

    def _is_emptied(self, function: Definition) -> bool:
        """Whether the function does something on the reference and nothing on the target."""
        other = self._counterpart(function)
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
        message = self._raised(instead, function)
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
        words = {self.source.line(at): word for word, at, _ in self.source.directives}
        return any(words.get(line) != "define" for line in lines)

    def _replaced(self, instead: Sequence[int], kinds: set[str], function: Definition | None) -> bool:
        """Whether other code takes the place of the lost synchronisation and synchronises in its own way."""
        here = {site.intrinsic.kind for site in self._sites(self.target, instead, function)}
        return kinds & intrinsics.SYNCHRONISATION <= here

    def _raised(self, lines: Sequence[int], function: Definition | None) -> str | None:
        """What stops the target in these lines: ``#error``, a false ``static_assert``, a trap; else None."""
        for keyword, start, end in self.source.directives:
            if keyword == "error" and self.source.line(start) in lines:
                match = _ERROR.match(self.source.text[start:end])
                return f"#error {shown(match[1])}" if match else "#error"
        for first, last in _runs(lines):
            start, end = self.source.span(first, last)
            for match in _STATIC_ASSERT.finditer(self.target.text.code, start, end):
                if _FALSE.match(self.target.text.code, match.end()):
                    return self._statement(match.start())
            for use in uses(self.target.text.code, start, end):
                if self._traps(use.name, _NESTED):
                    return self._statement(use.at)
        return self._stops(lines, function)

    def _stops(self, lines: Sequence[int], function: Definition | None) -> str | None:
        sites = self._sites(self.target, lines, function)
        for site in sites:
            if site.intrinsic.kind == "trap":
                return self._statement(site.at)
        messages = [site for site in sites if site.intrinsic.kind == "message"]
        if messages and function is not None:
            other = self._counterpart(function)
            text = self.target.text
            if other is not None and work.only_stops(text.text, text.code, other.parameters, other.end):
                return self._statement(messages[0].at)
        return None

    def _traps(self, name: str, depth: int) -> bool:
        """Whether a macro of this name stops the kernel."""
        for _, macro in self.macros.get(name, ()) if depth else ():
            body = macro.body.replace("\\\n", " \n")
            if any(s.intrinsic.kind == "trap" for s in intrinsics.sites(body, body, 0, len(body))):
                return True
            if any(use.name != name and self._traps(use.name, depth - 1) for use in uses(body)):
                return True
        return False

    def _statement(self, at: int) -> str:
        """The source text of the statement that begins at an offset, up to its ``;``."""
        end = self.source.code.find(";", at)
        stop = end if end >= 0 else self.source.span(self.source.line(at), self.source.line(at))[1]
        return shown(self.source.text[at:stop])

    def _first(self, lines: Sequence[int]) -> str | None:
        """What the target runs instead: the first line's text, from its first name on."""
        for line in lines:
            text = self._text(line)
            if re.search(r"\w", text):
                return text
        return None

    def _text(self, line: int) -> str:
        start, end = self.source.span(line, line)
        return shown(self.source.text[start:end])


def _all_lines(chain: Chain) -> list[Lines]:
    return [chain.lines(index) for index in range(len(chain.branches))]


def _runs(lines: Sequence[int]) -> list[Lines]:
    """Ascending lines as runs; blank lines between them close no gap."""
    runs: list[Lines] = []
    for line in lines:
        if runs and runs[-1][1] + 1 == line:
            runs[-1] = runs[-1][0], line
        else:
            runs.append((line, line))
    return runs
