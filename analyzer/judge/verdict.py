"""All gates judged: why each rejects the target, what the comment beside it says, how grave it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import msgspec

from analyzer.judge import comments
from analyzer.judge.justification import Follower
from analyzer.judge.severity import judged
from analyzer.judge.wrongly_admitted import admitted_wrongly
from analyzer.model import Gate, Justification, Step
from analyzer.python.gates import PythonGate

#: Gives the lines of a scanned file, or None if it cannot be read.
Lines = Callable[[str], list[str] | None]


def judge(
    drafts: Sequence[PythonGate], guards: Iterable[Gate], follower: Follower, lines: Lines
) -> tuple[list[PythonGate], dict[str, Gate]]:
    """The gates of Python and the guards (by id), with justification, effect and severity."""
    known = {gate.id: _explained(gate, follower.guard(gate), lines) for gate in guards}
    done = [replace(draft, gate=_explained(draft.gate, follower.python(draft), lines)) for draft in drafts]
    raising: dict[str, list[Gate]] = {}
    for plan in follower.plans:
        if plan.build.outcome.get(follower.target) == "raises":
            raising[plan.build.name] = [
                draft.gate
                for draft in done
                if draft.function == plan.build.function
                and draft.gate.effect == "raises"
                and draft.gate.layer == "jit"
            ]
    for index, draft in enumerate(done):
        wrong = admitted_wrongly(draft, follower, known, raising)
        if wrong is not None:
            done[index] = replace(draft, gate=_explained(wrong, wrong.justification, lines))
        elif draft.gate.justification is None:
            done[index] = replace(draft, gate=_explained(draft.gate, follower.let_in(draft), lines))
    return done, known


def unfollowed(gate: Gate, target: str) -> Gate:
    """A gate that is judged by what it is: a library without an image, a request of a resource.

    Whether other images could be built, or less could be asked for, is not in the tree.
    """
    if gate.effect == "none" or gate.verdict.get(target) != "reject":
        return judged(gate)
    what = f"no code of this library runs on {target}, and its source is not in the tree"
    if gate.layer == "resource":
        less = "whether less would do is not known"
        what = less if gate.effect == "over_resource" else "what more of it would bring is not known"
    elif gate.layer == "env":
        what = "what is compiled for the list was not followed"
    steps = (*(gate.because[-1:] if gate.layer == "resource" else ()), Step(gate.file, gate.line, what))
    return judged(msgspec.structs.replace(gate, justification=Justification("unknown", steps)))


def _explained(gate: Gate, found: Justification | None, lines: Lines) -> Gate:
    """The gate with its justification, led by what a comment beside it says; with its severity."""
    if found is None:
        return judged(gate)
    said = comments.beside(gate, lines(gate.file))
    justification = Justification(found.kind, (*said, *found.evidence))
    return judged(msgspec.structs.replace(gate, justification=justification))
