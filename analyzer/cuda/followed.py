"""What references can run behind an export, held against the target: all of it, or how far it was read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from analyzer.cuda import toolkit
from analyzer.cuda.needs import Need, Needs, Unread, in_library
from analyzer.cuda.program import Program, ReadFile, Symbol
from analyzer.cuda.reach import Mentions, reach
from analyzer.model import Step

#: Needs of one feature, and places not followed, that are kept of an export.
KEPT = 6
_AFTER = re.compile(r"[;{}]")


@dataclass(frozen=True, slots=True)
class Followed:
    """The code behind an export that one reference compiles.

    ``lacks`` is what it needs and the target has not; ``instead`` is what it asks for of the same kind that
    the target has; ``open`` are the places at which it was not followed or not understood. ``functions``:
    how many were read.
    """

    arch: str
    lacks: tuple[Need, ...]
    instead: tuple[Need, ...]
    open: tuple[Step, ...]
    functions: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """What some code asks for on any pass; ``calls`` lead out of what was read."""

    needs: tuple[Need | Unread, ...]
    calls: tuple[Step, ...]
    functions: int


class Follower:
    """Judges what exports of one build reach."""

    def __init__(self, program: Program, needs: Needs, references: Sequence[tuple[str, int]]) -> None:
        self.program, self.needs, self.references = program, needs, references
        self._open: dict[Symbol, tuple[Step, ...]] = {}
        self._declared: dict[str, bool] = {}
        self._sights: dict[tuple[str, int], Sequence[ReadFile]] = {}
        self.mentions = Mentions(program)

    def followed(self, symbols: Iterable[Symbol]) -> tuple[Followed, ...]:
        """What each reference compiles of these definitions; ``references`` are names with their passes."""
        asked = self._asked(list(symbols))
        return tuple(self._by(arch, bit, asked) for arch, bit in self.references)

    def behind(self, file: str, line: int, last: int) -> tuple[Followed, ...]:
        """What each reference compiles of the lines under a directive, and of what these lead to."""
        found = []
        for arch, bit in self.references:
            read = next((one for one in self._seen(file, bit) if one.text.sees(line + 1, last)), None)
            if read is None:
                continue
            start, end = read.text.source.span(line, last)
            own = self.needs.within(file, read.text, start, end)
            led: Iterable[Symbol] = ()
            if not in_library(file):  # there, each wrapper of an instruction stands for itself
                led = reach(self.program, read.text.code[start:end], self.mentions).hops
            found.append(self._by(arch, bit, self._asked(list(led), own)))
        return tuple(found)

    def _seen(self, file: str, bit: int) -> Sequence[ReadFile]:
        """The file as a pass sees it in any unit."""
        key = file, bit
        if key not in self._sights:
            inactive = {activity.inactive(bit) for activity in self.needs.activities.get(file, ())}
            self._sights[key] = [one for one in self.program.seen(file) if one.text.inactive in inactive]
        return self._sights[key]

    def _asked(self, reached: Sequence[Symbol], own: Sequence[Need | Unread] = ()) -> _Asked:
        """What definitions ask for, after what the lines that lead to them do."""
        functions = [symbol for symbol in reached if symbol.is_function]
        return _Asked(
            (*own, *(need for symbol in reached for need in self.needs.of(symbol))),
            tuple(step for symbol in functions for step in self._unread(symbol)),
            len(functions),
        )

    def _by(self, arch: str, bit: int, asked: _Asked) -> Followed:
        active = self.needs.active
        missing: dict[Need, None] = {}
        instead: dict[Need, None] = {}
        unread: dict[str, Step] = {}
        for need in asked.needs:
            if not active(need.file, need.line, bit):
                continue
            if isinstance(need, Unread):
                unread.setdefault(need.what, Step(need.file, need.line, f"{need.what}: {need.why}"))
            elif need.fails:
                missing.setdefault(need)
            elif need.chosen:
                instead.setdefault(need)
        for step in asked.calls:
            if active(step.file, step.line, bit):
                unread.setdefault(step.what, step)
        return Followed(
            arch,
            tuple(_few(sorted(missing, key=lambda need: (not need.chosen, need)))),
            tuple(sorted(instead))[:KEPT],
            tuple(sorted(unread.values()))[:KEPT],
            asked.functions,
        )

    def _unread(self, symbol: Symbol) -> tuple[Step, ...]:
        """The functions that a definition calls and nobody defines."""
        found = self._open.get(symbol)
        if found is None:
            found = self._open[symbol] = tuple(self._calls_out(symbol))
        return found

    def _calls_out(self, symbol: Symbol) -> Iterator[Step]:
        own = symbol.definition
        for (name, qualifiers), role, called, at, opens in symbol.requests:
            if role != "name" or not called or opens or at < own.body[0]:
                continue  # of a type that is known only when a template is used; before the body
            why = self._leads_out(symbol, name, qualifiers, at)
            if why:
                yield Step(
                    symbol.file, symbol.active.source.line(at), f"{'::'.join((*qualifiers, name))} {why}"
                )

    def _leads_out(self, symbol: Symbol, name: str, qualifiers: tuple[str, ...], at: int) -> str:
        """Why a call leads to code that was not read; empty if it does not."""
        if name in self.program.names or any(part in symbol.parameters for part in qualifiers):
            return ""
        if toolkit.loads(name):
            return "runs kernels that are loaded from outside the tree"
        if toolkit.is_known(name, qualifiers) or _declares(symbol, name, at):
            return ""
        if not qualifiers and _is_given(symbol, name):
            return ""
        if symbol.kind != "host":
            return "is defined nowhere in the tree"
        # Of what runs on the host, the C library and the system are of no account.
        return "is declared in the tree and defined nowhere" if self._is_declared(name) else ""

    def _is_declared(self, name: str) -> bool:
        """Whether a file of the program has a prototype of a function that may launch something.

        That is a template (instantiated in a source that was not read), or one that is given a stream.
        """
        found = self._declared.get(name)
        if found is None:
            mention = re.compile(rf"\b{name}\s*\(")
            found = self._declared[name] = any(
                _is_prototype(file, match.start(), match.end())
                for file in self.program.files
                if not toolkit.on_host(file.path) and name in file.text.source.called
                for match in mention.finditer(file.text.code)
            )
        return found


def _is_prototype(file: ReadFile, name: int, opened: int) -> bool:
    """Whether a name before a parenthesis is that of a function which is declared here, for later."""
    code = file.text.code
    end = _AFTER.search(code, opened)
    if end is None or end[0] != ";":
        return False
    start = max(code.rfind(mark, 0, name) for mark in ";{}") + 1
    head = code[start:name].split()
    if not head or head[-1] in ("return", "=") or head[-1][-1] in "=(,:!+-/.|?":
        return False
    if "template" not in head and "Stream" not in code[opened : end.start()]:
        return False
    return file.facts.enclosing(file.text.source.line(name)) is None


def _declares(symbol: Symbol, name: str, at: int) -> bool:
    """Whether a called name is a type that the function declares itself, or a member that it initialises."""
    own = symbol.definition
    if re.search(rf"\b(?:struct|union|class|using|typename)\s+{name}\b", symbol.code[own.start : own.end]):
        return True
    return re.search(r"\)\s*:\s*\Z", symbol.code[own.start : at]) is not None


def _is_given(symbol: Symbol, name: str) -> bool:
    """Whether a called name is a member of its class, of a type that the class's user gives.

    What it does is read where the class is made with it.
    """
    return bool(symbol.scope) and name in symbol.active.given


def _few(needs: Sequence[Need]) -> Iterator[Need]:
    counts: dict[str, int] = {}
    for need in needs:
        counts[need.asks] = counts.get(need.asks, 0) + 1
        if counts[need.asks] <= KEPT:
            yield need
