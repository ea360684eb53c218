"""Walk the functions that a device answer or a build can reach, on one host after the other."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from analyzer import faults
from analyzer.python import calls, contracts, device, flow, launches, lists, tiles
from analyzer.python.frames import Frame
from analyzer.python.machine import STEPS, TOO_LONG, Budget, Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.natives import Natives
from analyzer.python.observe import Observer, function_site
from analyzer.python.values import (
    Bound,
    Choice,
    Dict,
    Free,
    Function,
    Instance,
    List,
    Partial,
    Raised,
    Set,
    Site,
    Truth,
    Unknown,
    Value,
    undecided,
)

#: A name that stands in more files than this is too common to be followed by name alone.
COMMON = 100
#: The same for names of callers, which are followed by name upwards.
RARE = 12
#: How far up from a build its callers are looked for; farther up, everything leads to everything.
HOPS = 6
#: Steps that a call is worth which no answer of the device goes into: of what makes builds, of other code.
BUILD_STEPS = 30_000
HELPER_STEPS = 3_000

Defined = tuple[str, str]
"""Module and qualified name of a function."""


@dataclass(slots=True)
class Walked:
    """What came of a function run on free arguments: its value, or how it surely raises."""

    value: Value | None
    raised: Raised | None
    site: Site


@dataclass(slots=True)
class Survey:
    """The walks on one host."""

    machine: Machine
    observer: Observer
    walked: dict[Defined, Walked] = field(default_factory=dict)
    unfinished: list[tuple[Site, str, str]] = field(default_factory=list)
    """What was given up, a module or a function, and why."""
    chosen: frozenset[Defined] | None = None
    """If set, the only functions that are walked."""
    checked: set[Defined] = field(default_factory=set)
    """Classes whose constructor checks the device and raises: all methods stand behind it."""


@dataclass
class Interest:
    """The names that lead to a device answer or to a build; shared by all hosts, it only grows.

    ``words``: file to the identifiers in it.
    """

    index: ModuleIndex
    words: Mapping[str, frozenset[str]]
    natives: Natives = field(default_factory=Natives)
    names: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    """Names of attributes that hold an answer: read with a dot, or named in a string."""
    builders: set[str] = field(default_factory=set)
    callers: set[str] = field(default_factory=set)
    """Names of functions that lead to a build: walked for the ways to it."""
    local: dict[str, set[str]] = field(default_factory=dict)
    """The same by file, for names too common to be followed elsewhere."""
    common: dict[str, int] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.modules = {source.file: name for name, source in self.index.sources.items()}
        self.where: dict[str, list[str]] = {}
        self.found: dict[tuple[str, frozenset[str], frozenset[str]], list[int]] = {}
        """Lines of a file on which these names stand, and these attributes are read."""
        self.strange: dict[str, frozenset[bytes]] = {}
        """By file, the names under which it imports what is not in the tree."""
        for file in sorted(self.words):
            for word in self.words[file]:
                self.where.setdefault(word, []).append(file)
        self.names |= device.words()
        self.builders |= contracts.build_words()
        self.calling = {
            file: found for file, present in self.words.items() if (found := self._words(present))
        }
        """By file, the names by which it may call a library that the target cannot run, size tiles,
        or list architectures."""
        self.local = {file: set(names) for file, names in self.calling.items()}

    def _words(self, present: frozenset[str]) -> set[str]:
        listing = (lists.variables() | contracts.pin_words() | contracts.registry_words()) & present
        return self.natives.words(present) | tiles.words(present) | listing | lists.constants(present)

    def fresh(self) -> Interest:
        """The names from which every survey sets out; what depends on the tree alone is shared."""
        new = copy(self)
        new.names, new.builders, new.callers = set(device.words()), set(contracts.build_words()), set()
        new.attributes = set()
        new.local, new.common = {file: set(names) for file, names in self.calling.items()}, {}
        return new

    def add(self, name: str, group: Literal["names", "attributes", "builders"] = "names") -> bool:
        """Follow a name from now on; False if it was known or is too common."""
        known: set[str] = getattr(self, group)
        if name in known or len(name) < 3 or name.startswith("__"):
            return False
        count = len(self.where.get(name, ()))
        if count > COMMON:
            self.common[name] = count
            return False
        known.add(name)
        return True

    def answers(self, name: str) -> bool:
        """Whether a function of that name may give an answer of the device."""
        return name in self.names or name in self.attributes

    def add_caller(self, name: str, file: str) -> None:
        """Look for callers of a function that leads to a build.

        Everywhere, or where the name says too little, in the file that defines it.
        """
        if name.startswith("__"):
            return
        if len(name) >= 6 and len(self.where.get(name, ())) <= RARE:
            self.callers.add(name)
        elif name in self.words.get(file, ()):
            self.local.setdefault(file, set()).add(name)

    def wanted(self, file: str) -> set[str]:
        """The names that are followed and stand in a file."""
        return (self.every | self.local.get(file, set())) & self.words[file]

    @property
    def size(self) -> int:
        """How many names are followed."""
        return len(self.every) + sum(len(names) for names in self.local.values())

    @property
    def every(self) -> set[str]:
        """All names that are followed."""
        return self.names | self.attributes | self.builders | self.callers

    def files(self) -> list[str]:
        """The files that hold any name of interest, in order."""
        found: set[str] = set()
        for name in self.every:
            found.update(self.where.get(name, ()))
        return sorted(found | set(self.local))

    def lines(self, file: str) -> list[int]:
        """The lines of a file (from 1) on which a name of interest stands."""
        present = self.wanted(file)
        if not present:
            return []
        anywhere = self.names | self.builders | self.callers | self.local.get(file, set())
        key = file, frozenset(present & anywhere), frozenset(present - anywhere)
        if key not in self.found:
            self.found[key] = self._lines(*key)
        return self.found[key]

    def _lines(self, file: str, names: frozenset[str], attributes: frozenset[str]) -> list[int]:
        pattern = re.compile(
            rb"\b(?:(?P<name>" + any_of(names) + rb")|(?<=[.\"'])(?:" + any_of(attributes) + rb"))\b"
        )
        source = self.index.find(self.modules[file])
        assert source is not None
        data = source.data
        return lines_at(
            data,
            (
                match.start()
                for match in pattern.finditer(data)
                if match["name"] is not None or not self._strange(file, data, match.start())
            ),
        )

    def _strange(self, file: str, data: bytes, start: int) -> bool:
        """Whether the attribute that begins here is one of a module outside the tree."""
        before = _NAME_DOT.search(data, max(start - 80, 0), start)
        if before is None:
            return False
        if file not in self.strange:
            names = self.index.bound_outside(self.modules[file])
            self.strange[file] = frozenset(name.encode() for name in names)
        return before[1] in self.strange[file]


def lines_at(data: bytes, offsets: Iterable[int]) -> list[int]:
    """The lines (from 1) of ascending offsets, each once."""
    found: list[int] = []
    line, position = 1, 0
    for offset in offsets:
        line += data.count(b"\n", position, offset)
        position = offset
        if not found or found[-1] != line:
            found.append(line)
    return found


_NAME_DOT = re.compile(rb"(?<![.\w])(\w+)\.\Z")


def any_of(names: Iterable[str]) -> bytes:
    """A pattern for any of some names; of none it fits nothing."""
    return b"|".join(sorted(re.escape(name.encode()) for name in names)) or b"(?!)"


def run(survey: Survey, interest: Interest, upward: bool = True) -> None:
    """Walk until no name of interest is new and every function that holds one was walked.

    ``upward``: look for callers of what makes builds, too.
    """
    machine = survey.machine
    machine.follow = _policy(machine, interest)
    seen: dict[str, int] = {}
    while True:
        size = interest.size
        for file in interest.files():
            present = len(interest.wanted(file))
            if seen.get(file) == present:
                continue
            seen[file] = present
            _walk_file(survey, interest, file)
        for name in sorted(survey.observer.attributes):
            interest.add(name, "attributes")
        if upward:
            machine.leading = frozenset(leading_to_builds(survey, interest))
        for name in sorted(machine.leading):
            site = survey.observer.functions.get(name)
            interest.add_caller(name.rpartition(".")[2], site.file if site is not None else "")
        if interest.size == size:
            return


def run_only(survey: Survey, interest: Interest, chosen: frozenset[Defined]) -> None:
    """Walk the chosen functions, and what holds them; names of interest are taken as they are."""
    machine = survey.machine
    machine.follow = _policy(machine, interest)
    survey.chosen = frozenset(
        (module, ".".join(parts[:cut]))
        for module, qualname in chosen
        for parts in (qualname.split("."),)
        for cut in range(1, len(parts) + 1)
    )
    for module in sorted({module for module, _ in chosen}):
        _walk_file(survey, interest, machine.index.path(module))


def holds(survey: Survey, interest: Interest) -> bool:
    """Whether what was walked would have come out so with these names of interest from the start.

    It would if no call that was not followed to the end is worth more now.
    """
    return all(_worth(interest, name) <= steps for name, steps in survey.machine.passed_over)


def telling(survey: Survey) -> frozenset[Defined]:
    """The functions in whose run decisions were seen, that carry answers, or that make builds."""
    found = set(survey.observer.within)
    found |= survey.observer.telling
    for key, walked in survey.walked.items():
        if walked.value is not None and (_answers(walked.value) or makes_build(walked.value)):
            found.add(key)
    return frozenset(found)


def cut(survey: Survey) -> frozenset[Defined]:
    """The functions whose walk came to no end."""
    return frozenset(
        key for key, walked in survey.walked.items() if walked.value is None and walked.raised is None
    )


def makes_build(value: Value) -> bool:
    """Whether a value is, or may be, the description of a build."""
    return any(isinstance(option.data, Instance) and option.data.maker for option in _options(value))


def leading_to_builds(survey: Survey, interest: Interest) -> set[str]:
    """The dotted names of functions from which calls lead to a build or to what a build exports."""
    callers: dict[str, set[str]] = {}
    reached: set[str] = set()
    for call in survey.observer.calls:
        beyond = call.kind == "outside"
        if call.kind == "exports" or (beyond and _ends_in(call.callee, interest)):
            reached.add(call.caller)
        elif call.kind == "calls" or (call.kind == "method" and call.callee in interest.callers):
            callers.setdefault(call.callee, set()).add(call.caller)
    for (module, qualname), walked in survey.walked.items():
        if walked.value is not None and makes_build(walked.value):
            reached.add(survey.machine.defined[module][qualname].dotted)
    collectors = contracts.collectors()
    level = sorted(reached)
    for _ in range(HOPS):
        above: set[str] = set()
        for name in level:
            for caller in callers.get(name, set()) | callers.get(name.rpartition(".")[2], set()):
                if caller not in reached and caller not in collectors:
                    above.add(caller)
        reached |= above
        level = sorted(above)
    return reached


def _ends_in(callee: str, interest: Interest) -> bool:
    """Whether the target may end in what is called outside the tree."""
    return callee in contracts.pins() or bool(interest.natives.lost(callee))


def _policy(m: Machine, interest: Interest) -> calls.Follow:
    """What a call is worth: answers of the device are followed to the end, helpers a little way."""
    collectors = contracts.collectors()

    def follow(function: Function, args: list[Value], keywords: dict[str, Value], tainted: bool) -> int:
        worth = STEPS if tainted else _worth(interest, function.name)
        if worth == STEPS:
            return worth
        if any(frame.function is not None and frame.function.dotted in collectors for frame in m.stack):
            m.passed_over.add((function.name, BUILD_STEPS))
            return 0  # what is collected there is walked by itself
        if worth or _compiles(m, function):
            return BUILD_STEPS
        if all(_known(value) for value in [*args, *keywords.values()]):
            return HELPER_STEPS
        m.passed_over.add((function.name, 0))
        return 0

    return follow


def _worth(interest: Interest, name: str) -> int:
    """What a call is worth by the name of the function alone."""
    if interest.answers(name):
        return STEPS
    return BUILD_STEPS if name in interest.builders else 0


def _compiles(m: Machine, function: Function) -> bool:
    """Whether a function's text names a compiler of kernels written in Python."""
    source = m.index.find(function.module)
    if source is None:
        return False
    lines: list[int] | None = source.__dict__.get("compiling")
    if lines is None:
        offsets = (found.start() for found in _compilers().finditer(source.data))
        lines = source.__dict__["compiling"] = lines_at(source.data, offsets)
    return bool(lines) and holds_any(function, lines)


@cache
def _compilers() -> re.Pattern[bytes]:
    """The last two names of each function that traces."""
    tails = sorted(".".join(path.split(".")[-2:]) for path in contracts.traced())
    return re.compile(rb"\b(?:" + "|".join(map(re.escape, tails)).encode() + rb")\b")


def _known(value: Value) -> bool:
    data = value.data
    if isinstance(data, Instance):
        return not data.symbolic
    return not undecided(data)


def _walk_file(survey: Survey, interest: Interest, file: str) -> None:
    module = interest.modules.get(file)
    if module is None:
        return
    m = survey.machine
    m.steps = 0
    try:
        state = m.state(module)
    except Exception as error:  # it costs this module
        survey.unfinished.append((Site(file, 1, 1, 1), module, faults.tolerated(error)))
        return
    _note_names(state.names, interest)
    lines = {module: interest.lines(file)}
    functions = m.defined.setdefault(module, {})
    done = 0
    while done < len(functions):  # walking a function defines the ones inside it
        for qualname, function in list(functions.items())[done:]:
            done += 1
            key = (module, qualname)
            if key in survey.walked:
                continue
            if function.module not in lines:  # what a decorator of another module puts in its place
                lines[function.module] = interest.lines(m.index.path(function.module))
            if survey.chosen is not None:
                wanted = key in survey.chosen
            else:
                wanted = holds_any(function, lines[function.module]) or _checked(survey, key, function)
            if wanted:
                _walk(survey, interest, key, function)
    _note_names(state.names, interest)


def _checked(survey: Survey, key: Defined, function: Function) -> bool:
    """Whether a function is a method of a class whose constructor checks the device."""
    return function.owner is not None and (key[0], function.owner.qualname) in survey.checked


def holds_any(function: Function, lines: list[int]) -> bool:
    """Whether one of the lines lies in a function."""
    first, last = function.node.lineno, function.node.end_lineno or function.node.lineno
    position = bisect_left(lines, first)
    return position < len(lines) and lines[position] <= last


def _walk(survey: Survey, interest: Interest, key: Defined, function: Function) -> None:
    """Run one function on free arguments, and draw names of interest from what it gives."""
    m = survey.machine
    m.steps = 0
    site = function_site(m, function)
    frame = calls.frame_of(m, function)
    walked = Walked(None, None, site)
    survey.walked[key] = walked
    _note_defaults(survey, function, frame)
    try:
        walked.value = _run_free(m, key, function, frame)
    except Raised as raised:
        walked.raised = raised.kept()
    except (Budget, RecursionError):
        survey.unfinished.append((site, function.dotted, TOO_LONG))
    except Exception as error:  # it costs this function, which is told, and not the report
        survey.unfinished.append((site, function.dotted, faults.tolerated(error)))
    if survey.observer.opened:
        _try_numbers(survey, function, site)
    if function.name == "__init__" and function.owner is not None and _refuses(survey, function):
        survey.checked.add((key[0], function.owner.qualname))
    value = walked.value
    if value is None:
        return
    calls.note_maker(m, function, value)
    if _answers(value) or _makes_functions(value) or _checks(survey, function, value):
        interest.add(function.name)
    if makes_build(value):
        interest.add(function.name, "builders")


def _try_numbers(survey: Survey, function: Function, site: Site) -> None:
    """Run a function again that launches a kernel with numbers which hang on the device and on a free value.

    Once for each number that the free values are held against where the device is asked: what is launched
    then is noted, all else is seen without it.
    """
    m, observer = survey.machine, survey.observer
    asking = {(one.module, one.scope) for one in observer.decisions.values() if one.key in observer.opened}
    observer.opened.clear()
    owners = [m.defined.get(module, {}).get(scope) for module, scope in sorted(asking)]
    saved = m.recorder, m.results, m.passed, m.failed, m.may_raise, m.may_lack
    try:
        for owner in filter(None, owners):
            for name, number in launches.compared(m.body(owner)):
                seen = m.recorder = Observer(explaining=False)
                m.results, m.passed, m.failed, m.steps = {}, set(), {}, 0
                m.taken = {(owner.node, name): number}
                with suppress(Raised, Budget, RecursionError):
                    _run_free(m, (function.module, function.qualname), function, calls.frame_of(m, function))
                for launch in seen.launches:
                    observer.launches.setdefault(replace(launch, given=f"{name} = {number}"))
    except Exception as error:  # as of a walk
        survey.unfinished.append((site, function.dotted, faults.tolerated(error)))
    finally:
        m.recorder, m.results, m.passed, m.failed, m.may_raise, m.may_lack = saved
        m.taken = {}


def _run_free(m: Machine, key: Defined, function: Function, frame: Frame) -> Value:
    """What a function gives for arguments of which nothing is known."""
    with m.rooted(key), m.aside():
        calls.free_arguments(m, function, frame, _receiver(m, function))
        return calls.run(m, function, frame)


def _note_defaults(survey: Survey, function: Function, frame: Frame) -> None:
    """Note a table of tile sizes among a function's parameters."""
    if isinstance(function.node, ast.Lambda) or (found := tiles.defaults(function.node)) is None:
        return
    entries, first, last = found
    file = survey.machine.index.path(function.module)
    site = Site(file, first.lineno, last.end_lineno or last.lineno, first.col_offset + 1)
    with survey.machine.rooted((function.module, function.qualname)):
        survey.observer.table(survey.machine, frame, entries, site)


def _note_names(names: Mapping[str, Value], interest: Interest) -> None:
    for name, value in list(names.items()):
        if _answers(value) or _applies(value, interest):
            interest.add(name)
        for word in _stand_ins(value, interest):
            interest.add(word)


def _stand_ins(value: Value, interest: Interest) -> list[str]:
    """The keys of a table under which names of interest are looked up, such as those of a lazy attribute."""
    if not isinstance(value.data, Dict):
        return []
    pairs = ((key, item.data) for key, (_, item) in value.data.items.items())
    return [
        key
        for key, data in pairs
        if isinstance(key, str)
        and key.isidentifier()
        and isinstance(data, str)
        and interest.answers(re.split(r"[.:]", data)[-1])
    ]


def _answers(value: Value, depth: int = 2) -> bool:
    """Whether a value, or an item in it, is an answer of the device and does not only hang on a decision."""
    data = value.data
    if depth > 0 and any(_answers(item, depth - 1) for item in _items(data)):
        return True
    if value.source is None or not value.source.door:
        return False
    if isinstance(value.data, Free):
        return value.source.direct and value.data.boolean
    return not isinstance(value.data, Unknown)


def _checks(survey: Survey, function: Function, value: Value) -> bool:
    """Whether a function does no more than hold what it is given against the device, and raise."""
    if value.data is not None or function.owner is not None:
        return False
    return _refuses(survey, function, frozenset([Truth.FREE]))


def _refuses(survey: Survey, function: Function, outcomes: frozenset[Truth] = frozenset(Truth)) -> bool:
    """Whether a function raises by a decision of its own that came out so."""
    return any(
        not outcomes.isdisjoint(decision.outcomes)
        and (isinstance(decision.owner, ast.Assert) or _raises(decision.owner))
        for decision in survey.observer.within.get((function.module, function.qualname), ())
    )


def _raises(owner: ast.AST) -> bool:
    return isinstance(owner, ast.If) and (flow.raises(owner.body) or flow.raises(owner.orelse))


def _makes_functions(value: Value) -> bool:
    """Whether a function gives one that it defines: a decorator, or what is given arguments to be one."""
    return any(
        isinstance(option.data, Function) and "." in option.data.qualname and option.data.owner is None
        for option in _options(value)
    )


def _items(data: object) -> list[Value]:
    """What a container holds, and the numbers in a record, as far as a look at it is worth."""
    if isinstance(data, tuple):
        return list(data[:32])
    if isinstance(data, List):
        return data.items[:32]
    if isinstance(data, Dict):
        return [item for _, item in list(data.items.values())[:32]]
    if isinstance(data, Set):
        return list(data.items.values())[:32]
    if isinstance(data, Instance) and not data.symbolic:
        fields = (data.attributes.get(name) for name in data.of.fields[:32])
        return [item for item in fields if item is not None and isinstance(item.data, int)]
    return []


def _applies(value: Value, interest: Interest) -> bool:
    """Whether a name is bound to the application of a function of interest."""
    data = value.data
    while isinstance(data, (Partial, Bound)):
        data = data.function.data
        if isinstance(data, Function) and interest.answers(data.name):
            return True
    return False


def _options(value: Value) -> tuple[Value, ...]:
    return value.data.options if isinstance(value.data, Choice) else (value,)


def _receiver(m: Machine, function: Function) -> Value | None:
    """The first argument of a method: an object of its class, or the class."""
    if function.owner is None:
        return None
    decorators = {ast_name(node) for node in getattr(function.node, "decorator_list", [])}
    if "staticmethod" in decorators:
        return None
    if "classmethod" in decorators:
        return Value(function.owner)
    return calls.symbolic_instance(m, function.owner)


def ast_name(node: object) -> str:
    """The last name of a decorator."""
    return ast.unparse(node).partition("(")[0].rpartition(".")[2] if isinstance(node, ast.AST) else ""
