"""Models of Python's built-in functions, types and standard library, as far as gates need them."""

from __future__ import annotations

import ast
import builtins
import importlib
import itertools
import os.path
import posixpath
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import PosixPath, PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from analyzer.python import contents, contracts, device
from analyzer.python.modules import ROOT
from analyzer.python.values import (
    Accessor,
    Bound,
    Builtin,
    Choice,
    Class,
    Dict,
    Environment,
    External,
    Factory,
    Free,
    Function,
    Instance,
    List,
    Origin,
    Partial,
    Provenance,
    Raised,
    Set,
    Site,
    Truth,
    Unknown,
    Value,
    Wrapper,
    combine,
    hashable,
    is_constant,
    join,
    lift,
    membership,
    plain,
    some_attribute,
    truth,
    undecided,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Machine

Args = list[Value]
Keywords = dict[str, Value]

#: Built-in classes that stay what they are when the type of their items is named.
GENERIC = frozenset(["list", "dict", "tuple", "set", "frozenset", "type"])
#: Bases that add no attributes of interest.
PLAIN_BASES = frozenset(
    [
        "object",
        "Exception",
        "RuntimeError",
        "ValueError",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "ABC",
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Super:
    """``super()``: the receiver, seen from the class after ``owner``."""

    owner: Class
    receiver: Value


def attribute(m: Machine, value: Value, name: str, site: Site) -> Value:
    """An attribute of a constant, a container or a helper object.

    Raises:
        Raised: AttributeError.
    """
    data = value.data
    if isinstance(data, Super):
        return _super_attribute(m, data, name, site)
    found = contents.attribute(m, value, name)
    if found is not None:
        return found
    if isinstance(data, Environment) and name == "get":
        return Value(Builtin("getenv", _getenv))
    if isinstance(data, (List, Dict, Set)):
        from analyzer.python import containers

        method = containers.method(value, name)
        return method if method is not None else Value(Free(f"method {name}"), value.source)
    if isinstance(data, Builtin):
        path = f"{data.name}.{name}"
        if path in MODELS:
            return Value(MODELS[path])
        if data.name == "dict" and name == "fromkeys":
            return Value(Builtin("fromkeys", _from_keys))
        return Value(Free(f"attribute {name} of {data.name}"))
    if isinstance(data, Found) and m.index.find(data.name) is not None:
        if name in ("origin", "name"):
            return Value(data.name if name == "name" else f"{ROOT}{m.index.path(data.name)}")
        return Value(Free(f"{name} of a module specification"))
    if isinstance(data, PurePosixPath) and name in _PATH_METHODS:
        return _bound(_PATH_METHODS[name], value, name)
    if is_constant(data) or isinstance(data, (tuple, range, re.Match)):
        return _constant_attribute(m, value, name, site)
    return Value(some_attribute(name), value.source)


def _super_attribute(m: Machine, data: Super, name: str, site: Site) -> Value:
    from analyzer.python import expressions

    receiver = data.receiver
    of = receiver.data.of if isinstance(receiver.data, Instance) else receiver.data
    if isinstance(of, Class):
        found = expressions.find_in_class(m, of, name, skip=data.owner)
        if found is not None:
            if isinstance(found.data, Accessor):
                if found.data.kind == "property":
                    return m.call(Value(Bound(found.data.function, receiver)), [], {}, site)
                if found.data.kind == "classmethod":
                    owner = Value(of)
                    return Value(Bound(found.data.function, owner))
                return found.data.function
            if isinstance(found.data, Function):
                return Value(Bound(found, receiver))
            return found
    return Value(Free(f"{name} of a base class outside the tree"))


def _bound(run: Callable[[Machine, Site, Value, Args, Keywords], Value], owner: Value, name: str) -> Value:
    def call(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        return run(m, site, owner, args, keywords)

    return Value(Builtin(name, call), owner.source)


def _constant_attribute(m: Machine, value: Value, name: str, site: Site) -> Value:
    data = value.data
    if isinstance(data, device.Record) and name in data.names:
        item: Value = data[data.names.index(name)]
        return item.derived(value.source)
    if isinstance(data, device.Record) and data.ordered_by:
        return m.unknown(f"{name} of an architecture is not in the device model", site, value.source)
    if not hasattr(data, name):
        if isinstance(data, PurePosixPath) and hasattr(PosixPath, name):
            return Value(Free(f"method {name} of a path"), value.source)  # it asks the file system
        raise Raised("AttributeError", f"{type(data).__name__!r} object has no attribute {name!r}", site)
    if isinstance(data, tuple):
        if name not in ("index", "count"):
            return Value(Free(name))
        try:
            data = tuple(plain(item) for item in data)
        except ValueError:
            asked = combine(value.source, *(item.source for item in data))

            def unclear(machine: Machine, where: Site, args: Args, keywords: Keywords) -> Value:
                return machine.unknown(f"{name} of a tuple that is not known as a whole", where, asked)

            return Value(Builtin(name, unclear), asked)
    try:
        found = getattr(data, name)
    except Exception as error:
        raise Raised(type(error).__name__, str(error), site) from None
    if not callable(found):
        return lift(list(found) if name == "parents" else found, value.source)

    def call(machine: Machine, where: Site, args: Args, keywords: Keywords) -> Value:
        return pure(machine, found, where, args, keywords, name).derived(value.source)

    return Value(Builtin(name, call), value.source)


#: Stands in a text for a part that is not known, where texts with holes are asked for.
HOLE = "\ufffc"


def pure(
    m: Machine, run: Callable[..., Any], site: Site, args: Args, keywords: Keywords, name: str = ""
) -> Value:
    """Call a real, side-effect free Python function when all its arguments are known.

    Raises:
        Raised: what the function raises.
    """
    source = combine(*(value.source for value in [*args, *keywords.values()]))
    for position, value in enumerate(args):
        if isinstance(value.data, Choice):
            from analyzer.python import expressions

            before, after = args[:position], args[position + 1 :]

            def with_option(option: Value, before: Args = before, after: Args = after) -> Value:
                return pure(m, run, site, [*before, option, *after], keywords, name)

            return expressions.each(m, value.data, with_option).derived(source)
    try:
        given = [plain(value) for value in args]
        named = {key: plain(value) for key, value in keywords.items()}
    except ValueError:
        if m.holes and name == "join" and len(args) == 1 and isinstance(args[0].data, List):
            given = [[item.data if isinstance(item.data, str) else HOLE for item in args[0].data.items]]
            return Value(run(*given), source)
        return m.unknown(f"the arguments of {name or 'a function'} are not all known", site, source)
    try:
        result = run(*given, **named)
        if isinstance(result, (str, bytes)) and len(result) > 1_000_000:
            return Value(Free("a long text"), source)
    except Exception as error:
        raise Raised(type(error).__name__, str(error), site) from None
    return _lifted(result, source, m)


def _lifted(result: Any, source: Any, m: Machine) -> Value:
    if isinstance(result, (list, dict, set, frozenset, tuple)):
        return lift(result, source, m.depth)
    if is_constant(result) or isinstance(result, range):
        return Value(result, source)
    if isinstance(result, (map, filter, zip, itertools.chain, itertools.product, enumerate, reversed)):
        return lift(list(itertools.islice(result, 4096)), source, m.depth)
    if result is NotImplemented:
        return Value(Free("not implemented"), source)
    return Value(Free("a result that is not modelled"), source)


def text_of(m: Machine, value: Value) -> str | None:
    """``str(value)`` where it is known."""
    from analyzer.python import expressions

    data = value.data
    if isinstance(data, Instance) and expressions.is_enum(m, data.of):
        name = data.attributes.get("name")  # that of any member is not known
        return f"{data.of.node.name}.{name.data}" if name is not None and isinstance(name.data, str) else None
    if isinstance(data, Instance) and not data.symbolic:
        method = expressions.find_in_class(m, data.of, "__str__")
        if method is not None and isinstance(method.data, Function):
            text = m.call(Value(Bound(method, value)), [], {}, m.stack[-1].site(method.data.node)).data
            return text if isinstance(text, str) else None
    if isinstance(data, (External,)) and "()" not in data.path:
        return data.path
    return None


# Built-in functions.


def _first(args: Args) -> Value:
    return args[0] if args else Value(None)


def _len(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    value = _first(args)
    data = value.data
    if isinstance(data, Set) and sum(isinstance(key, Instance) for key in data.items) > 1:
        return Value(Free("how many objects are held equal"), value.source)
    if isinstance(data, (List, Dict, Set)) and not data.open:
        return Value(len(data.items), value.source)
    if isinstance(data, (tuple, str, bytes, range)):
        return Value(len(data), value.source)
    if isinstance(data, Instance):
        from analyzer.python import expressions

        method = expressions.find_in_class(m, data.of, "__len__")
        order = expressions.namedtuple_fields(m, data.of)
        if method is not None:
            return m.call(Value(Bound(method, value)), [], {}, site)
        if order:
            return Value(len(order))
    if isinstance(data, Unknown):
        return value
    return Value(Free("a length"), value.source)


def _bool(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    value = expressions.as_condition(m, args[0] if args else Value(False), site)
    found = truth(value)
    if found is Truth.UNKNOWN:
        return value
    if found is Truth.FREE:
        return Value(Free("a truth value", True), value.source)
    return Value(found is Truth.TRUE, value.source)


def _collection(kind: str) -> Callable[[Machine, Site, Args, Keywords], Value]:
    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        from analyzer.python import expressions

        if not args:
            if kind == "dict":
                return Value(Dict({name: (Value(name), value) for name, value in keywords.items()}, m.depth))
            return {"list": Value(List([], m.depth)), "tuple": Value(()), "set": Value(Set({}, m.depth))}[
                kind
            ]
        value = args[0]
        if isinstance(value.data, Unknown):
            return value
        if kind == "dict" and isinstance(value.data, Dict):
            items = {**value.data.items, **{name: (Value(name), item) for name, item in keywords.items()}}
            return Value(Dict(items, m.depth, value.data.open), value.source)
        elements = expressions.iterate(m, value, site)
        if elements is None:
            known = list(value.data.items) if isinstance(value.data, List) else []
            if kind == "list":
                return Value(List(known, m.depth, open=True), value.source)
            if kind == "set":
                return Value(Set({}, m.depth, open=True), value.source)
            if kind == "dict":
                return Value(Dict({}, m.depth, open=True), value.source)
            return Value(Free("a tuple"), value.source)
        if kind == "list":
            return Value(List(elements, m.depth), value.source)
        if kind == "tuple":
            return Value(tuple(elements), value.source)
        if kind == "set":
            members: dict[Any, Value] = {}
            is_open = False
            for element in elements:
                try:
                    members[membership(element)] = element
                except (ValueError, TypeError):
                    is_open = True
            return Value(Set(members, m.depth, is_open), value.source)
        pairs: dict[Any, tuple[Value, Value]] = {}
        result = Dict(pairs, m.depth)
        for element in elements:
            pair = expressions.iterate(m, element, site)
            if pair is None or len(pair) != 2:
                result.open = True
                continue
            try:
                pairs[hashable(pair[0])] = (pair[0], pair[1])
            except (ValueError, TypeError):
                result.open = True
        return Value(result, value.source)

    return run


def _from_keys(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions, stores

    result = Dict({}, m.depth)
    elements = expressions.iterate(m, _first(args), site)
    for element in elements or []:
        stores.put(m, result, element, args[1] if len(args) > 1 else Value(None))
    result.open = result.open or elements is None
    return Value(result, combine(*(value.source for value in args)))


def _sorted(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    value = _first(args)
    elements = expressions.iterate(m, value, site)
    if elements is None:
        return Value(
            List(list(value.data.items) if isinstance(value.data, List) else [], m.depth, open=True),
            value.source,
        )
    items = ordered(m, site, elements, keywords)
    if items is None:
        return Value(List(elements, m.depth, open=True), value.source)
    return Value(List(items, m.depth), value.source)


def ordered(m: Machine, site: Site, elements: list[Value], keywords: Keywords) -> list[Value] | None:
    """The elements as ``sorted`` gives them, ``None`` if their order is not known.

    Raises:
        Raised: TypeError, they have no order.
    """
    key = keywords.get("key")
    keys = (
        elements
        if key is None or key.data is None
        else [m.call(key, [element], {}, site) for element in elements]
    )
    backwards = truth(keywords.get("reverse", Value(False)))
    if backwards not in (Truth.TRUE, Truth.FALSE):
        return None
    try:
        ranks = [plain(value) for value in keys]
        order = sorted(range(len(elements)), key=lambda i: ranks[i], reverse=backwards is Truth.TRUE)
    except ValueError:
        return None
    except TypeError as error:
        raise Raised("TypeError", str(error), site) from None
    return [elements[i] for i in order]


def _any(stop: Truth) -> Callable[[Machine, Site, Args, Keywords], Value]:
    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        from analyzer.python import expressions

        value = _first(args)
        elements = expressions.iterate(m, value, site)
        is_open = elements is None
        if elements is None:
            elements = list(value.data.items) if isinstance(value.data, List) else []
        found = [truth(element) for element in elements]
        source = combine(value.source, *(element.source for element in elements))
        if stop in found and not is_open:
            return Value(stop is Truth.TRUE, source)
        if isinstance(value.data, Unknown):
            return value
        unknown = next((e for e in elements if truth(e) is Truth.UNKNOWN), None)
        if unknown is not None:
            return Value(unknown.data, source)
        if is_open or Truth.FREE in found:
            return Value(Free("any/all of free values", True), source)
        return Value(stop is not Truth.TRUE, source)

    return run


def _map(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    if len(args) < 2:
        return Value(Free("map"))
    lists = [expressions.iterate(m, value, site) for value in args[1:]]
    source = combine(*(value.source for value in args[1:]))
    known = [elements for elements in lists if elements is not None]
    if len(known) != len(lists):
        unknown = next((value for value in args[1:] if isinstance(value.data, Unknown)), None)
        return unknown or Value(List([], m.depth, open=True), source)
    return Value(
        List([m.call(args[0], list(row), {}, site) for row in zip(*known, strict=False)], m.depth), source
    )


def _filter(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    elements = expressions.iterate(m, args[1], site) if len(args) > 1 else None
    if elements is None:
        return Value(List([], m.depth, open=True), combine(*(value.source for value in args)))
    kept: list[Value] = []
    result = List(kept, m.depth)
    sources = [args[1].source]
    for element in elements:
        test = element if args[0].data is None else m.call(args[0], [element], {}, site)
        sources.append(test.source)
        if truth(test) is not Truth.FALSE:
            kept.append(element)
            result.open = result.open or truth(test) is not Truth.TRUE
    return Value(result, combine(*sources))


def _zip(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    lists = [expressions.iterate(m, value, site) for value in args]
    known = [elements for elements in lists if elements is not None]
    if len(known) != len(lists):
        return Value(List([], m.depth, open=True))
    return Value(List([Value(tuple(row)) for row in zip(*known, strict=False)], m.depth))


def _enumerate(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    elements = expressions.iterate(m, _first(args), site)
    if elements is None:
        return Value(List([], m.depth, open=True), _first(args).source)
    start = args[1].data if len(args) > 1 and isinstance(args[1].data, int) else 0
    return Value(List([Value((Value(i), e)) for i, e in enumerate(elements, start)], m.depth))


def _range(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    source = combine(*(value.source for value in args))
    if all(isinstance(value.data, int) for value in args):
        try:
            return Value(range(*(value.data for value in args)), source)
        except (ValueError, TypeError) as error:
            raise Raised(type(error).__name__, str(error), site) from None
    unknown = next((value for value in args if isinstance(value.data, Unknown)), None)
    return Value(unknown.data if unknown else Free("a range"), source)


def _getattr(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    if len(args) < 2 or not isinstance(args[1].data, str):
        if (
            len(args) >= 2
            and isinstance(args[1].data, Choice)
            and all(isinstance(o.data, str) for o in args[1].data.options)
        ):
            found = [_getattr(m, site, [args[0], option, *args[2:]], {}) for option in args[1].data.options]
            return join(found).derived(args[1].source)
        return m.unknown("getattr with a name that is not known", site, combine(*(a.source for a in args)))
    try:
        result = m.attribute(args[0], args[1].data, site)
    except Raised as error:
        if error.kind == "AttributeError" and len(args) > 2:
            return args[2]
        raise
    if (
        len(args) > 2
        and isinstance(result.data, (Free, External))
        and not result.tainted
        and isinstance(args[0].data, (External, Free, Instance))
    ):
        return (
            Value(Free(f"{args[1].data} may be missing"), result.source)
            if not isinstance(result.data, External)
            else result
        )
    return result


def _hasattr(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    if len(args) != 2 or not isinstance(args[1].data, str):
        return Value(Free("hasattr"))
    owner = args[0].data
    if isinstance(owner, External):
        path = f"{owner.path}.{args[1].data}"
        known = device.exists(path)
        return Value(Free(f"{path} may exist") if known is None else known)
    if undecided(owner) or (isinstance(owner, Instance) and owner.symbolic):
        return Value(Free("hasattr of a free object"))
    try:
        result = m.attribute(args[0], args[1].data, site)
    except Raised as error:
        if error.kind == "AttributeError":
            return Value(False)
        raise
    return Value(Free("hasattr")) if isinstance(result.data, Free) else Value(True)


def _isinstance(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    if len(args) != 2:
        return Value(Free("isinstance"))
    value, kinds = args
    options = list(kinds.data) if isinstance(kinds.data, tuple) else [kinds]
    own = device.type_of(value.data.path) if isinstance(value.data, External) else None
    if undecided(value.data) or (isinstance(value.data, External) and own is None):
        return Value(Free("the type of a free value"), value.source)
    answers: list[bool | None] = []
    for kind in options:
        if own is not None and isinstance(kind.data, (Builtin, External)):
            answers.append(isinstance(kind.data, External) and kind.data.path == own)
        elif isinstance(kind.data, Builtin) and isinstance(getattr(builtins, kind.data.name, None), type):
            expected = getattr(builtins, kind.data.name)
            actual = {List: list, Dict: dict, Set: set}.get(type(value.data), type(value.data))
            answers.append(issubclass(actual, expected) if not isinstance(value.data, Instance) else None)
        elif isinstance(kind.data, Class):
            if isinstance(value.data, Instance):
                if kind.data in expressions.linear(m, value.data.of):
                    answers.append(True)
                else:
                    answers.append(
                        None if value.data.symbolic or _extends(m, kind.data, value.data) else False
                    )
            else:
                plain_data = is_constant(value.data) or isinstance(value.data, (tuple, List, Dict, Set))
                answers.append(False if plain_data and not _by_shape(m, kind.data) else None)
        elif kind.data is None or isinstance(kind.data, Free):
            answers.append(None)
        elif isinstance(kind.data, External) and isinstance(value.data, Instance):
            answers.append(value.data.of.dotted == kind.data.path or None)
        elif (
            isinstance(kind.data, External)
            and is_constant(value.data)
            and not kind.data.path.startswith(("collections", "typing", "numbers", "pathlib", "os", "numpy"))
        ):
            answers.append(False)
        else:
            answers.append(None)
    if True in answers:
        return Value(True, value.source)
    return Value(Free("the type") if None in answers else False, value.source)


def _by_shape(m: Machine, kind: Class) -> bool:
    """Whether objects are of a class by what they have, whatever they are derived from."""
    from analyzer.python import expressions

    roots = [root.data for root in expressions.mro_roots(m, kind)]
    return any(
        isinstance(root, External) and root.path.startswith(("typing", "collections")) for root in roots
    )


def _extends(m: Machine, kind: Class, instance: Instance) -> bool:
    """Whether a class of the tree derives from the class outside it that an argument is declared to be of."""
    from analyzer.python import expressions

    return any(
        isinstance(root.data, External) and root.data.path == instance.of.dotted
        for root in expressions.mro_roots(m, kind)
    )


def _type(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    data = _first(args).data
    if len(args) == 1 and isinstance(data, Instance):
        return Value(data.of)
    return Value(Free("a type"))


def _issubclass(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    if len(args) == 2 and isinstance(args[0].data, Class) and isinstance(args[1].data, Class):
        return Value(args[1].data in expressions.linear(m, args[0].data))
    return Value(Free("issubclass"))


def _setattr(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import stores

    if len(args) == 3 and isinstance(args[1].data, str):
        stores.attribute(m, args[0], args[1].data, m.under_control(args[2]))
    return Value(None)


def _str(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    value = _first(args)
    if not args:
        return Value("")
    if is_constant(value.data):
        return Value(str(value.data), value.source)
    if isinstance(value.data, Unknown):
        return value
    try:
        if not isinstance(value.data, Instance):
            return Value(str(plain(value)), value.source)
    except ValueError:
        pass
    text = text_of(m, value)
    return Value(text if text is not None else Free("a text"), value.source)


def _callable(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    data = _first(args).data
    if isinstance(data, (Function, Bound, Partial, Class, Builtin)):
        return Value(True)
    return Value(False if is_constant(data) else Free("callable"))


def _next(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    value = _first(args)
    elements = expressions.iterate(m, value, site)
    if elements:
        return elements[0]
    if elements == []:
        if len(args) > 1:
            return args[1].derived(value.source)
        raise Raised("StopIteration", "", site)
    return Value(value.data if isinstance(value.data, Unknown) else Free("an element"), value.source)


def _nothing(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(None)


def _same(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return _first(args)


def _extreme(pick: Callable[..., Any]) -> Callable[[Machine, Site, Args, Keywords], Value]:
    """``min`` or ``max``, which may be given a function that ranks."""

    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        from analyzer.python import expressions

        if "key" not in keywords:
            return pure(m, pick, site, args, keywords, pick.__name__)
        elements = args if len(args) > 1 else expressions.iterate(m, _first(args), site)
        source = combine(*(value.source for value in args))
        if not elements:
            return m.unknown(f"{pick.__name__} of elements that are not known", site, source)
        ranks = [m.call(keywords["key"], [element], {}, site) for element in elements]
        place = pure(
            m,
            lambda *given: given.index(pick(given)),
            site,
            [Value(rank.data, rank.source) for rank in ranks],
            {},
        )
        return elements[place.data].derived(source, place.source) if isinstance(place.data, int) else place

    return run


def _copied(deep: bool) -> Callable[[Machine, Site, Args, Keywords], Value]:
    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        return copy_of(m, _first(args), deep, {})

    return run


def copy_of(m: Machine, value: Value, deep: bool, known: dict[int, Value]) -> Value:
    """A copy of a container or an object, with what it holds if ``deep``; all else is itself."""
    from analyzer.python import containers

    data = value.data
    if id(data) in known:
        return known[id(data)]
    if isinstance(data, (List, Dict, Set)):
        made = known[id(data)] = containers.copied(m, value)
        if deep and isinstance(data, List):
            made.data.items = [copy_of(m, item, deep, known) for item in data.items]
        elif deep and isinstance(data, Dict):
            made.data.items = {
                key: (written, copy_of(m, item, deep, known)) for key, (written, item) in data.items.items()
            }
        return made
    if isinstance(data, tuple) and deep:
        return Value(tuple(copy_of(m, item, deep, known) for item in data), value.source)
    if isinstance(data, Instance):
        twin = Instance(data.of, dict(data.attributes), data.symbolic, m.depth)
        made = known[id(data)] = Value(twin, value.source)
        if deep:
            twin.attributes = {name: copy_of(m, item, deep, known) for name, item in data.attributes.items()}
        return made
    if isinstance(data, Choice):
        return Value(Choice(tuple(copy_of(m, option, deep, known) for option in data.options)), value.source)
    return value


def _real(function: Callable[..., Any]) -> Callable[[Machine, Site, Args, Keywords], Value]:
    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        return pure(m, function, site, args, keywords, getattr(function, "__name__", ""))

    return run


def _dir(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(List([], m.depth, open=True))


# The standard library and its like.


def _partial(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    if not args:
        return Value(Free("partial"))
    return Value(Partial(args[0], tuple(args[1:]), keywords, site))


def _cache(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    if args and isinstance(args[0].data, (Function, Partial, Bound, Builtin)):
        return args[0]
    return Value(Wrapper("cache"))


def _wraps(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(Wrapper("wraps"))


def _getenv(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    key = args[0] if args else keywords.get("key", Value(Free("a name")))
    default = args[1] if len(args) > 1 else keywords.get("default", Value(None))
    if not isinstance(key.data, str):
        return Value(Free("an environment variable"))
    variables: Environment = environment(m).data
    given: tuple[Value, Value] | None = variables.items.get(key.data)
    if given is not None and key.data not in variables.maybe:
        return given[1]
    unset = default.derived(Provenance(Origin.OPTION, (), site, key.data))
    return unset if given is None else join([given[1], unset])


def environment(m: Machine) -> Value:
    """``os.environ``: what the user gave, and what that which is being run put into it."""
    if m.environment is None:
        items = {name: (Value(name), Value(text)) for name, text in m.host.environment}
        variables = Environment(items, m.depth)
        variables.made = 0  # it was there before any branch that first asks for it
        m.environment = Value(variables)
    return m.environment


def _find_spec(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    name = _first(args).data
    if not isinstance(name, str):
        return Value(Free("a module"))
    known = m.index.importable(name)
    if known is None or (known and m.index.find(name) is None and "." in name):
        return Value(Free(f"{name} may be installed"))
    return Value(Found(name)) if known else Value(None)


@dataclass(frozen=True, slots=True)
class Found:
    """A module specification that was found."""

    name: str


def _import_module(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import imports

    name = _first(args).data
    if not isinstance(name, str):
        return Value(Free("a module"))
    if m.index.importable(name) is None:
        m.may_lack = True
    elif m.index.importable(name) is False:
        raise Raised("ModuleNotFoundError", f"No module named {name!r}", site)
    return imports.module_value(m, name)


def _path(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return pure(m, PurePosixPath, site, args, {}, "Path")


def _home(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(PurePosixPath("/<home>"))


def _version(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    def parse(text: Any) -> Any:
        try:
            return Version(str(text))
        except InvalidVersion as error:
            raise ValueError(str(error)) from None

    return pure(m, parse, site, args[:1], {}, "Version")


def _namespace(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    node = ast.ClassDef(name="SimpleNamespace", bases=[], keywords=[], body=[], decorator_list=[])
    return Value(Instance(Class(node, "types", "SimpleNamespace", (), {}), dict(keywords), depth=m.depth))


def _signature(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    """``inspect.signature``: what binds arguments to the parameters of a function of the tree."""
    function = _first(args).data
    if not isinstance(function, Function) or function.node.args.vararg or function.node.args.kwarg:
        return Value(Free("a signature"))
    return _object(m, {"bind": Value(Builtin("bind", partial(_bind, function)))})


def _bind(function: Function, m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    spec = function.node.args
    positional = [parameter.arg for parameter in [*spec.posonlyargs, *spec.args]]
    names = [*positional, *(parameter.arg for parameter in spec.kwonlyargs)]
    given = {**dict(zip(positional, args, strict=False)), **keywords}
    if len(args) > len(positional) or not given.keys() <= set(names):
        raise Raised("TypeError", f"{function.name}() got an unexpected argument", site)
    items = {name: (Value(name), given[name]) for name in names if name in given}
    arguments = Value(Dict(items, m.depth))

    def apply_defaults(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        for name in names:
            if name not in items and name in function.defaults:
                items[name] = (Value(name), function.defaults[name])
        return Value(None)

    return _object(
        m, {"arguments": arguments, "apply_defaults": Value(Builtin("apply_defaults", apply_defaults))}
    )


def _object(m: Machine, attributes: dict[str, Value]) -> Value:
    """An object of which only these attributes are known."""
    return outside(m, "object", attributes)


def outside(m: Machine, path: str, attributes: dict[str, Value]) -> Value:
    """An object of a class outside the tree, by the class's dotted path; its other attributes are free."""
    module, _, name = path.rpartition(".")
    node = ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[])
    of = Class(node, module, name, (Value(External(path)),), {"__bool__": Value(Free("its truth"))})
    return Value(Instance(of, attributes, depth=m.depth))


def _command(m: Machine, site: Site, args: Args, keywords: Keywords) -> tuple[Value, Value] | None:
    """What a command line prints on standard output and standard error; ``None`` if it is not known."""
    given = args[0] if args else keywords.get("args", Value(None))
    try:
        line = plain(given)
        words = shlex.split(line) if isinstance(line, str) else [str(word) for word in line]
    except (ValueError, TypeError):
        words = []
    entry = device.command(words)
    if entry is None:
        m.may_raise = True
        return None
    source = Provenance(Origin.TOOLKIT, (), site, " ".join(words)) if entry.kind == "toolkit" else None
    text = device.printed(entry, m.host)
    named = ("text", "universal_newlines", "encoding")
    is_text = any(truth(keywords[name]) is Truth.TRUE for name in named if name in keywords)
    return (Value(text, source), Value("")) if is_text else (Value(text.encode(), source), Value(b""))


def _check_output(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    found = _command(m, site, args, keywords)
    if found is None:
        return Value(Free("what a program prints"), combine(*(value.source for value in args)))
    return found[0]


def _run_command(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    found = _command(m, site, args, keywords)
    if found is None:
        return Value(Free("what a program does"), combine(*(value.source for value in args)))
    return _namespace(m, site, [], {"returncode": Value(0), "stdout": found[0], "stderr": found[1]})


def _which(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    name = _first(args).data
    entry = device.command(["which", name]) if isinstance(name, str) else None
    if entry is None:
        return Value(Free("a program may be installed"))
    return Value(device.printed(entry, m.host).strip())


def _auto(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(External("enum.auto()"))


def _cast(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return args[1] if len(args) > 1 else Value(Free("cast"))


#: Rows of a product that are listed.
_LONG = 4096


def _product(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    lists = [expressions.iterate(m, value, site) for value in args]
    known = [elements for elements in lists if elements is not None]
    repeat = keywords["repeat"].data if "repeat" in keywords else 1
    if len(known) != len(lists) or not isinstance(repeat, int):
        return Value(List([], m.depth, open=True))
    rows = list(itertools.islice(itertools.product(*known, repeat=repeat), _LONG + 1))
    return Value(List([Value(tuple(row)) for row in rows[:_LONG]], m.depth, open=len(rows) > _LONG))


def _chain(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import expressions

    result: list[Value] = []
    is_open = False
    for value in args:
        elements = expressions.iterate(m, value, site)
        if elements is None:
            is_open = True
        else:
            result.extend(elements)
    return Value(List(result, m.depth, is_open))


def _exists(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    value = _first(args)
    try:
        return Value(path_exists(m, str(plain(value))), value.source)
    except ValueError:
        return Value(Free("a file may exist"))


def path_exists(m: Machine, path: str) -> bool | Free:
    """Whether a file or folder exists: inside the scanned root that is known, outside it free."""
    if path.startswith(ROOT):
        return m.index.has_path(posixpath.normpath(path.removeprefix(ROOT)))
    return Free(f"{path} may exist")


def _glob_text(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    pattern = args[0].data if args and not keywords else None
    if not isinstance(pattern, str):
        return Value(List([], m.depth, open=True))
    return _found(m, "/", Value(pattern.removeprefix("/"), args[0].source), str)


def _found(m: Machine, folder: str, pattern: Value, kind: Callable[[str], Any]) -> Value:
    """What of the tree fits a pattern below a folder.

    The system gives several in no fixed order, so that only one alone has a known place in the list.
    """
    whole = posixpath.normpath(posixpath.join(folder, str(pattern.data)))
    if not isinstance(pattern.data, str) or not whole.startswith(ROOT) or "**" in whole:
        return Value(List([], m.depth, open=True))
    above, _, name = whole.removeprefix(ROOT).rpartition("/")
    if "[" in above or "*" in above or "?" in above:
        above, name = "", whole.removeprefix(ROOT)
    paths = m.index.matching(above, name)
    found = [Value(kind(ROOT + path), pattern.source) for path in paths]
    return Value(List(found, m.depth, open=len(found) > 1), pattern.source)


def _distribution(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(Free("an installed version"))


def _field(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    if "default" in keywords:
        return keywords["default"]
    if "default_factory" in keywords:
        return Value(Factory(keywords["default_factory"], site))
    return Value(Free("a field"))


def _regex(name: str) -> Callable[[Machine, Site, Args, Keywords], Value]:
    def run(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        if name in ("match", "search", "fullmatch"):
            try:
                found = getattr(re, name)(plain(args[0]), plain(args[1]))
            except (ValueError, IndexError, re.error, TypeError):
                return m.unknown(
                    f"re.{name} of values that are not known", site, combine(*(a.source for a in args))
                )
            source = combine(*(a.source for a in args))
            return Value(found, source)
        return pure(m, getattr(re, name), site, args, keywords, f"re.{name}")

    return run


def _warn(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(None)


_SIMPLE: dict[str, Callable[[Machine, Site, Args, Keywords], Value]] = {
    "len": _len,
    "bool": _bool,
    "list": _collection("list"),
    "tuple": _collection("tuple"),
    "set": _collection("set"),
    "frozenset": _collection("set"),
    "dict": _collection("dict"),
    "sorted": _sorted,
    "any": _any(Truth.TRUE),
    "all": _any(Truth.FALSE),
    "map": _map,
    "filter": _filter,
    "zip": _zip,
    "enumerate": _enumerate,
    "range": _range,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "type": _type,
    "str": _str,
    "callable": _callable,
    "next": _next,
    "iter": _same,
    "print": _nothing,
    "open": contents.opened,
    "dir": _dir,
    "repr": _real(repr),
    "int": _real(int),
    "float": _real(float),
    "abs": _real(abs),
    "min": _extreme(min),
    "max": _extreme(max),
    "sum": _real(sum),
    "round": _real(round),
    "pow": _real(pow),
    "divmod": _real(divmod),
    "ord": _real(ord),
    "chr": _real(chr),
    "hex": _real(hex),
    "bin": _real(bin),
    "hash": _real(hash),
    "bytes": _real(bytes),
    "format": _real(format),
    "reversed": _real(lambda items: list(reversed(items))),
}


def _builtins() -> dict[str, Value]:
    table = {name: Value(Builtin(name, run)) for name, run in _SIMPLE.items()}
    for name in dir(builtins):
        found = getattr(builtins, name)
        if name not in table and isinstance(found, type):
            table[name] = Value(Builtin(name, _made))
    for name in ("True", "False", "None", "Ellipsis"):
        table[name] = Value({"True": True, "False": False, "None": None}.get(name, ...))
    table["property"] = Value(Wrapper("property"))
    table["classmethod"] = Value(Wrapper("classmethod"))
    table["staticmethod"] = Value(Wrapper("staticmethod"))
    return table


def _made(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
    return Value(Free("an object"), combine(*(value.source for value in args)))


BUILTINS: dict[str, Value] = _builtins()


def _module_functions(module: str, names: str) -> dict[str, Any]:
    found = importlib.import_module(module)
    return {f"{module}.{name}": Builtin(name, _real(getattr(found, name))) for name in names.split()}


def _models() -> dict[str, Any]:
    table: dict[str, Any] = {
        "functools.partial": Builtin("partial", _partial),
        "functools.lru_cache": Builtin("lru_cache", _cache),
        "functools.cache": Builtin("cache", _cache),
        "functools.wraps": Builtin("wraps", _wraps),
        "functools.cached_property": Wrapper("cached_property"),
        "os.getenv": Builtin("getenv", _getenv),
        "os.path.exists": Builtin("exists", _exists),
        "os.path.isfile": Builtin("isfile", _exists),
        "os.path.isdir": Builtin("isdir", _exists),
        "os.makedirs": Builtin("makedirs", _nothing),
        "glob.glob": Builtin("glob", _glob_text),
        "importlib.util.find_spec": Builtin("find_spec", _find_spec),
        "importlib.import_module": Builtin("import_module", _import_module),
        "importlib.metadata.version": Builtin("version", _distribution),
        "pathlib.Path": Builtin("Path", _path),
        "pathlib.PurePath": Builtin("Path", _path),
        "pathlib.PosixPath": Builtin("Path", _path),
        "Path.home": Builtin("home", _home),
        "Path.cwd": Builtin("cwd", _home),
        "packaging.version.parse": Builtin("parse", _version),
        "packaging.version.Version": Builtin("Version", _version),
        "subprocess.check_output": Builtin("check_output", _check_output),
        "subprocess.run": Builtin("run", _run_command),
        "shutil.which": Builtin("which", _which),
        "shutil.copy": Builtin("copy", contents.copied),
        "shutil.copy2": Builtin("copy", contents.copied),
        "shutil.copyfile": Builtin("copy", contents.copied),
        "io.open": Builtin("open", contents.opened),
        "jinja2.Template": Builtin("Template", contents.template),
        "inspect.signature": Builtin("signature", _signature),
        "types.SimpleNamespace": Builtin("SimpleNamespace", _namespace),
        "argparse.Namespace": Builtin("Namespace", _namespace),
        "enum.auto": Builtin("auto", _auto),
        "typing.cast": Builtin("cast", _cast),
        "object.__getattribute__": Builtin("getattr", _getattr),
        "object.__setattr__": Builtin("setattr", _setattr),
        "itertools.product": Builtin("product", _product),
        "itertools.chain": Builtin("chain", _chain),
        "dataclasses.field": Builtin("field", _field),
        "copy.copy": Builtin("copy", _copied(deep=False)),
        "copy.deepcopy": Builtin("deepcopy", _copied(deep=True)),
        "warnings.warn": Builtin("warn", _warn),
        "typing.TYPE_CHECKING": False,
        "collections.OrderedDict": Builtin("dict", _collection("dict")),
        "collections.defaultdict": Builtin(
            "defaultdict", lambda m, site, args, keywords: Value(Dict({}, m.depth, open=True))
        ),
    }
    for name in ("match", "search", "fullmatch", "findall", "sub", "split", "escape"):
        table[f"re.{name}"] = Builtin(name, _regex(name))
    table |= _module_functions("os.path", "join basename dirname splitext normpath abspath split")
    table |= _module_functions("math", "ceil floor log log2 sqrt prod gcd pow")
    table |= _module_functions("operator", "add mul eq ge gt le lt")
    table |= _module_functions("shlex", "split join quote")
    return table


MODELS: dict[str, Any] = _models()


@cache
def model(path: str) -> Any:
    """What stands for something outside the tree; None if nothing does."""
    if path in contracts.given_back():
        return Builtin(path.rpartition(".")[2], _same)
    return MODELS.get(path)


# Methods of paths.

Method = Callable[["Machine", Site, Value, Args, Keywords], Value]


def _path_same(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    return Value(PurePosixPath(os.path.normpath(str(owner.data))), owner.source)


def _path_exists(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    return Value(path_exists(m, str(owner.data)), owner.source)


def _read_text(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    path = str(owner.data)
    found = contents.content(m, path)
    if found is not None:
        return found
    if path.startswith(ROOT):
        text = m.index.text(posixpath.normpath(path.removeprefix(ROOT)))
        if text is not None:
            return Value(text)
    return Value(Free("the content of a file"))


def _write_text(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    contents.write(m, str(owner.data), args[0] if args else Value(Free("a text")))
    return Value(Free("how much was written"))


def _glob(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    return _found(m, str(owner.data), args[0] if args else Value("*"), PurePosixPath)


_PATH_METHODS: dict[str, Method] = {
    "resolve": _path_same,
    "absolute": _path_same,
    "expanduser": _path_same,
    "exists": _path_exists,
    "is_file": _path_exists,
    "is_dir": _path_exists,
    "read_text": _read_text,
    "mkdir": lambda m, site, owner, args, keywords: Value(None),
    "write_text": _write_text,
    "unlink": lambda m, site, owner, args, keywords: Value(None),
    "touch": lambda m, site, owner, args, keywords: Value(None),
    "glob": _glob,
    "rglob": _glob,
    "iterdir": _glob,
    "open": lambda m, site, owner, args, keywords: contents.opened(m, site, [owner, *args], keywords),
    "stat": lambda m, site, owner, args, keywords: Value(Free("a file's state")),
}
