"""The numbers that a data member can hold: what constructors give it, wherever they are called.

Only members that one class of a unit has, and nothing but its constructors and a default sets. A parameter
of a constructor is followed to the calls, architecture by architecture, a few functions up: what is passed on
under a condition that some architectures do not fulfil is not passed on there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from analyzer.cuda.functions import Definition, split_arguments
from analyzer.cuda.host.evaluate import Call, Function
from analyzer.cuda.host.values import FREE, Possible, Value, certain, possible
from analyzer.cuda.program import ReadFile
from analyzer.cuda.source import closing

#: How many functions up a parameter is followed, and how many functions may mention its function.
_UP, _CALLERS = 8, 24
Set = frozenset[int] | None
#: A parameter with its name and its default.
_PARAMETER = re.compile(r".*?(\w+)\s*(?:=\s*(.+))?", re.DOTALL)


class Unit(Protocol):
    """What is asked of the unit."""

    @property
    def files(self) -> Sequence[ReadFile]:
        """Its files as the host's pass compiles them."""

    @property
    def count(self) -> int:
        """How many architectures there are."""

    def mentioning(self, name: str) -> Iterable[tuple[ReadFile, Definition]]:
        """The functions that mention a name."""

    def traced(self, file: ReadFile, own: Definition, given: Sequence[Value], may: int) -> Function:
        """A function after it was run with these arguments, on these architectures."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """With what a function is called: the architectures, and the numbers of each argument on each of them."""

    may: int
    arguments: tuple[Possible, ...]


class Members:
    """Works out members of a unit, each once."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.full = (1 << unit.count) - 1
        self._known: dict[str, Value] = {}
        self._arrivals: dict[tuple[int, Definition], _Arrival | None] = {}

    def of(self, name: str) -> Value:
        """The numbers that a member of that name may hold; free where that is not known."""
        if name not in self._known:
            self._known[name] = FREE  # for who asks meanwhile
            found = self._find(name)
            self._known[name] = FREE if found is None else Possible(tuple(found))
        return self._known[name]

    def _find(self, name: str) -> list[Set] | None:
        holder = self._holder(name)
        if holder is None or self._set_elsewhere(name, holder[0]):
            return None
        owner, default = holder
        plain: Set = frozenset() if default is None else frozenset([default])
        found = [plain] * self.unit.count
        for file, own in self._constructors(owner):
            given = self._initial(name, file, own, default)
            if given is None:
                return None
            found = [_both(a, b) for a, b in zip(found, given, strict=True)]
        return found if any(found) else None

    def _holder(self, name: str) -> tuple[tuple[str, ...], int | None] | None:
        """The only class that declares such a member, with the member's default."""
        word = rf"\b(?:int|unsigned|int32_t|uint32_t)\s+{re.escape(name)}\s*"
        given = re.compile(word + r"[={]\s*(\d+)\s*[;}]")
        bare = re.compile(word + ";")
        found: dict[tuple[str, ...], int | None] = {}
        for file in self.unit.files:
            code = file.text.code
            definitions = file.facts.definitions if name in code else ()
            classes = {own.path for own in definitions if own.kind == "class"}
            for own in definitions:
                if own.kind == "variable" and own.name == name and own.scope in classes:
                    match = given.search(code, own.start, own.end + 1)
                    if match is None:
                        return None
                    found[own.scope] = int(match[1])
                elif own.kind == "class" and any(bare.search(code, *piece) for piece in own.pieces):
                    found[own.path] = None
        return next(iter(found.items())) if len(found) == 1 else None

    def _set_elsewhere(self, name: str, owner: tuple[str, ...]) -> bool:
        """Whether anything but a constructor gives the member a value, or may."""
        word, sets = re.escape(name), r"\s*(?:[-+*/%|&^]?=(?!=)|\+\+|--)"
        of_any = re.compile(rf"(?:\.|->)\s*{word}{sets}|(?<!&)&\s*[\w.>-]*\b{word}\b")
        own = re.compile(rf"(?<![\w.>]){word}{sets}")
        for file in self.unit.files:
            code = file.text.code
            if name not in code:
                continue
            if of_any.search(code):
                return True
            for one in file.facts.definitions:
                if one.is_function and one.scope == owner and own.search(code, *one.body):
                    return True
        return False

    def _constructors(self, owner: tuple[str, ...]) -> Iterator[tuple[ReadFile, Definition]]:
        for file in self.unit.files:
            for own in file.facts.definitions:
                if own.is_function and own.scope == owner and own.name == owner[-1]:
                    yield file, own

    def _initial(
        self, name: str, file: ReadFile, own: Definition, default: int | None
    ) -> Sequence[Set] | None:
        """What one constructor gives the member."""
        code = file.text.code
        after = closing(code, own.parameters + 1) + 1
        match = re.compile(rf"[:,]\s*{re.escape(name)}\s*[({{]\s*(\w+)\s*[)}}]").search(code, after, own.end)
        if match is None:
            if (
                re.compile(rf"[:,]\s*{re.escape(name)}\s*[({{]").search(code, after, own.end)
                or default is None
            ):
                return None
            return [frozenset([default])] * self.unit.count
        if match[1].isdigit():
            return [frozenset([int(match[1])])] * self.unit.count
        return self._of_parameter(match[1], file, own)

    def _of_parameter(self, name: str, file: ReadFile, own: Definition) -> Sequence[Set] | None:
        """What a constructor's parameter may be."""
        parts = [_PARAMETER.fullmatch(text) for text in _parameters(file, own)]
        at = next((i for i, part in enumerate(parts) if part is not None and part[1] == name), None)
        arrival = self._arrival(file, own, 0)
        if at is None or arrival is None:
            return None
        found: Sequence[Set] = [frozenset()] * self.unit.count
        if at < len(arrival.arguments):
            found = arrival.arguments[at].items
        part = parts[at]
        default = part[2] if part is not None else None
        if default is None:
            return found
        if not default.strip().isdigit():
            return None
        return [_both(items, frozenset([int(default)])) for items in found]

    def _arrival(self, file: ReadFile, own: Definition, up: int) -> _Arrival | None:
        """With what a function is called in the unit; None where that is not known."""
        key = id(file), own
        if key not in self._arrivals:
            self._arrivals[key] = None  # what calls itself is not followed
            self._arrivals[key] = self._called(file, own, up)
        return self._arrivals[key]

    def _called(self, file: ReadFile, own: Definition, up: int) -> _Arrival | None:
        made = bool(own.scope) and own.scope[-1] == own.name
        callers = [
            (other, one)
            for other, one in self.unit.mentioning(own.name)
            if one is not own and (_makes(own.name, other, one) if made else one.scope[-1:] != (own.name,))
        ]
        if not callers or len(callers) > _CALLERS:
            return None
        parameters = _parameters(file, own)
        least = sum("=" not in text for text in parameters)
        calls: list[Call] = []
        for other, one in callers:
            if one.kind not in ("host", "host_device"):
                return None
            come = self._arrival(other, one, up + 1) if up < _UP else None
            given = [certain(value) for value in come.arguments] if come is not None else []
            run = self.unit.traced(other, one, given, come.may if come is not None else self.full)
            calls += (
                call
                for call in run.calls
                if call.name == own.name and least <= len(call.arguments) <= len(parameters)
            )
        return self._joined(calls, made)

    def _joined(self, calls: Sequence[Call], made: bool) -> _Arrival:
        may, longest = 0, max((len(call.arguments) for call in calls), default=0)
        found: list[list[Set]] = [[frozenset()] * self.unit.count for _ in range(longest)]
        for call in calls:
            may |= call.may
            for index in range(len(call.arguments) if made else longest):
                argument = call.arguments[index] if index < len(call.arguments) else FREE
                items = possible(argument) or (None,) * self.unit.count
                for arch in range(self.unit.count):
                    if call.may >> arch & 1:
                        found[index][arch] = _both(found[index][arch], items[arch])
        return _Arrival(may, tuple(Possible(tuple(items)) for items in found))


def _parameters(file: ReadFile, own: Definition) -> list[str]:
    code = file.text.code
    found = split_arguments(code[own.parameters + 1 : closing(code, own.parameters + 1)])
    return [text.strip() for text in found if text.strip() not in ("", "void")]


def _makes(name: str, file: ReadFile, own: Definition) -> bool:
    """Whether a function makes an object of a class: by a call, or a declaration with arguments."""
    made = re.compile(rf"\b{re.escape(name)}\s*(?:\w+\s*)?[({{]")
    return made.search(file.text.code, own.parameters, own.end) is not None


def _both(one: Set, other: Set) -> Set:
    return None if one is None or other is None else one | other
