"""What methods set later in the objects that modules make: settings are published, tables fill."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from analyzer.python import expressions
from analyzer.python.values import Class, Dict, Free, Instance, List, Set, Value, is_constant, join

if TYPE_CHECKING:
    from analyzer.python.machine import Machine

#: Methods that run while an object is made: what they set is there when others look.
_MAKING = frozenset(["__init__", "__new__", "__post_init__", "__set_name__"])
#: Methods of containers that change them.
_CHANGING = frozenset(["add", "append", "appendleft", "clear", "discard", "extend", "insert"]).union(
    ["pop", "remove", "setdefault", "update"]
)
#: Objects in objects are followed so deep.
_DEEP = 3


def loosen(m: Machine, value: Value, seen: set[int], deep: int = _DEEP) -> None:
    """Join what an object holds with what methods of its class set when they are called.

    A cache, which a method fills after a look whether it is empty, stays as it is: who asks finds it filled.
    """
    data = value.data
    if not isinstance(data, Instance) or data.symbolic or id(data) in seen:
        return
    seen.add(id(data))
    bound, changed = _later(m, data.of)
    for name, held in data.attributes.items():
        if name in bound and not held.tainted and (is_constant(held.data) or _is_container(held)):
            data.attributes[name] = join([held, Value(Free("a method sets it later"))])
        elif name in changed and isinstance(held.data, (List, Set, Dict)):
            held.data.open = True
        elif deep:
            loosen(m, held, seen, deep - 1)


def _is_container(value: Value) -> bool:
    return isinstance(value.data, (List, Set, Dict))


def _later(m: Machine, of: Class) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that methods of a class bind anew, and those whose content they change."""
    bound: set[str] = set()
    changed: set[str] = set()
    for each in expressions.linear(m, of):
        found: tuple[frozenset[str], frozenset[str]] | None = each.node.__dict__.get("later")
        if found is None:
            found = each.node.__dict__["later"] = _set_in(m, each)
        bound |= found[0]
        changed |= found[1]
    return frozenset(bound), frozenset(changed)


def _set_in(m: Machine, of: Class) -> tuple[frozenset[str], frozenset[str]]:
    bound: set[str] = set()
    changed: set[str] = set()
    if m.index.find(of.module) is None:
        return frozenset(), frozenset()  # a class of the standard library that is modelled here
    body_of = m.state(of.module).source.parsed.body
    for method in of.node.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or method.name in _MAKING:
            continue
        parameters = [*method.args.posonlyargs, *method.args.args]
        if not parameters:
            continue
        first = parameters[0].arg
        looked_at: set[str] = set()
        here: set[str] = set()
        for inner in (node for statement in body_of(method) for node in ast.walk(statement)):
            if isinstance(inner, (ast.If, ast.IfExp)):
                looked_at |= _asked(inner.test, first)
            elif _is_own(inner, first) and isinstance(inner.ctx, ast.Store):
                here.add(inner.attr)
            else:
                changed |= _changed(inner, first)
        bound |= here - looked_at
    return frozenset(bound), frozenset(changed)


def _changed(node: ast.AST, first: str) -> set[str]:
    """The attribute whose content an item that is set, or a method that is called, changes."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        owner: ast.AST = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        owner = node.func.value
    else:
        return set()
    return {owner.attr} if _is_own(owner, first) else set()


def _asked(test: ast.expr, first: str) -> set[str]:
    """The attributes of which a condition asks whether they are there."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asked(test.operand, first)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return _asked(test.left, first)
    return {test.attr} if _is_own(test, first) else set()


def _is_own(node: ast.AST, first: str) -> TypeGuard[ast.Attribute]:
    """Whether it is an attribute of the object that a method was called on."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == first
