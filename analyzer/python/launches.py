"""Launches of kernels in Triton: with which numbers, and how much shared memory a block surely asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer import data
from analyzer.python import calls, operands
from analyzer.python.values import External, Function, Origin, Provenance, Raised, Site, Value

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine

#: Values of a parameter that are tried.
_TRIED = 8


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch with known numbers, and the shared memory in bytes that a block surely asks for.

    ``decides`` is the decision on the device by which the numbers were chosen, else the launch itself;
    ``module`` and ``scope`` are those of that place. ``given``: what a free value was taken to be, as text.
    """

    site: Site
    kernel: str
    numbers: tuple[tuple[str, int], ...]
    demand: int
    decides: Site
    module: str
    scope: str
    given: str = ""

    @property
    def text(self) -> str:
        """The numbers as they would be written."""
        return ", ".join(f"{name}={number}" for name, number in self.numbers)


@dataclass(slots=True)
class Seen:
    """What one launch tells: the numbers, the gates that they hang on, those that unknown ones hang on."""

    kernel: Function
    numbers: dict[str, int]
    gates: list[Provenance] = field(default_factory=list)
    opened: list[Provenance] = field(default_factory=list)


def seen(m: Machine, frame: Frame, node: ast.Call, args: Sequence[Value]) -> Seen | None:
    """What a call tells that launches a kernel of the tree; ``args``: values, those of keywords last."""
    assert isinstance(node.func, ast.Subscript)
    try:
        kernel = m.evaluate(node.func.value, frame).data
    except Raised:
        return None
    if not isinstance(kernel, Function) or not isinstance(kernel.node, ast.FunctionDef):
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args) or not _launched(m, kernel):
        return None
    spec = kernel.node.args
    parameters = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    given = dict(zip([parameter.arg for parameter in parameters], args[: len(node.args)], strict=False))
    for keyword, value in zip(node.keywords, args[len(node.args) :], strict=False):
        if keyword.arg is None:
            break  # of what follows, the places are not known
        given[keyword.arg] = value
    found = Seen(kernel, {})
    for parameter in parameters:
        fixed = parameter.annotation is not None and "constexpr" in ast.unparse(parameter.annotation)
        if not fixed or parameter.arg not in given:
            continue
        value, into = given[parameter.arg], found.opened
        if isinstance(value.data, int):
            found.numbers[parameter.arg] = int(value.data)
            into = found.gates
        if value.source is not None and value.source.door:
            into += [one for one in value.source.walk(through_gates=False) if one.kind is Origin.GATE]
    return found


def launch(m: Machine, frame: Frame, node: ast.Call, found: Seen) -> Launch | None:
    """The launch, if anything is known of what it asks for."""
    elements = _held(m, found.kernel, tuple(found.numbers.items()))
    if not elements:
        return None
    demand = elements * int(data.table("resources")["triton"]["bits"]) // 8
    site = frame.site(node)
    places = [gate.site for gate in found.gates if gate.site is not None]
    decides = max(places, key=lambda place: place.start, default=site)
    numbers = tuple((name, number) for name, number in found.numbers.items() if number > 1)
    return Launch(site, found.kernel.name, numbers, demand, decides, frame.module.source.name, frame.qualname)


def compared(body: Sequence[ast.stmt]) -> Iterator[tuple[str, int]]:
    """Names with the numbers that a function holds them against."""
    found: dict[str, dict[int, None]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Compare) and isinstance(node.left, ast.Name) and len(node.ops) == 1:
                right = node.comparators[0]
                if isinstance(right, ast.Constant) and type(right.value) is int and right.value > 0:
                    found.setdefault(node.left.id, {})[right.value] = None
    for name, numbers in found.items():
        for number in list(numbers)[:_TRIED]:
            yield name, number


_KERNELS: dict[int, tuple[ast.AST, bool]] = {}
_HELD: dict[tuple[int, tuple[tuple[str, int], ...]], tuple[ast.AST, int]] = {}
"""By identity of a definition, which is kept; all hosts of this process share the syntax trees."""


def _launched(m: Machine, kernel: Function) -> bool:
    """Whether a function is one that is launched."""
    known = _KERNELS.get(id(kernel.node))
    if known is None or known[0] is not kernel.node:
        frame = calls.frame_of(m, kernel)
        found = False
        for decorator in getattr(kernel.node, "decorator_list", []):
            try:
                value = m.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator, frame)
            except Raised:
                continue
            found = found or (isinstance(value.data, External) and value.data.path in operands.kernels())
        known = _KERNELS[id(kernel.node)] = (kernel.node, found)
    return known[1]


def _held(m: Machine, kernel: Function, numbers: tuple[tuple[str, int], ...]) -> int:
    key = id(kernel.node), numbers
    known = _HELD.get(key)
    if known is None or known[0] is not kernel.node:
        names = m.state(kernel.module).names

        def named(name: str) -> str | None:
            value = names.get(name)
            value = m.force(value) if value is not None else None
            return value.data.path if value is not None and isinstance(value.data, External) else None

        assert isinstance(kernel.node, ast.FunctionDef)
        known = kernel.node, operands.held(kernel.node, m.body(kernel), dict(numbers), named)
        _HELD[key] = known
    return known[1]
