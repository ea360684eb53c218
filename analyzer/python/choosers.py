"""The parameter by which callers of a function choose a back end, and what a call chooses by it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from analyzer.python import contracts
from analyzer.python.values import Bound, Function, Value

if TYPE_CHECKING:
    from analyzer.python.machine import Machine


def original(m: Machine, function: Function) -> Function:
    """The function that a decorator has wrapped."""
    if function.stands_for is None:
        return function
    module = next((name for name in prefixes(function.stands_for) if name in m.defined), None)
    if module is None:
        return function
    return m.defined[module].get(function.stands_for[len(module) + 1 :], function)


def prefixes(dotted: str) -> Iterator[str]:
    """What a dotted name may stand in, the nearest first."""
    while "." in dotted:
        dotted = dotted.rpartition(".")[0]
        yield dotted


def chooser(function: Function) -> ast.arg | None:
    """The parameter that names a back end."""
    names = contracts.choosers()
    spec = function.node.args
    return next((p for p in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs] if p.arg in names), None)


def chosen(
    m: Machine, callee: Value, args: Sequence[Value], keywords: Mapping[str, Value], rest: bool
) -> str:
    """The back end that a call surely asks for by its name; empty if there is none or it is not known.

    ``rest``: further arguments are given that are not known.
    """
    function = callee.data
    if isinstance(function, Bound):
        function, args = function.function.data, [function.receiver, *args]
    if not isinstance(function, Function):
        return ""
    inner = original(m, function)
    parameter = chooser(inner)
    if parameter is None:
        return ""
    spec = inner.node.args
    given = keywords.get(parameter.arg)
    places = [*spec.posonlyargs, *spec.args]
    if given is None and parameter in places and places.index(parameter) < len(args):
        given = args[places.index(parameter)]
    if given is None and not rest:
        given = inner.defaults.get(parameter.arg)
    return given.data if given is not None and isinstance(given.data, str) else ""
