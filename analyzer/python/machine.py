"""The partial evaluator: one machine for each architecture; its state and its seams."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Protocol

from analyzer.python import calls, compiled, expressions, flow, imports, statements
from analyzer.python.contents import Content
from analyzer.python.device import Host
from analyzer.python.ends import Outcome
from analyzer.python.frames import Frame, ModuleState
from analyzer.python.heap import Heap
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import (
    REST,
    Dict,
    Free,
    Function,
    FunctionNode,
    Lazy,
    Module,
    Origin,
    Provenance,
    Raised,
    Scope,
    Site,
    Unknown,
    Value,
)

#: Nodes that one walk may visit before it gives up.
STEPS = 40_000
#: Depth of calls that are followed.
CALLS = 40


class Budget(Exception):
    """A walk took more steps than it may."""


_HANDLERS = expressions.HANDLERS

TOO_LONG = "the evaluation took too many steps"


@dataclass(slots=True)
class Unset:
    """The options that are not given, where a function asks an object for one that is.

    ``defaults``: values of attributes by name. The object is what stands before the attribute of the option
    that is given, in ``function``: one of the texts ``bases``; ``met``: such objects as they were met.
    """

    defaults: Mapping[str, Value]
    function: FunctionNode
    bases: frozenset[str]
    met: list[Free] = field(default_factory=list)

    def asked(self, node: ast.Attribute, frame: Frame, value: Value) -> Value | None:
        """The default of what is asked for, if it is such an object that is asked and nothing is known of it.

        A name may be given on: who is given it asks the same object.
        """
        if not isinstance(value.data, Free):
            return None
        known = self.given([value])
        here = frame.function is not None and frame.function.node is self.function
        if not known and not (here and ast.unparse(node.value) in self.bases):
            return None
        if not known and isinstance(node.value, ast.Name):
            self.met.append(value.data)
        return self.defaults.get(node.attr)

    def given(self, values: Iterable[Value]) -> bool:
        """Whether such an object is among some values."""
        return any(value.data is one for value in values for one in self.met)


class Recorder(Protocol):
    """Who is told what the evaluated code does."""

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
        """A condition was evaluated; gives back the provenance that what hangs on it shall carry."""

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
        """A call was evaluated; ``rest``: further arguments were given that are not known."""

    def imported(self, m: Machine, frame: Frame, node: ast.Import | ast.ImportFrom, module: str) -> None:
        """A module outside the tree was imported, under a decision."""

    def compared(self, m: Machine, frame: Frame, node: ast.expr, left: Value, right: Value) -> None:
        """Two values were compared that are no plain constants, behind some decision."""

    def bound(self, m: Machine, frame: Frame, node: ast.Assign, value: Value) -> None:
        """A local name was bound to a value that a device answer has a part in."""

    def table(self, m: Machine, frame: Frame, entries: Mapping[str, object], site: Site) -> None:
        """A table with a number of pipeline stages was made, or stands in a function's parameters."""

    def listed(self, m: Machine, frame: Frame, variable: str, text: str, site: Site) -> None:
        """A variable that lists the architectures of a build was given a value."""

    def refused(self, m: Machine, frame: Frame, node: ast.expr, test: Value, error: Raised) -> None:
        """The side that a condition leads to has raised."""

    def stored(self, name: str) -> None:
        """An attribute of that name was given a device answer."""

    def kept(self, m: Machine, frame: Frame, value: Value, site: Site) -> None:
        """An attribute was given a value."""

    def put(self, m: Machine, name: str, value: Value) -> None:
        """An attribute or item of that name was given a value, by a decision or under one."""

    def unresolved(self, site: Site, what: str, why: str) -> None:
        """Something that depends on the architecture was not understood."""


class Machine:
    """Evaluates the scanned Python for one host.

    ``heap`` undoes and joins what branches change in place (``depth``, which containers are
    made with, is always 0). ``control`` holds the provenance of the decisions under which it runs.
    """

    def __init__(self, host: Host, index: ModuleIndex, recorder: Recorder) -> None:
        self.host = host
        self.index = index
        self.recorder = recorder
        self.passed_over: set[tuple[str, int]] = set()
        """Names of functions that were called and not followed to the end; and what was followed of each."""
        self.modules: dict[str, ModuleState] = {}
        self.control: list[Provenance] = []
        self.depth = 0
        self.heap = Heap()
        self.steps = 0
        self.stack: list[Frame] = []
        self.may_raise = False
        """Something that was run may raise, in a way that is not known here."""
        self.may_lack = False
        """A module that was imported may be absent."""
        self.passed: set[tuple[str, int]] = set()
        self.failed: dict[tuple[str, int], str] = {}
        """Sides of decisions (file and mark) that ended without raising; that raised, with the message."""
        self.roots: list[tuple[str, str]] = []
        """The modules and walked functions that are being run, outermost first."""
        self.seconds: dict[str, float] = {}
        """Time spent on each module's code, without that of others run meanwhile."""
        self.inner = 0.0
        self.recursive: set[ast.AST] = set()
        """Functions of which some call was not followed, since they were being run."""
        self.calls = 0
        self.holes = False
        """Whether a text with parts that are not known is kept, with :data:`library.HOLE` in their place."""
        self.to_measure = False
        """Whether one of many builds is made: where several values may be written into it, any will do."""
        self.loaded: list[tuple[Value, bool]] = []
        """Descriptions of builds that were loaded, and whether that is so on every way."""
        self.written: dict[str, Content | str | None] = {}
        """What files were given by what was run, by path; None where several texts, or one not known."""
        self.helping: set[str] = set()
        """Functions that are given the sources of what they compile and load."""
        self.told: dict[str, Value | None] = {}
        """What the tree itself says of its builds, by dotted name."""
        self.forks = 0
        """How many branches are being run of which it is free whether they are taken."""
        self.assumed: dict[str, Value] = {}
        """Options that are given: values of attributes, by name, of objects that are not known."""
        self.unset: Unset | None = None
        """What is known of the options that are not given."""
        self.environment: Value | None = None
        """``os.environ`` as it stands for what is being run; made when first asked for."""
        self.taken: dict[tuple[ast.AST, str], int] = {}
        """What names in functions are taken to be where they are free."""
        self.defined: dict[str, dict[str, Function]] = {}
        """Functions by module and qualified name."""
        self.calling: tuple[ast.Call, Frame] | None = None
        self.call_limit = CALLS
        self.budget = Budget
        self.symbolic: dict[int, Value] = {}
        self.results: dict[object, tuple[int, object, Value]] = {}
        """Calls that were followed: the heap's version, what the key names by identity, the result."""
        self.leading: frozenset[str] = frozenset()
        """The dotted names of functions from which calls were seen to lead to builds."""
        self.follow: calls.Follow = lambda function, args, keywords, tainted: STEPS
        self.limit = STEPS

    # Seams: the parts of the evaluator meet here.

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """The value of an expression.

        Raises:
            Raised: the evaluated code raises.
            Budget: the walk took too long.
        """
        self.steps += 1
        if self.steps > self.limit:
            raise Budget
        handler = _HANDLERS.get(node.__class__)
        if handler is None:
            return self.unknown(f"{type(node).__name__} is not modelled", frame.site(node), None)
        return handler(self, node, frame)

    def execute(self, body: list[ast.stmt], frame: Frame) -> Outcome:
        """Run statements in order; what a ``return`` gives is left in ``frame.result``."""
        return statements.block(self, body, frame)

    def call(
        self,
        callee: Value,
        args: list[Value],
        keywords: dict[str, Value],
        site: Site,
        rest: bool = False,
    ) -> Value:
        """The result of a call; ``rest``: further arguments are given that are not known."""
        return calls.call(self, callee, args, keywords, site, rest)

    def attribute(self, value: Value, name: str, site: Site) -> Value:
        """``value.name``."""
        return expressions.attribute(self, value, name, site)

    def body(self, function: Function) -> list[ast.stmt]:
        """The statements of a function (a lambda's expression as one ``return``)."""
        node: FunctionNode = function.node
        if isinstance(node, ast.Lambda):
            return [ast.Return(value=node.body, lineno=node.lineno, col_offset=node.col_offset)]
        return self.state(function.module).source.parsed.body(node)

    def nodes(self, function: Function) -> Iterator[ast.AST]:
        """Every node in the statements of a function."""
        for statement in self.body(function):
            yield from ast.walk(statement)

    # Modules.

    def state(self, name: str) -> ModuleState:
        """A module of the tree, executed as far as it is (a module in the middle of an import is not done).

        Raises:
            KeyError: there is no such module in the tree.
        """
        state = self.modules.get(name)
        if state is None:
            source = self.index.find(name)
            if source is None:
                raise KeyError(name)
            state = self.modules[name] = ModuleState(source, Scope(None))
            # It is loaded once, whoever comes to it first, and however little that one may do.
            try:
                with self.own_steps(), self.rooted((name, "")), self.aside():
                    imports.run_module(self, state)
                    compiled.find_out(self, name)
            except Budget:
                self.recorder.unresolved(Site(source.file, 1, 1, 1), name, TOO_LONG)
            state.done = True
            for text, value in state.names.items():
                if isinstance(value.data, Dict) and value.data.holds_code:
                    state.held[text] = dict(value.data.items)
        return state

    @contextmanager
    def own_steps(self) -> Iterator[None]:
        """Run something with steps of its own, however many were taken before it."""
        spent, self.steps, limit, self.limit = self.steps, 0, self.limit, STEPS
        try:
            yield
        finally:
            self.steps, self.limit = spent, limit

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run something that the present control flow does not decide, such as another module's body."""
        saved = self.control, self.depth, self.may_raise, self.may_lack, self.heap, self.environment
        self.control, self.depth, self.heap = [], 0, Heap(version=self.heap.version)
        self.environment = None
        try:
            yield
        finally:
            version = self.heap.version
            self.control, self.depth, self.may_raise, self.may_lack, self.heap, self.environment = saved
            self.heap.version = version

    @contextmanager
    def perhaps(self) -> Iterator[None]:
        """Run something of which it is free whether it runs: what it changes is joined with what was."""
        scope = self.stack[-1].scope if self.stack else Scope(None)
        before = scope.names
        scope.names = dict(before)
        begun = self.heap.mark()
        self.forks += 1
        try:
            yield
        finally:
            self.forks -= 1
            way = self.heap.undo(begun, scope)
            after, scope.names = scope.names, before
        self.heap.join([way], current=True)
        if after != before:
            scope.names = flow.merge([before, after])

    @contextmanager
    def rooted(self, key: tuple[str, str]) -> Iterator[None]:
        """Note what is being run, by module and qualified name, and charge its module with the time."""
        self.roots.append(key)
        outer, self.inner = self.inner, 0.0
        begun = process_time()
        try:
            yield
        finally:
            took = process_time() - begun
            self.seconds[key[0]] = self.seconds.get(key[0], 0.0) + took - self.inner
            self.inner = outer + took
            self.roots.pop()

    def force(self, value: Value) -> Value:
        """The value behind a name that is computed when first read."""
        while isinstance(value.data, Lazy):
            lazy = value.data
            if lazy.running:
                return Value(Free("a name that is defined by itself"))
            lazy.running = True
            try:
                with self.aside():
                    value = lazy.compute(self)
            finally:
                lazy.running = False
        return value

    def named(self, dotted: str) -> Value:
        """The value of a dotted name of the tree, such as ``pkg.mod.Class.method``.

        Raises:
            KeyError: no module is a prefix of the name, or an attribute is missing.
        """
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            module = ".".join(parts[:cut])
            if self.index.find(module) is None:
                continue
            value = Value(Module(module))
            site = Site(self.index.path(module), 1, 1, 1)
            for name in parts[cut:]:
                value = self.attribute(value, name, site)
            return value
        raise KeyError(dotted)

    # Provenance.

    def place(self, value: Value, site: Site, what: str) -> Value:
        """The value with one more place on its way, if it comes from a door."""
        source = value.source
        if source is None or not source.door:
            return value
        return Value(value.data, Provenance(Origin.PLACE, (source,), site, what))

    def under_control(self, value: Value, local: bool = False) -> Value:
        """The value as it is when stored here: what decided that this runs is among its sources.

        ``local``: it is bound to a local name, which nobody sees where an early return was taken.
        """
        if not self.control:
            return value
        return value.derived(*(source for source in self.control if not local or source.what != REST))

    @contextmanager
    def controlled(
        self, source: Provenance | None, what: str = "", side: bool | None = None
    ) -> Iterator[None]:
        """Run under a decision of that provenance; ``what``: see :data:`~analyzer.python.values.REST`.

        ``side``: what its condition came out as, where it has one.
        """
        if source is None or not (source.door or source.option):
            yield
            return
        self.control.append(Provenance(Origin.CONTROL, (source,), what=what, key=side))
        try:
            yield
        finally:
            self.control.pop()

    def unknown(self, why: str, site: Site, source: Provenance | None) -> Value:
        """What is not understood: unknown if a door has a part in it, free otherwise."""
        if source is not None and source.door:
            return Value(Unknown(why, site), source)
        return Value(Free(why), source)
