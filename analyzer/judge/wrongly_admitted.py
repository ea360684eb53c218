"""Gates that let the target pass to where it can only be stopped or damaged.

Such a gate tells architectures apart and admits the target; the target then really takes the calls under it,
and every build that they lead to raises on it, needs what it lacks, or loses work or order in its kernels.
Or it keeps away an earlier member of the target's family, which runs the same code, and forgets the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from analyzer import archs
from analyzer.cuda.units import ExportReach
from analyzer.judge.justification import KEPT, Follower
from analyzer.model import Effect, Gate, Justification, Step
from analyzer.python.gates import PythonGate

_DAMAGED: frozenset[Effect] = frozenset({"empty_kernel", "lost_sync"})


def admitted_wrongly(
    draft: PythonGate, follower: Follower, guards: Mapping[str, Gate], raising: Mapping[str, Sequence[Gate]]
) -> Gate | None:
    """The gate with the effect ``wrongly_admitted`` and what stops the target behind it, if all is stopped.

    Args:
        draft: a gate in Python.
        follower: follows it.
        guards: the guards by id, judged.
        raising: by build, the gates at which making it raises on the target.
    """
    gate = draft.gate
    target = follower.target
    rejected = [arch for arch, verdict in gate.verdict.items() if verdict == "reject"]
    if gate.verdict.get(target) != "admit" or gate.effect != "none" or not rejected or gate.specialised:
        return None
    if spared := _spared(draft, rejected, target):
        return _wrong(gate, [spared], "unknown")
    if after := follower.traced_after(draft, target):  # whatever else it lets through
        return _wrong(gate, after, "hardware")
    builds = follower.reached_by_target(draft)
    stops = follower.surely_traced(draft, target)
    lacking = True
    sure = follower.comes_to_builds(draft)
    for name in sorted(builds):
        for gate_found in raising.get(name, ()):
            what = f"{name}: {target} is stopped here: {gate_found.message or gate_found.code}"
            stops.append(Step(gate_found.file, gate_found.line, what))
        if raising.get(name):
            lacking = False
            continue
        checks = _checked(builds[name], guards, follower.passing(gate), target) if sure else []
        if checks:
            lacking = False
            stops += [Step(c.file, c.line, f"{name}: {target} is stopped here: {c.code}") for c in checks]
            continue
        kinds = [follower.build(name, builds[name], arch) for arch in follower.passing(gate)]
        if kinds and all(kind == "hardware" for kind, _ in kinds):
            stops += [step for _, steps in kinds for step in steps]
            continue
        damaged = [
            guards[guard]
            for export in builds[name]
            for guard in export.guards
            if guard in guards and guards[guard].severity == "error" and guards[guard].effect in _DAMAGED
        ]
        if not damaged or not kinds:  # what no reference is let into is the target's own: damaged or not
            return None
        lacking = False
        stops += [Step(one.file, one.line, f"{name}: {one.effect.replace('_', ' ')}") for one in damaged]
    return _wrong(gate, stops, "hardware" if lacking else "unknown") if stops else None


def _checked(
    exports: Sequence[ExportReach], guards: Mapping[str, Gate], passing: Sequence[str], target: str
) -> list[Gate]:
    """The checks on the host that stop the target in every export, and not some architecture that passes.

    None, if some export has no such check.
    """
    found: list[Gate] = []
    for export in exports:
        own = [
            gate
            for gate in (guards[guard] for guard in export.guards if guard in guards)
            if gate.layer == "host"
            and gate.effect == "raises"
            and gate.verdict.get(target) == "reject"
            and any(gate.verdict.get(arch) == "admit" for arch in passing)
        ]
        if not own:
            return []
        found += own
    return found


def _spared(draft: PythonGate, rejected: list[str], target: str) -> Step | None:
    """What is odd about a refusal that names earlier members of the target's family, and not the target."""
    if not draft.refuses or archs.earlier(rejected, target) != rejected:
        return None
    who = " and ".join(rejected)
    what = f"{who} alone is kept away here; {target} runs the same code and is let through"
    return Step(draft.gate.file, draft.gate.line, what)


def _wrong(gate: Gate, stops: Sequence[Step], kind: Literal["hardware", "unknown"]) -> Gate:
    judged = Justification(kind, tuple(dict.fromkeys(stops))[: 2 * KEPT])
    return msgspec.structs.replace(gate, effect="wrongly_admitted", silent=True, justification=judged)
