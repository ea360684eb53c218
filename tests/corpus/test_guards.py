"""The guards of the real fused allreduce, from a build as the compiler sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda.units import BuildUnits, CudaResult, analyse
from analyzer.model import Gate

DATA = "flashinfer/data"
HEADER = f"{DATA}/include/flashinfer/comm/trtllm_allreduce.cuh"
FOLDERS = ("include", "csrc", "cutlass/include", "cutlass/tools/util/include", "spdlog/include")
SOURCES = ("trtllm_allreduce.cu", "trtllm_allreduce_fusion.cu", "trtllm_moe_allreduce_fusion.cu")
LINES = (417, 455, 485, 533, 711, 895, 950, 991, 1053, 1207, 1265, 1335, 1444)


@pytest.fixture(scope="module")
def comm(demo: Path) -> CudaResult:
    spelling = {a.name: Spelling(a.number, "a" if a.number >= 90 else "") for a in archs.profiles()}
    build = BuildUnits(
        "trtllm_comm",
        tuple(f"{DATA}/csrc/{name}" for name in SOURCES),
        tuple(f"{DATA}/{name}" for name in FOLDERS),
        {},
        spelling,
        (12, 8),
    )
    return analyse(
        [build],
        lambda path: (demo / path).read_bytes(),
        lambda path: (demo / path).is_file(),
        archs.names(),
        "sm_120",
        ("sm_90", "sm_100"),
    )


@pytest.fixture(scope="module")
def guards(comm: CudaResult) -> list[Gate]:
    return [guard.gate for guard in comm.guards if guard.gate.file == HEADER]


def test_thirteen_guards(guards: list[Gate]) -> None:
    assert tuple(gate.line for gate in guards) == LINES
    assert len({gate.id for gate in guards}) == 13
    assert {gate.count for gate in guards} == {1}
    for gate in guards:
        assert gate.code == "defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200)"
        admitted = {arch for arch, verdict in gate.verdict.items() if verdict == "admit"}
        assert admitted == {"sm_90", "sm_100", "sm_103", "sm_110"}
        assert "unknown" not in gate.verdict.values()


def test_what_they_take(guards: list[Gate]) -> None:
    assert [gate.line for gate in guards if gate.effect == "empty_kernel"] == [711]
    lost = [gate for gate in guards if gate.effect == "lost_sync"]
    assert len(lost) == 12
    names = [loss.what for gate in lost for loss in gate.loses]
    assert len(names) == 12
    assert set(names) == {"cudaGridDependencySynchronize", "cudaTriggerProgrammaticLaunchCompletion"}
    assert all(gate.silent for gate in guards)


def test_who_runs_into_them(comm: CudaResult, guards: list[Gate]) -> None:
    ids = {gate.id for gate in guards}
    held = {export.name: ids.intersection(export.guards) for export in comm.exports}
    assert held["trtllm_custom_all_reduce"] == ids
    assert not held["trtllm_lamport_initialize"]
    assert not held["trtllm_allreduce_fusion"]
    kernels = {export.name: {kernel.name for kernel in export.kernels} for export in comm.exports}
    assert [name.rpartition("::")[2] for name in kernels["trtllm_lamport_initialize"]] == [
        "lamport_initialize_kernel"
    ]


def test_guards_of_the_fusion_lose_nothing(comm: CudaResult) -> None:
    (fusion,) = [export for export in comm.exports if export.name == "trtllm_allreduce_fusion"]
    own = [guard.gate for guard in comm.guards if guard.gate.id in fusion.guards]
    assert own
    assert {gate.effect for gate in own} == {"none"}


def test_reading_them_again_gives_the_same(comm: CudaResult, guards: list[Gate]) -> None:
    assert comm.directives[HEADER] >= 13
    assert comm.files["trtllm_comm"][0] == f"{DATA}/csrc/trtllm_allreduce.cu"
    assert HEADER in comm.files["trtllm_comm"]
