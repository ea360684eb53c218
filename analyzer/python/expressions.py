"""Expressions: one function for each kind of node, and attribute and item access."""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from analyzer.python import (
    calls,
    containers,
    contracts,
    device,
    flow,
    imports,
    library,
    lists,
    stores,
    tiles,
)
from analyzer.python.frames import Frame
from analyzer.python.values import (
    Accessor,
    Bound,
    Builtin,
    Choice,
    Class,
    Dict,
    Environment,
    Export,
    External,
    Free,
    Function,
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
    Truth,
    Unknown,
    Value,
    combine,
    hashable,
    if_set,
    is_constant,
    join,
    lift,
    membership,
    optional,
    outside,
    plain,
    same,
    some_attribute,
    truth,
    undecided,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Machine


def _constant(m: Machine, node: ast.Constant, frame: Frame) -> Value:
    return Value(node.value)


def _name(m: Machine, node: ast.Name, frame: Frame) -> Value:
    scope = frame.scope
    value = scope.names.get(node.id)
    if value is None or scope.outer or value.data.__class__ is Lazy:
        value = lookup(m, node.id, frame)
    if value is None:
        return Value(Free(f"the name {node.id!r} is not bound here"))
    if m.taken and isinstance(value.data, Free) and frame.function is not None:
        number = m.taken.get((frame.function.node, node.id))
        return value if number is None else Value(number, value.source)
    return value


def lookup(m: Machine, name: str, frame: Frame) -> Value | None:
    """A name's value: local, enclosing, module, built in; ``None`` if it is bound nowhere."""
    scope: Scope | None = frame.scope
    while scope is not None:
        value = scope.names.get(name)
        if value is not None and name not in scope.outer:
            if isinstance(value.data, Lazy):
                value = scope.names[name] = m.force(value)
            return value
        scope = scope.parent
    names = frame.module.names
    value = names.get(name)
    if value is not None:
        if isinstance(value.data, Lazy):
            value = m.force(value)
            names[name] = value
        return value
    return library.BUILTINS.get(name)


def _attribute(m: Machine, node: ast.Attribute, frame: Frame) -> Value:
    value = m.evaluate(node.value, frame)
    if m.unset is not None:
        default = m.unset.asked(node, frame, value)
        if default is not None and node.attr not in m.assumed:
            return default
    return attribute(m, value, node.attr, frame.site(node))


def attribute(m: Machine, value: Value, name: str, site: Site) -> Value:
    """``value.name``.

    Raises:
        Raised: AttributeError where the object surely lacks it.
    """
    data = value.data
    if isinstance(data, Free):
        return m.assumed[name] if name in m.assumed else Value(some_attribute(name), value.source)
    if isinstance(data, Choice):
        return each(m, data, lambda option: attribute(m, option, name, site), True).derived(value.source)
    if isinstance(data, Unknown):
        return Value(data, value.source)
    if isinstance(data, External):
        return external(m, f"{data.path}.{name}", site, value.source)
    if isinstance(data, Module):
        return imports.member(m, data.name, name, site).derived(value.source)
    if isinstance(data, Loaded):
        return Value(Export((data.maker,), name), value.source) if data.maker else Value(Free(name))
    if isinstance(data, Instance):
        return _instance_attribute(m, value, data, name, site)
    if isinstance(data, Class):
        found_in = find_in_class(m, data, name)
        if found_in is not None:
            return _replaced(m, data, name, found_in) or bind_class(m, found_in, value)
        if name in ("__name__", "__qualname__"):
            return Value(data.qualname.rpartition(".")[2])
        if name == "__members__" and is_enum(m, data):
            return Value(
                Dict(
                    {
                        key: (Value(key), bind_class(m, item, value))
                        for key, item in data.attributes.items()
                        if not key.startswith("_")
                    }
                )
            )
        if name == "__dataclass_fields__" and calls.is_dataclass(m, data):
            return Value(Dict({key: (Value(key), Value(Free("a field"))) for key in calls.fields(m, data)}))
        if hasattr(type, name):
            return Value(Free(name), value.source)
        if any(not isinstance(base.data, Class) for base in mro_roots(m, data)):
            return Value(Free(f"{name} may come from a base class outside the tree"), value.source)
        if data.decorators and not calls.is_dataclass(m, data):
            return Value(Free(f"{name} may come from a decorator"), value.source)
        raise Raised("AttributeError", f"type object {data.qualname!r} has no attribute {name!r}", site)
    if isinstance(data, Function):
        if name in data.attributes:
            return data.attributes[name]
        if name in ("__name__", "__qualname__"):
            return Value(data.name)
        if name in ("__wrapped__", "cache_clear", "cache_info"):
            return value if name == "__wrapped__" else Value(Free(name))
        if name in ("__doc__", "__module__", "__dict__", "__signature__", "__annotations__"):
            return Value(Free(name))
        raise Raised("AttributeError", f"function {data.name!r} has no attribute {name!r}", site)
    if isinstance(data, Bound):
        if name == "__func__":
            return data.function
        return attribute(m, data.function, name, site)
    if isinstance(data, Partial):
        if name == "func":
            return data.function
        if name == "args":
            return Value(data.args)
        return Value(Free(name))
    if isinstance(data, Handle):
        return Value(Export(data.builds, name), value.source)
    if isinstance(data, Export):
        return Value(Free(f"attribute {name} of an exported function"), value.source)
    return library.attribute(m, value, name, site)


#: Values on which operators, and access to attributes and items, run no code and change nothing.
_PLAIN = frozenset([Free, Unknown, External, type(None), bool, int, float, str])


def each(m: Machine, choice: Choice, compute: Callable[[Value], Value], quiet: bool = False) -> Value:
    """A computation on a value that is one of several; an option on which it raises is left out.

    ``quiet``: it runs no code on a plain value, so that there is nothing to undo after it.

    Raises:
        Raised: it raises on every option.
    """
    results: list[Value] = []
    error: Raised | None = None
    for option in choice.options:
        try:
            if quiet and type(option.data) in _PLAIN:
                results.append(compute(option))
            else:
                with m.perhaps():
                    results.append(compute(option))
        except Raised as raised:
            error = raised.kept()
    if error is not None:
        if not results:
            raise error
        m.may_raise = True
    return join(results)


def _spread(m: Machine, left: Value, right: Value, compute: Callable[[Value, Value], Value]) -> Value | None:
    """A computation on two values of which one is one of several; ``None`` if neither is."""
    if isinstance(left.data, Choice):
        return each(m, left.data, lambda option: compute(option, right), type(right.data) in _PLAIN)
    if isinstance(right.data, Choice):
        return each(m, right.data, lambda option: compute(left, option), type(left.data) in _PLAIN)
    return None


def external(m: Machine, path: str, site: Site, source: Provenance | None) -> Value:
    """A dotted path outside the tree: answered by the device API, or an object of which nothing is known."""
    door = device.lookup(path)
    if door is None:
        if path == "os.environ":
            return library.environment(m)
        model = library.model(path)
        if model is not None:
            return Value(model, source)
        return Value(outside(path), source)
    if door.path != path or (door.expression is None and door.kind == "device"):
        if door.path == path:
            return Value(External(path), combine(source, Provenance(Origin.DOOR, (), site, path)))
        child = Provenance(Origin.DOOR, (), site, path)
        if path.startswith(door.path) and any(known.startswith(path) for known in device.doors()):
            return Value(outside(path), source)
        return m.unknown(f"{path} is not in the device model", site, combine(source, child))
    if door.kind == "absent":
        raise Raised("AttributeError", f"{path} does not exist here", site)
    if door.kind == "free":
        return Value(Free(path))
    if door.expression is None:
        return Value(outside(path), source)
    data = device.answer(door, m.host)
    if door.kind == "device":
        return lift(data, combine(source, Provenance(Origin.DOOR, (), site, path)))
    if door.kind == "toolkit":
        return lift(data, Provenance(Origin.TOOLKIT, (), site, path))
    return lift(data)


def _instance_attribute(m: Machine, value: Value, data: Instance, name: str, site: Site) -> Value:
    stored = data.attributes.get(name)
    if stored is not None:
        return m.force(stored)
    found = find_in_class(m, data.of, name)
    if found is not None:
        inner = found.data
        if isinstance(inner, Accessor):
            if inner.kind == "property":
                return m.call(Value(Bound(inner.function, value)), [], {}, site)
            if inner.kind == "classmethod":
                return Value(Bound(inner.function, Value(data.of)), found.source)
            if inner.kind == "cached_property":
                result = m.call(Value(Bound(inner.function, value)), [], {}, site)
                data.attributes[name] = result
                return result
            return inner.function
        if isinstance(inner, Function):
            if data.symbolic and _abstract(m, inner):
                made = [Value(Bound(other, value)) for _, other in _overrides(m, data.of, name)]
                return join(made) if made else Value(Free(f"what the class of the object makes of {name}"))
            return Value(Bound(found, value), found.source)
        if isinstance(inner, Builtin):
            return found
        if isinstance(inner, Instance) and find_in_class(m, inner.of, "__get__") is not None:
            getter = attribute(m, found, "__get__", site)
            return m.call(getter, [value, Value(data.of)], {}, site)
        if data.symbolic and not found.tainted and name in data.of.fields:
            if name in m.assumed:
                return m.assumed[name]
            return Value(Free(f"the field {name} of an object that is given"))
        return found
    if name == "__class__":
        return Value(data.of)
    if name == "__dict__":
        return Value(
            Dict({key: (Value(key), item) for key, item in data.attributes.items()}, open=data.symbolic)
        )
    if name == "__dataclass_fields__":
        return attribute(m, Value(data.of), name, site)
    if hasattr(object, name) or name in ("__module__", "__annotations__"):
        return Value(Free(name), value.source)
    hook = find_in_class(m, data.of, "__getattr__")
    if hook is not None and isinstance(hook.data, Function) and not name.startswith("__"):
        return m.call(Value(Bound(hook, value)), [Value(name)], {}, site)
    if data.symbolic or any(not isinstance(base.data, Class) for base in mro_roots(m, data.of)):
        if name in m.assumed:
            return m.assumed[name]
        return Value(some_attribute(name), value.source)
    raise Raised("AttributeError", f"{data.of.qualname!r} object has no attribute {name!r}", site)


def _replaced(m: Machine, of: Class, name: str, found: Value) -> Value | None:
    """What a class that is only derived from makes of a name: that of the classes that derive from it."""
    inner = found.data.function.data if isinstance(found.data, Accessor) else found.data
    if not isinstance(inner, Function) or not _abstract(m, inner):
        return None
    made = [bind_class(m, other, Value(derived)) for derived, other in _overrides(m, of, name)]
    return join(made) if made else None


def _abstract(m: Machine, function: Function) -> bool:
    """Whether a method is there to be replaced: an object that is given has another."""
    known: bool | None = function.node.__dict__.get("abstract")
    if known is None:
        marked = any(
            ast.unparse(decorator).rpartition(".")[2] == "abstractmethod"
            for decorator in getattr(function.node, "decorator_list", ())
        )
        known = function.node.__dict__["abstract"] = marked or _only_refuses(m, function)
    return known


def _only_refuses(m: Machine, function: Function) -> bool:
    """Whether a function does nothing but raise NotImplementedError."""
    if isinstance(function.node, ast.Lambda) or function.owner is None:
        return False
    body = [node for node in m.body(function) if not _is_text(node)]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    error = body[0].exc
    named = error.func if isinstance(error, ast.Call) else error
    return isinstance(named, ast.Name) and named.id == "NotImplementedError"


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _overrides(m: Machine, of: Class, name: str) -> list[tuple[Class, Value]]:
    """What classes beside a class, in its module, that derive from it put in place of a name."""
    state = m.modules.get(of.module)
    found: list[tuple[Class, Value]] = []
    for value in state.names.values() if state is not None else ():
        derived = value.data
        if not isinstance(derived, Class) or derived is of or of not in linear(m, derived):
            continue
        other = find_in_class(m, derived, name)
        if other is not None and other is not find_in_class(m, of, name):
            found.append((derived, other))
    return found


def find_in_class(m: Machine, of: Class, name: str, skip: Class | None = None) -> Value | None:
    """A name in a class or its bases, depth first; ``skip``: begin after that class (``super``)."""
    started = skip is None
    for item in linear(m, of):
        if started and name in item.attributes:
            value = item.attributes[name]
            if isinstance(value.data, Lazy):
                value = item.attributes[name] = m.force(value)
            return value
        if item is skip:
            started = True
    return None


def linear(m: Machine, of: Class) -> list[Class]:
    """The class and its known bases, each before its own bases, duplicates at their last place."""
    order: list[Class] = []
    _visit(m, of, 0, order)
    return order


def _visit(m: Machine, item: Class, depth: int, order: list[Class]) -> None:
    if item in order:
        order.remove(item)
    order.append(item)
    if depth > 20:
        return
    for base in item.bases:
        inner = m.force(base).data
        if isinstance(inner, Class):
            _visit(m, inner, depth + 1, order)


def mro_roots(m: Machine, of: Class) -> list[Value]:
    """The bases that are not classes of the tree (``object`` and the like aside)."""
    outside = []
    for item in linear(m, of):
        for base in item.bases:
            value = m.force(base)
            if isinstance(value.data, Class):
                continue
            if isinstance(value.data, Builtin) and value.data.name in library.PLAIN_BASES:
                continue
            if isinstance(value.data, External) and value.data.path in library.PLAIN_BASES:
                continue
            outside.append(value)
    return outside


def is_enum(m: Machine, of: Class) -> bool:
    """Whether the class is an enumeration."""
    for item in linear(m, of):
        for base in item.bases:
            data = m.force(base).data
            if isinstance(data, External) and data.path.startswith("enum."):
                return True
    return False


def bind_class(m: Machine, found: Value, owner: Value) -> Value:
    """What a name of a class body gives when it is read from the class."""
    inner = found.data
    if isinstance(inner, Accessor):
        if inner.kind == "classmethod":
            return Value(Bound(inner.function, owner), found.source)
        if inner.kind == "staticmethod":
            return inner.function
        return Value(Free("a property read from its class"))
    return found


# Operators.

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}


def _binary(m: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left = m.evaluate(node.left, frame)
    right = m.evaluate(node.right, frame)
    return binary(m, node.op, left, right, frame.site(node))


def binary(m: Machine, op: ast.operator, left: Value, right: Value, site: Site) -> Value:
    """``left op right``.

    Raises:
        Raised: what Python raises for these operands.
    """
    source = combine(left.source, right.source)
    if isinstance(left.data, Unknown) or isinstance(right.data, Unknown):
        return Value(left.data if isinstance(left.data, Unknown) else right.data, source)
    spread = _spread(m, left, right, lambda a, b: binary(m, op, a, b, site))
    if spread is not None:
        return spread.derived(source)
    if isinstance(left.data, (Free, External)) or isinstance(right.data, (Free, External)):
        if isinstance(op, ast.Add):
            for side, other in ((left.data, right.data), (right.data, left.data)):
                if isinstance(side, List) and isinstance(other, (Free, External)):
                    return Value(List(list(side.items), m.depth, open=True), source)
        return Value(Free("an operand is free"), source)
    if isinstance(op, ast.Add):
        if isinstance(left.data, List) and isinstance(right.data, List):
            return Value(
                List([*left.data.items, *right.data.items], m.depth, left.data.open or right.data.open),
                source,
            )
        if isinstance(left.data, tuple) and isinstance(right.data, tuple):
            return Value(left.data + right.data, source)
    if isinstance(op, ast.Mult) and isinstance(left.data, List) and isinstance(right.data, int):
        return Value(List(left.data.items * min(right.data, 4096), m.depth, left.data.open), source)
    if isinstance(op, ast.BitOr) and isinstance(left.data, (Class, Builtin)):
        return Value(Free("a union of types"), source)
    if (
        isinstance(op, (ast.BitOr, ast.BitAnd, ast.Sub))
        and isinstance(left.data, Set)
        and isinstance(right.data, Set)
    ):
        a, b = left.data.items, right.data.items
        if isinstance(op, ast.BitOr):
            merged = {**a, **b}
        elif any(isinstance(key, Instance) for key in [*a, *b]):
            return Value(Set({}, m.depth, True), source)  # which of them are held equal is not known
        elif isinstance(op, ast.BitAnd):
            merged = {key: item for key, item in a.items() if key in b}
        else:
            merged = {key: item for key, item in a.items() if key not in b}
        return Value(Set(merged, m.depth, left.data.open or right.data.open), source)
    if isinstance(op, ast.Mod) and isinstance(left.data, str):
        try:
            return Value(left.data % plain(right), source)
        except (ValueError, TypeError):
            return Value(Free("a text"), source)
    if isinstance(left.data, Instance):
        method = find_in_class(m, left.data.of, _DUNDER.get(type(op), ""))
        if method is not None:
            return m.call(Value(Bound(method, left)), [right], {}, site).derived(source)
        return Value(Free("an operator of an object"), source)
    if is_constant(left.data) and is_constant(right.data):
        if isinstance(op, (ast.Pow, ast.LShift)) and isinstance(right.data, int) and right.data > 256:
            return Value(Free("too large"), source)
        try:
            return Value(_BINARY[type(op)](left.data, right.data), source)
        except Exception as error:  # any error of the operation is the scanned code's own
            raise Raised(type(error).__name__, str(error), site) from None
    return m.unknown(f"operator {type(op).__name__} on these values is not modelled", site, source)


_DUNDER: dict[type[ast.operator], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.BitOr: "__or__",
    ast.BitAnd: "__and__",
}


def _unary(m: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    value = m.evaluate(node.operand, frame)
    if isinstance(node.op, ast.Not):
        value = as_condition(m, value, frame.site(node))
        found = truth(value)
        if found is Truth.UNKNOWN:
            return value
        if found is Truth.FREE:
            return Value(Free("not of a free value", True), value.source)
        return Value(found is Truth.FALSE, value.source)
    return _signed(m, node.op, value, frame.site(node))


def as_condition(m: Machine, value: Value, site: Site) -> Value:
    """What an object of the tree says when it is asked for its truth; any other value is itself."""
    data = value.data
    if isinstance(data, Instance) and not data.symbolic:
        for name in ("__bool__", "__len__"):
            method = find_in_class(m, data.of, name)
            if method is not None:
                return m.call(Value(Bound(method, value)), [], {}, site).derived(value.source)
    return value


def as_data(m: Machine, value: Value) -> Value:
    """A named tuple as a tuple, a member of an ``IntEnum`` or its like as its value, others as they are."""
    data = value.data
    if isinstance(data, Instance) and not data.symbolic:
        if data.member is not None and data.member.data is not data:
            return data.member.derived(value.source)
        order = namedtuple_fields(m, data.of)
        if order and all(name in data.attributes for name in order):
            parts = tuple(data.attributes[name] for name in order)
            return Value(parts, combine(value.source, *(part.source for part in parts)))
    return value


def _signed(m: Machine, op: ast.unaryop, value: Value, site: Site) -> Value:
    data = value.data
    if isinstance(data, Choice):
        return each(m, data, lambda option: _signed(m, op, option, site)).derived(value.source)
    if isinstance(data, (Free, Unknown)) or not is_constant(data):
        return value if isinstance(data, (Free, Unknown)) else Value(Free("an operator"), value.source)
    try:
        return Value(_UNARY[type(op)](data), value.source)
    except TypeError as error:
        raise Raised("TypeError", str(error), site) from None


_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


def _boolean(m: Machine, node: ast.BoolOp, frame: Frame) -> Value:
    """``and``/``or`` by Kleene's logic: what is certain wins over what is open, on whichever side."""
    stop = Truth.FALSE if isinstance(node.op, ast.And) else Truth.TRUE
    operands: list[tuple[ast.expr, Value]] = []
    result = _operands(m, node.values, frame, stop, [], operands)
    if optional(result) and len(operands) < len(node.values):
        result = _with_options(m, node, frame, stop, operands, result)
    asked = if_set(result)
    gate = m.recorder.decision(m, frame, node, "bool", asked, node, operands)
    if gate is None:
        return result
    if asked is not result:
        key = Value(asked.data, gate)
        return Value(result.data, Provenance(Origin.OPTION, (), frame.site(node), key=key))
    return Value(result.data, gate)


def _with_options(
    m: Machine,
    node: ast.BoolOp,
    frame: Frame,
    stop: Truth,
    operands: list[tuple[ast.expr, Value]],
    result: Value,
) -> Value:
    """What ends at an option that is not set, with what it would be if it were."""
    found: list[Value] = []

    def rest() -> None:
        option = Value(Free("an option that is not set", True))
        found.append(_operands(m, node.values[len(operands) :], frame, stop, [option], operands))

    flow.suppose(m, frame, node, rest)
    if not found or not found[0].tainted:
        return result
    return Value(result.data, Provenance(Origin.OPTION, (), frame.site(node), key=found[0]))


def _operands(
    m: Machine,
    nodes: list[ast.expr],
    frame: Frame,
    stop: Truth,
    open_values: list[Value],
    operands: list[tuple[ast.expr, Value]],
) -> Value:
    """The value of ``and``/``or`` over some operands, after others that are open."""
    sources: list[Provenance | None] = []
    certain: Value | None = None
    last = Value(None)
    for operand in nodes:
        try:
            with m.perhaps() if open_values else nullcontext():
                value = m.evaluate(operand, frame)
        except Raised:
            if not open_values:
                raise
            # Reached only if what stands before does not decide: where it does not raise, that decided.
            m.may_raise = True
            value = Value(Free("raises unless an operand before it decides"))
        operands.append((operand, value))
        found = truth(value)
        last = value
        if found is stop:
            certain = value
            break
        if found in (Truth.FREE, Truth.UNKNOWN):
            open_values.append(value)
        elif value.source is not None:
            sources.append(value.source)
    if certain is not None:
        # What made it certain explains it; open operands before it have no part in the outcome.
        source = certain.source if open_values else combine(*sources, certain.source)
        result = Value(certain.data, source)
        if open_values:  # a free operand that decides is told by its truth
            result = Value(join([Value(stop is Truth.TRUE), certain]).data, source)
    elif not open_values:
        result = last.derived(*sources)
    else:
        source = combine(*sources, *(value.source for value in open_values))
        unknown = next((value for value in open_values if truth(value) is Truth.UNKNOWN), None)
        result = (
            Value(unknown.data, source) if unknown is not None else _open(stop, open_values, last, source)
        )
    return result


def _open(stop: Truth, open_values: list[Value], last: Value, source: Provenance | None) -> Value:
    """The value of ``and``/``or`` with free operands: a few known values if they are, else free."""
    ends = [value for value in open_values if value is not last]
    if stop is Truth.TRUE and all(not isinstance(value.data, (Free, External)) for value in [*ends, last]):
        return join([*ends, last]).derived(source)
    return Value(Free("a free operand", True), source)


def _conditional(m: Machine, node: ast.IfExp, frame: Frame) -> Value:
    test = as_condition(m, m.evaluate(node.test, frame), frame.site(node.test))
    gate = m.recorder.decision(m, frame, node.test, "ifexp", if_set(test), node) or test.source
    found = truth(test)
    if found is Truth.TRUE or found is Truth.FALSE:
        side = node.body if found is Truth.TRUE else node.orelse
        if optional(test):
            skipped = node.orelse if found is Truth.TRUE else node.body
            flow.suppose(m, frame, node, lambda: m.evaluate(skipped, frame))
        with m.controlled(gate, side=found is Truth.TRUE):
            value = m.evaluate(side, frame)
        return value.derived(gate)
    values: list[Value] = []
    error: Raised | None = None
    for side in (node.body, node.orelse):
        try:
            with m.perhaps(), m.controlled(gate, side=side is node.body):
                values.append(m.evaluate(side, frame))
        except Raised as raised:
            error = raised.kept()
    if error is not None:
        if not values:
            raise error
        m.may_raise = True
    if found is Truth.UNKNOWN:
        return Value(test.data, gate)
    return join(values).derived(gate)


# Comparison.

_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _compare(m: Machine, node: ast.Compare, frame: Frame) -> Value:
    left = m.evaluate(node.left, frame)
    results: list[Value] = []
    uncertain = False
    for op, operand in zip(node.ops, node.comparators, strict=True):
        try:
            right = m.evaluate(operand, frame)
            results.append(compare(m, op, left, right, frame.site(node)))
            if m.control and right.source is not None and left.source is not None:
                m.recorder.compared(m, frame, node, left, right)
        except Raised:
            if not uncertain:
                raise
            m.may_raise = True
            break
        left = right
        found_one = truth(results[-1])
        if found_one is Truth.FALSE:
            break
        uncertain = uncertain or found_one is not Truth.TRUE
    if len(results) == 1:
        return results[0]
    source = combine(*(result.source for result in results))
    found = [truth(result) for result in results]
    for result, value in zip(results, found, strict=True):
        if value is Truth.FALSE:
            return Value(False, result.source)
    if Truth.UNKNOWN in found:
        return Value(results[found.index(Truth.UNKNOWN)].data, source)
    if Truth.FREE in found:
        return Value(Free("a free operand", True), source)
    return Value(True, source)


def compare(m: Machine, op: ast.cmpop, left: Value, right: Value, site: Site) -> Value:
    """``left op right`` for one comparison.

    Raises:
        Raised: TypeError where Python cannot order the operands.
    """
    if not isinstance(op, (ast.Is, ast.IsNot)):
        left, right = as_data(m, left), as_data(m, right)
    source = _check_source(m, left, right, site)
    result = _compared(m, op, left, right, site, source)
    if source is not None and source.kind is Origin.CHECK:
        found = truth(result)
        if isinstance(op, (ast.NotIn, ast.NotEq)) and found in (Truth.TRUE, Truth.FALSE):
            found = Truth.FALSE if found is Truth.TRUE else Truth.TRUE
        source.what = found.value
    return result


def _compared(
    m: Machine, op: ast.cmpop, left: Value, right: Value, site: Site, source: Provenance | None
) -> Value:
    for side in (left, right):
        if isinstance(side.data, Unknown):
            return Value(side.data, source)
    spread = _spread(m, left, right, lambda a, b: compare(m, op, a, b, site))
    if spread is not None:
        return spread.derived(source)
    if isinstance(op, (ast.Is, ast.IsNot)):
        known = _identical(left, right)
        if known is None:
            return Value(Free("identity of a free value", True), source)
        return Value(known is isinstance(op, ast.Is), source)
    if isinstance(op, (ast.In, ast.NotIn)):
        found = _contains(m, right, left, site)
        if isinstance(right.data, Environment) and isinstance(left.data, str) and found is False:
            source = combine(source, Provenance(Origin.OPTION, (), site, left.data))
        if isinstance(found, Value):
            inside = truth(found)
            if inside is Truth.UNKNOWN:
                return found.derived(source)
            found = None if inside is Truth.FREE else inside is Truth.TRUE
        if found is None:
            return Value(Free("membership is free", True), source)
        return Value(found is isinstance(op, ast.In), source)
    if isinstance(op, (ast.Eq, ast.NotEq)):
        known = _equal(m, left, right)
        if known is None:
            return Value(Free("equality is free", True), source)
        return Value(known is isinstance(op, ast.Eq), source)
    if undecided(left.data) or undecided(right.data):
        return Value(Free("an operand is free"), source)
    try:
        a, b = plain(_ranked(left)), plain(_ranked(right))
    except ValueError:
        if isinstance(left.data, Instance):
            name = {ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__"}[type(op)]
            method = find_in_class(m, left.data.of, name)
            if method is not None:
                return m.call(Value(Bound(method, left)), [right], {}, site).derived(source)
        return Value(Free("order of objects"), source)
    try:
        return Value(bool(_ORDER[type(op)](a, b)), source)
    except TypeError as error:
        raise Raised("TypeError", str(error), site) from None


def _ranked(value: Value) -> Value:
    """What of a value counts where it is put in order."""
    data = value.data
    ranked = isinstance(data, device.Record) and data.ordered_by
    return Value(tuple(data[: data.ordered_by]), value.source) if ranked else value


def _check_source(m: Machine, left: Value, right: Value, site: Site) -> Provenance | None:
    """The provenance of a comparison; a device answer held against an argument checks that argument."""
    source = combine(left.source, right.source)
    if source is None or not source.door:
        return source
    for side, other in ((left, right), (right, left)):
        answers = side.source is not None and side.source.direct
        given = _argument(other) if answers and not other.tainted else None
        if given is not None:
            return Provenance(Origin.CHECK, (source,), site, "", key=given)
    return source


def _argument(value: Value) -> Provenance | None:
    """The argument that a value, or what a container holds, was given by."""
    data = value.data
    items: Iterable[Value] = ()
    if isinstance(data, tuple):
        items = data
    elif isinstance(data, List):
        items = data.items
    elif isinstance(data, Set):
        items = data.items.values()
    for source in (*(item.source for item in itertools.islice(items, 8)), value.source):
        for node in source.walk() if source is not None else ():
            if node.kind is Origin.ARGUMENT:
                return node
    return None


def _identical(left: Value, right: Value) -> bool | None:
    a, b = left.data, right.data
    if isinstance(a, (Free, External)) or isinstance(b, (Free, External)):
        return None
    if a is None or b is None:
        other = b if a is None else a
        if isinstance(other, Instance) and other.symbolic:
            return None
        return a is None and b is None
    if is_constant(a) and is_constant(b):
        return type(a) is type(b) and bool(a == b)
    if is_constant(a) or is_constant(b):
        return False
    if isinstance(a, Instance) and isinstance(b, Instance) and (a.symbolic or b.symbolic):
        return None
    return same(left, right)


def _equal(m: Machine, left: Value, right: Value) -> bool | None:
    left, right = as_data(m, left), as_data(m, right)
    a, b = left.data, right.data
    if isinstance(a, Choice) or isinstance(b, Choice):
        found = {_equal(m, one, other) for one in options(left) for other in options(right)}
        return found.pop() if len(found) == 1 else None
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    if isinstance(a, External) and isinstance(b, External):
        return True if a.path == b.path and "()" not in a.path else device.equal(a.path, b.path)
    if isinstance(a, (Free, External)) or isinstance(b, (Free, External)):
        return None
    try:
        return bool(plain(left) == plain(right))
    except ValueError:
        pass
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        parts = [_equal(m, x, y) for x, y in zip(a, b, strict=True)]
        if False in parts:
            return False
        return None if None in parts else True
    if isinstance(a, Instance) or isinstance(b, Instance):
        return _equal_objects(m, left, right)
    if isinstance(a, (List, Dict, Set)) or isinstance(b, (List, Dict, Set)):
        return None
    return same(left, right)


def equal(m: Machine, left: Value, right: Value) -> Value:
    """``left == right``."""
    known = _equal(m, left, right) if not undecided(left.data) and not undecided(right.data) else None
    return Value(Free("equality is free", True) if known is None else known)


def options(value: Value) -> tuple[Value, ...]:
    """The values that one may be, itself if it is single."""
    return value.data.options if isinstance(value.data, Choice) else (value,)


def item_or_none(m: Machine, value: Value, key: Value, site: Site) -> Value | None:
    """``value[key]``, ``None`` where it surely is not there."""
    try:
        return item(m, value, key, site)
    except Raised:
        return None


def _equal_objects(m: Machine, left: Value, right: Value) -> bool | None:
    """Equality where one side is an object of the tree: by its ``__eq__``, by fields, or by identity."""
    a, b = left.data, right.data
    for one, other in ((left, right), (right, left)):
        if not isinstance(one.data, Instance) or one.data.symbolic:
            continue
        if one.data.member is not None:
            return one.data is other.data
        method = find_in_class(m, one.data.of, "__eq__")
        if method is not None:
            result = truth(m.call(Value(Bound(method, one)), [other], {}, _NOWHERE))
            return None if result not in (Truth.TRUE, Truth.FALSE) else result is Truth.TRUE
    if not isinstance(a, Instance) or not isinstance(b, Instance):
        instance = a if isinstance(a, Instance) else b
        return None if instance.symbolic or mro_roots(m, instance.of) else False
    if a is b:
        return True
    if a.symbolic or b.symbolic or mro_roots(m, a.of):
        return None
    if a.of is b.of and any("dataclass" in decorator for decorator in a.of.decorators):
        rows = Value(tuple(a.attributes.values())), Value(tuple(b.attributes.values()))
        return _equal(m, *rows) if a.attributes.keys() == b.attributes.keys() else None
    return False


_NOWHERE = Site("", 0, 0, 0)


def _contains(m: Machine, container: Value, item: Value, site: Site) -> bool | Value | None:
    data = container.data
    if isinstance(data, (Free, External)):
        return None
    if isinstance(data, str):
        if isinstance(item.data, str):
            return item.data in data
        return None
    if isinstance(data, (List, tuple)):
        items = data.items if isinstance(data, List) else data
        found = [
            _equal(m, element, item) if not isinstance(element.data, Choice) else None for element in items
        ]
        if True in found:
            return None if isinstance(data, List) and data.open else True
        if None in found or (isinstance(data, List) and data.open):
            return None
        return False
    if isinstance(data, (Dict, Set)):
        try:
            key = hashable(item)
            known = key in data.items
        except (ValueError, TypeError):
            return None
        return None if data.open else known
    if isinstance(data, range):
        return item.data in data if isinstance(item.data, int) else None
    if isinstance(data, Instance):
        method = find_in_class(m, data.of, "__contains__")
        if method is not None:
            return m.call(Value(Bound(method, container)), [item], {}, site)
    return None


# Items.


def _subscript(m: Machine, node: ast.Subscript, frame: Frame) -> Value:
    value = m.evaluate(node.value, frame)
    key = m.evaluate(node.slice, frame)
    try:
        result = item(m, value, key, frame.site(node))
    except Raised as error:
        if key.tainted and error.kind in ("KeyError", "IndexError"):
            gate = m.recorder.decision(m, frame, node, "lookup", Value(False, combine(key.source)), node)
            raise Raised(error.kind, error.message, error.site, Value(None, gate)) from None
        raise
    if key.tainted and isinstance(value.data, Dict) and not undecided(key.data):
        m.recorder.decision(m, frame, node, "lookup", Value(True, key.source), node)
    return result


def item(m: Machine, value: Value, key: Value, site: Site) -> Value:
    """``value[key]``.

    Raises:
        Raised: KeyError, IndexError.
    """
    data = value.data
    source = combine(value.source, key.source)
    if isinstance(data, Unknown) or isinstance(key.data, Unknown):
        return Value(data if isinstance(data, Unknown) else key.data, source)
    if isinstance(data, Choice):
        quiet = type(key.data) in _PLAIN
        return each(m, data, lambda option: item(m, option, key, site), quiet).derived(source)
    if isinstance(data, Builtin) and data.name in library.GENERIC:
        return value
    if isinstance(data, External):
        if data.path in contracts.traced():
            return value  # with options for the compiler
        if isinstance(key.data, str):
            return external(m, f"{data.path}['{key.data}']", site, source)
        if isinstance(key.data, int) and not isinstance(key.data, bool):
            return external(m, f"{data.path}[]", site, source)
        return Value(Free("an item of something outside the tree"), source)
    if isinstance(data, Free):
        return Value(Free("an item of a free value"), source)
    if isinstance(data, Dict):
        if isinstance(key.data, Choice):
            return each(m, key.data, lambda option: item(m, value, option, site)).derived(source)
        try:
            wanted = hashable(key)
            entry = data.items.get(wanted)
        except (ValueError, TypeError):
            values = [stored for _, stored in data.items.values()]
            return (join(values) if values and not data.open else Value(Free("an item"))).derived(source)
        if entry is not None:
            m.may_raise = m.may_raise or wanted in data.maybe
            return m.force(entry[1]).derived(source)
        if data.open:
            m.may_raise = True
            return Value(Free(f"the key {wanted!r} may exist"), source)
        raise Raised("KeyError", repr(wanted), site)
    if isinstance(data, re.Match) and isinstance(key.data, (int, str)):
        return library.pure(m, data.group, site, [key], {}, "group").derived(source)
    if isinstance(data, (List, tuple, str, bytes)):
        items: Any = data.items if isinstance(data, List) else data
        if isinstance(data, List) and data.open:
            m.may_raise = True
            return Value(Free("an item of an open list"), source)
        if isinstance(key.data, slice):
            part = items[key.data]
            if isinstance(data, List):
                return Value(List(list(part), m.depth), source)
            return Value(part, source)
        if isinstance(key.data, int):
            try:
                found_item = items[key.data]
            except IndexError as error:
                raise Raised("IndexError", str(error), site) from None
            return found_item.derived(source) if isinstance(found_item, Value) else Value(found_item, source)
        return Value(Free("an item"), source)
    if isinstance(data, Instance):
        method = find_in_class(m, data.of, "__getitem__")
        if method is not None and isinstance(method.data, Function):
            return m.call(Value(Bound(method, value)), [key], {}, site)
        order = namedtuple_fields(m, data.of)
        if order and isinstance(key.data, int) and key.data < len(order):
            return attribute(m, value, order[key.data], site)
        return Value(Free("an item of an object"), source)
    if isinstance(data, Class):
        if is_enum(m, data) and isinstance(key.data, str):
            return attribute(m, value, key.data, site)
        return value  # a generic class with its type argument
    if isinstance(data, (Function, Bound, Builtin)):
        return value if isinstance(data, Builtin) else Value(Free("an item of a function"), source)
    return Value(Free("an item"), source)


def namedtuple_fields(m: Machine, of: Class) -> tuple[str, ...]:
    """The fields in order if the class is a named tuple."""
    for entry in linear(m, of):
        for base in entry.bases:
            data = m.force(base).data
            if isinstance(data, External) and data.path == "typing.NamedTuple":
                return entry.fields
    return ()


def _slice(m: Machine, node: ast.Slice, frame: Frame) -> Value:
    parts = [
        m.evaluate(part, frame) if part is not None else Value(None)
        for part in (node.lower, node.upper, node.step)
    ]
    source = combine(*(part.source for part in parts))
    if any(not isinstance(part.data, (int, type(None))) for part in parts):
        unknown = next((part for part in parts if isinstance(part.data, Unknown)), None)
        return Value(unknown.data if unknown else Free("a slice"), source)
    return Value(slice(*(part.data for part in parts)), source)


# Displays and comprehensions.


def _elements(m: Machine, nodes: list[ast.expr], frame: Frame) -> tuple[list[Value], bool]:
    items: list[Value] = []
    open_ended = False
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = m.evaluate(node.value, frame)
            spread = iterate(m, inner, frame.site(node))
            if spread is None:
                open_ended = True
            else:
                items.extend(spread)
        else:
            items.append(m.evaluate(node, frame))
    return items, open_ended


def _tuple(m: Machine, node: ast.Tuple, frame: Frame) -> Value:
    items, open_ended = _elements(m, node.elts, frame)
    source = combine(*(value.source for value in items))
    if open_ended:
        return Value(List(items, m.depth, open=True), source)
    return Value(tuple(items), source)


def _list(m: Machine, node: ast.List, frame: Frame) -> Value:
    items, open_ended = _elements(m, node.elts, frame)
    return Value(List(items, m.depth, open_ended), combine(*(value.source for value in items)))


def _set(m: Machine, node: ast.Set, frame: Frame) -> Value:
    items, open_ended = _elements(m, node.elts, frame)
    members: dict[Any, Value] = {}
    for value in items:
        try:
            members[membership(value)] = value
        except (ValueError, TypeError):
            open_ended = True
    return Value(Set(members, m.depth, open_ended), combine(*(value.source for value in items)))


def _dict(m: Machine, node: ast.Dict, frame: Frame) -> Value:
    result = Dict({}, m.depth)
    sources: list[Provenance | None] = []
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = m.evaluate(value_node, frame)
        if key_node is None:
            if isinstance(value.data, Dict):
                containers.merge(m, frame.site(value_node), result, value)
            else:
                result.open = True
            continue
        key = m.evaluate(key_node, frame)
        sources.append(key.source)
        stores.put(m, result, key, value)
    for name in lists.variables() & result.items.keys():
        text = result.items[name][1].data
        if isinstance(text, str):
            m.recorder.listed(m, frame, name, text, frame.site(node))
    if tiles.stages() in result.items:
        entries = {str(key): item.data for key, (_, item) in result.items.items()}
        m.recorder.table(m, frame, entries, frame.site(node))
    return Value(result, combine(*sources))


def iterate(m: Machine, value: Value, site: Site) -> list[Value] | None:
    """The elements in order, ``None`` when they are not all known."""
    data = value.data
    if isinstance(data, Instance) and data.holds is not None:
        return iterate(m, data.holds.derived(value.source), site)
    if isinstance(data, tuple):
        return [element.derived(value.source) for element in data]
    if isinstance(data, List):
        return (
            None if data.open and not m.holes else [element.derived(value.source) for element in data.items]
        )
    if isinstance(data, Set):
        if data.open:
            return None
        try:
            keys = sorted(data.items)
        except TypeError:
            keys = list(data.items)
        return [data.items[key].derived(value.source) for key in keys]
    if isinstance(data, Dict):
        return None if data.open else [key.derived(value.source) for key, _ in data.items.values()]
    if isinstance(data, str):
        return [Value(letter, value.source) for letter in data]
    if isinstance(data, range):
        return [Value(number, value.source) for number in data] if len(data) <= 4096 else None
    if isinstance(data, Class) and is_enum(m, data):
        return [
            bind_class(m, m.force(element), value)
            for name, element in data.attributes.items()
            if not name.startswith("_") and isinstance(element.data, Instance)
        ]
    if isinstance(data, Instance):
        order = namedtuple_fields(m, data.of)
        if order:
            return [attribute(m, value, name, site) for name in order]
    return None


Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def _comprehension(m: Machine, node: Comprehension, frame: Frame) -> Value:
    """Over one of several containers, if all are known, what each of them gives."""
    first = node.generators[0].iter
    outermost = m.evaluate(first, frame)
    site = frame.site(first)
    if isinstance(outermost.data, Choice) and all(
        iterate(m, option, site) is not None for option in outermost.data.options
    ):
        return each(m, outermost.data, lambda option: _over(m, node, frame, option)).derived(outermost.source)
    return _over(m, node, frame, outermost)


def _over(m: Machine, node: Comprehension, frame: Frame, outermost: Value) -> Value:
    """A comprehension whose first iterable is this one."""
    scope = Scope(frame.scope)
    inner = Frame(
        frame.module,
        frame.qualname,
        scope,
        owner=frame.owner,
        function=frame.function,
        receiver=frame.receiver,
    )
    found: list[tuple[Value, Value]] = []
    sources: list[Provenance | None] = []
    state = {"open": False}

    def level(position: int) -> None:
        if position == len(node.generators):
            if isinstance(node, ast.DictComp):
                found.append((m.evaluate(node.key, inner), m.evaluate(node.value, inner)))
            else:
                element = m.evaluate(node.elt, inner)
                found.append((element, element))
            return
        generator = node.generators[position]
        source = m.evaluate(generator.iter, inner) if position else outermost
        sources.append(source.source)
        elements = iterate(m, source, frame.site(generator.iter))
        certain = elements is not None
        if elements is None:
            state["open"] = True
            data = source.data
            known = list(data.items) if isinstance(data, List) else []
            elements = (
                [*known, Value(Free("an element"), source.source)]
                if not isinstance(data, Unknown)
                else [source]
            )
        for element in elements:
            with nullcontext() if certain else m.perhaps():
                stores.assign(m, generator.target, element, inner)
                if _filters(m, generator.ifs, inner, sources, state, position, level):
                    level(position + 1)

    level(0)
    source = combine(*sources)
    open_ended = state["open"]
    if isinstance(node, ast.DictComp):
        result = Dict({}, m.depth, open_ended)
        for key, value in found:
            stores.put(m, result, key, value)
        return Value(result, source)
    if isinstance(node, ast.SetComp):
        members: dict[Any, Value] = {}
        for key, _ in found:
            try:
                members[membership(key)] = key
            except (ValueError, TypeError):
                open_ended = True
        return Value(Set(members, m.depth, open_ended), source)
    return Value(List([value for value, _ in found], m.depth, open_ended), source)


def _filters(
    m: Machine,
    tests: list[ast.expr],
    frame: Frame,
    sources: list[Provenance | None],
    state: dict[str, bool],
    position: int,
    level: Callable[[int], None],
) -> bool:
    for test in tests:
        value = m.evaluate(test, frame)
        gate = m.recorder.decision(m, frame, test, "filter", value, test) or value.source
        if gate is not None:
            sources.append(gate)
        found = truth(value)
        if found is Truth.FALSE:
            return False
        if found is not Truth.TRUE:
            state["open"] = True
    return True


# Texts, calls and the rest.


def _joined(m: Machine, node: ast.JoinedStr, frame: Frame) -> Value:
    parts: list[str] = []
    sources: list[Provenance | None] = []
    lost: Value | None = None
    for piece in node.values:
        if isinstance(piece, ast.Constant):
            parts.append(str(piece.value))
            continue
        value = m.evaluate(piece, frame)
        sources.append(value.source)
        if isinstance(value.data, str):
            parts.append(value.data)
        elif lost is None or isinstance(value.data, Unknown):
            lost = value
    source = combine(*sources)
    if lost is not None:
        return Value(lost.data if isinstance(lost.data, Unknown) else Free("a text with a free part"), source)
    return Value("".join(parts), source)


def _formatted(m: Machine, node: ast.FormattedValue, frame: Frame) -> Value:
    value = m.evaluate(node.value, frame)
    if isinstance(value.data, Unknown):
        return value
    if isinstance(value.data, Choice):
        return Value(Free("one of several texts"), value.source)
    data: Any = value
    if not isinstance(value.data, Instance):  # an object says itself how it is written
        with suppress(ValueError):
            data = plain(value)
    if data is value:
        text = library.text_of(m, value)
        if text is None and m.holes:
            text = library.HOLE
        return Value(text, value.source) if text is not None else Value(Free("a text"), value.source)
    spec = ""
    if node.format_spec is not None:
        described = m.evaluate(node.format_spec, frame)
        if not isinstance(described.data, str):
            return Value(Free("a format"), value.source)
        spec = described.data
    if node.conversion == ord("r"):
        data = repr(data)
    elif node.conversion == ord("s"):
        data = str(data)
    try:
        return Value(format(data, spec), value.source)
    except (ValueError, TypeError) as error:
        raise Raised(type(error).__name__, str(error), frame.site(node)) from None


def _call(m: Machine, node: ast.Call, frame: Frame) -> Value:
    site = frame.site(node)
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return _super(m, frame)
    callee = m.evaluate(node.func, frame)
    args: list[Value] = []
    keywords: dict[str, Value] = {}
    rest = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            spread = iterate(m, m.evaluate(argument.value, frame), site)
            if spread is None:
                rest = True
            else:
                args.extend(spread)
        else:
            args.append(m.evaluate(argument, frame))
    for keyword in node.keywords:
        value = m.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value.data, Dict) and all(isinstance(key, str) for key in value.data.items):
            keywords.update({key: item for key, (_, item) in value.data.items.items()})
            rest = rest or value.data.open
        else:
            rest = True
    m.calling = (node, frame)  # whose arguments the next followed function receives
    try:
        result = calls.call(m, callee, args, keywords, site, rest)
    finally:
        m.calling = None
    m.recorder.called(m, frame, node, callee, args, keywords, result, rest)
    return result


def _super(m: Machine, frame: Frame) -> Value:
    if frame.owner is None or frame.receiver is None:
        return Value(Free("super outside a method"))
    receiver, owner = frame.receiver, frame.owner

    return Value(library.Super(owner, receiver))


def _lambda(m: Machine, node: ast.Lambda, frame: Frame) -> Value:
    return calls.make_function(m, node, frame, "<lambda>")


def _named(m: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = m.evaluate(node.value, frame)
    stores.assign(m, node.target, value, frame)
    return value


def _await(m: Machine, node: ast.Await, frame: Frame) -> Value:
    return m.evaluate(node.value, frame)


def _yield(m: Machine, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
    if node.value is not None:
        value = m.evaluate(node.value, frame)
        if frame.produced is None:
            frame.produced = List([], m.depth)
        m.heap.change(frame.produced)
        if isinstance(node, ast.Yield):
            frame.produced.items.append(value)
        else:
            elements = iterate(m, value, frame.site(node))
            frame.produced.items.extend(elements or [])
            frame.produced.open = frame.produced.open or elements is None
    return Value(Free("what is sent to a generator"))


def _starred(m: Machine, node: ast.Starred, frame: Frame) -> Value:
    return m.evaluate(node.value, frame)


HANDLERS: dict[type[ast.AST], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.Compare: _compare,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Starred: _starred,
}
