"""Calls: binding arguments, following functions, making functions, classes and objects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from analyzer.python import compiled, contracts, device, expressions, stores
from analyzer.python.ends import Outcome
from analyzer.python.frames import Frame
from analyzer.python.values import (
    NAMED,
    Accessor,
    Bound,
    Builtin,
    Choice,
    Class,
    Dict,
    Export,
    External,
    Factory,
    Free,
    Function,
    FunctionNode,
    Handle,
    Instance,
    Lazy,
    List,
    Loaded,
    Module,
    Origin,
    Partial,
    Provenance,
    Raised,
    Scope,
    Set,
    Site,
    Unknown,
    Value,
    Wrapper,
    combine,
    is_constant,
    join,
    outside,
    undecided,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Machine


def call(
    m: Machine, callee: Value, args: list[Value], keywords: dict[str, Value], site: Site, rest: bool = False
) -> Value:
    """The result of ``callee(*args, **keywords)``.

    Raises:
        Raised: what the callee raises.
    """
    data = callee.data
    if isinstance(data, Free):
        return _call_free(m, args, keywords, site)
    if isinstance(data, Function):
        result = call_function(m, data, args, keywords, site, rest)
    elif isinstance(data, Bound):
        result = call(m, data.function, [data.receiver, *args], keywords, site, rest)
    elif isinstance(data, Partial):
        result = call(m, data.function, [*data.args, *args], {**data.keywords, **keywords}, site, rest)
        result = m.place(result, data.site, "partial")
        if data.bound is not None:
            result = m.place(result, data.bound, "a name for the partial application")
    elif isinstance(data, Builtin):
        if rest:
            return Value(Free("arguments that are not known"))
        result = data.run(m, site, args, keywords)
    elif isinstance(data, Class):
        result = instantiate(m, data, args, keywords, site, rest)
    elif isinstance(data, External):
        return _call_external(m, data, callee, args, keywords, site)
    elif isinstance(data, Wrapper):
        return _wrap(m, data, args)
    elif isinstance(data, Choice):
        return _call_any(m, data, args, keywords, site, rest).derived(callee.source)
    elif isinstance(data, Instance):
        method = expressions.find_in_class(m, data.of, "__call__")
        if method is None:
            return Value(Free("a call of an object"), callee.source)
        result = call(m, Value(Bound(method, callee)), args, keywords, site, rest)
    elif isinstance(data, (Handle, Export)):
        return Value(Free("the result of compiled code"))
    elif isinstance(data, Unknown):
        return callee
    else:
        return _call_free(m, args, keywords, site)
    return result.derived(callee.source) if result.tainted or callee.tainted else result


def _call_free(m: Machine, args: list[Value], keywords: dict[str, Value], site: Site) -> Value:
    """The result of a function of which nothing is known."""
    source = combine(*(value.source for value in [*args, *keywords.values()] if value.tainted))
    if source is not None:
        return m.unknown("an answer of the device goes to a function that is not known", site, source)
    m.may_raise = True
    return Value(Free("the result of a function that is not known"))


def _call_any(
    m: Machine, data: Choice, args: list[Value], keywords: dict[str, Value], site: Site, rest: bool
) -> Value:
    return expressions.each(m, data, lambda option: call(m, option, args, keywords, site, rest))


def _call_external(
    m: Machine, data: External, callee: Value, args: list[Value], keywords: dict[str, Value], site: Site
) -> Value:
    path = f"{data.path}()"
    if device.lookup(path) is not None:
        return expressions.external(m, path, site, callee.source)
    if data.path in contracts.compilers():
        return compiled.loaded(m, contracts.compilers()[data.path], args, keywords)
    if data.path in contracts.traced() and args:
        own = contracts.traced()[data.path]
        _trace(m, args, {name: value for name, value in keywords.items() if name not in own}, site)
    if data.path in contracts.pins() and m.calling is not None:
        _pinned(m, data.path, args, site)
    m.may_raise = True
    tainted = [value for value in [*args, *keywords.values()] if value.tainted]
    if tainted and data.path not in _HARMLESS:
        return m.unknown(
            f"an answer of the device goes to {data.path}", site, combine(*(v.source for v in tainted))
        )
    return Value(outside(path), callee.source)


def _pinned(m: Machine, path: str, args: list[Value], site: Site) -> None:
    """Note to which architecture a compilation is pinned."""
    place = contracts.pins()[path]
    text = args[place].data if place < len(args) else None
    if isinstance(text, str) and m.calling is not None:
        m.recorder.listed(m, m.calling[1], path, text, site)


#: Steps for what is traced: its checks stand at the beginning, its instructions are not Python's.
TRACED = 4_000


def _trace(m: Machine, args: list[Value], keywords: dict[str, Value], site: Site) -> None:
    """Run what is traced, as far as it is worth; what it gives is compiled code."""
    traced = args[0]
    if isinstance(traced.data, Instance):
        method = expressions.find_in_class(m, traced.data.of, "__call__")
        if method is None:
            return
        traced = Value(Bound(method, traced))
    if m.calling is not None:
        node, frame = m.calling
        m.recorder.called(m, frame, node, traced, args[1:], keywords, Value(None), False)
    saved, m.limit = m.limit, min(m.limit, m.steps + TRACED)
    follow, m.follow = m.follow, lambda *_: TRACED  # whatever it is given: all that it calls is compiled
    try:
        call(m, traced, args[1:], keywords, site)
    except m.budget:
        if m.steps > saved:
            raise
    finally:
        m.limit, m.follow = saved, follow


#: How many functions of one text may run in each other.
_ALIKE = 8
_RECURSION = "recursion is not followed further"
_HARMLESS = frozenset(["logging.getLogger()"])


def _wrap(m: Machine, wrapper: Wrapper, args: list[Value]) -> Value:
    if not args:
        return Value(wrapper)
    if wrapper.name in ("property", "classmethod", "staticmethod", "cached_property"):
        return Value(Accessor(wrapper.name, args[0]))
    return args[0]


def call_function(
    m: Machine, function: Function, args: list[Value], keywords: dict[str, Value], site: Site, rest: bool
) -> Value:
    """Follow a function of the tree: run its body on these arguments."""
    calling, m.calling = m.calling, None
    dotted = f"{function.module}.{function.qualname}"
    if dotted in contracts.loads() and args:
        return _loaded(m, args[0])
    if dotted in contracts.caches() and len(args) == 1:
        return args[0]  # what it keeps is what it would give again
    if dotted in contracts.compilers():
        return compiled.loaded(m, contracts.compilers()[dotted], args, keywords)
    tainted = any(carries(value) for value in [*args, *keywords.values()])
    running = [
        frame.function
        for frame in m.stack
        if frame.function is not None and frame.function.node is function.node
    ]
    # What a decorator puts in the place of several functions is one text, and runs for each of them.
    repeated = sum(one.scope is function.scope for one in running)
    if repeated >= 2 or len(running) >= _ALIKE or len(m.stack) >= m.call_limit:
        source = combine(*(value.source for value in [*args, *keywords.values()] if value.tainted))
        m.recursive.add(function.node)
        return m.unknown(_RECURSION, site, source)
    key = _key(function, args, keywords, rest) if _settled(m, function) else None
    known = m.results.get(key)
    if known is not None and known[0] == m.heap.version:
        return known[2]
    version, given = m.heap.version, (function, args, keywords)
    steps = m.follow(function, args, keywords, tainted)
    if steps == 0:
        m.may_raise = True
        return Value(Free(f"{function.name} is not followed"))
    number = m.calls = m.calls + 1
    if calling is not None:
        args, keywords = _mark_arguments(m, calling, function, args, keywords, number)
    frame = frame_of(m, function)
    frame.given = tainted
    bind_arguments(m, function, frame, args, keywords, rest, site)
    result = _within(m, function, frame, steps)
    if not repeated and function.node in m.recursive and undecided(result.data) and _direct(result):
        result = m.unknown(_RECURSION, site, result.source)  # an answer is in it: more of it may be beyond
    if result.source is not None and (result.source.checks or result.tainted):
        result = Value(result.data, Provenance(Origin.RETURN, (result.source,), None, "", key=number))
    note_maker(m, function, result, [*args, *keywords.values()])
    if key is not None and _shareable(result) and not _tells_of(args, result) and m.heap.version == version:
        m.results[key] = (version, given, result)
    return result


def _tells_of(args: list[Value], result: Value) -> bool:
    """Whether a result knows where its arguments are written: they were checked, or will be by what it is."""
    checked = result.source is not None and bool(result.source.checks)
    return checked or (bool(args) and isinstance(result.data, (Function, Partial)))


def _direct(value: Value) -> bool:
    return value.source is not None and value.source.direct


def _settled(m: Machine, function: Function) -> bool:
    """Whether the local names that a function sees from outside can change only in ways that are noted."""
    scope = function.scope
    while scope is not None:
        if any(frame.scope is scope for frame in m.stack):
            return False
        scope = scope.parent
    return True


def _within(m: Machine, function: Function, frame: Frame, steps: int) -> Value:
    """Run a function with an allowance of its own; beyond it, its result is free."""
    saved, own = m.limit, m.steps + steps
    if own >= saved:
        return run(m, function, frame)
    m.limit = own
    try:
        return run(m, function, frame)
    except m.budget:
        if m.steps > saved:
            raise
        m.may_raise = True
        m.passed_over.add((function.name, steps))
        return Value(Free(f"{function.name} is too long to follow here"))
    finally:
        m.limit = saved


def carries(value: Value, depth: int = 3) -> bool:
    """Whether a value, or something in it, comes from a device answer."""
    if value.tainted:
        return True
    data = value.data
    if depth == 0:
        return False
    if isinstance(data, tuple):
        return any(carries(item, depth - 1) for item in data)
    if isinstance(data, List):
        return any(carries(item, depth - 1) for item in data.items[:64])
    if isinstance(data, Dict):
        return any(carries(item, depth - 1) for _, item in list(data.items.values())[:64])
    if isinstance(data, Set):
        return any(carries(item, depth - 1) for item in list(data.items.values())[:64])
    if isinstance(data, Instance) and not data.symbolic:
        return any(carries(item, depth - 1) for item in list(data.attributes.values())[:64])
    return False


def note_maker(m: Machine, function: Function, result: Value, given: Sequence[Value] = ()) -> None:
    """The description of a build is known by the outermost function that gives it back.

    What is compiled and loaded at once is known by the innermost that is not given its sources: one that is,
    helps others to make builds.
    """
    options = result.data.options if isinstance(result.data, Choice) else (result,)
    for option in options:
        data = option.data
        if isinstance(data, Loaded):
            if compiled.names_sources(given):
                m.helping.add(function.dotted)
            elif data.maker is None:
                data.maker = function.dotted
        elif isinstance(data, Instance) and f"{data.of.module}.{data.of.qualname}" in contracts.builds():
            data.maker = function.dotted


def _loaded(m: Machine, build: Value) -> Value:
    """A build that is made and loaded: known by the function that described it."""
    options = build.data.options if isinstance(build.data, Choice) else (build,)
    m.loaded.append((build, m.forks == 0))
    makers = [o.data.maker for o in options if isinstance(o.data, Instance) and o.data.maker is not None]
    if not makers:
        return Value(Free("a build that is not known"), build.source)
    return Value(Handle(tuple(dict.fromkeys(makers))))


def frame_of(m: Machine, function: Function) -> Frame:
    """A fresh frame for a function; its arguments are not bound yet."""
    state = m.state(function.module)
    return Frame(state, function.qualname, Scope(function.scope), owner=function.owner, function=function)


def run(m: Machine, function: Function, frame: Frame) -> Value:
    """Run a function's body in a prepared frame.

    Raises:
        Raised: the body surely raises.
    """
    saved_control, m.control = m.control, []
    m.stack.append(frame)
    body = m.body(function)
    if b"yield" in frame.module.source.data and _yields(function.node):
        frame.produced = List([], m.depth)
    try:
        outcome = m.execute(body, frame)
        ends = [end.value for end in frame.returns if end.value is not None]
        if outcome is Outcome.RETURN:
            ends.append(frame.result or Value(None))
        elif outcome is not Outcome.GONE:
            ends.append(m.under_control(Value(None)))
        if frame.returns:
            m.heap.join([end.way for end in frame.returns], current=outcome is not Outcome.GONE)
    except Raised:
        # It raises on this way; other ways, which a free condition may take, have returned.
        ends = [end.value for end in frame.returns if end.value is not None]
        if not ends:
            raise
        m.heap.join([end.way for end in frame.returns], current=False)
        m.may_raise = True
    finally:
        m.stack.pop()
        m.control = saved_control
    if frame.produced is not None:
        return Value(frame.produced)
    if not ends:
        return Value(Free(f"{function.name} does not return"))
    return join(ends) if len(ends) > 1 else ends[0]


@cache
def _yields(node: FunctionNode) -> bool:
    """Whether a function (its body is lowered) is a generator."""
    stack: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    while stack:
        found = stack.pop()
        if isinstance(found, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(found))
    return False


def _mark_arguments(
    m: Machine,
    calling: tuple[ast.Call, Frame],
    function: Function,
    args: list[Value],
    keywords: dict[str, Value],
    number: int,
) -> tuple[list[Value], dict[str, Value]]:
    """Note where arguments are written, so that a check inside the callee can be told at the caller."""
    node, frame = calling
    if not any(isinstance(argument, ast.Starred) for argument in node.args):
        shift = len(args) - len(node.args)
        args = [
            _marked(value, node.args[i - shift], None, frame, number) if i >= shift else value
            for i, value in enumerate(args)
        ]
    written = {keyword.arg: keyword for keyword in node.keywords if keyword.arg is not None}
    keywords = {
        name: _marked(value, written[name].value, written[name], frame, number) if name in written else value
        for name, value in keywords.items()
    }
    return args, keywords


def _marked(value: Value, node: ast.expr, keyword: ast.keyword | None, frame: Frame, number: int) -> Value:
    data = value.data
    if value.tainted or not (is_constant(data) or isinstance(data, (tuple, List, Set, Dict))) or data is None:
        return value
    source = value.source
    if source is not None and any(n.kind is Origin.ARGUMENT for n in source.walk()):
        if source.kind is not Origin.ARGUMENT or source.what != NAMED:
            return value
        source = None  # a list that several may be given: each is told where it is given
    parents = (source,) if source is not None else ()
    written = keyword if keyword is not None else node
    return Value(
        data,
        Provenance(Origin.ARGUMENT, parents, frame.site(written), key=number, written=frame.written(written)),
    )


def _key(function: Function, args: list[Value], keywords: dict[str, Value], rest: bool) -> Any:
    parts: list[Any] = [id(function.node), id(function.scope), rest]
    for value in args:
        parts.append(_argument_key(value))
    for name in sorted(keywords):
        parts.append((name, _argument_key(keywords[name])))
    return tuple(parts) if None not in parts and all(p is not None for p in parts) else None


def _argument_key(value: Value) -> Any:
    data = value.data
    if value.tainted:
        return ("tainted", id(value))
    if isinstance(data, Free):
        return "free"
    if isinstance(data, External):
        return ("external", data.path)
    if is_constant(data) and not isinstance(data, slice):
        return (type(data).__name__, data)
    if isinstance(data, tuple):
        return tuple(_argument_key(item) for item in data)
    if isinstance(data, List) and not data.open:
        return ("list", tuple(_argument_key(item) for item in data.items))
    if isinstance(data, Choice):
        return ("choice", tuple(_argument_key(item) for item in data.options))
    if isinstance(data, Instance) and data.symbolic:
        known = tuple((name, id(item)) for name, item in data.attributes.items())
        return ("symbolic", id(data.of), known)
    if isinstance(data, (Bound, Partial)):
        return ("callable", id(data))
    return ("object", id(data))


def _shareable(value: Value) -> bool:
    data = value.data
    if isinstance(data, (List, Dict, Set, Instance)):
        return False  # it may be changed by whoever receives it
    if isinstance(data, tuple):
        return all(_shareable(item) for item in data)
    if isinstance(data, Choice):
        return all(_shareable(option) for option in data.options)
    return True


def bind_arguments(
    m: Machine,
    function: Function,
    frame: Frame,
    args: list[Value],
    keywords: dict[str, Value],
    rest: bool,
    site: Site,
) -> None:
    """Bind arguments to parameters by Python's rules.

    Raises:
        Raised: TypeError for missing or unexpected arguments.
    """
    spec = function.node.args
    names = frame.scope.names
    left = dict(keywords)
    positional = [*spec.posonlyargs, *spec.args]
    for parameter, value in zip(positional, args, strict=False):
        names[parameter.arg] = value
    surplus = args[len(positional) :]
    if spec.vararg is not None:
        names[spec.vararg.arg] = Value(List(surplus, m.depth, open=True)) if rest else Value(tuple(surplus))
    elif surplus:
        raise Raised("TypeError", f"{function.name}() takes {len(positional)} positional arguments", site)
    for parameter in [*positional, *spec.kwonlyargs]:
        name = parameter.arg
        if name in left and name in names:
            raise Raised("TypeError", f"{function.name}() got multiple values for argument {name!r}", site)
        if name in left and parameter not in spec.posonlyargs:
            names[name] = left.pop(name)
        elif name not in names:
            default = function.defaults.get(name)
            if rest:
                names[name] = Value(Free(f"the argument {name}"))
            elif default is not None:
                names[name] = m.force(default)
            else:
                raise Raised("TypeError", f"{function.name}() missing argument {name!r}", site)
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = Value(
            Dict({key: (Value(key), value) for key, value in left.items()}, m.depth, rest)
        )
    elif left and not rest:
        raise Raised(
            "TypeError", f"{function.name}() got an unexpected keyword argument {next(iter(left))!r}", site
        )
    if positional and function.owner is not None:
        frame.receiver = names.get(positional[0].arg)


# Definitions.


def make_function(m: Machine, node: FunctionNode, frame: Frame, name: str) -> Value:
    """A function object; defaults are evaluated now."""
    qualname = f"{frame.qualname}.{name}" if frame.qualname else name
    spec = node.args
    defaults: dict[str, Value] = {}
    positional = [*spec.posonlyargs, *spec.args]
    for parameter, default in zip(
        positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True
    ):
        defaults[parameter.arg] = m.evaluate(default, frame)
    for parameter, kw_default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if kw_default is not None:
            defaults[parameter.arg] = m.evaluate(kw_default, frame)
    scope = None if frame.is_module else frame.scope
    owner = None
    if frame.in_class:
        owner, scope = frame.owner, frame.scope.parent
    elif frame.owner is not None:
        owner = frame.owner if isinstance(node, ast.Lambda) else None
    made = Function(node, frame.module.source.name, qualname, scope, defaults, owner)
    if not isinstance(node, ast.Lambda):
        m.defined.setdefault(made.module, {}).setdefault(made.qualname, made)
    return Value(made)


def define_function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    """Bind a function; decorators are applied when the name is first read."""
    made = make_function(m, node, frame, node.name)
    function = made.data
    assert isinstance(function, Function)
    if not node.decorator_list:
        stores.name(m, frame, node.name, made)
        return
    previous = frame.scope.names.get(node.name)

    stores.name(m, frame, node.name, _decorate(m, node, made, frame, previous))


def _decorate(
    m: Machine,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    made: Value,
    frame: Frame,
    previous: Value | None,
) -> Value:
    value = made
    layers: list[Function] = []
    for decorator in reversed(node.decorator_list):
        if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter", "getter"):
            return previous if previous is not None else value
        try:
            wrapper = m.evaluate(decorator, frame)
            if not isinstance(
                wrapper.data, (Function, Bound, Partial, Wrapper, Builtin, Class, Choice, Instance)
            ):
                continue  # outside the tree: taken to give back a function that does the same
            decorated = m.call(wrapper, [value], {}, frame.site(decorator))
        except Raised:
            continue
        inner = decorated.data
        if isinstance(inner, Choice):
            decorated = next((o for o in inner.options if isinstance(o.data, Function)), value)
            inner = decorated.data
        if isinstance(inner, (Function, Bound, Partial, Accessor, Instance, Builtin, Lazy)):
            value = decorated
            if isinstance(inner, Function) and inner is not made.data and inner.stands_for is None:
                inner.stands_for = f"{frame.module.source.name}.{made.data.qualname}"
                layers.append(inner)
    known = m.defined.setdefault(frame.module.source.name, {})
    for name, layer in zip(("as decorated", "as callers get it"), layers[:1] + layers[1:][-1:], strict=False):
        known.setdefault(f"{made.data.qualname} {name}", layer)
    return value


def define_class(m: Machine, node: ast.ClassDef, frame: Frame) -> None:
    """Bind a class: its body runs now, its decorators only tell whether it is a dataclass."""
    qualname = f"{frame.qualname}.{node.name}" if frame.qualname else node.name
    bases = tuple(m.evaluate(base, frame) for base in node.bases if not isinstance(base, ast.Starred))
    scope = Scope(None if frame.is_module else frame.scope)
    of = Class(node, frame.module.source.name, qualname, bases, scope.names)
    of.fields = tuple(
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    )
    of.decorators = tuple(ast.unparse(decorator) for decorator in node.decorator_list)
    inner = Frame(frame.module, qualname, scope, owner=of)
    m.stack.append(inner)
    try:
        m.execute(node.body, inner)
    except Raised:
        pass  # the class is bound with what its body bound so far
    finally:
        m.stack.pop()
    of.attributes = scope.names
    if expressions.is_enum(m, of):
        _make_members(m, of)
    for name, value in list(of.attributes.items()):
        if isinstance(value.data, Instance):
            hook = expressions.find_in_class(m, value.data.of, "__set_name__")
            if hook is not None:
                m.call(Value(Bound(hook, value)), [Value(of), Value(name)], {}, frame.site(node))
    stores.name(m, frame, node.name, Value(of))


def _make_members(m: Machine, of: Class) -> None:
    number = 0
    like_data = any(
        isinstance(base.data, Builtin)
        or (isinstance(base.data, External) and base.data.path in ("enum.IntEnum", "enum.StrEnum"))
        for item in expressions.linear(m, of)
        for base in map(m.force, item.bases)
    )
    for name, value in list(of.attributes.items()):
        data = value.data
        if name.startswith("_") or isinstance(data, (Function, Accessor, Lazy, Class)):
            continue
        if isinstance(data, External) and data.path == "enum.auto()":
            number += 1
            value = Value(number)
        elif isinstance(data, int):
            number = data
        member = Instance(of, {"name": Value(name), "value": value, "_value_": value})
        made = of.attributes[name] = Value(member)
        member.member = value if like_data else made


def is_dataclass(m: Machine, of: Class) -> bool:
    """Whether ``__init__`` is made from the annotated fields."""
    for item in expressions.linear(m, of):
        if any(
            decorator.partition("(")[0].rpartition(".")[2] == "dataclass" for decorator in item.decorators
        ):
            return True
    roots = [root.data for root in expressions.mro_roots(m, of)]
    if any(isinstance(root, External) and root.path in contracts.records() for root in roots):
        return True
    return bool(expressions.namedtuple_fields(m, of))


def fields(m: Machine, of: Class) -> list[str]:
    """The annotated fields of a class and its bases, in the order of its constructor."""
    classes = reversed(expressions.linear(m, of))
    return list(dict.fromkeys(name for item in classes for name in item.fields))


def instantiate(
    m: Machine, of: Class, args: list[Value], keywords: dict[str, Value], site: Site, rest: bool
) -> Value:
    """A new object of a class of the tree.

    Raises:
        Raised: what its constructor raises.
    """
    if expressions.is_enum(m, of):
        return _member_by_value(m, of, args)
    instance = Instance(of, {}, depth=m.depth)
    value = Value(instance)
    init = expressions.find_in_class(m, of, "__init__")
    if init is not None and isinstance(init.data, Function):
        calling = m.calling
        if not m.follow(
            init.data, [value, *args], keywords, any(a.tainted for a in [*args, *keywords.values()])
        ):
            instance.symbolic = True
            return value
        m.calling = calling
        m.call(init, [value, *args], keywords, site, rest)
        return value
    if is_dataclass(m, of):
        _fill_fields(m, of, instance, args, keywords, rest)
        post = expressions.find_in_class(m, of, "__post_init__")
        if post is not None:
            m.call(Value(Bound(post, value)), [], {}, site)
        return value
    roots = expressions.mro_roots(m, of)
    if len(roots) == 1 and isinstance(roots[0].data, Builtin) and roots[0].data.name == "list":
        instance.holds = m.call(roots[0], args, keywords, site)
    elif roots:
        instance.symbolic = True
        instance.attributes.update(keywords)
    return value


def _member_by_value(m: Machine, of: Class, args: list[Value]) -> Value:
    for name, value in of.attributes.items():
        inner = value.data
        if name.startswith("_") or not isinstance(inner, Instance) or not args or inner.of is not of:
            continue
        if expressions._equal(m, inner.attributes["value"], args[0]):
            return value
    return Value(Free("a member of an enumeration"), args[0].source if args else None)


def _fill_fields(
    m: Machine, of: Class, instance: Instance, args: list[Value], keywords: dict[str, Value], rest: bool
) -> None:
    order = fields(m, of)
    defaults = {
        name: item.attributes[name]
        for item in reversed(expressions.linear(m, of))
        for name in item.fields
        if name in item.attributes
    }
    for name, value in zip(order, args, strict=False):
        instance.attributes[name] = value
    for name in order:
        if name in keywords:
            instance.attributes[name] = keywords[name]
        elif name not in instance.attributes:
            instance.attributes[name] = (
                Value(Free(f"the field {name}"))
                if rest or name not in defaults
                else _default(m, defaults[name])
            )


def _default(m: Machine, default: Value) -> Value:
    """The default of a field: made anew where the class names what makes it."""
    value = m.force(default)
    if isinstance(value.data, Factory):
        return m.call(value.data.function, [], {}, value.data.site)
    return value


def symbolic_instance(m: Machine, of: Class) -> Value:
    """An object of that class that was made elsewhere.

    Of its attributes those are known that depend on the architecture or name code; what its constructor was
    given is free.
    """
    known = m.symbolic.get(id(of))
    if known is not None:
        return known
    instance = Instance(of, {}, symbolic=True)
    value = m.symbolic[id(of)] = Value(instance)
    init = expressions.find_in_class(m, of, "__init__")
    if init is None or not isinstance(init.data, Function):
        return value
    with m.aside():
        built = Instance(of, {}, symbolic=True)
        try:
            frame = frame_of(m, init.data)
            free_arguments(m, init.data, frame, Value(built))
            run(m, init.data, frame)
        except (Raised, m.budget):
            pass
    for name, attribute in built.attributes.items():
        data = attribute.data
        if attribute.tainted:
            instance.attributes[name] = attribute
        elif isinstance(data, (List, Set, Dict)) and carries(attribute):
            instance.attributes[name] = Value(_opened(data), attribute.source)
            m.recorder.stored(name)
        elif isinstance(data, (Function, Class, Instance, Handle, Module, Partial, Bound)):
            instance.attributes[name] = attribute
    return value


def _opened(data: List | Set | Dict) -> List | Set | Dict:
    """A copy of a container to which others may have added."""
    if isinstance(data, List):
        return List(list(data.items), open=True)
    if isinstance(data, Set):
        return Set(dict(data.items), open=True)
    return Dict(dict(data.items), open=True)


def free_arguments(m: Machine, function: Function, frame: Frame, receiver: Value | None) -> None:
    """Bind parameters to what any caller may give: free values, or an object of the annotated class."""
    spec = function.node.args
    names = frame.scope.names
    positional = [*spec.posonlyargs, *spec.args]
    for position, parameter in enumerate([*positional, *spec.kwonlyargs]):
        if position == 0 and receiver is not None:
            names[parameter.arg] = receiver
            frame.receiver = receiver
            continue
        names[parameter.arg] = _annotated_value(m, parameter, function, frame)
    if spec.vararg is not None:
        names[spec.vararg.arg] = Value(List([], m.depth, open=True))
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = Value(Dict({}, m.depth, open=True))


def _annotated_value(m: Machine, parameter: ast.arg, function: Function, frame: Frame) -> Value:
    free = Value(Free(f"the argument {parameter.arg}"))
    node = parameter.annotation
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return free
    if isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Optional":
        node = node.slice
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return free
    try:
        value = m.evaluate(node, frame)
    except Raised:
        return free
    if isinstance(value.data, Class) and not expressions.is_enum(m, value.data):
        return symbolic_instance(m, value.data)
    return free


Follow = Callable[[Function, list[Value], dict[str, Value], bool], int]
"""How many steps a call is worth: function, arguments, keyword arguments, whether one is tainted."""
