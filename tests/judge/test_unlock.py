"""The plan of an entry: which gates, in which order, with which edits, and what stays lost."""

from __future__ import annotations

import msgspec
import pytest

from analyzer.judge.unlock import unlock
from analyzer.model import Barrier, Gate, Justification, Report, Step
from tests.report import sample
from tests.report.sample import REPORT, SOURCES

OPTION = "servekit --enable-fused-reduce"


def with_gates(*gates: Gate) -> Report:
    changed = {gate.id: gate for gate in gates}
    return msgspec.structs.replace(REPORT, gates=tuple(changed.get(gate.id, gate) for gate in REPORT.gates))


#: With the list at the very column at which it stands in the text.
PLACED = with_gates(msgspec.structs.replace(sample.JIT_GATE, column=33))


def test_the_gates_come_in_the_order_of_meeting() -> None:
    plan = unlock(REPORT, OPTION, SOURCES.get).plan
    assert plan.entry == OPTION
    assert [(opening.gate, opening.when) for opening in plan.opens] == [
        (sample.FUSE_GATE.id, "always"),
        (sample.JIT_GATE.id, "always"),
        (sample.WAIT.id, "always"),
        (sample.TRIGGER.id, "always"),
        (sample.PREBUILT_GATE.id, "ahead_of_time"),
    ]
    assert plan.remains == ()


def test_edits_or_why_there_is_none() -> None:
    plan = unlock(PLACED, OPTION, SOURCES.get).plan
    edits = {opening.gate: opening.edit for opening in plan.opens}
    why = {opening.gate: opening.why for opening in plan.opens}
    jit = edits[sample.JIT_GATE.id]
    assert jit is not None
    assert jit.what == "[9, 10] → [9, 10, 12]"
    wait = edits[sample.WAIT.id]
    assert wait is not None
    assert wait.what.endswith("→ (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900))")
    assert edits[sample.FUSE_GATE.id] is None  # this tree has no predicate for the target
    assert why[sample.FUSE_GATE.id]


def test_the_patch_holds_all_edits_once() -> None:
    found = unlock(PLACED, OPTION, SOURCES.get)
    assert found.patch.count("--- turbine/jit/comm.py\n+++ turbine/jit/comm.py\n") == 1
    assert found.patch.count("\n-#if ") == 2
    assert found.patch == unlock(PLACED, OPTION, SOURCES.get).patch


def test_without_the_files_there_are_no_edits() -> None:
    found = unlock(REPORT, OPTION, lambda file: None)
    assert found.patch == ""
    assert all(opening.edit is None and "not at hand" in (opening.why or "") for opening in found.plan.opens)


def test_what_the_hardware_lacks_stays_lost() -> None:
    judged = Justification("hardware", (Step(sample.HEADER, 6, "tcgen05.mma: no tensor memory"),))
    wait = msgspec.structs.replace(sample.WAIT, justification=judged)
    plan = unlock(with_gates(wait), OPTION, SOURCES.get).plan
    assert [remaining.gate for remaining in plan.remains] == [wait.id]
    assert plan.remains[0].justification == judged
    assert wait.id not in [opening.gate for opening in plan.opens]


def test_a_gate_that_always_counts_somewhere_counts_always() -> None:
    first, second = REPORT.paths
    other = msgspec.structs.replace(
        second, entry=first.entry, barriers=(Barrier(sample.PREBUILT_GATE.id, "always"),)
    )
    report = msgspec.structs.replace(REPORT, paths=(first, other))
    plan = unlock(report, OPTION, SOURCES.get).plan
    assert {opening.gate: opening.when for opening in plan.opens}[sample.PREBUILT_GATE.id] == "always"
    assert len(plan.opens) == 5


@pytest.mark.parametrize("name", ["--enable-fused-reduce", "  servekit   --enable-fused-reduce "])
def test_an_entry_by_the_end_of_its_name(name: str) -> None:
    assert unlock(REPORT, name, SOURCES.get).plan.entry == OPTION


def test_an_entry_that_is_not_there() -> None:
    with pytest.raises(LookupError, match=r"no entry 'turbine.comm.custom_reduse'; there is turbine\.comm"):
        unlock(REPORT, "turbine.comm.custom_reduse", SOURCES.get)
