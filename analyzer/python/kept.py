"""Choices of options that modules keep as members of an enumeration, and the functions that ask for them.

Such as ``BACKEND = Backend(options.backend)`` in a function, with ``global BACKEND``, and elsewhere
``if get_backend().is_fast(): ...``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from analyzer.python import expressions
from analyzer.python.machine import Budget, Machine
from analyzer.python.survey import any_of, holds_any, lines_at
from analyzer.python.values import Class, Function, Raised, Site, Truth, Value, truth


@dataclass(frozen=True, slots=True)
class Kept:
    """A name of a module that keeps the choice, as a member of an enumeration."""

    module: str
    name: str
    of: Class


def kept(m: Machine, attribute: str, words: Mapping[str, frozenset[str]]) -> list[Kept]:
    """The names that functions set to a member for the value of an attribute of that name."""
    found: dict[tuple[str, str], Kept] = {}
    setting = re.compile(rb"=\s*\w+\(\s*\w+\." + attribute.encode() + rb"\s*\)")
    for module, source in sorted(m.index.sources.items()):
        if attribute not in words.get(source.file, frozenset()) or not source.rebound:
            continue
        if setting.search(source.data) is None:
            continue
        for node in _nodes(m, module):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            of = _enumeration(m, module, node.value, attribute)
            for target in node.targets:
                if of is not None and isinstance(target, ast.Name) and target.id in source.rebound:
                    found.setdefault((module, target.id), Kept(module, target.id, of))
    return list(found.values())


def _nodes(m: Machine, module: str) -> Iterator[ast.AST]:
    """All nodes of the functions of a module."""
    for function in functions(m, module):
        yield from m.nodes(function)


def functions(m: Machine, module: str) -> list[Function]:
    """The functions of a module."""
    m.state(module)
    return list(m.defined.get(module, {}).values())


def _enumeration(m: Machine, module: str, call: ast.Call, attribute: str) -> Class | None:
    """The enumeration that is asked for the member of an attribute's value."""
    if len(call.args) != 1 or not isinstance(call.func, ast.Name):
        return None
    if not isinstance(call.args[0], ast.Attribute) or call.args[0].attr != attribute:
        return None
    value = m.state(module).names.get(call.func.id)
    of = m.force(value).data if value is not None else None
    return of if isinstance(of, Class) and expressions.is_enum(m, of) else None


def member(m: Machine, one: Kept, choice: str) -> Value | None:
    """The member for a choice."""
    site = Site(m.index.path(one.module), 1, 1, 1)
    try:
        with m.own_steps():
            return m.call(Value(one.of), [Value(choice)], {}, site)
    except (Raised, Budget):
        return None


def true_of(m: Machine, one: Kept, value: Value) -> frozenset[str]:
    """The methods without arguments that say yes of a member."""
    found = set()
    site = Site(m.index.path(one.module), 1, 1, 1)
    for name, method in one.of.attributes.items():
        if not isinstance(method.data, Function) or name.startswith("_"):
            continue
        if len(method.data.node.args.args) != 1:
            continue
        try:
            with m.own_steps():
                answer = m.call(m.attribute(value, name, site), [], {}, site)
        except (Raised, Budget):
            continue
        if truth(answer) is Truth.TRUE:
            found.add(name)
    return frozenset(found)


def asking(
    m: Machine, one: Kept, words: Mapping[str, frozenset[str]]
) -> list[tuple[Function, frozenset[str]]]:
    """The functions that get the member and ask it something, with the names of what they ask."""
    getters = {
        function.name
        for function in functions(m, one.module)
        for node in m.nodes(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id == one.name
    }
    calling = re.compile(rb"\b(?:" + any_of(getters) + rb")\(")
    methods = {name for name, value in one.of.attributes.items() if isinstance(value.data, Function)}
    found = []
    for module, source in sorted(m.index.sources.items()):
        if not getters & words.get(source.file, frozenset()):
            continue
        lines = lines_at(source.data, (match.start() for match in calling.finditer(source.data)))
        for function in functions(m, module):
            if not holds_any(function, lines):
                continue
            nodes = list(m.nodes(function))
            called = {
                node.func.id
                for node in nodes
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)} & methods
            if called & getters and asked:
                found.append((function, frozenset(asked)))
    return found


@contextmanager
def given(m: Machine, one: Kept, value: Value) -> Iterator[None]:
    """Let the module keep a member."""
    names = m.state(one.module).names
    before = names.get(one.name)
    names[one.name] = value
    try:
        yield
    finally:
        if before is None:
            del names[one.name]
        else:
            names[one.name] = before
