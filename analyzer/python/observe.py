"""What the evaluator sees on one host: decisions, calls, builds, names that carry a device answer."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from analyzer.python import admitted, choosers, claims, contracts, launches, natives, registries, toolkits
from analyzer.python.admitted import Admitted
from analyzer.python.launches import Launch
from analyzer.python.lists import ArchList
from analyzer.python.modules import ROOT
from analyzer.python.polarity import negated
from analyzer.python.tiles import Tiles, alternative, bits, sizes, tuner
from analyzer.python.toolkits import Asked
from analyzer.python.values import (
    Bound,
    Choice,
    Class,
    Dict,
    Export,
    External,
    Free,
    Function,
    Origin,
    Partial,
    Provenance,
    Raised,
    Site,
    Truth,
    Unknown,
    Value,
    settled,
    truth,
)

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine

Key = tuple[str, int, int, str]
"""File, line, column and kind of a decision."""
Led = tuple[Key, bool | None]
"""A decision, and what its condition came out as where a value was given; None: whichever way it came out."""
Placed = tuple[Led, str, str | bool]
"""What gives a value, the name of the attribute or item that is given it, and the value."""


@dataclass(slots=True)
class Decision:
    """One condition as it came out on one host, over all the ways in which it was reached.

    ``argument``: the argument that it checks, where the check stands inside a callee.
    """

    key: Key
    site: Site
    node: ast.AST
    owner: ast.AST
    kind: str
    module: str
    scope: str
    outcomes: set[Truth] = field(default_factory=set)
    sources: list[Provenance] = field(default_factory=list)
    why: str = ""
    argument: Provenance | None = None
    parts: dict[str, str] = field(default_factory=dict)
    """Operands as they are written, with their values."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it was followed: from one function to another, to an export of a build, by name or by value.

    ``under``: keys of the decisions that it hangs on. ``led``: the sides of decisions that give a value
    with which all conditions around the call that ask for it hold; ``barred``: those that give one with which
    some of them surely does not. ``given``: the caller ran on arguments that carry a device answer, as it was
    called with, not on free ones. ``choice``: the back end that the callee is asked for by its name.
    """

    caller: str
    callee: str
    kind: str
    site: Site
    under: frozenset[Key]
    given: bool = False
    led: frozenset[Led] = frozenset()
    barred: frozenset[Led] = frozenset()
    choice: str = ""

    @property
    def package(self) -> str | None:
        """The package outside the tree that it leads to, if that decides by architecture itself."""
        top = self.callee.partition(".")[0]
        return top if self.kind == "outside" and top in contracts.device_modules() else None


@dataclass(frozen=True, slots=True)
class Switched:
    """A call under a switch that is on where its environment variable is not set.

    ``default`` is where that is written, ``callee`` the dotted name of what is called.
    """

    variable: str
    default: Site
    caller: str
    callee: str
    site: Site


@dataclass(frozen=True, slots=True)
class Leading:
    """The sides of decisions that give the values which a condition asks for: all, and what each makes of it.

    One is in neither of ``true`` and ``false`` if what it gives may make it either.
    """

    every: frozenset[Led]
    true: frozenset[Led]
    false: frozenset[Led]


_EMPTY: frozenset[Any] = frozenset()  # one for all: Python makes another at every call


class Observer:
    """The recorder of one machine.

    ``explaining``: of calls it is noted what they hang on, too, and which are made on every way. That is
    asked of the surveys of the target and the references alone.
    """

    def __init__(self, explaining: bool = True) -> None:
        self.explaining = explaining
        self.decisions: dict[tuple[Key, Site | None], Decision] = {}
        self.within: dict[tuple[str, str], list[Decision]] = {}
        """The same by the module and function that they are written in."""
        self.calls: dict[Call, None] = {}
        self.met: set[tuple[object, ...]] = set()
        """The same, the place by identity: quicker to ask."""
        self.errors: dict[tuple[Site, str], str] = {}
        self.telling: set[tuple[str, str]] = set()
        """The modules and walked functions in whose run a decision was seen, or a kernel was compiled."""
        self.attributes: set[str] = set()
        """Names of attributes that were given a device answer."""
        self.placed: dict[Placed, None] = {}
        """The texts, or true, that attributes and items were given by decisions."""
        self.methods: dict[str, set[str]] = {}
        """Calls of a method on a receiver that is not known: method name to callers."""
        self.gates: dict[int, tuple[Provenance, frozenset[Key]]] = {}
        """Keys of the nearest gates by identity of a provenance, which is kept alive here."""
        self.keys: dict[frozenset[Led], frozenset[Key]] = {}
        """The decisions alone of sides that were met."""
        self.givers: dict[int, tuple[Provenance, frozenset[Led]]] = {}
        """The same with the side on which the value was given."""
        self.leading: dict[int, tuple[Provenance, Leading]] = {}
        """What the conditions ask for behind decisions' provenances, in the same way."""
        self.switches: dict[int, tuple[Provenance, tuple[tuple[str, Site], ...]]] = {}
        """The same for switches in the environment."""
        self.tiles: dict[Tiles, None] = {}
        """Tables of tile sizes that were made."""
        self.launches: dict[Launch, None] = {}
        """Launches of kernels that ask for shared memory."""
        self.asked: dict[Asked, None] = {}
        """What was asked of the toolkit's release."""
        self.refusals: dict[toolkits.Refused, None] = {}
        """What raised for it."""
        self.admitted: dict[Admitted, None] = {}
        """Collections of choices that hang on the device and that a check held something free against."""
        self.opened: set[Key] = set()
        """Decisions on which numbers hang that a kernel is launched with and that are not known."""
        self.surely: dict[tuple[str, str], dict[tuple[str, Site], None]] = {}
        """Operations of kernel languages that a walked function surely calls, itself or in what it calls."""
        self.switched: dict[Switched, None] = {}
        """Calls that environment variables let through which are not set, and no decision on the device."""
        self.sure: dict[tuple[str, str], dict[tuple[str, Site], None]] = {}
        """What a walked function calls on every way, itself or in what it calls: functions, operators."""
        self.registered: dict[registries.Entry, Value] = {}
        """Entries of registries that were made."""
        self.claims: dict[claims.Claim, None] = {}
        """Decorators by which functions say on which devices they may be used."""
        self.lists: dict[ArchList, None] = {}
        """Lists of architectures that were put into the environment."""
        self.functions: dict[str, Site] = {}
        """Where the functions stand that calls lead from or to."""
        self.locals: dict[tuple[str, Site], set[str]] = {}
        """Local names of answers, by dotted name and assignment, with what they were bound to."""

    # The recorder's part.

    def decision(
        self,
        m: Machine,
        frame: Frame,
        node: ast.AST,
        kind: str,
        test: Value,
        owner: ast.AST,
        parts: Sequence[tuple[ast.expr, Value]] = (),
    ) -> Provenance | None:
        """Record a condition that a device answer has a part in."""
        source = test.source
        if source is None or not source.door:
            return None
        self.telling.update(m.roots)
        site = frame.site(node)
        key = (*site.start, kind)
        for argument, outcome in _asked(node, source, truth(test)):
            place = (key, argument.site if argument is not None else None)
            found = self.decisions.get(place)
            if found is None:
                found = self.decisions[place] = Decision(
                    key, site, node, owner, kind, frame.module.source.name, frame.qualname, argument=argument
                )
                self.within.setdefault((found.module, found.scope), []).append(found)
            found.outcomes.add(outcome)
            if len(found.sources) < 8 and not any(source is known for known in found.sources):
                found.sources.append(source)
            if outcome is Truth.UNKNOWN:
                found.why = _why(test)
            for operand, value in parts:
                if (text := _text(operand)) not in found.parts:
                    found.parts[text] = shown(value)
            if kind in ("if", "assert") and outcome is Truth.FREE and argument is None:
                self.admitted.update(dict.fromkeys(admitted.seen(m, frame, found, partial(self._taken, m))))
        gate = Provenance(Origin.GATE, (source,), site, kind, key=key)
        leading = self._leading(node, test, [value for _, value in parts]) if self.explaining else None
        if leading is not None:
            self.leading[id(gate)] = gate, leading
        return gate

    def _leading(self, node: ast.AST, test: Value, parts: Sequence[Value]) -> Leading | None:
        """Which values with the sides of decisions that gave them make a condition true, which false."""
        if isinstance(node, ast.BoolOp):
            if not parts:  # it was told when it was put together
                known = self.leading.get(id(test.source))
                return known[1] if known is not None else None
            found = [self._asked_for(value) for value in parts]
            every = _union(one.every for one in found)
            holds, fails = (_union(getattr(one, way) for one in found) for way in ("true", "false"))
            # All parts of a conjunction are true where it is; where it is false, any of them may be.
            conjunction = isinstance(node.op, ast.And)
            leading = Leading(every, holds if conjunction else _EMPTY, _EMPTY if conjunction else fails)
        else:
            leading = self._asked_for(test)
        return leading if leading.every else None

    def _asked_for(self, test: Value) -> Leading:
        """Which of the values that a condition may have are given by sides of decisions, by its truth."""
        found: dict[Truth, set[Led]] = {}
        for option in test.data.options if isinstance(test.data, Choice) else (test,):
            if option.source is not None and option.source.door:
                found.setdefault(truth(option), set()).update(self._givers(option.source))
        true, false = (frozenset(found.get(way, _EMPTY)) for way in (Truth.TRUE, Truth.FALSE))
        open_ones = frozenset[Led]().union(
            *(led for way, led in found.items() if way not in (Truth.TRUE, Truth.FALSE))
        )
        return Leading(true | false | open_ones, true - false - open_ones, false - true - open_ones)

    def _givers(self, source: Provenance) -> frozenset[Led]:
        """The sides of the nearest decisions behind a provenance, which does not change."""
        return settled(source, self.givers, self._given_by)

    def _given_by(self, node: Provenance) -> frozenset[Led]:
        if node.kind is Origin.GATE:
            return frozenset([(node.key, None)])
        side = node.key if node.kind is Origin.CONTROL else None
        return _union(
            frozenset([(parent.key, side)]) if parent.kind is Origin.GATE else self.givers[id(parent)][1]
            for parent in node.parents
        )

    def called(
        self,
        m: Machine,
        frame: Frame,
        node: ast.Call,
        callee: Value,
        args: list[Value],
        keywords: dict[str, Value],
        result: Value,
        rest: bool,
    ) -> None:
        """Record whom a call leads to."""
        caller = frame.dotted
        site = frame.site(node)
        given = [*args, *keywords.values()]
        if isinstance(callee.data, External):
            self._called_outside(m, frame, node, callee.data.path, given)
        if isinstance(node.func, ast.Subscript):
            self._launched(m, frame, node, given)
        self._listed_by_data(m, frame, node, callee, result)
        ends: list[tuple[str, str]] = []
        if isinstance(callee.data, Free):
            if isinstance(node.func, ast.Attribute):
                ends.append((node.func.attr, "method"))
        else:
            for kind, name, function in _targets(callee):
                if function is not None and name not in self.functions:
                    self.functions[name] = function_site(m, function)
                ends.append((name, kind))
            ends += [(file, "loads") for file in _loaded(callee, given)]
            ends += [(name, "hands") for name in _handed(given)]
        if ends:
            choice = choosers.chosen(m, callee, args, keywords, rest) if self.explaining else ""
            self._led(m, frame, caller, ends, site, choice)
        if caller not in self.functions:
            self.functions[caller] = Site(frame.file, _line(frame), _line(frame), 1)

    def _listed_by_data(self, m: Machine, frame: Frame, node: ast.Call, callee: Value, result: Value) -> None:
        """Record what says by data on which devices something may be used."""
        if not isinstance(callee.data, (Class, Function)):
            return
        entry, claim = registries.entry(frame, node, callee, result), claims.claim(frame, node, callee)
        if entry is not None:
            self.registered.setdefault(entry, result)
        if claim is not None:
            self.claims.setdefault(claim)
        if entry is not None or claim is not None:
            self.telling.update(m.roots)

    def _led(
        self,
        m: Machine,
        frame: Frame,
        caller: str,
        ends: list[tuple[str, str]],
        site: Site,
        choice: str = "",
    ) -> None:
        """Record where a call leads to, each with its kind."""
        under = led = barred = _EMPTY
        if self.explaining:
            under, (led, barred) = self._under(m), self._asked_around(m)
        for name, kind in ends:
            key = caller, name, kind, id(site), under, frame.given, led, barred, choice
            if key not in self.met:
                self.met.add(key)
                self.calls[Call(caller, name, kind, site, under, frame.given, led, barred, choice)] = None
        led_to = [end for end in ends if end[1] != "hands"] if self.explaining else []
        if len(led_to) == 1 and led_to[0][1] in ("calls", "outside"):
            self._surely(m, caller, led_to[0][0], site, under)

    def _surely(self, m: Machine, caller: str, callee: str, site: Site, under: frozenset[Key]) -> None:
        """Record a call that is made on every way, and one that hangs on a switch alone."""
        if m.forks == 0 and m.roots and not any(frame.returns for frame in m.stack):
            self.sure.setdefault(m.roots[-1], {})[callee, site] = None
        if not under:
            for source in m.control:
                for variable, default in self._switches_of(source) if source.option else ():
                    self.switched[Switched(variable, default, caller, callee, site)] = None

    def _switches_of(self, source: Provenance) -> tuple[tuple[str, Site], ...]:
        """The switches behind a provenance, which does not change."""
        known = self.switches.get(id(source))
        if known is None:
            known = self.switches[id(source)] = (source, tuple(_switches(source)))
        return known[1]

    def _called_outside(
        self, m: Machine, frame: Frame, node: ast.Call, callee: str, args: list[Value]
    ) -> None:
        """Record what a call of a function outside the tree tells of kernels."""
        if callee in (alternative(), tuner()):
            self._tuned(m, frame, node, callee, args)
        if self.explaining and m.forks == 0 and m.roots and callee.partition(".")[0] in contracts.tracing():
            self.surely.setdefault(m.roots[-1], {})[callee, frame.site(node)] = None
        if callee in contracts.traced():
            self.telling.update(m.roots)

    def _launched(self, m: Machine, frame: Frame, node: ast.Call, args: list[Value]) -> None:
        """Record a launch of a kernel of the tree."""
        seen = launches.seen(m, frame, node, args)
        if seen is None:
            return
        self.opened |= {gate.key for gate in seen.opened}
        found = launches.launch(m, frame, node, seen)
        if found is not None:
            self.telling.update(m.roots)
            place = next((one for one in self.decisions.values() if one.site == found.decides), None)
            if place is not None:
                found = replace(found, module=place.module, scope=place.scope)
            self.launches.setdefault(found)

    def compared(self, m: Machine, frame: Frame, node: ast.expr, left: Value, right: Value) -> None:
        """Record what is asked of the toolkit behind a decision on the device."""
        if any(source.door for source in m.control):
            for found in toolkits.asked(m, frame, node, left, right):
                self.telling.update(m.roots)
                self.asked.setdefault(found)

    def refused(self, m: Machine, frame: Frame, node: ast.expr, test: Value, error: Raised) -> None:
        """Record what raises for the toolkit's release, behind a decision on the device."""
        if any(source.door for source in m.control):
            found = toolkits.refused(frame, node, test, error)
            if found is not None:
                self.telling.update(m.roots)
                self.refusals.setdefault(found)

    def imported(self, m: Machine, frame: Frame, node: ast.Import | ast.ImportFrom, module: str) -> None:
        """Record an import that hangs on a decision, of what is not in the tree."""
        under = self._under(m)
        if under:
            self.calls[Call(frame.dotted, module, "imports", frame.site(node), under, frame.given)] = None

    def _under(self, m: Machine) -> frozenset[Key]:
        """The decisions that what runs now hangs on."""
        return _union(self.gates_of(source) for source in m.control)

    def _asked_around(self, m: Machine) -> tuple[frozenset[Led], frozenset[Led]]:
        """The sides of decisions that give a value with which all that asks for it leads to what runs now.

        And those that give one with which something leads elsewhere.
        """
        asked = [
            (known[1], control.key)
            for control in m.control
            if isinstance(control.key, bool) and (known := self.leading.get(id(control.parents[0])))
        ]
        if not asked:
            return _EMPTY, _EMPTY
        here = [leading.true if side else leading.false for leading, side in asked]
        elsewhere = [leading.false if side else leading.true for leading, side in asked]
        doubtful = [leading.every - way for (leading, _), way in zip(asked, here, strict=True)]
        return _union(here).difference(*doubtful), _union(elsewhere)

    def _taken(self, m: Machine) -> Iterator[Decision]:
        """The decisions that what runs now hangs on, as far as no argument is checked there."""
        for key in sorted(self._under(m)):
            decision = self.decisions.get((key, None))
            if decision is not None:
                yield decision

    def gates_of(self, source: Provenance) -> frozenset[Key]:
        """The keys of the nearest gates behind a provenance, which does not change."""
        known = self.gates.get(id(source))
        if known is None:
            led = self._givers(source)
            if led not in self.keys:
                self.keys[led] = frozenset(key for key, _ in led)
            known = self.gates[id(source)] = (source, self.keys[led])
        return known[1]

    def table(self, m: Machine, frame: Frame, entries: Mapping[str, object], site: Site) -> None:
        """Record a table of tile sizes that is known in full."""
        found = sizes(entries)
        if found is not None:
            self._tiles(m, frame, entries, site, found)

    def _tuned(self, m: Machine, frame: Frame, node: ast.Call, made: str, args: list[Value]) -> None:
        """Record one of the configurations that a tuner tries, or which of them this tuner is given."""
        site = frame.site(node)
        if made == tuner():
            for tiles in [tiles for tiles in self.tiles if tiles.tuned and tiles.tuner is None]:
                if tiles.site.file == site.file and site.line <= tiles.site.line <= site.end_line:
                    del self.tiles[tiles]
                    self.tiles[replace(tiles, tuner=(site.line, site.end_line))] = None
            return
        given = args[0].data if args and node.args else None
        if not isinstance(given, Dict):
            return
        entries: dict[str, object] = {str(key): item.data for key, (_, item) in given.items.items()}
        named = [keyword.arg for keyword in node.keywords]
        entries |= {
            name: value.data for name, value in zip(named, args[len(node.args) :], strict=False) if name
        }
        self._tiles(m, frame, entries, site, sizes(entries) or (0, 0, 0, 0), tuned=True)

    def _tiles(
        self,
        m: Machine,
        frame: Frame,
        entries: Mapping[str, object],
        site: Site,
        found: tuple[int, int, int, int],
        tuned: bool = False,
    ) -> None:
        if any(found):
            self.telling.update(m.roots)
        least = _least_bits(m, frame, site.line)
        roles = ", ".join(f"{name}={value}" for name, value in entries.items() if isinstance(value, int))
        tiles = Tiles(site, *found, least, roles, frame.module.source.name, frame.qualname, tuned)
        self.tiles.setdefault(tiles)

    def listed(self, m: Machine, frame: Frame, variable: str, text: str, site: Site) -> None:
        """Record a list of architectures."""
        self.telling.update(m.roots)
        found = ArchList(site, variable, text, frame.module.source.name, frame.qualname)
        self.lists.setdefault(found)

    def unresolved(self, site: Site, what: str, why: str) -> None:
        """Record an error of the scanned code that left something unevaluated."""
        self.errors[site, what] = why

    def bound(self, m: Machine, frame: Frame, node: ast.Assign, value: Value) -> None:
        """Note a local name that is bound to an answer of the device, true or false."""
        target = node.targets[0]
        if isinstance(target, ast.Name) and len(node.targets) == 1:
            place = f"{frame.dotted}.{target.id}", frame.site(node)
            self.locals.setdefault(place, set()).add(shown(value))

    def kept(self, m: Machine, frame: Frame, value: Value, site: Site) -> None:
        """Record an export of a build that an object keeps, which it may call."""
        self._led(m, frame, frame.dotted, [(name, "hands") for name in _handed([value])], site)

    def put(self, m: Machine, name: str, value: Value) -> None:
        """Note a text, or true, that an attribute or item of a name is given by a decision, or under it."""
        around = _union(self._givers(source) for source in m.control if source.door)
        for option in value.data.options if isinstance(value.data, Choice) else (value,):
            if isinstance(option.data, str) or option.data is True:
                source = option.source
                own = self._givers(source) if source is not None and source.door else _EMPTY
                self.placed.update(dict.fromkeys((led, name, option.data) for led in own | around))

    def stored(self, name: str) -> None:
        """Note an attribute that was given a device answer."""
        self.attributes.add(name)


Element = TypeVar("Element")


def _union(sets: Iterable[frozenset[Element]]) -> frozenset[Element]:
    """What is in any of some sets: the greatest of them, where that holds all others."""
    most: frozenset[Element] = _EMPTY
    for one in sets:
        if one is not most and not one <= most:
            most = one if most <= one else most | one
    return most


def _switches(source: Provenance) -> Iterator[tuple[str, Site]]:
    """The variables behind a switch that are on where they are not set: the name, and where it says so.

    It is a class of variables that is given the default: a value that is written as an argument.
    """
    for switch in source.walk():
        for node in switch.walk() if switch.kind is Origin.SWITCH else ():
            on = [parent for parent in node.parents if _is_on(parent)]
            names = [
                inner.what
                for parent in node.parents
                if parent.option
                for inner in parent.walk()
                if inner.kind is Origin.OPTION and inner.what
            ]
            if len(on) == 1 and on[0].site is not None and len(set(names)) == 1:
                yield names[0], on[0].site


def _is_on(source: Provenance) -> bool:
    """Whether it is an argument that is written as ``True``."""
    node = source.written.node if source.kind is Origin.ARGUMENT and source.written is not None else None
    return isinstance(node, ast.Constant) and node.value is True


def _loaded(callee: Value, args: list[Value]) -> Iterator[str]:
    """The libraries of the tree that a call loads by their path."""
    if not isinstance(callee.data, External) or callee.data.path not in natives.loaders():
        return
    place = natives.loaders()[callee.data.path]
    given = args[place] if place < len(args) else Value(None)
    for option in given.data.options if isinstance(given.data, Choice) else (given,):
        if isinstance(option.data, (str, PurePosixPath)) and str(option.data).startswith(ROOT):
            yield posixpath.normpath(str(option.data).removeprefix(ROOT))


def _handed(args: list[Value]) -> Iterator[str]:
    """The exports of builds that are given to what is called, which may call them."""
    for value in args:
        if isinstance(value.data, Export):
            yield from (name for _, name, _ in _targets(value))


def _asked(node: ast.AST, source: Provenance, outcome: Truth) -> list[tuple[Provenance | None, Truth]]:
    """The arguments that a condition checks, each with the outcome for it alone.

    Where one of several arguments is held against the device, and which is free (a table of back ends with
    the architectures of each), every one of them is a check of its own; so is one that only counts under
    circumstances which are free.
    """
    # What a class lists is checked where it is compared, and told where it is written as well.
    listed = [check for check in source.checks if isinstance(check.key, Site)]
    also = [(check, outcome) for check in listed if outcome is not Truth.FREE]
    checks = tuple(check for check in source.checks if not isinstance(check.key, Site))
    return [*_asked_of_arguments(node, source, outcome, checks), *also]


def _asked_of_arguments(
    node: ast.AST, source: Provenance, outcome: Truth, checks: tuple[Provenance, ...]
) -> list[tuple[Provenance | None, Truth]]:
    if not checks or (len(checks) == 1 and outcome is not Truth.FREE):
        return [(checks[0] if checks else None, outcome)]
    found: dict[int, set[str]] = {}
    for inner in source.walk():
        if inner.kind is Origin.CHECK and inner.what in ("true", "false"):
            found.setdefault(id(inner.key), set()).add(inner.what)
    asked: list[tuple[Provenance | None, Truth]] = []
    for check in checks:
        answers = found.get(id(check), set())
        if answers:
            holds = "true" in answers
            asked.append((check, Truth.TRUE if holds is not negated(node) else Truth.FALSE))
    return asked or [(checks[0], outcome)]


def shown(value: Value) -> str:
    """A value for people: its truth where it is open, its text where it is a plain constant."""
    found = truth(value)
    if found in (Truth.FREE, Truth.UNKNOWN):
        return str(found.value)
    if isinstance(value.data, (bool, int, str)) and len(str(value.data)) <= 40:
        return str(value.data).lower() if isinstance(value.data, bool) else repr(value.data)
    return str(found.value)


def _text(node: ast.expr) -> str:
    """An expression's text; kept with the node, which all machines of a process share."""
    known: str | None = node.__dict__.get("text")
    if known is None:
        known = node.__dict__["text"] = ast.unparse(node)
    return known


def _least_bits(m: Machine, frame: Frame, line: int) -> int:
    """The least bits of an element of a table on a line; kept with the node of what runs there."""
    function = frame.function
    module = frame.module.source.parsed.module
    known: dict[int, int] = (function.node if function else module).__dict__.setdefault("bits", {})
    if line not in known:
        known[line] = bits(m.body(function) if function else module.body, line)
    return known[line]


def _line(frame: Frame) -> int:
    return frame.function.node.lineno if frame.function is not None else 1


def _targets(callee: Value) -> Iterator[tuple[str, str, Function | None]]:
    """What a call leads to: the kind of the edge, a name, the function."""
    data = callee.data
    if isinstance(data, Choice):
        for option in data.options:
            yield from _targets(option)
    elif isinstance(data, Function):
        yield "calls", data.dotted, data
    elif isinstance(data, (Bound, Partial)):
        yield from _targets(data.function)
    elif isinstance(data, Class):
        yield "makes", f"{data.module}.{data.qualname}", None
    elif isinstance(data, Export):
        for build in data.builds:
            yield "exports", f"{build}\0{data.name}", None
    elif isinstance(data, External):
        yield "outside", data.path, None


def function_site(m: Machine, function: Function) -> Site:
    """Where a function is defined."""
    node = function.node
    file, end = m.index.path(function.module), node.end_lineno or node.lineno
    return Site(file, node.lineno, end, node.col_offset + 1)


def _why(test: Value) -> str:
    return test.data.why if isinstance(test.data, Unknown) else ""
