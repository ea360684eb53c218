"""From the doors of a unit's host code to the decisions that hang on them: gates of the layer ``host``."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import tree_sitter

from analyzer import archs
from analyzer.cuda.activity import FileActivity, Unit
from analyzer.cuda.functions import Definition
from analyzer.cuda.guards import Bits, Draft
from analyzer.cuda.host import api
from analyzer.cuda.host.evaluate import Decision, Function
from analyzer.cuda.host.members import Members
from analyzer.cuda.host.values import FREE, Free, Numbers, Value, varies
from analyzer.cuda.program import ReadFile
from analyzer.cuda.source import shown
from analyzer.cuda.uses import parse_function
from analyzer.model import Effect, Step

Owner = tuple[str, ...]
#: What follows a name that is given a number, and what stands in the same statement before a constant's.
_GIVEN = re.compile(r"\s*(?:=|\{)\s*(-?\d+)[uUlL]*\s*[;,}]")
_CONSTANT = re.compile(r"\b(?:constexpr|const|enum)\b")
#: How often the functions of a unit are run until what they tell each other no longer changes.
_ROUNDS = 6
#: A name that so many functions bear says nothing about which is called.
_OVERLOADS = 6


@dataclass(eq=False)
class _Place:
    """A function of the unit that may have a part in a decision, and what is known of it so far."""

    file: ReadFile
    definition: Definition
    returns: Value = FREE
    parameters: dict[int, Value] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()


class _Index:
    """Which functions of a file mention a name, and what its constants are; for all builds."""

    def __init__(self) -> None:
        self._mentions: dict[tuple[int, str], tuple[Definition, ...]] = {}
        self._holders: dict[tuple[int, str], tuple[Definition, ...]] = {}
        self._constants: dict[tuple[int, str], tuple[int, ...]] = {}

    def mentioning(self, file: ReadFile, name: str) -> tuple[Definition, ...]:
        """The functions of a file that mention a name, in order."""
        key = id(file), name
        if key not in self._mentions:
            self._mentions[key] = tuple(dict.fromkeys(_mentioning(file, name)))
        return self._mentions[key]

    def holding(self, file: ReadFile, name: str) -> tuple[Definition, ...]:
        """The functions of a file that mention a name from their parameters on, in order."""
        key = id(file), name
        if key not in self._holders:
            self._holders[key] = tuple(dict.fromkeys(_holding(file, name)))
        return self._holders[key]

    def constants(self, file: ReadFile, name: str) -> tuple[int, ...]:
        """The numbers that a file gives a name."""
        key = id(file), name
        if key not in self._constants:
            self._constants[key] = tuple(_constants(file, name))
        return self._constants[key]


def _mentioning(file: ReadFile, name: str) -> Iterator[Definition]:
    if name not in file.text.code:
        return
    for match in re.finditer(rf"\b{re.escape(name)}\b", file.text.code):
        around = file.facts.enclosing(file.text.source.line(match.start()))
        if around is not None:
            yield around


def _holding(file: ReadFile, name: str) -> Iterator[Definition]:
    """By offset, however many functions stand on one line."""
    functions = file.facts.functions
    for match in re.finditer(rf"\b{re.escape(name)}\b", file.text.code) if name in file.text.code else ():
        at = bisect_right(functions, match.start(), key=lambda own: own.parameters) - 1
        if at >= 0 and match.start() < functions[at].end:
            yield functions[at]


class Finder:
    """Finds the decisions, build by build; builds whose host code is the same share the work."""

    def __init__(
        self, names: Sequence[str], bits: Bits, seen: Callable[[FileActivity, Sequence[int]], list[ReadFile]]
    ) -> None:
        self.archs = tuple(archs.find(name) for name in names)
        self.bits, self.seen = bits, seen
        own = self.archs[bits.target.bit_length() - 1]
        self.generation = sum(
            1 << i for i, one in enumerate(self.archs) if one.major == own.major and one is not own
        )
        self._known: dict[tuple[int, ...], tuple[Draft, ...]] = {}
        self._holds: dict[int, bool] = {}
        self._kept: dict[int, ReadFile] = {}
        self._index = _Index()

    def drafts(self, units: Sequence[Unit]) -> tuple[Draft, ...]:
        """The decisions that not all architectures take alike, as the units of a build have them."""
        host = self.bits.device + 1
        activities = dict.fromkeys(activity for unit in units for activity in unit.files.values())
        files = [file for activity in activities for file in self.seen(activity, (host,))]
        if not any(self._has_door(file) for file in files):
            return ()
        key = tuple(id(file) for file in files)
        if key not in self._known:
            self._kept.update((id(file), file) for file in files)  # so that no id is given to another
            search = _Search(files, self.archs, self._index)
            self._known[key] = tuple(
                sorted(self._drafts(search), key=lambda draft: (draft.file, draft.line, draft.column))
            )
        return self._known[key]

    def _has_door(self, file: ReadFile) -> bool:
        if id(file) not in self._holds:
            self._kept[id(file)] = file
            self._holds[id(file)] = any(door in file.text.code for door in api.doors())
        return self._holds[id(file)]

    def _drafts(self, search: _Search) -> Iterator[Draft]:
        told: set[tuple[str, int]] = set()
        for place in search.places():
            for decision in place.decisions:
                draft = self._draft(search, place, decision)
                if (draft.file, draft.line) not in told:
                    told.add((draft.file, draft.line))
                    yield draft

    def _draft(self, search: _Search, place: _Place, decision: Decision) -> Draft:
        source = place.file.text.source
        line = source.line(decision.start)
        effect = self._effect(decision)
        full = (1 << len(self.archs)) - 1
        stopped = decision.truth.true if decision.raises or decision.skips else decision.truth.false
        return Draft(
            file=place.file.path,
            line=line,
            end_line=source.line(max(decision.start, decision.end - 1)),
            column=decision.start - source.starts[line - 1] + 1,
            last=line,
            scope=place.definition.qualified,
            kind="host",
            code=shown(source.text[decision.start : decision.end]),
            group=line,
            chained=False,
            admit=full & ~stopped,
            unknown=0,
            reason="",
            effect=effect,
            losses=(),
            falls_back_to=decision.other if effect == "degraded" else None,
            message=decision.failing if effect == "raises" else None,
            because=search.because(place),
            layer="host",
        )

    def _effect(self, decision: Decision) -> Effect:
        """What happens to the target, of what the references that come here are spared."""
        target = self.bits.target
        references = sum(self.bits.references) & decision.may
        decided = decision.truth
        fails = decision.raises or decision.refuses or decision.kind == "check"
        if fails:  # where the target's own generation passes, it is left out as much
            references |= self.generation & decision.may
        if not decision.may & target or not references:
            return "none"
        if decision.raises:
            return "raises" if decided.true & target and references & ~decided.true else "none"
        if decision.skips:
            spared = references & ~decided.true and self._nearest(references) & ~decided.true
            return "excluded" if decided.true & target and spared else "none"
        if not decided.false & target or decision.own & target or not references & ~decided.false:
            return "none"
        if decision.kind == "check" or decision.refuses:
            return "raises"
        if decided.false & self._nearest(references):
            return "none"  # treated as the reference that is next to it
        taken = references & ~decided.false
        if any(taken & ~branch.false == 0 and target & ~branch.false for branch in decision.behind):
            return "none"  # a later branch is the target's own, as this one is that of the references
        return "degraded" if decision.other is not None else "excluded"

    def _nearest(self, references: int) -> int:
        """The newest of these references that is no newer than the target, else the oldest."""
        older = references & (2 * self.bits.target - 1)
        return 1 << (older.bit_length() - 1) if older else references & -references


class _Search:
    """The functions of a unit that the architecture can have a part in, run until nothing changes."""

    def __init__(self, files: Sequence[ReadFile], profiles: Sequence[archs.Arch], index: _Index) -> None:
        self.files, self.archs, self._index = files, profiles, index
        self._places: dict[tuple[int, Definition], _Place] = {}
        self._members: dict[tuple[Owner, str], list[Value]] = {}
        self._set_at: dict[tuple[Owner, str], Step] = {}
        self._constants: dict[str, Value] = {}
        self._named: dict[str, Sequence[tuple[ReadFile, Definition]]] = {}
        self._wanted: set[object] = set()
        self.known = Members(self)
        for door in sorted(api.doors()):
            self._want(door)
        for _ in range(_ROUNDS):
            if not self._round():
                break

    def places(self) -> Iterable[_Place]:
        """The functions that were run, in the order in which they were found."""
        return self._places.values()

    def because(self, place: _Place) -> tuple[Step, ...]:
        """Where what the function knows of the device comes from."""
        own = place.definition
        code = place.file.text.code[own.parameters : own.end]
        words = set(re.findall(r"[A-Za-z_]\w*", code))
        steps = [step for (owner, name), step in self._set_at.items() if owner == own.scope and name in words]
        steps += [
            Step(other.file.path, other.definition.line, f"{other.definition.name} asks for the device")
            for other in self._places.values()
            if other is not place and other.definition.name in words and varies(other.returns)
        ]
        return tuple(dict.fromkeys(steps))

    def _round(self) -> bool:
        """Run every function once; whether anything was learnt."""
        before = self._state()
        self.known = Members(self)  # anew: what is known of arguments may have changed
        count = len(self._places)
        for place in list(self._places.values()):
            self._run(place)
        for place in list(self._places.values()):
            if varies(place.returns):
                self._want(place.definition.name)
        for (owner, name), values in list(self._members.items()):
            if any(varies(value) for value in values):
                self._want(name, owner)
        return len(self._places) > count or self._state() != before

    def _state(self) -> object:
        returns = [(place.returns, dict(place.parameters)) for place in self._places.values()]
        return returns, {key: list(values) for key, values in self._members.items()}

    def _want(self, name: str, owner: Owner | None = None) -> None:
        """Take in the functions that mention a name (of a class: its own members)."""
        if (name, owner) in self._wanted:
            return
        self._wanted.add((name, owner))
        for file in self.files:
            for around in self._index.mentioning(file, name):
                if owner is None or around.scope == owner:
                    self._take(file, around)

    def _take(self, file: ReadFile, definition: Definition) -> _Place | None:
        if definition.kind not in ("host", "host_device"):
            return None
        key = id(file), definition
        if key not in self._places:
            self._places[key] = _Place(file, definition)
        return self._places[key]

    def _run(self, place: _Place) -> None:
        function = self._function(place, _Around(self, place))
        place.returns = function.run()
        place.decisions = tuple(function.decisions)

    def _function(self, place: _Place, around: _Around) -> Function:
        own = place.definition
        constructor = bool(own.scope) and own.scope[-1] == own.name
        tree, snippet = _parsed(place.file.text.text[own.parameters : own.end], constructor)
        shift = own.parameters - snippet.index("(")
        names = _parameters(tree.root_node, snippet)
        given = {names[i]: value for i, value in place.parameters.items() if i < len(names) and names[i]}
        return Function(
            tree.root_node, snippet.encode("latin-1", "replace"), lambda at: at + shift, around, given
        )

    # What is asked of the unit by those who follow members.

    @property
    def count(self) -> int:
        """How many architectures there are."""
        return len(self.archs)

    def mentioning(self, name: str) -> Iterator[tuple[ReadFile, Definition]]:
        """The functions of the unit that mention a name from their parameters on."""
        for file in self.files:
            for own in self._index.holding(file, name):
                yield file, own

    def traced(self, file: ReadFile, own: Definition, given: Sequence[Value], may: int) -> Function:
        """A function after it was run with these arguments, on these architectures; nobody learns of it."""
        place = _Place(file, own, parameters=dict(enumerate(given)))
        function = self._function(place, _Passive(self, place))
        function.comes = may
        function.run()
        return function

    def returned(self, place: _Place, name: str, qualifiers: Sequence[str]) -> Value:
        """What a call in a function returns, as far as it is known."""
        known = [self._places.get((id(file), own)) for file, own in self._called(place, name, qualifiers)]
        values = [FREE if other is None else other.returns for other in known]
        return values[0] if values and all(value == values[0] for value in values) else FREE

    # What functions ask.

    def call(self, place: _Place, name: str, qualifiers: Sequence[str], arguments: Sequence[Value]) -> Value:
        """What a call in a function returns; the called functions learn of their arguments."""
        found = self._called(place, name, qualifiers)
        if not found or len(found) > _OVERLOADS:
            return FREE
        interesting = any(varies(argument) for argument in arguments)
        results: list[Value] = []
        for file, definition in found:
            key = id(file), definition
            other = self._take(file, definition) if interesting else self._places.get(key)
            if other is None:
                results.append(FREE)
                continue
            if interesting and other is not place:
                self._learn(other, arguments)
            results.append(other.returns)
        return results[0] if all(result == results[0] for result in results) else FREE

    def _learn(self, other: _Place, arguments: Sequence[Value]) -> None:
        for index, argument in enumerate(arguments):
            if not isinstance(argument, Numbers):
                other.parameters.setdefault(index, argument)
                if other.parameters[index] != argument:
                    other.parameters[index] = FREE
                continue
            known = other.parameters.setdefault(index, argument)
            if known != argument:
                other.parameters[index] = FREE

    def _called(
        self, place: _Place, name: str, qualifiers: Sequence[str]
    ) -> Sequence[tuple[ReadFile, Definition]]:
        found = self._functions(name)
        if len(found) < 2:
            return found
        last = qualifiers[-1] if qualifiers else ""
        narrowed = [row for row in found if last and last in row[1].scope]
        if not narrowed and not last:
            own = place.definition.scope
            narrowed = [row for row in found if row[1].scope == own[: len(row[1].scope)]]
        return narrowed or found

    def _functions(self, name: str) -> Sequence[tuple[ReadFile, Definition]]:
        """The functions of that name."""
        if name not in self._named:
            self._named[name] = [
                (file, definition)
                for file in self.files
                for definition in file.table.definitions.get(name, ())
                if definition.is_function
            ]
        return self._named[name]

    def named(self, place: _Place, name: str) -> Value:
        """A member of the function's class."""
        values = self._members.get((place.definition.scope, name), ())
        changing = [value for value in values if varies(value)]
        plain = any(isinstance(value, Free) for value in values)
        return changing[0] if len(changing) == 1 and not plain else FREE

    def constant(self, name: str) -> Value:
        """The number that ``constexpr``, ``enum`` or ``#define`` gives a name, if all say the same."""
        if name not in self._constants:
            found = {number for file in self.files for number in self._index.constants(file, name)}
            single = (found.pop(),) * len(self.archs) if len(found) == 1 else None
            self._constants[name] = FREE if single is None else Numbers(single)
        return self._constants[name]

    def assign(self, place: _Place, name: str, value: Value) -> None:
        """A name that the function does not declare is given a value: a member, if it has a class."""
        owner = place.definition.scope
        if not owner:
            return
        values = self._members.setdefault((owner, name), [])
        if value not in values:
            values.append(value)
            if len(values) > 1 and isinstance(values[0], Free) and varies(value) and not self._assigned(name):
                del values[0]  # told before what it is set to was known
        if varies(value):
            own = place.definition
            self._set_at[owner, name] = Step(place.file.path, own.line, f"{own.name} sets {name}")

    def _assigned(self, name: str) -> bool:
        """Whether several places set it."""
        pattern = re.compile(rf"\b{re.escape(name)}\s*(?:=(?!=)|[({{])")
        count = sum(len(pattern.findall(file.text.code)) for file in self.files if name in file.text.code)
        return count > 1


def _constants(file: ReadFile, name: str) -> Iterator[int]:
    """The numbers that a file's ``constexpr``, ``enum`` and ``#define`` give a name."""
    for macro in file.table.macros.get(name, ()):
        if macro.parameters is None and re.fullmatch(r"\(?-?\d+\)?", macro.body):
            yield int(macro.body.strip("()"))
    code = file.text.code
    at = code.find(name)
    while at >= 0:
        given = _GIVEN.match(code, at + len(name))
        if given is not None and not code[at - 1].isalnum() and code[at - 1] != "_":
            before = code[max(0, at - 400) : at]
            statement = before[max(before.rfind(";"), before.rfind("}")) + 1 :]
            if _CONSTANT.search(statement):
                yield int(given[1])
        at = code.find(name, at + 1)


@dataclass(frozen=True)
class _Around:
    """What one function sees of its unit."""

    search: _Search
    place: _Place

    @property
    def archs(self) -> Sequence[archs.Arch]:
        return self.search.archs

    def call(self, name: str, qualifiers: Sequence[str], arguments: Sequence[Value]) -> Value:
        return self.search.call(self.place, name, qualifiers, arguments)

    def named(self, name: str) -> Value:
        return self.search.named(self.place, name)

    def constant(self, name: str) -> Value:
        return self.search.constant(name)

    def assign(self, name: str, value: Value) -> None:
        self.search.assign(self.place, name, value)

    def member(self, name: str) -> Value:
        return self.search.known.of(name)


@dataclass(frozen=True)
class _Passive(_Around):
    """The same for a function that is only looked at: what it does teaches nobody."""

    def call(self, name: str, qualifiers: Sequence[str], arguments: Sequence[Value]) -> Value:
        return self.search.returned(self.place, name, qualifiers)

    def assign(self, name: str, value: Value) -> None:
        """Nobody is told."""

    def member(self, name: str) -> Value:
        return FREE


@lru_cache(maxsize=1024)
def _parsed(text: str, constructor: bool) -> tuple[tree_sitter.Tree, str]:
    return parse_function(text, constructor)


def _parameters(root: tree_sitter.Node, text: str) -> list[str]:
    """The names of a function's parameters, empty where one has none."""
    names: list[str] = []
    holder = next(_of_kind(root, "parameter_list"), None)
    for child in holder.named_children if holder is not None else ():
        if not child.type.endswith("parameter_declaration"):
            continue
        name = child.child_by_field_name("declarator")
        while name is not None and name.type != "identifier":
            name = next(
                (one for one in name.named_children if one.type.endswith(("declarator", "identifier"))), None
            )
        names.append(text[name.start_byte : name.end_byte] if name is not None else "")
    return names


def _of_kind(node: tree_sitter.Node, kind: str) -> Iterator[tree_sitter.Node]:
    if node.type == kind:
        yield node
        return
    for child in node.named_children:
        yield from _of_kind(child, kind)
