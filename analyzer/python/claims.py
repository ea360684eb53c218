"""Functions that say by a decorator on which devices they may be used, though nothing asks them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.python import contracts
from analyzer.python.registries import Entry, Told
from analyzer.python.values import Function, Raised, Site, Value, truth

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine


@dataclass(frozen=True, slots=True)
class Claim:
    """A decorator that was applied: the argument that names the devices, the module, the decorator's path."""

    node: ast.Call
    argument: Site
    code: str
    module: str
    decorator: str


def claim(frame: Frame, node: ast.Call, callee: Value) -> Claim | None:
    """The claim that a call makes, if it does."""
    if not isinstance(callee.data, Function) or callee.data.dotted not in contracts.claims():
        return None
    name = contracts.claims()[callee.data.dotted].argument
    given = next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
    given = given or next(iter(node.args), None)
    if given is None:
        return None
    return Claim(node, frame.site(given), ast.unparse(given), frame.module.source.name, callee.data.dotted)


def answers(m: Machine, made: Iterable[Claim]) -> Iterator[Told]:
    """What each function that makes a claim answers for the host's compute capability."""
    site = Site("", 1, 1, 1)
    for one in made:
        qualname = next(
            (
                name
                for name, function in m.defined.get(one.module, {}).items()
                if any(node is one.node for node in getattr(function.node, "decorator_list", ()))
            ),
            None,
        )
        if qualname is None:
            continue
        dotted = f"{one.module}.{qualname}"
        answer: Value | None = None
        m.steps = 0
        with suppress(KeyError, Raised, m.budget, RecursionError), m.aside():
            method = m.attribute(m.named(dotted), contracts.claims()[one.decorator].method, site)
            answer = m.call(method, [Value(m.host.arch.number)], {}, site)
        if answer is not None:
            what = f"{dotted} says so of itself; nothing was seen to ask it"
            yield Told(Entry(one.argument, one.code, dotted, "", what, one.module, qualname), truth(answer))
