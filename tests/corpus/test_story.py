"""The story that the program was made for, point by point, on the real packages.

sglang's fused allreduce is closed for sm_120 in Python; opened, the build's architecture list raises; with
that opened too, guards in a header take the synchronisation out of the kernels, and empty one of them.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import jsonschema
import msgspec
import pytest

from analyzer import data
from analyzer.model import Gate, Report
from analyzer.model import Path as ReportPath

COMMUNICATOR = "sglang/srt/layers/communicator.py"
SERVER_ARGS = "sglang/srt/server_args.py"
COMMON = "sglang/srt/utils/common.py"
JIT = "flashinfer/jit/comm.py"
AOT = "flashinfer/aot.py"
HEADER = "flashinfer/data/include/flashinfer/comm/trtllm_allreduce.cuh"
GUARDED = (417, 455, 485, 533, 711, 895, 950, 991, 1053, 1207, 1265, 1335, 1444)
CONDITION = "(__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200)"


def at(report: Report, file: str, line: int, layer: str) -> Gate:
    """The one gate of that layer whose lines hold a line."""
    found = [g for g in report.gates if g.file == file and g.layer == layer and g.line <= line <= g.end_line]
    assert len(found) == 1, found
    return found[0]


def entry(report: Report, name: str, build: str) -> ReportPath:
    """The path of an entry that leads to a build."""
    found = [p for p in report.paths if p.entry.name == name and f"build:{build}" in p.steps]
    assert len(found) == 1, [p.id for p in found]
    return found[0]


@pytest.fixture(scope="session")
def communicator(report: Report) -> Gate:
    return at(report, COMMUNICATOR, 93, "runtime")


@pytest.fixture(scope="session")
def jit(report: Report) -> Gate:
    return at(report, JIT, 61, "jit")


@pytest.fixture(scope="session")
def guards(report: Report) -> dict[int, Gate]:
    return {
        g.line: g for g in report.gates if g.file == HEADER and g.layer == "guard" and CONDITION in g.code
    }


def test_1_the_runtime_gate(communicator: Gate) -> None:
    assert "_is_sm90_supported or _is_sm100_supported" in communicator.code
    assert communicator.scope == "apply_flashinfer_allreduce_fusion"
    verdict = communicator.verdict
    assert {arch for arch, value in verdict.items() if value == "admit"} == {"sm_90", "sm_100", "sm_103"}
    assert all(verdict[arch] == "reject" for arch in ("sm_89", "sm_110", "sm_120", "sm_121"))
    assert communicator.effect == "degraded"
    assert communicator.silent
    assert communicator.severity == "warning"


def test_1_because_names_every_place_back_to_the_device(communicator: Gate) -> None:
    steps = [(step.file, step.line) for step in communicator.because]
    text = {(step.file, step.line): step.what for step in communicator.because}
    assert (COMMUNICATOR, 70) in steps  # _is_sm90_supported = _is_cuda and is_sm90_supported()
    assert (COMMUNICATOR, 71) in steps
    assert any("imported from sglang.srt.utils" in what for what in text.values())
    assert (COMMON, 252) in steps  # the names of the partial applications
    assert (COMMON, 247) in steps
    assert any(file == COMMON and "get_device_capability" in text[file, line] for file, line in steps)
    assert len(steps) == len(set(steps))
    assert steps.index((COMMUNICATOR, 70)) < steps.index((COMMON, 252))


def test_2_the_default_switch(report: Report) -> None:
    gate = at(report, SERVER_ARGS, 1620, "runtime")
    assert "is_sm90_supported() or is_sm100_supported()" in gate.code
    assert gate.verdict["sm_90"] == gate.verdict["sm_100"] == "admit"
    assert gate.verdict["sm_120"] == "reject"
    assert gate.effect in ("excluded", "degraded")


def test_2_choices_for_sm100_alone(report: Report) -> None:
    """The conditions that choose MoE runners and attention back ends for sm_100 only."""
    for line in (1201, 1213, 1260, 1347, 1367, 1394, 1449, 1470, 1488, 1520, 1582, 1667, 1685, 1761, 2081):
        gate = at(report, SERVER_ARGS, line, "runtime")
        assert gate.verdict["sm_100"] == "admit", gate
        assert gate.verdict["sm_90"] == gate.verdict["sm_120"] == "reject", gate
        assert gate.effect != "none", gate
    refused = at(report, SERVER_ARGS, 1761, "runtime")
    assert refused.effect == "raises"
    assert refused.message is not None
    assert refused.message.startswith("TRTLLM MHA backend is only supported")
    either = at(report, SERVER_ARGS, 2081, "runtime")
    assert (either.admits, either.falls_back_to) == ("'flashinfer'", "'triton'")


def test_3_the_calls_into_the_build(report: Report) -> None:
    edges = {(edge.source, edge.target): edge.kind for edge in report.edges}
    way = [
        "function:sglang.srt.layers.layernorm.RMSNorm.forward_with_allreduce_fusion",
        "function:sglang.srt.layers.flashinfer_comm_fusion.flashinfer_allreduce_residual_rmsnorm",
        "function:flashinfer.comm.trtllm_ar.trtllm_allreduce_fusion",
        "function:flashinfer.comm.trtllm_ar.get_trtllm_comm_module",
        "function:flashinfer.jit.comm.gen_trtllm_comm_module",
        "build:trtllm_comm",
    ]
    for source, target in pairwise(way):
        assert (source, target) in edges


def test_3_gates_stand_in_the_graph(report: Report, communicator: Gate, jit: Gate) -> None:
    edges = {(edge.source, edge.target) for edge in report.edges}
    assert ("entry:sglang --enable-flashinfer-allreduce-fusion", communicator.id) in edges
    assert (
        communicator.id,
        "function:sglang.srt.layers.layernorm.RMSNorm.forward_with_allreduce_fusion",
    ) in edges
    assert ("function:flashinfer.jit.comm.gen_trtllm_comm_module", jit.id) in edges
    assert (jit.id, "build:trtllm_comm") in edges


def test_4_the_architecture_list(jit: Gate, report: Report) -> None:
    assert jit.code == "supported_major_versions=[9, 10]"
    assert jit.scope == "gen_trtllm_comm_module"
    assert jit.effect == "raises"
    assert jit.severity == "error"
    assert jit.message == "No supported CUDA architectures found for major versions [9, 10]."
    assert {a for a, v in jit.verdict.items() if v == "admit"} == {"sm_90", "sm_100", "sm_103"}
    build = next(b for b in report.builds if b.name == "trtllm_comm")
    assert build.function == "flashinfer.jit.comm.gen_trtllm_comm_module"
    assert build.outcome["sm_120"] == "raises"
    assert build.message["sm_120"] == jit.message
    assert build.spelling["sm_90"] == ("9.0a",)


def test_5_sources_and_headers(report: Report) -> None:
    build = next(b for b in report.builds if b.name == "trtllm_comm")
    folder = "flashinfer/data/csrc"
    names = ("trtllm_allreduce", "trtllm_allreduce_fusion", "trtllm_moe_allreduce_fusion")
    assert build.sources == tuple(f"{folder}/{name}.cu" for name in names)
    read = {row.file for row in report.coverage.read}
    headers = ("trtllm_allreduce.cuh", "trtllm_allreduce_fusion.cuh", "trtllm_moe_allreduce_fusion.cuh")
    for header in headers:
        assert f"flashinfer/data/include/flashinfer/comm/{header}" in read


def test_6_the_guards(guards: dict[int, Gate]) -> None:
    assert tuple(sorted(guards)) == GUARDED
    for guard in guards.values():
        admitted = {arch for arch, verdict in guard.verdict.items() if verdict == "admit"}
        assert admitted == {"sm_90", "sm_100", "sm_103", "sm_110"}, guard
    assert len({guard.id for guard in guards.values()}) == 13


def test_6_what_the_guards_take_away(guards: dict[int, Gate]) -> None:
    empty = guards[711]
    assert empty.effect == "empty_kernel"
    assert empty.severity == "error"
    assert empty.scope.endswith("lamport_style_one_shot_all_reduce_norm_kernel")
    waits = 0
    for guard in (guards[line] for line in GUARDED if line != 711):
        assert guard.effect == "lost_sync", guard
        lost = {(loss.what, loss.kind) for loss in guard.loses}
        wait = ("cudaGridDependencySynchronize", "wait")
        trigger = ("cudaTriggerProgrammaticLaunchCompletion", "trigger")
        assert lost in ({wait}, {trigger}), guard
        assert guard.severity == ("error" if wait in lost else "note")
        assert all(loss.file == HEADER for loss in guard.loses)
        waits += wait in lost
    assert waits == 6


def test_7_path_a(report: Report, communicator: Gate, jit: Gate, guards: dict[int, Gate]) -> None:
    path = entry(report, "sglang --enable-flashinfer-allreduce-fusion", "trtllm_comm")
    assert path.entry.kind == "option"
    always = [barrier.gate for barrier in path.barriers if barrier.when == "always"]
    assert always == [communicator.id, jit.id]
    assert not {guard.id for guard in guards.values()} & {barrier.gate for barrier in path.barriers}
    for step in (
        "function:sglang.srt.layers.layernorm.RMSNorm.forward_with_allreduce_fusion",
        "function:sglang.srt.layers.flashinfer_comm_fusion.flashinfer_allreduce_residual_rmsnorm",
        "function:flashinfer.comm.trtllm_ar.trtllm_allreduce_fusion",
        "export:trtllm_comm:trtllm_allreduce_fusion",
        "export:trtllm_comm:trtllm_lamport_initialize",
    ):
        assert step in path.steps
    kernels = {
        node.name.rpartition("::")[2]
        for node in report.nodes
        if node.id in path.steps and node.kind == "kernel"
    }
    assert "lamport_initialize_kernel" in kernels
    assert {name for name in kernels if name.startswith("allreduce_fusion_kernel")}
    assert "lamport_style_one_shot_all_reduce_norm_kernel" not in kernels


def test_7_path_b(report: Report, jit: Gate, guards: dict[int, Gate]) -> None:
    path = entry(report, "flashinfer.comm.trtllm_custom_all_reduce", "trtllm_comm")
    assert path.entry.kind == "api"
    always = [barrier.gate for barrier in path.barriers if barrier.when == "always"]
    assert always[0] == jit.id
    assert set(always) == {jit.id, *(guard.id for guard in guards.values())}


@pytest.mark.parametrize(
    "name", ["sglang --enable-flashinfer-allreduce-fusion", "flashinfer.comm.trtllm_custom_all_reduce"]
)
def test_7_left_out_of_packages_compiled_ahead_of_time(report: Report, name: str) -> None:
    path = entry(report, name, "trtllm_comm")
    ahead = [barrier.gate for barrier in path.barriers if barrier.when == "ahead_of_time"]
    gates = {gate.id: gate for gate in report.gates}
    assert len(ahead) == 1
    gate = gates[ahead[0]]
    assert gate.file == AOT
    assert gate.code == "has_sm100"
    assert gate.verdict["sm_100"] == "admit"
    assert gate.verdict["sm_120"] == "reject"


def test_8_a_file_without_a_gate_says_so(report: Report, demo: Path, report_file: Path) -> None:
    file = "flashinfer/comm/trtllm_ar.py"
    row = next(row for row in report.coverage.read if row.file == file)
    assert row.gates == 0
    command = [sys.executable, "-m", "analyzer", "explain", file, "--from", str(report_file)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"read, {row.expressions} architecture-dependent expressions, no gate" in " ".join(shown.split())


def test_the_versions_do_not_fit(report: Report) -> None:
    assert any("flashinfer" in notice.what and "0.6.1" in notice.what for notice in report.notices)


def test_predicates(report: Report) -> None:
    known = {predicate.name: predicate for predicate in report.predicates}
    predicate = known["sglang.srt.utils.common.is_sm100_supported"]
    assert predicate.file == COMMON
    assert {arch for arch, value in predicate.value.items() if value == "true"} == {"sm_100", "sm_103"}
    assert predicate.uses


def test_the_report_obeys_its_schema(report_file: Path) -> None:
    schema = msgspec.json.decode((data.folder("reports") / "schema-1.json").read_bytes())
    jsonschema.Draft202012Validator(schema).validate(msgspec.json.decode(report_file.read_bytes()))


def test_every_gate_has_an_id_of_its_own(report: Report) -> None:
    identities = [gate.id for gate in report.gates]
    assert len(identities) == len(set(identities))
    known = set(identities)
    for path in report.paths:
        assert all(barrier.gate in known for barrier in path.barriers)


def test_what_was_not_decided_is_few(report: Report) -> None:
    """Of the decisions that a door reaches, at most 5 % are unknown for the target."""
    python = [gate for gate in report.gates if gate.layer in ("runtime", "api", "jit")]
    unknown = [gate for gate in python if gate.verdict["sm_120"] == "unknown"]
    assert len(unknown) <= 0.05 * len(python), unknown
