"""The values of the partial evaluator, and where each comes from."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from packaging.version import Version

from analyzer.python import device

if TYPE_CHECKING:
    from analyzer.python.machine import Machine
    from analyzer.python.modules import Source


@dataclass(frozen=True, slots=True)
class Site:
    """A source location: tree-relative file and 1-based line span and column."""

    file: str
    line: int
    end_line: int
    column: int

    @property
    def start(self) -> tuple[str, int, int]:
        """By which locations are put in order."""
        return self.file, self.line, self.column

    @property
    def span(self) -> Span:
        """The location as fields of a gate."""
        return {"file": self.file, "line": self.line, "end_line": self.end_line, "column": self.column}


class Span(TypedDict):
    """Where a gate stands; lines and column from 1."""

    file: str
    line: int
    end_line: int
    column: int


class Origin(Enum):
    """What a provenance node stands for."""

    DOOR = "door"  # a device answer: what it is called
    TOOLKIT = "toolkit"  # the toolkit's version: decides, but is no device answer
    OPTION = "option"  # an environment variable that is not set; key: see :func:`if_set`
    PLACE = "place"  # a line through which the value went
    ARGUMENT = "argument"  # an expression given for a parameter; key: the call
    CHECK = "check"  # a device answer compared with an argument; key: its node; what: whether it is among it
    RETURN = "return"  # the result of a call; key: the call
    GATE = "gate"  # a decision: what hangs on it only forwards it
    SWITCH = (
        "switch"  # a decision that an environment variable has a part in, by what it is where it is not set
    )
    CONTROL = "control"  # a decision under which the value was stored
    JOIN = "join"  # several of the above


REST = "rest"
"""What a control node says of statements that hang on a decision and are left by ``return`` alone.

Local names that they bind owe nothing to it for those inside: nobody sees them elsewhere."""
NAMED = "named"
"""What the provenance of a list of architectures says that has a name in a function or module."""
#: Values of which it is kept which one it may be; the same for what can be called: a table of ways to go.
_OPTIONS = 6
_WAYS = 32


@dataclass(frozen=True, slots=True)
class Written:
    """An expression as it stands in the scanned code: its node, and whose it is.

    It holds no values: what is noted for a value must not keep the frame alive that the value is in.
    """

    node: ast.AST
    source: Source
    qualname: str
    in_function: bool


class Provenance:
    """Where a value comes from: a directed acyclic graph back to the doors.

    ``door``: a device answer is among its sources. ``direct``: one is by value, not only because a
    decision was taken under which the value was stored. ``option``: an environment variable that is not set
    is among them.
    ``checks``: arguments with which a device answer was compared inside the call that they were given to.
    ``key``: as said at :class:`Origin`; of a control node, which side of the decision it was, if it has two.
    """

    __slots__ = ("checks", "direct", "door", "key", "kind", "option", "parents", "site", "what", "written")

    def __init__(
        self,
        kind: Origin,
        parents: tuple[Provenance, ...] = (),
        site: Site | None = None,
        what: str = "",
        key: Any = None,
        written: Written | None = None,
    ) -> None:
        self.door: bool
        self.option: bool
        self.direct: bool
        self.checks: tuple[Provenance, ...]
        self.written = written
        """For an argument: where it is written."""
        self.kind = kind
        self.parents = parents
        self.site = site
        self.what = what
        self.key = key
        door = direct = kind is Origin.DOOR
        option = kind is Origin.OPTION
        control = kind is Origin.CONTROL
        behind: list[tuple[Provenance, ...]] = [(key,)] if kind is Origin.CHECK else []
        for parent in parents:
            door = door or parent.door
            option = option or parent.option
            direct = direct or (parent.direct and not control)
            if parent.checks and not any(parent.checks is known for known in behind):
                behind.append(parent.checks)
        self.door, self.option, self.direct = door, option, direct
        if kind is Origin.RETURN:
            checks = tuple(dict.fromkeys(c for known in behind for c in known if c.key != key))
        elif len(behind) > 1:
            checks = tuple(dict.fromkeys(c for known in behind for c in known))
        else:
            checks = behind[0] if behind else ()
        self.checks = checks

    def walk(self, through_gates: bool = True, seen: set[int] | None = None) -> Iterator[Provenance]:
        """Every node once, from the value back to its sources, in reading order.

        ``seen``: nodes, by identity, that were looked at before; those that are looked at now are added.
        """
        seen = set() if seen is None else seen
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if node.kind is Origin.GATE and not through_gates:
                continue
            stack.extend(reversed(node.parents))


Found = TypeVar("Found")


def settled(
    source: Provenance,
    known: dict[int, tuple[Provenance, Found]],
    settle: Callable[[Provenance], Found],
) -> Found:
    """What is found out of a provenance from its parents, and of these from theirs, up to decisions.

    ``known``: what was found out of each node, by identity; ``settle`` is asked for a node once its parents
    are known. There is no recursion: a provenance gets as long as loops run.
    """
    waiting = [source]
    while waiting:
        node = waiting[-1]
        if id(node) not in known:
            above = [] if node.kind is Origin.GATE else [p for p in node.parents if id(p) not in known]
            if above:
                waiting += above
                continue
            known[id(node)] = node, settle(node)
        waiting.pop()
    return known[id(source)][1]


def combine(*sources: Provenance | None) -> Provenance | None:
    """The provenance of a value computed from several."""
    unique: list[Provenance] = []
    for source in sources:
        if source is not None and not any([source is known for known in unique]):  # noqa: C419
            unique.append(source)
    if not unique:
        return None
    if len(unique) == 1:
        return unique[0]
    return Provenance(Origin.JOIN, tuple(unique))


@dataclass(frozen=True, slots=True)
class Free:
    """Decided by something other than the architecture. ``boolean``: it is the outcome of a test."""

    why: str = ""
    boolean: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that depends on the architecture could not be decided; ``site`` is where that became clear."""

    why: str
    site: Site | None = None


_BIRTHS = itertools.count(1)


def born() -> int:
    """The time at which something is made: later is greater."""
    return next(_BIRTHS)


class Choice:
    """One of a few known values; which of them is free."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Value, ...]) -> None:
        self.options = options


class Value:
    """A piece of data and its provenance (``None``: no door, no argument)."""

    __slots__ = ("data", "source")

    def __init__(self, data: Data, source: Provenance | None = None) -> None:
        self.data = data
        self.source = source

    @property
    def tainted(self) -> bool:
        """A device answer is among its sources."""
        return self.source is not None and self.source.door

    def derived(self, *sources: Provenance | None) -> Value:
        """The same data with further sources."""
        own = self.source
        for other in sources:
            if other is not None and other is not own:
                break
        else:
            return self
        return Value(self.data, combine(own, *sources))

    def __repr__(self) -> str:
        return f"Value({self.data!r}{', tainted' if self.tainted else ''})"


class List:
    """A mutable sequence; ``open``: elements may be missing or come on top."""

    __slots__ = ("depth", "items", "made", "open")

    def __init__(self, items: list[Value], depth: int = 0, open: bool = False) -> None:
        self.made = born()
        self.items = items
        self.depth = depth
        self.open = open


class Dict:
    """A mapping from hashable constants; ``open``: more keys may exist; ``maybe``: keys that may lack."""

    __slots__ = ("depth", "items", "made", "maybe", "open")

    def __init__(self, items: dict[Any, tuple[Value, Value]], depth: int = 0, open: bool = False) -> None:
        self.made = born()
        self.maybe: frozenset[Any] = frozenset()
        self.items = items
        self.depth = depth
        self.open = open

    @property
    def holds_code(self) -> bool:
        """Whether some of its values are functions or classes."""
        return any(isinstance(value.data, (Function, Class)) for _, value in self.items.values())


class Environment(Dict):
    """The environment variables that are given; others may be set by the user."""

    __slots__ = ()


class Set:
    """A set of hashable constants; ``open``: further members may exist."""

    __slots__ = ("depth", "items", "made", "open")

    def __init__(self, items: dict[Any, Value], depth: int = 0, open: bool = False) -> None:
        self.made = born()
        self.items = items
        self.depth = depth
        self.open = open


class Scope:
    """Local names of a running function (or class body), with the scope that encloses it."""

    __slots__ = ("made", "names", "outer", "parent")

    def __init__(self, parent: Scope | None) -> None:
        self.made = born()
        self.names: dict[str, Value] = {}
        self.parent = parent
        self.outer: frozenset[str] = frozenset()
        """Names declared ``global`` or ``nonlocal``."""


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, eq=False)
class Function:
    """A function of the scanned tree. ``owner`` is the class whose body holds it."""

    node: FunctionNode
    module: str
    qualname: str
    scope: Scope | None
    defaults: dict[str, Value]
    owner: Class | None = None
    attributes: dict[str, Value] = field(default_factory=dict)
    made: int = field(default_factory=born)
    stands_for: str | None = None
    """The dotted name of the function that this one replaces by decoration."""

    @property
    def dotted(self) -> str:
        """The dotted name under which callers know it."""
        return self.stands_for or f"{self.module}.{self.qualname}"

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(slots=True, eq=False)
class Class:
    """A class of the scanned tree."""

    node: ast.ClassDef
    module: str
    qualname: str
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    fields: tuple[str, ...] = ()
    """Annotated names in order, for dataclasses and named tuples."""
    decorators: tuple[str, ...] = ()
    made: int = field(default_factory=born)

    @property
    def dotted(self) -> str:
        """The dotted name of the definition."""
        return f"{self.module}.{self.qualname}"


@dataclass(slots=True, eq=False)
class Instance:
    """An object. ``symbolic``: not built here; attributes that are not known are free."""

    of: Class
    attributes: dict[str, Value]
    symbolic: bool = False
    depth: int = 0
    made: int = field(default_factory=born)
    member: Value | None = None
    """For a member of an enumeration: the value that it is equal to, or itself."""
    maker: str | None = None
    """For the description of a build: the function that gave it back."""
    holds: Value | None = None
    """For an object of a class that is derived from a list: what it was made of."""


@dataclass(slots=True, eq=False)
class Loaded(Instance):
    """A module that a call compiled and loaded at once; the attributes describe the build."""


@dataclass(slots=True, eq=False)
class Bound:
    """A method and the object it was taken from."""

    function: Value
    receiver: Value


@dataclass(slots=True, eq=False)
class Partial:
    """``functools.partial``."""

    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    site: Site
    bound: Site | None = None
    """The assignment that first gave it a name."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the scanned tree, by dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something outside the tree, by the dotted path that leads to it (calls are written ``()``)."""

    path: str


@cache
def outside(path: str) -> External:
    """What a dotted path leads to; one object for all that ask."""
    return External(path)


@cache
def some_attribute(name: str) -> Free:
    """An attribute of something that is not known; one object for all of a name."""
    return Free(f"attribute {name}")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A decorator or factory that gives back the function it is given (``lru_cache(...)``)."""

    name: str


@dataclass(slots=True, eq=False)
class Builtin:
    """A function of the evaluator's own library model."""

    name: str
    run: Callable[[Machine, Site, list[Value], dict[str, Value]], Value]


@dataclass(slots=True, eq=False)
class Accessor:
    """A property, class method or static method in a class body."""

    kind: str
    function: Value


@dataclass(slots=True, eq=False)
class Factory:
    """The default of a field that is made anew for each object."""

    function: Value
    site: Site


@dataclass(slots=True, eq=False)
class Handle:
    """What a build gives when it is loaded: its attributes are the exports of its sources."""

    builds: tuple[Any, ...]


@dataclass(slots=True, eq=False)
class Export:
    """A function taken from a loaded build."""

    builds: tuple[Any, ...]
    name: str


@dataclass(slots=True, eq=False)
class Lazy:
    """A name whose value is computed when it is first read."""

    compute: Callable[[Machine], Value]
    running: bool = False


Data = Any
"""A constant, a tuple of :class:`Value`, or one of the classes of this module."""

CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), PurePosixPath, Version, slice)


def is_constant(data: Data) -> bool:
    """A plain Python value that may be computed with."""
    return isinstance(data, CONSTANTS)


def optional(value: Value) -> bool:
    """Whether an environment variable that is not set decides a value, and no answer of the device."""
    return value.source is not None and value.source.option and not value.source.door


def if_set(value: Value) -> Value:
    """What a condition would be if the variables were set that are not, where that is known."""
    source = value.source
    if source is not None and source.kind is Origin.OPTION and isinstance(source.key, Value):
        return source.key
    return value


def undecided(data: Data) -> bool:
    """Not a single known value."""
    return isinstance(data, (Free, Unknown, Choice))


def plain(value: Value) -> Any:
    """The Python value behind constants and containers of constants.

    Raises:
        ValueError: some part is not a known constant.
    """
    try:
        return _plain(value)
    except RecursionError:
        raise ValueError("holds itself, or is nested too deep") from None


def _plain(value: Value) -> Any:
    data = value.data
    if is_constant(data):
        return data
    if isinstance(data, tuple):
        return tuple(_plain(item) for item in data)
    if isinstance(data, List) and not data.open:
        return [_plain(item) for item in data.items]
    if isinstance(data, Dict) and not data.open:
        return {key: _plain(item) for key, (_, item) in data.items.items()}
    if isinstance(data, Set) and not data.open:
        return set(data.items)
    if isinstance(data, Instance) and data.holds is not None:
        return _plain(data.holds)
    raise ValueError("not a known constant")


def hashable(value: Value) -> Any:
    """What stands for a value among the keys of a dictionary or the members of a set.

    Raises:
        ValueError: it is not known.
        TypeError: it cannot be hashed.
    """
    data = value.data
    if isinstance(data, tuple):
        return tuple(hashable(item) for item in data)
    if isinstance(data, Instance) and data.member is not None:
        return data if data.member.data is data else hashable(data.member)
    if isinstance(data, External):
        constant = device.canonical(data.path)
        if constant is None:
            raise ValueError("not a known constant")
        return External(constant)
    if isinstance(data, (Class, Function)):
        return data
    found = plain(value)
    hash(found)
    return found


def membership(value: Value) -> Any:
    """What stands for a value among the members of a set: for an object of the tree, the object itself.

    Whether two objects are held equal is not known: how many members there are is then not, either.

    Raises:
        ValueError: it is not known.
        TypeError: it cannot be hashed.
    """
    data = value.data
    return data if isinstance(data, Instance) and data.member is None else hashable(value)


def lift(data: Any, source: Provenance | None = None, depth: int = 0) -> Value:
    """The value of a plain Python object; the converse of :func:`plain`."""
    if isinstance(data, Value):
        return data
    if isinstance(data, device.Record):
        parts = {name: lift(data[i], source) for i, name in enumerate(data.names)}
        return Value(device.Record(data.ordered_by, **parts), source)
    if isinstance(data, tuple):
        return Value(tuple(lift(item, source, depth) for item in data), source)
    if isinstance(data, list):
        return Value(List([lift(item, source, depth) for item in data], depth), source)
    if isinstance(data, dict):
        items = {key: (lift(key, source, depth), lift(item, source, depth)) for key, item in data.items()}
        return Value(Dict(items, depth), source)
    if isinstance(data, (set, frozenset)):
        return Value(Set({item: lift(item, source, depth) for item in data}, depth), source)
    return Value(data, source)


def join(values: list[Value]) -> Value:
    """A value that is one of these, which of them being free; of many, nothing is known.

    More of them are kept apart where each is something to call: a table of ways to go.
    """
    first = values[0] if values else None
    if first is not None and all([value is first for value in values]):  # noqa: C419
        return first
    sources = [value.source for value in values]
    if first is not None and all([value.data.__class__ is Free for value in values]):  # noqa: C419
        return first.derived(*sources)
    options, unknown = _apart(values)
    source = combine(*sources)
    if unknown is not None:
        return Value(unknown.data, source)
    if len(options) == 1:
        return options[0].derived(source)
    most = _WAYS if all(map(_way, options)) else _OPTIONS
    if not options or len(options) > most:
        return Value(Free("one of many values"), source)
    return Value(Choice(tuple(options)), source)


def _apart(values: list[Value]) -> tuple[list[Value], Value | None]:
    """The values that are not surely the same, of many not all; and the last that is not understood."""
    options: list[Value] = []
    met: set[int] = set()
    unknown: Value | None = None
    for value in values:
        parts = value.data.options if isinstance(value.data, Choice) else (value,)
        for part in parts:
            if isinstance(part.data, Unknown):
                unknown = part
            elif len(options) <= _WAYS and id(part.data) not in met:
                met.add(id(part.data))
                if not any([same(part, known) for known in options]):  # noqa: C419
                    options.append(part)  # of more than that nothing is kept
    return options, unknown


def _way(value: Value) -> bool:
    """Whether it can be called, or its methods can, or it says that there is nothing to call."""
    return value.data is None or isinstance(value.data, (Function, Class, Bound, Partial, Instance))


def same(left: Value, right: Value) -> bool:
    """Surely the same data (constants by value, objects by identity)."""
    a, b = left.data, right.data
    if a is b:
        return True
    if isinstance(a, Free) and isinstance(b, Free):
        return True
    if is_constant(a) and is_constant(b):
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, (External, Module, Wrapper)):
        return bool(a == b)
    if isinstance(a, Bound) and isinstance(b, Bound):
        return same(a.function, b.function) and same(a.receiver, b.receiver)
    return False


class Truth(Enum):
    """The truth of a condition on one architecture."""

    TRUE = "true"
    FALSE = "false"
    FREE = "free"
    UNKNOWN = "unknown"

    def __invert__(self) -> Truth:
        return _NEGATION[self]


def _has_truth(of: Class) -> bool:
    """Whether a class says itself what its objects are as conditions."""
    pending: list[Any] = [of]
    for item in pending:
        if isinstance(item, Class):
            if "__bool__" in item.attributes or "__len__" in item.attributes:
                return True
            pending.extend(base.data for base in item.bases)
    return False


_NEGATION = {
    Truth.TRUE: Truth.FALSE,
    Truth.FALSE: Truth.TRUE,
    Truth.FREE: Truth.FREE,
    Truth.UNKNOWN: Truth.UNKNOWN,
}


def truth(value: Value) -> Truth:
    """The truth value in the sense of Python's ``bool``."""
    data = value.data
    if isinstance(data, Unknown):
        return Truth.UNKNOWN
    if isinstance(data, (Free, External)):
        return Truth.FREE
    if isinstance(data, Choice):
        found = {truth(option) for option in data.options}
        if len(found) == 1:
            return found.pop()
        return Truth.UNKNOWN if Truth.UNKNOWN in found else Truth.FREE
    if isinstance(data, (List, Dict, Set)):
        if data.open:
            return Truth.FREE
        return Truth.TRUE if data.items else Truth.FALSE
    if isinstance(data, tuple) or is_constant(data):
        return Truth.TRUE if data else Truth.FALSE
    if isinstance(data, Instance):
        return Truth.FREE if data.symbolic or _has_truth(data.of) else Truth.TRUE
    return Truth.TRUE


class Raised(Exception):
    """The evaluated code raises: class name, message text, where, and the exception's value.

    ``plain``: a ``raise`` statement that no decision on the device leads to.
    """

    def __init__(
        self, kind: str, message: str, site: Site, value: Value | None = None, plain: bool = False
    ) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message
        self.site = site
        self.value = value
        self.plain = plain

    def kept(self) -> Raised:
        """Itself without the frames of the evaluator, which hold all that was at work: for who keeps it."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self
