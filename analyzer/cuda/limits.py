"""Gates of layer ``resource``: requests of shared memory that some architectures have and others do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from analyzer import archs
from analyzer.cuda.requests import Request
from analyzer.identity import identity
from analyzer.model import Effect, Gate, Step, Verdict

#: What a failed request returns. Source: CUDA Runtime API, ``cudaFuncSetAttribute``.
MESSAGE = "cudaErrorInvalidValue: invalid argument"


@dataclass(frozen=True, slots=True)
class RequestGate:
    """A gate, and the function (file and qualified name) that makes the request."""

    gate: Gate
    file: str
    function: str


def gates(
    found: Mapping[str, Sequence[Request]], target: str, references: Sequence[str], names: Sequence[str]
) -> tuple[RequestGate, ...]:
    """The gates among requests by file: those that not all architectures can serve."""
    made: list[RequestGate] = []
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for file in sorted(found):
        for request in found[file]:
            verdict = {name: _verdict(request.size, name) for name in names}
            if len(set(verdict.values())) == 1:
                continue
            gate = _gate(file, request, verdict, target, references)
            group = (file, gate.scope, gate.code)
            order, counts[group] = counts[group], counts[group] + 1
            name = identity("resource", file, gate.scope, gate.code, order)
            gate = msgspec.structs.replace(gate, id=name, order=order)
            made.append(RequestGate(gate, file, request.function))
    return tuple(made)


def _verdict(size: int, arch: str) -> Verdict:
    return "admit" if size <= archs.find(arch).shared_per_block else "reject"


def _gate(
    file: str, request: Request, verdict: dict[str, Verdict], target: str, references: Sequence[str]
) -> Gate:
    over = verdict[target] == "reject" and any(verdict[arch] == "admit" for arch in references)
    effect: Effect = "over_resource" if over else "none"
    limit = archs.find(target).shared_per_block
    *steps, call = request.steps
    told = f"asks for {request.size} bytes of dynamic shared memory; {target} has {limit} for a block"
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
        because=(*(Step(file, step.line, step.text[:160]) for step in steps), Step(file, call.line, told)),
        message=MESSAGE if over else None,
    )
