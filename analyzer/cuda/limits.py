"""Gates of layer ``resource``: shared memory that some architectures have, or use, and others do not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from analyzer import archs
from analyzer.cuda import budgets, requests, stages
from analyzer.cuda.budgets import Budget
from analyzer.cuda.requests import Request
from analyzer.cuda.stages import Staged
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


def facts(content: bytes) -> tuple[Demand | Staged, ...]:
    """What a file asks of a multiprocessor; a pure function of its bytes."""
    return (*requests.facts(content), *budgets.facts(content), *stages.facts(content))


def gates(
    found: Mapping[str, Sequence[Demand | Staged]],
    target: str,
    references: Sequence[str],
    names: Sequence[str],
) -> tuple[RequestGate, ...]:
    """The gates among requests by file: those that not all architectures can serve, or count stages for."""
    made: list[RequestGate] = []
    numbering = Numbering()
    counting: dict[str, frozenset[str]] = defaultdict(frozenset)
    for one in (one for each in found.values() for one in each if isinstance(one, Staged)):
        if one.count is None:
            counting[one.kin] |= one.runs_on
    for file in sorted(found):
        for request in found[file]:
            if isinstance(request, Staged):
                gate = _stages(file, request, counting[request.kin], target, references, names)
            else:
                gate = _gate(file, request, target, references, names)
            if len(set(gate.verdict.values())) == 1:
                continue
            name, order = numbering.next("resource", file, gate.scope, gate.code)
            gate = msgspec.structs.replace(gate, id=name, order=order)
            made.append(RequestGate(gate, file, gate.scope, isinstance(request, Request)))
    return tuple(made)


def _stages(
    file: str,
    staged: Staged,
    counting: frozenset[str],
    target: str,
    references: Sequence[str],
    names: Sequence[str],
) -> Gate:
    """A kernel with a number of stages; ``counting``: where its namesakes have as many as fit."""
    fixed = staged.count is not None and bool(counting)
    verdict: dict[str, Verdict] = {
        name: "admit" if not fixed or (name in counting and name not in staged.runs_on) else "reject"
        for name in names
    }
    lost = verdict[target] == "reject" and target in staged.runs_on
    lost = lost and any(verdict[arch] == "admit" for arch in references)
    place = staged.decides
    kin = ", ".join(name for name in names if verdict[name] == "admit")
    what = (
        f"built for sm_{staged.number} with {staged.count} stages; on {kin} there are as many as memory holds"
    )
    return Gate(
        id="",
        layer="resource",
        file=file,
        line=place.line,
        end_line=place.end_line,
        column=place.column,
        scope=staged.owner,
        code=place.text,
        verdict=verdict,
        effect="degraded" if lost else "none",
        silent=lost,
        falls_back_to=f"{staged.count} stages" if lost else None,
        because=(Step(file, place.line, what),),
    )


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


def _gate(file: str, request: Demand, target: str, references: Sequence[str], names: Sequence[str]) -> Gate:
    verdict = {name: _verdict(request, name, target) for name in names}
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
