"""The report with gates open: what changes, what stops the target next, and that nothing else moves."""

from __future__ import annotations

from analyzer import model
from analyzer.judge.whatif import advances, whatif
from tests.report import sample
from tests.report.sample import REPORT


def test_nothing_opened_changes_nothing() -> None:
    assert whatif(REPORT, ()) == REPORT
    assert advances(REPORT, whatif(REPORT, ())) == ()


def test_an_open_gate_has_no_effect_and_bars_no_path() -> None:
    after = whatif(REPORT, {sample.JIT_GATE.id})
    gate = next(gate for gate in after.gates if gate.id == sample.JIT_GATE.id)
    assert (gate.verdict["sm_120"], gate.effect, gate.severity) == ("admit", "none", "none")
    assert gate.verdict["sm_121"] == "reject"
    assert all(barrier.gate != gate.id for path in after.paths for barrier in path.barriers)
    untouched = [gate for gate in REPORT.gates if gate.id != sample.JIT_GATE.id]
    assert [gate for gate in after.gates if gate.id != sample.JIT_GATE.id] == untouched


def test_what_stops_the_target_next() -> None:
    after = whatif(REPORT, {sample.JIT_GATE.id})
    found = {
        advance.next.id if advance.next else "": [path.entry.name for path in advance.paths]
        for advance in advances(REPORT, after)
    }
    assert found == {
        sample.FUSE_GATE.id: ["servekit --enable-fused-reduce"],
        sample.EMPTY.id: ["turbine.comm.custom_reduce"],
    }


def test_a_path_is_open_once_all_that_always_counts_is() -> None:
    gates = {sample.FUSE_GATE.id, sample.JIT_GATE.id, sample.WAIT.id, sample.TRIGGER.id}
    after = whatif(REPORT, gates)
    option, api = after.paths
    assert [barrier.gate for barrier in option.barriers] == [sample.PREBUILT_GATE.id]
    assert (option.effect, option.severity) == ("excluded", "warning")
    assert [barrier.gate for barrier in api.barriers] == [sample.EMPTY.id]
    reached = [advance for advance in advances(REPORT, after) if advance.next is None]
    assert [path.entry.name for advance in reached for path in advance.paths] == [option.entry.name]


def test_a_build_is_ok_once_what_guards_it_is_open() -> None:
    edges = (*REPORT.edges, model.Edge(sample.JIT_GATE.id, "build:reduce", "opens"))
    report = model.Report(
        **{name: getattr(REPORT, name) for name in REPORT.__struct_fields__} | {"edges": edges}
    )
    (build,) = whatif(report, {sample.JIT_GATE.id}).builds
    assert (build.outcome["sm_120"], build.outcome["sm_121"]) == ("ok", "raises")
    assert list(build.message) == ["sm_121"]
    assert whatif(report, {sample.FUSE_GATE.id}).builds == report.builds


def test_a_cell_is_supported_once_all_its_reasons_are_open() -> None:
    half = whatif(REPORT, {sample.WAIT.id}).matrix[1]
    assert (half.status["sm_120"], half.reasons["sm_120"]) == ("degraded", (sample.TRIGGER.id,))
    whole = whatif(REPORT, {sample.WAIT.id, sample.TRIGGER.id}).matrix[1]
    assert whole.status["sm_120"] == "supported"
    assert "sm_120" not in whole.reasons
    assert whole.status["sm_90"] == REPORT.matrix[1].status["sm_90"]
