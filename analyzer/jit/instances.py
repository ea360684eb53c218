"""Builds that are made to measure: run with one value for each of what their makers leave open.

Many builds compile the same sources for each number format and size that a caller asks for, in a folder
named after them. What is compiled is then known of one of them, and what is said of its lines holds for all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from analyzer import data, faults
from analyzer.python import calls, choosers, trials
from analyzer.python.contents import Content
from analyzer.python.machine import STEPS, Budget, Machine
from analyzer.python.observe import Observer
from analyzer.python.values import Dict, External, Function, List, Raised, Site, Value

_LOOKED_UP = re.compile(rb"\b([A-Za-z_]\w*)\[([A-Za-z_]\w*)\]")


@dataclass(frozen=True, slots=True)
class Instance:
    """A build that was made: what the maker gave, with which arguments, what files it was given."""

    value: Value
    given: str
    written: Mapping[str, Content | str | None]


def instances(m: Machine, function: Function) -> Iterator[Instance]:
    """What a function makes for each choice that it offers, the first first; where it raises, nothing."""
    inner = choosers.original(m, function)
    choices = dict.fromkeys([*trials.choices(m, function), *_choices(m, inner)])
    for choice in choices or ("",):
        given = _arguments(m, inner, choice)
        made = _run(m, function, inner, given)
        if made is not None:
            yield made


def _choices(m: Machine, function: Function) -> tuple[str, ...]:
    """What other functions of the module let their callers choose from by the same parameter."""
    chooser = choosers.chooser(function)
    if chooser is None:
        return ()
    others = list(m.defined[function.module].values())
    alike = (one for one in others if (own := choosers.chooser(one)) is not None and own.arg == chooser.arg)
    return tuple(dict.fromkeys(choice for one in alike for choice in trials.choices(m, one)))


def _run(m: Machine, function: Function, inner: Function, given: dict[str, Value]) -> Instance | None:
    m.recorder, m.results, m.steps = Observer(explaining=False), {}, 0
    written, m.written, m.to_measure = m.written, {}, True
    follow, m.follow = m.follow, lambda *_: STEPS
    frame = calls.frame_of(m, inner)
    try:
        with m.rooted(("", "")), m.aside():
            if function.stands_for is not None:
                value = m.call(Value(function), [], dict(given), Site("", 1, 1, 1))
            else:
                calls.free_arguments(m, inner, frame, None)
                frame.scope.names.update(given)
                value = calls.run(m, inner, frame)
        return Instance(value, _told(given), m.written)
    except (Raised, Budget, RecursionError):
        return None
    except Exception as error:  # its sources are then told as not known
        faults.tolerated(error)
        return None
    finally:
        m.written, m.follow, m.to_measure = written, follow, False


def _arguments(m: Machine, function: Function, choice: str) -> dict[str, Value]:
    """One value for each parameter of which one can be named."""
    spec = function.node.args
    chooser = choosers.chooser(function)
    keys = _keys(m, function.module)
    given: dict[str, Value] = {}
    for parameter in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]:
        default = function.defaults.get(parameter.arg)
        if parameter is chooser and choice:
            given[parameter.arg] = Value(choice)
        elif default is not None and default.data is not None:
            given[parameter.arg] = default
        elif parameter.arg in keys:
            given[parameter.arg] = keys[parameter.arg]
        elif (value := _of_kind(parameter.annotation)) is not None:
            given[parameter.arg] = value
    return given


def _keys(m: Machine, module: str) -> dict[str, Value]:
    """By name, the first key of the table of a module in which what bears that name is looked up."""
    state = m.state(module)
    found: dict[str, Value] = {}
    for table, name in _LOOKED_UP.findall(state.source.data):
        held = state.names.get(table.decode())
        value = m.force(held).data if held is not None else None
        if isinstance(value, Dict) and value.items:
            found.setdefault(name.decode(), next(iter(value.items.values()))[0])
    return found


def _of_kind(annotation: ast.expr | None) -> Value | None:
    """A value of the type that an annotation names."""
    if isinstance(annotation, ast.Subscript):
        if ast.unparse(annotation.value).rpartition(".")[2] == "Literal":
            first = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
            return Value(first.value) if isinstance(first, ast.Constant) else None
        annotation = annotation.value
    if annotation is None:
        return None
    name = ast.unparse(annotation).rpartition(".")[2]
    if name in _lists():
        return Value(List([], 0))
    if name in _plain():
        return Value(_plain()[name])
    return Value(External(_outside()[name])) if name in _outside() else None


@cache
def _lists() -> frozenset[str]:
    return frozenset(data.table("contracts")["instance"]["lists"])


@cache
def _plain() -> Mapping[str, bool | int | float | str]:
    return dict(data.table("contracts")["instance"]["values"])


@cache
def _outside() -> Mapping[str, str]:
    return dict(data.table("contracts")["instance"]["outside"])


def _told(given: Mapping[str, Value]) -> str:
    """The arguments as a caller would write them."""
    return ", ".join(f"{name}={_written(value)}" for name, value in given.items())


def _written(value: Value) -> str:
    if isinstance(value.data, External):
        return value.data.path
    if isinstance(value.data, List):
        return "[]" if not value.data.items else "[…]"
    return repr(value.data) if isinstance(value.data, (str, bool, int, float)) else "…"
