"""Gates of layer ``resource``: requests of shared memory that some architectures have and others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from analyzer import archs
from analyzer.cuda import budgets, requests
from analyzer.cuda.budgets import Budget
from analyzer.cuda.requests import Request
from analyzer.identity import Numbering
from analyzer.model import Effect, Gate, Step, Verdict

#: What a failed request returns. Source: CUDA Runtime API, ``cudaFuncSetAttribute``.
MESSAGE = "cudaErrorInvalidValue: invalid argument"


#: What a file asks of a multiprocessor.
Demand = Request | Budget


@dataclass(frozen=True, slots=True)
class RequestGate:
    """A gate, and the function (file and qualified name) that makes the request.

    ``always``: whoever runs the function asks for that much, not only some of its instances.
    """

    gate: Gate
    file: str
    function: str
    always: bool


def facts(content: bytes) -> tuple[Demand, ...]:
    """What a file asks of a multiprocessor; a pure function of its bytes."""
    return (*requests.facts(content), *budgets.facts(content))


def gates(
    found: Mapping[str, Sequence[Demand]],
    target: str,
    references: Sequence[str],
    names: Sequence[str],
) -> tuple[RequestGate, ...]:
    """The gates among requests by file: those that not all architectures can serve."""
    made: list[RequestGate] = []
    numbering = Numbering()
    for file in sorted(found):
        for request in found[file]:
            verdict = {name: _verdict(request, name, target) for name in names}
            if len(set(verdict.values())) == 1:
                continue
            gate = _gate(file, request, verdict, target, references)
            name, order = numbering.next("resource", file, gate.scope, gate.code)
            gate = msgspec.structs.replace(gate, id=name, order=order)
            made.append(RequestGate(gate, file, request.function, isinstance(request, Request)))
    return tuple(made)


def _size(request: Demand, arch: str, target: str) -> int:
    """The bytes that a block is given; of a budget, the most whose demand the target could meet."""
    if isinstance(request, Request):
        return request.size
    return request.largest(archs.find(arch), archs.find(target).shared_per_block)


def _verdict(request: Demand, arch: str, target: str) -> Verdict:
    return "admit" if _size(request, arch, target) <= archs.find(arch).shared_per_block else "reject"


def _told(request: Demand, target: str) -> str:
    size, limit = _size(request, target, target), archs.find(target).shared_per_block
    if isinstance(request, Request):
        return f"asks for {size} bytes of dynamic shared memory; {target} has {limit} for a block"
    return (
        f"a block alone on a multiprocessor is given up to {size} bytes of shared memory, all that this has; "
        f"{target} has {limit} for a block"
    )


def _gate(
    file: str,
    request: Demand,
    verdict: dict[str, Verdict],
    target: str,
    references: Sequence[str],
) -> Gate:
    over = verdict[target] == "reject" and any(verdict[arch] == "admit" for arch in references)
    effect: Effect = "over_resource" if over else "none"
    *steps, call = request.steps
    return Gate(
        id="",
        layer="resource",
        file=file,
        line=request.decides.line,
        end_line=request.decides.end_line,
        column=request.decides.column,
        scope=request.function,
        code=request.decides.text,
        verdict=verdict,
        effect=effect,
        because=(
            *(Step(file, step.line, step.text[:160]) for step in steps),
            Step(file, call.line, _told(request, target)),
        ),
        message=MESSAGE if over else None,
    )
