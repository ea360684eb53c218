"""Declarations, checks and settings of options held against what is stopped behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from analyzer.judge.justification import KEPT
from analyzer.judge.severity import judged
from analyzer.model import Gate, Justification, Status, Step


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an API with one back end, or of an option with one choice, on the target.

    ``declared``: ids of the gates that say whether it may be had: declarations that it was held against, what
    refuses or makes the choice; ``reasons``: of those that decide its status; ``claims``: of what it says of
    itself, though nothing asks it; ``option``: it is of an option.
    """

    api: str
    backend: str
    declared: frozenset[str]
    status: Status
    reasons: tuple[str, ...]
    claims: frozenset[str] = frozenset()
    option: bool = False


def contradicted(runs: Iterable[Run], gates: Mapping[str, Gate], target: str) -> dict[str, Gate]:
    """The gates, by id, that let the target in where every run behind them is stopped by another gate.

    Of options it is enough if all is stopped that a gate gives one of them: it needs the others as well.

    Args:
        runs: the runs on the target.
        gates: all judged gates by id.
        target: the architecture in question.
    """
    return {
        identity: wrong
        for identity, held in _behind(((run, run.declared | run.claims) for run in runs), gates)
        if (wrong := _contradicted(gates[identity], held, gates, target)) is not None
    }


def borne_out(runs: Iterable[Run], gates: Mapping[str, Gate], target: str) -> dict[str, Gate]:
    """The claims that leave the target out, by id, where every run behind them is stopped: by what it is.

    Nothing asks a claim: what the target meets is what stands behind it. Arguments as of
    :func:`contradicted`.
    """
    found: dict[str, Gate] = {}
    for identity, held in _behind(((run, run.claims) for run in runs), gates):
        gate = gates[identity]
        if gate.effect != "excluded" or gate.verdict.get(target) != "reject":
            continue
        stopping = [_stopping(run, gate, gates) for run in held]
        if all(stopping):
            first = stopping[0][0]
            behind = msgspec.structs.replace(gate, effect=first.effect, silent=first.silent)
            found[identity] = judged(behind)
    return found


def _behind(
    runs: Iterable[tuple[Run, frozenset[str]]], gates: Mapping[str, Gate]
) -> list[tuple[str, list[Run]]]:
    """The runs behind each gate that is named beside them, in the order of the gates' ids."""
    behind: dict[str, list[Run]] = defaultdict(list)
    for run, naming in runs:
        for identity in naming & gates.keys():
            behind[identity].append(run)
    return sorted(behind.items())


def _stopping(run: Run, gate: Gate, gates: Mapping[str, Gate]) -> list[Gate]:
    """The other gates that stop a run, in the order of meeting; none if it is not stopped."""
    if run.status != "unsupported":
        return []
    return [gates[reason] for reason in run.reasons if reason in gates and reason != gate.id]


def _contradicted(gate: Gate, held: list[Run], gates: Mapping[str, Gate], target: str) -> Gate | None:
    if gate.verdict.get(target) != "admit" or gate.effect != "none" or gate.specialised:
        return None
    if all(verdict == "admit" for verdict in gate.verdict.values()):
        return None
    together: dict[str, list[Run]] = defaultdict(list)
    for run in held:
        together[run.api if run.option else ""].append(run)
    stopped = {of: runs for of, runs in together.items() if all(_stopping(run, gate, gates) for run in runs)}
    if not stopped or ("" in together and "" not in stopped):
        return None
    steps: dict[Step, None] = {}
    hardware = True
    for run in (run for runs in stopped.values() for run in runs):
        stopping = _stopping(run, gate, gates)
        of = f"{run.api} with {run.backend}" if run.backend else run.api
        for found in stopping:
            kind = found.justification.kind if found.justification is not None else "unknown"
            hardware = hardware and kind == "hardware"
            what = f"{of} does not run on {target}: {found.effect.replace('_', ' ')}"
            steps.setdefault(Step(found.file, found.line, what))
    judgement = Justification("hardware" if hardware else "unknown", tuple(steps)[: 2 * KEPT])
    wrong = msgspec.structs.replace(gate, effect="wrongly_admitted", silent=False, justification=judgement)
    return judged(wrong)
