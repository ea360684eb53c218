"""Options whose values objects keep from when they are made, and what such objects do with a choice.

Such as ``self.kind = options().kernel.first`` in a constructor, and ``if self.kind == "wide"`` in a method.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analyzer.python import calls, expressions
from analyzer.python.kept import functions
from analyzer.python.machine import Machine
from analyzer.python.survey import any_of
from analyzer.python.values import Class, Free, Function, Instance, Value


@dataclass(frozen=True, slots=True)
class Held:
    """A class whose objects keep options: which, by the names of the attributes that keep them."""

    of: Class
    options: Mapping[str, str]


def held(m: Machine, attributes: frozenset[str], words: Mapping[str, frozenset[str]]) -> list[Held]:
    """The classes whose constructors keep the values of attributes of these names.

    ``words``: file to the identifiers in it.
    """
    keeping = re.compile(rb"self\.\w+\s*(?::[^=\n]*)?=\s*[\w.()]+\.(?:" + any_of(attributes) + rb")\b")
    found: list[Held] = []
    for module, source in sorted(m.index.sources.items()):
        if not attributes & words.get(source.file, frozenset()) or keeping.search(source.data) is None:
            continue
        for function in functions(m, module):
            if function.name == "__init__" and function.owner is not None:
                options = dict(_kept(m, function, attributes))
                if options:
                    found.append(Held(function.owner, options))
    return found


def _kept(m: Machine, function: Function, attributes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The attributes of its object that a constructor gives the value of one of these, each with that one."""
    for node in m.nodes(function):
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target in targets:
            if isinstance(value, ast.Attribute) and value.attr in attributes and _own(target):
                assert isinstance(target, ast.Attribute)
                yield target.attr, value.attr


def _own(node: ast.AST) -> bool:
    """Whether it is an attribute of the object that a method is called on."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def users(m: Machine, one: Held, name: str) -> list[str]:
    """The methods of a class that read an attribute of its object."""
    found: dict[str, None] = {}
    for cls in expressions.linear(m, one.of):
        for text, value in cls.attributes.items():
            method = value.data
            if isinstance(method, Function) and text != "__init__" and name in _used(m, method, ast.Load):
                found.setdefault(text)
    return list(found)


def _used(m: Machine, function: Function, how: type[ast.expr_context]) -> set[str]:
    """The attributes of its object that a method reads, or sets."""
    return {
        node.attr
        for node in m.nodes(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, how) and _own(node)
    }


def made(m: Machine, one: Held, kept: Mapping[str, Value]) -> Instance:
    """An object of a class that keeps these values of options, by option.

    What its class has where nothing is set, and methods set, is free: it was made elsewhere, and used.
    """
    known = calls.symbolic_instance(m, one.of).data
    attributes = {name: Value(Free(name)) for name in _set_later(m, one.of)} | known.attributes
    attributes |= {name: kept[option] for name, option in one.options.items() if option in kept}
    return Instance(one.of, attributes, symbolic=True, depth=m.depth)


def _set_later(m: Machine, of: Class) -> set[str]:
    """The attributes that a class has as nothing, and its methods set."""
    nothing: set[str] = set()
    stored: set[str] = set()
    for cls in expressions.linear(m, of):
        for name, value in cls.attributes.items():
            if isinstance(value.data, Function):
                stored |= _used(m, value.data, ast.Store)
            elif value.data is None:
                nothing.add(name)
    return nothing & stored
