"""From an export to what it can run: the functions, launchers and kernels that its code names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from analyzer.cuda.program import Asked, Path, Program, Symbol
from analyzer.cuda.uses import Use, uses

Way = Literal["calls", "launches", "mentions", "by_name", "expands", "instantiates"]
"""How one definition leads to another. ``by_name``: a member of an object whose class is not followed."""


_WAYS: dict[str, Way] = {"macro": "expands", "class": "instantiates", "kernel": "launches"}


class Hop(NamedTuple):
    """One step from a definition to another; ``line`` is where the first mentions the second."""

    source: Symbol | None
    target: Symbol
    way: Way
    line: int


@dataclass(frozen=True)
class Reach:
    """Everything that some names lead to; each definition with the hop that first led to it."""

    hops: dict[Symbol, Hop]

    @property
    def functions(self) -> tuple[Symbol, ...]:
        """The functions reached, in the order in which they were found."""
        return tuple(symbol for symbol in self.hops if symbol.is_function)

    @property
    def kernels(self) -> tuple[Symbol, ...]:
        """The kernels among them."""
        return tuple(symbol for symbol in self.hops if symbol.kind == "kernel")

    def holds(self, file: str, line: int, end_line: int | None = None) -> Symbol | None:
        """The innermost reached definition that has a line of ``[line, end_line]``, if any has."""
        last = line if end_line is None else end_line
        inside = [s for s in self.hops if s.file == file and _overlaps(s, line, last)]
        return min(inside, key=lambda s: s.definition.end_line - s.definition.line, default=None)

    def way(self, symbol: Symbol) -> tuple[Hop, ...]:
        """The hops from the start to this definition."""
        hops: list[Hop] = []
        here: Symbol | None = symbol
        while here is not None and here in self.hops:
            hops.append(self.hops[here])
            here = self.hops[here].source
        return tuple(reversed(hops))

    @property
    def doubtful(self) -> bool:
        """Whether some reached definition was not read for certain."""
        return any(symbol.definition.doubtful for symbol in self.hops)


def reach(program: Program, start: str, mentions: Mentions | None = None) -> Reach:
    """What the expression ``start`` (``fn``, ``&ns::fn``, ``Class<int>::run``) leads to.

    Followed are the names used in bodies: overloads all, qualified names narrowed by their qualifiers,
    members of objects in the classes that the way mentions, macros by their definitions. Empty if the
    expression names nothing that the program defines. ``mentions`` are those of the program, which many
    walks share.
    """
    return _Walk(mentions or Mentions(program)).run(start)


class _Mention(NamedTuple):
    """What a definition asks of a walk: these definitions (``targets``), or members of a name.

    ``own``: members of the definition's own class; else of whatever class the way mentions. ``called``: the
    name of the targets is called.
    """

    targets: tuple[Symbol, ...]
    called: bool
    member: str
    own: bool
    at: int


class Mentions:
    """What the definitions of a program mention, worked out once for all walks over it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[Symbol, tuple[_Mention, ...]] = {}
        self._aliases: dict[str, bool] = {}
        self._data: dict[Path, frozenset[str]] = {}
        self._parameters: dict[Path, frozenset[str]] = {}
        self._members: dict[Path, tuple[tuple[str, Symbol, bool], ...]] = {}

    def of(self, symbol: Symbol) -> tuple[_Mention, ...]:
        """The mentions in a definition, in their order; repeated ones once."""
        found = self._known.get(symbol)
        if found is None:
            found = self._known[symbol] = tuple(self._find(symbol))
        return found

    def _find(self, symbol: Symbol) -> Iterator[_Mention]:
        program, place = self.program, symbol.place
        known, answers = program.names, program.answers(place)
        met: set[Asked] = set()
        wanted: set[tuple[str, bool]] = set()
        for asked, role, called, at, opens in symbol.requests:
            member = asked[0]
            if member not in known:
                if not called or asked[1] or not self._is_data_member(member, symbol):
                    continue  # what no file defines leads nowhere
                member = "operator()"
            elif role == "name":
                if asked in met:
                    continue
                targets = answers.get(asked)
                if targets is None:
                    targets = program.named(asked, place)
                if targets:
                    met.add(asked)  # another mention of the name means the same
                    yield _Mention(targets, called, "", False, at)
                member = self._unfollowed(asked, called, opens, symbol, targets)
                if not member:
                    continue
            key = member, role == "own"
            if key not in wanted:
                wanted.add(key)
                yield _Mention((), called, *key, at)

    def _unfollowed(
        self, asked: Asked, called: bool, opens: bool, symbol: Symbol, targets: tuple[Symbol, ...]
    ) -> str:
        """The member that a name means whose object or class is not known; empty if it means none."""
        name, qualifiers = asked
        if qualifiers:
            followed = any(target.is_function for target in targets)
            return name if not followed and (opens or self._opens(qualifiers[-1], symbol)) else ""
        return "operator()" if called and not targets and self._is_data_member(name, symbol) else ""

    def _opens(self, qualifier: str, symbol: Symbol) -> bool:
        """Whether the qualifier stands for a type that is known only when the template is used."""
        if qualifier in self._class_parameters(symbol.scope):
            return True
        found = self._aliases.get(qualifier)
        if found is None:
            named = self.program.by_name.get(qualifier, ())
            found = self._aliases[qualifier] = any(s.kind == "alias" for s in named)
        return found

    def _class_parameters(self, path: Path) -> frozenset[str]:
        """The template parameters of a class and all its specialisations."""
        if path not in self._parameters:
            owners = self.program.classes.get(path, ())
            self._parameters[path] = frozenset(name for owner in owners for name in owner.parameters)
        return self._parameters[path]

    def _is_data_member(self, name: str, symbol: Symbol) -> bool:
        if symbol.scope not in self.program.classes:
            return False
        if symbol.scope not in self._data:
            self._data[symbol.scope] = self.program.data_members(symbol.scope)
        return name in self._data[symbol.scope]

    def members(self, path: Path) -> tuple[tuple[str, Symbol, bool], ...]:
        """The members of a class by name, and whether they run as soon as the class is met."""
        found = self._members.get(path)
        if found is None:
            external = self._has_unknown_base(path)
            found = self._members[path] = tuple(
                (
                    name,
                    member,
                    member.is_function and (_implicit(name, path) or (external and _overrides(member))),
                )
                for name, members in self.program.members.get(path, {}).items()
                for member in members
            )
        return found

    def _has_unknown_base(self, path: Path) -> bool:
        """Whether the class names a base that no file defines: its overrides are called from outside."""
        symbols = self.program.classes.get(path, ())
        named = self.program.named
        return any(not named(asked, symbol.place) for symbol in symbols for asked in symbol.in_header)


class _Walk:
    """A worklist over definitions; members wait until both their name is called and their class is met."""

    def __init__(self, mentions: Mentions) -> None:
        self.program, self.mentions = mentions.program, mentions
        self.hops: dict[Symbol, Hop] = {}
        self.todo: deque[Symbol] = deque()
        self.touched: set[Path] = set()
        self.waiting: dict[str, list[Symbol]] = {}
        self.entered: set[Path] = set()
        self.followed: set[int] = set()
        self.wanted: dict[str, tuple[Symbol, int]] = {}

    def run(self, start: str) -> Reach:
        for use in uses(start):
            for target in self._start(use):
                self._hop(None, target, "calls", 0)
        while self.todo:
            self._follow(self.todo.popleft())
        return Reach(self.hops)

    def _start(self, use: Use) -> Iterable[Symbol]:
        """The definitions that the expression names, seen from outside all scopes."""
        found = self.program.named((use.name, use.qualifiers), ((), False))
        return [symbol for symbol in found if symbol.kind != "macro"]

    def _hop(self, source: Symbol | None, target: Symbol, way: Way, line: int) -> None:
        if target in self.hops:
            return
        self.hops[target] = Hop(source, target, way, line)
        self.todo.append(target)
        if target.kind == "class":
            self._touch(target.definition.path, target, line)
        elif target.scope in self.program.classes and target.scope not in self.entered:
            self.entered.add(target.scope)
            for owner in self.program.classes[target.scope]:
                self._hop(target, owner, "instantiates", target.definition.line)

    def _follow(self, symbol: Symbol) -> None:
        hops, wanted = self.hops, self.wanted
        for targets, called, member, own, at in self.mentions.of(symbol):
            if own:
                self._own(member, symbol, symbol.line(at))
            elif targets:
                if id(targets) in self.followed:
                    continue
                self.followed.add(id(targets))  # the program keeps them
                for target in targets:
                    if target not in hops:
                        self._hop(symbol, target, _way(target, called), symbol.line(at))
            elif member not in wanted:
                self._want(member, symbol, symbol.line(at))

    def _own(self, name: str, symbol: Symbol, line: int) -> None:
        found = virtual = False
        for path in self.program.family(symbol.scope) if symbol.scope in self.program.classes else ():
            for target in self.program.members[path].get(name, ()):
                found = True
                virtual = virtual or "virtual" in target.definition.leading or _overrides(target)
                self._hop(symbol, target, "calls", line)
        if not found or virtual:
            self._want(name, symbol, line)

    def _want(self, name: str, symbol: Symbol, line: int) -> None:
        if name in self.wanted:
            return
        self.wanted[name] = symbol, line
        for target in self.waiting.pop(name, ()):
            self._hop(symbol, target, "by_name", line)

    def _touch(self, path: Path, symbol: Symbol, line: int) -> None:
        if path in self.touched:
            return
        self.touched.add(path)
        members = self.mentions.members(path)
        for name, member, _ in members:
            if name not in self.wanted:
                self.waiting.setdefault(name, []).append(member)
        for name, member, implicit in members:
            if name in self.wanted:
                if member.is_function:
                    source, at = self.wanted[name]
                    self._hop(source, member, "by_name", at)
            elif implicit:
                self._hop(symbol, member, "calls", line)


def _implicit(name: str, path: Path) -> bool:
    """Members that run without being named: constructors, the destructor, operators but the call operator."""
    if name in (path[-1], "~" + path[-1]):
        return True
    return name.startswith("operator") and name != "operator()"


def _overrides(member: Symbol) -> bool:
    return bool({"override", "final"}.intersection(member.definition.trailing))


def _way(target: Symbol, called: bool) -> Way:
    return _WAYS.get(target.kind) or ("calls" if called else "mentions")


def _overlaps(symbol: Symbol, line: int, last: int) -> bool:
    return symbol.definition.header_line <= last and line <= symbol.definition.end_line
