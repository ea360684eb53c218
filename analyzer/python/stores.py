"""Assignments: to names, attributes, items, and by unpacking."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analyzer.python import expressions, lists
from analyzer.python.heap import loosen
from analyzer.python.values import (
    Choice,
    Class,
    Dict,
    Export,
    Free,
    Function,
    Instance,
    Lazy,
    List,
    Module,
    Origin,
    Raised,
    Scope,
    Set,
    Site,
    Unknown,
    Value,
    hashable,
    join,
    undecided,
)

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine


def assign(m: Machine, target: ast.expr, value: Value, frame: Frame) -> None:
    """``target = value``.

    Raises:
        Raised: what the unpacking or the owner of the target raises.
    """
    if isinstance(target, ast.Name):
        stored = m.under_control(value, local=not frame.is_module and target.id not in frame.scope.outer)
        if stored.tainted:
            stored = m.place(stored, frame.site(target), "")
        name(m, frame, target.id, stored)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(m, target, value, frame)
    elif isinstance(target, ast.Attribute):
        owner = m.evaluate(target.value, frame)
        if _answers(value):
            m.recorder.stored(target.attr)
        stored = m.under_control(value)
        if stored.tainted:
            m.recorder.put(m, target.attr, value)
        if isinstance(value.data, Export):
            m.recorder.kept(m, frame, value, frame.site(target))
        attribute(m, owner, target.attr, m.place(stored, frame.site(target), ""))
    elif isinstance(target, ast.Subscript):
        _assign_item(m, target, value, frame)
    elif isinstance(target, ast.Starred):
        assign(m, target.value, value, frame)


def _assign_item(m: Machine, target: ast.Subscript, value: Value, frame: Frame) -> None:
    owner = m.evaluate(target.value, frame)
    key = m.evaluate(target.slice, frame)
    stored = m.under_control(value)
    if isinstance(key.data, str) and stored.tainted:
        m.recorder.put(m, key.data, value)
    item(m, owner, key, stored, frame.site(target))
    if isinstance(key.data, str) and key.data in lists.variables() and isinstance(value.data, str):
        m.recorder.listed(m, frame, key.data, value.data, frame.site(target))


def _answers(value: Value) -> bool:
    """Whether an attribute that holds a value is worth following: it answers, or a decision made it a flag.

    What is unknown because a decision was not understood only hangs on that decision, which is told.
    """
    source = value.source
    if source is None or not source.door or isinstance(value.data, Free):
        return False
    if isinstance(value.data, Unknown):
        return any(node.kind is Origin.DOOR for node in source.walk(through_gates=False))
    return source.direct or isinstance(value.data, bool)


def name(m: Machine, frame: Frame, text: str, value: Value) -> None:
    """Bind a name in the frame's scope, or where ``global``/``nonlocal`` says."""
    scope = frame.scope
    if text not in scope.outer:
        for trail in frame.trails:
            trail.append((text, scope.names.get(text), value))
        if frame.is_module and not isinstance(scope.names.get(text, value).data, Lazy):
            m.heap.version += text in scope.names
        scope.names[text] = value
        return
    outer: Scope | None = scope.parent
    while outer is not None:
        if text in outer.names:
            m.heap.store(outer, text, value)
            return
        outer = outer.parent
    names = frame.module.names
    old = names.get(text)
    if old is not None and old.data is None and text not in frame.module.source.rebound:
        # A cache that is filled when first asked for: who reads it by way of its function finds it filled.
        m.heap.version += 1
        names[text] = value
        return
    m.heap.store(frame.module.scope, text, value)


def _unpack(m: Machine, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
    names = target.elts
    if isinstance(value.data, Choice):
        rows = [_elements(m, names, option, frame) for option in value.data.options]
        known = [row for row in rows if row is not None and len(row) == len(names)]
        if len(known) == len(rows):
            for target_name, *parts in zip(names, *known, strict=True):
                assign(m, target_name, join(parts).derived(value.source), frame)
            return
    elements = _elements(m, names, value, frame)
    if elements is None:
        data = value.data if isinstance(value.data, Unknown) else Free("a part of a free value")
        for target_name in names:
            assign(m, target_name, Value(data, value.source), frame)
        return
    if len(elements) != len(names):
        few = "not enough" if len(elements) < len(names) else "too many"
        raise Raised("ValueError", f"{few} values to unpack", frame.site(target))
    for target_name, element in zip(names, elements, strict=True):
        assign(m, target_name, element.derived(value.source), frame)


def _elements(m: Machine, names: list[ast.expr], value: Value, frame: Frame) -> list[Value] | None:
    """The values for the targets of an unpacking, what a starred one takes as a list; ``None``: not known."""
    if not names:
        return []
    elements = expressions.iterate(m, value, frame.site(names[0]))
    star = next((i for i, target in enumerate(names) if isinstance(target, ast.Starred)), None)
    if elements is None or star is None or len(elements) < len(names) - 1:
        return elements
    tail = len(elements) - (len(names) - 1 - star)
    return [*elements[:star], Value(List(elements[star:tail], m.depth), value.source), *elements[tail:]]


def attribute(m: Machine, owner: Value, text: str, value: Value) -> None:
    """``owner.text = value``; where the owner is not known, nothing that is known changes."""
    data = owner.data
    if isinstance(data, (Instance, Function, Class)):
        m.heap.store(data, text, value)
    elif isinstance(data, Module):
        state = m.modules.get(data.name)
        if state is not None:
            m.heap.store(state.scope, text, value)
    elif isinstance(data, Choice):
        for option in data.options:
            old = _stored(option, text)
            attribute(m, option, text, join([old, value]))


def _stored(owner: Value, text: str) -> Value:
    data = owner.data
    found = data.attributes.get(text) if isinstance(data, (Instance, Function, Class)) else None
    return found if found is not None and not isinstance(found.data, Lazy) else Value(Free("not set here"))


def item(m: Machine, owner: Value, key: Value, value: Value, site: Site) -> None:
    """``owner[key] = value``.

    Raises:
        Raised: IndexError.
    """
    data = owner.data
    if isinstance(data, Dict):
        put(m, data, key, value)
    elif isinstance(data, List):
        _list_item(m, data, key, value, site)
    elif isinstance(data, Instance):
        method = expressions.find_in_class(m, data.of, "__setitem__")
        if method is not None:
            m.call(m.attribute(owner, "__setitem__", site), [key, value], {}, site)
    elif isinstance(data, Choice):
        for option in data.options:
            if isinstance(option.data, (List, Dict, Set)):
                loosen(m.heap, option.data)


def put(m: Machine, data: Dict, key: Value, value: Value) -> None:
    """Set an item of a dictionary."""
    m.heap.change(data)
    try:
        wanted = hashable(key)
        data.items[wanted] = (key, value)
    except (ValueError, TypeError):
        for known, (written, old) in data.items.items():
            data.items[known] = (written, join([old, value]))
        data.open = True
        return
    data.maybe -= {wanted}


def _list_item(m: Machine, data: List, key: Value, value: Value, site: Site) -> None:
    m.heap.change(data)
    if data.open or undecided(key.data):
        m.may_raise = True
        data.items[:] = [join([old, value]) for old in data.items]
        return
    if isinstance(key.data, slice):
        elements = expressions.iterate(m, value, site)
        if elements is None:
            data.open = True
        else:
            data.items[key.data] = elements
        return
    try:
        data.items[key.data] = value
    except IndexError as error:
        raise Raised("IndexError", str(error), site) from None
    except TypeError as error:
        raise Raised("TypeError", str(error), site) from None


def delete(m: Machine, target: ast.expr, frame: Frame) -> None:
    """``del target``.

    Raises:
        Raised: KeyError, IndexError.
    """
    if isinstance(target, ast.Name):
        if target.id not in frame.scope.outer:
            frame.scope.names.pop(target.id, None)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            delete(m, part, frame)
    elif isinstance(target, ast.Attribute):
        owner = m.evaluate(target.value, frame)
        if isinstance(owner.data, (Instance, Function, Class)):
            m.heap.store(owner.data, target.attr, None)
    elif isinstance(target, ast.Subscript):
        _delete_item(m, m.evaluate(target.value, frame), m.evaluate(target.slice, frame), frame.site(target))


def _delete_item(m: Machine, owner: Value, key: Value, site: Site) -> None:
    data = owner.data
    if not isinstance(data, (List, Dict)):
        return
    if undecided(key.data):
        loosen(m.heap, data)
        return
    try:
        wanted = hashable(key) if isinstance(data, Dict) else key.data
        m.heap.change(data)
        del data.items[wanted]
        if isinstance(data, Dict) and wanted in data.maybe:
            m.may_raise = True
            data.maybe -= {wanted}
    except (ValueError, TypeError):
        loosen(m.heap, data)
    except (KeyError, IndexError) as error:
        m.may_raise = True
        if not data.open:
            raise Raised(type(error).__name__, str(error), site) from None
