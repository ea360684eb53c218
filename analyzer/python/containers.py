"""Methods of lists, dictionaries and sets, and what they change in place."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any

from analyzer.python import expressions
from analyzer.python.heap import loosen
from analyzer.python.values import (
    Builtin,
    Dict,
    Environment,
    Free,
    Instance,
    List,
    Raised,
    Set,
    Site,
    Truth,
    Unknown,
    Value,
    combine,
    hashable,
    is_constant,
    join,
    membership,
    truth,
    undecided,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Machine

Args = list[Value]
Keywords = dict[str, Value]
Method = Callable[["Machine", Site, Value, Args, Keywords], Value]


def method(owner: Value, name: str) -> Value | None:
    """The method of a list, dictionary or set, bound to it; ``None`` if it is not modelled."""
    run = METHODS[type(owner.data)].get(name)
    if run is None:
        return None
    found = run

    def call(m: Machine, site: Site, args: Args, keywords: Keywords) -> Value:
        return found(m, site, owner, args, keywords)

    return Value(Builtin(name, call), owner.source)


def _first(args: Args) -> Value:
    return args[0] if args else Value(None)


def _unsettled(m: Machine, owner: Value, what: str) -> Value:
    """Something is changed that cannot be told."""
    loosen(m.heap, owner.data)
    return Value(Free(what), owner.source)


# Lists.


def _append(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    m.heap.change(owner.data)
    owner.data.items.append(m.under_control(_first(args)))
    return Value(None)


def _extend(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    elements = expressions.iterate(m, _first(args), site)
    m.heap.change(owner.data)
    owner.data.open = owner.data.open or elements is None
    owner.data.items.extend(m.under_control(element) for element in elements or [])
    return Value(None)


def _insert(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    if len(args) == 2 and isinstance(args[0].data, int) and not owner.data.open:
        m.heap.change(owner.data)
        owner.data.items.insert(args[0].data, m.under_control(args[1]))
        return Value(None)
    _unsettled(m, owner, "")
    if len(args) == 2:
        owner.data.items.append(args[1])
    return Value(None)


def _pop(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    data = owner.data
    place = args[0].data if args else -1
    if data.open or not isinstance(place, int):
        m.may_raise = True
        return _unsettled(m, owner, "an element")
    m.heap.change(data)
    try:
        found: Value = data.items.pop(place)
    except IndexError as error:
        raise Raised("IndexError", str(error), site) from None
    return found.derived(owner.source)


def _position(m: Machine, site: Site, owner: Value, wanted: Value) -> int | None:
    """Where an element stands; ``None`` if that is not known.

    Raises:
        Raised: ValueError, it surely is not there.
    """
    for position, item in enumerate(owner.data.items):
        found = truth(expressions.equal(m, item, wanted))
        if found is Truth.TRUE and not owner.data.open:
            return position
        if found is not Truth.FALSE:
            return None
    if owner.data.open:
        return None
    raise Raised("ValueError", "the element is not in the list", site)


def _remove(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    position = _position(m, site, owner, _first(args))
    if position is None:
        m.may_raise = True
        return _unsettled(m, owner, "")
    m.heap.change(owner.data)
    del owner.data.items[position]
    return Value(None)


def _index(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    position = _position(m, site, owner, _first(args))
    source = combine(owner.source, *(value.source for value in args))
    if position is None or len(args) > 1:
        m.may_raise = True
        return m.unknown("the place of an element is not known", site, source)
    return Value(position, source)


def _count(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    source = combine(owner.source, *(value.source for value in args))
    found = [truth(expressions.equal(m, item, _first(args))) for item in owner.data.items]
    if owner.data.open or any(one not in (Truth.TRUE, Truth.FALSE) for one in found):
        return Value(Free("a count"), source)
    return Value(found.count(Truth.TRUE), source)


def _reverse(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    m.heap.change(owner.data)
    owner.data.items.reverse()
    return Value(None)


def _sort(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    from analyzer.python import library

    if owner.data.open:
        return Value(None)
    ordered = library.ordered(m, site, list(owner.data.items), keywords)
    if ordered is None:
        _unsettled(m, owner, "")
    else:
        m.heap.change(owner.data)
        owner.data.items = ordered
    return Value(None)


# All of them.


def _copy(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    return copied(m, owner)


def copied(m: Machine, value: Value) -> Value:
    """A shallow copy of a list, dictionary or set."""
    data = value.data
    made = type(data)(data.items.copy(), m.depth, data.open)
    if isinstance(data, Dict):
        made.maybe = data.maybe
    return Value(made, value.source)


def _clear(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    m.heap.change(owner.data)
    owner.data.items.clear()
    owner.data.open = False
    if isinstance(owner.data, Dict):
        owner.data.maybe = frozenset()
    return Value(None)


# Dictionaries.


def _get(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    key = _first(args)
    default = args[1] if len(args) > 1 else keywords.get("default", Value(None))
    if undecided(key.data) and not isinstance(key.data, Unknown):
        options = [expressions.item_or_none(m, owner, option, site) for option in expressions.options(key)]
        found = [default if option is None else option for option in options]
        return join([*found, default] if _open_key(key) else found).derived(key.source)
    try:
        found_item = expressions.item(m, owner, key, site)
    except Raised:
        return default.derived(key.source, owner.source)
    if isinstance(key.data, Unknown):
        return found_item
    if _perhaps_missing(owner.data, key):
        return join([found_item, default]).derived(key.source)
    return found_item


def _open_key(key: Value) -> bool:
    return any(isinstance(option.data, Free) for option in expressions.options(key))


def _perhaps_missing(data: Dict, key: Value) -> bool:
    try:
        wanted = hashable(key)
        return wanted in data.maybe or (data.open and wanted not in data.items)
    except (ValueError, TypeError):
        return True


def _keys(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    return Value(List([key for key, _ in owner.data.items.values()], m.depth, owner.data.open), owner.source)


def _values(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    values = [m.force(value) for _, value in owner.data.items.values()]
    return Value(List(values, m.depth, owner.data.open), owner.source)


def _items(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    pairs = [Value((key, m.force(value))) for key, value in owner.data.items.values()]
    return Value(List(pairs, m.depth, owner.data.open), owner.source)


def _update(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    for value in args:
        merge(m, site, owner.data, value)
    for name, value in keywords.items():
        _put(m, owner.data, Value(name), value)
    return Value(None)


def merge(m: Machine, site: Site, data: Dict, value: Value) -> None:
    """``data.update(value)``."""
    other = value.data
    if isinstance(other, Dict):
        m.heap.change(data)
        for key, (written, item) in other.items.items():
            old = data.items.get(key)
            if key in other.maybe:
                if old is None:
                    data.maybe |= {key}
                else:
                    item = join([old[1], item])
            else:
                data.maybe -= {key}
            data.items[key] = (written, item)
        data.open = data.open or other.open
        return
    pairs = expressions.iterate(m, value, site)
    rows = [expressions.iterate(m, pair, site) for pair in pairs or []]
    if pairs is None or any(row is None or len(row) != 2 for row in rows):
        loosen(m.heap, data)
        return
    for row in rows:
        assert row is not None
        _put(m, data, row[0], row[1])


def _put(m: Machine, data: Dict, key: Value, value: Value) -> None:
    from analyzer.python import stores

    stores.put(m, data, key, m.under_control(value))


def _set_default(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    data, key = owner.data, _first(args)
    default = args[1] if len(args) > 1 else Value(None)
    try:
        wanted = hashable(key)
    except (ValueError, TypeError):
        return _unsettled(m, owner, "an item")
    if wanted in data.items and wanted not in data.maybe:
        return m.force(data.items[wanted][1])
    m.heap.change(data)
    if wanted in data.items:
        default = join([m.force(data.items[wanted][1]), default])
    elif data.open:
        default = join([Value(Free("may be there")), default])
    data.items[wanted] = (key, default)
    data.maybe -= {wanted}
    return default


def _pop_key(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    data, key = owner.data, _first(args)
    has_default = len(args) > 1
    found = _get(m, site, owner, args, keywords) if has_default else expressions.item(m, owner, key, site)
    try:
        wanted = hashable(key)
        m.heap.change(data)
        data.items.pop(wanted, None)
        data.maybe -= {wanted}
    except (ValueError, TypeError):
        loosen(m.heap, data)
    return found


# Sets.


def _member(element: Value) -> Any:
    return membership(element)


def _add(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    m.heap.change(owner.data)
    try:
        owner.data.items[_member(_first(args))] = m.under_control(_first(args))
    except (ValueError, TypeError):
        owner.data.open = True
    return Value(None)


def _add_all(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    for value in args:
        elements = expressions.iterate(m, value, site)
        if elements is None:
            _unsettled(m, owner, "")
        for element in elements or []:
            _add(m, site, owner, [element], {})
    return Value(None)


def _discard(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    try:
        member = _member(_first(args))
    except (ValueError, TypeError):
        return _clear_perhaps(m, owner)
    m.heap.change(owner.data)
    owner.data.items.pop(member, None)
    return Value(None)


def _clear_perhaps(m: Machine, owner: Value) -> Value:
    m.heap.change(owner.data)
    owner.data.items.clear()
    owner.data.open = True
    return Value(None)


def _remove_member(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    try:
        missing = _member(_first(args)) not in owner.data.items
    except (ValueError, TypeError):
        return _clear_perhaps(m, owner)
    if missing and not owner.data.open:
        raise Raised("KeyError", "the member is not in the set", site)
    return _discard(m, site, owner, args, keywords)


def _pop_member(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
    if len(owner.data.items) == 1 and not owner.data.open:
        found: Value = next(iter(owner.data.items.values()))
        _clear(m, site, owner, [], {})
        return found
    found = join([*owner.data.items.values(), Value(Free("a member"))])
    _clear_perhaps(m, owner)
    return found


def _algebra(name: str) -> Method:
    """A method of a set that makes a new one, or compares."""

    def run(m: Machine, site: Site, owner: Value, args: Args, keywords: Keywords) -> Value:
        source = combine(owner.source, *(value.source for value in args))
        lists = [expressions.iterate(m, value, site) for value in args]
        try:
            if owner.data.open or None in lists:
                raise ValueError
            members = [[membership(element) for element in elements or []] for elements in lists]
            objects = any(isinstance(one, Instance) for one in [*owner.data.items, *chain(*members)])
            if objects and name not in ("union", "update"):
                raise ValueError  # which of them are held equal is not known
            result = getattr(set(owner.data.items), name)(*members)
        except (ValueError, TypeError):
            return m.unknown("a set that is not known", site, source)
        if is_constant(result):
            return Value(result, source)
        known = {
            membership(element): element
            for element in [*owner.data.items.values(), *(e for elements in lists for e in elements or [])]
        }
        return Value(Set({member: known[member] for member in result}, m.depth), source)

    return run


METHODS: dict[type, dict[str, Method]] = {
    List: {
        "append": _append,
        "extend": _extend,
        "insert": _insert,
        "copy": _copy,
        "pop": _pop,
        "remove": _remove,
        "clear": _clear,
        "sort": _sort,
        "reverse": _reverse,
        "index": _index,
        "count": _count,
    },
    Dict: {
        "get": _get,
        "keys": _keys,
        "values": _values,
        "items": _items,
        "update": _update,
        "copy": _copy,
        "setdefault": _set_default,
        "pop": _pop_key,
        "clear": _clear,
    },
    Set: {
        "add": _add,
        "update": _add_all,
        "copy": _copy,
        "discard": _discard,
        "remove": _remove_member,
        "pop": _pop_member,
        "clear": _clear,
        **{
            name: _algebra(name)
            for name in (
                "union",
                "intersection",
                "difference",
                "symmetric_difference",
                "issubset",
                "issuperset",
                "isdisjoint",
            )
        },
    },
}
METHODS[Environment] = METHODS[Dict]
