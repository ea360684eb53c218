"""The real fused allreduce: what its exports reach and what each guard takes from the target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from analyzer.archs import Spelling
from analyzer.cuda.activity import Configuration, Unit
from analyzer.cuda.bindings import exports
from analyzer.cuda.directives import FileDirectives, facts
from analyzer.cuda.losses import Guarded, Guards, Stoppers
from analyzer.cuda.preprocess import walk
from analyzer.cuda.program import Program, Reader, link
from analyzer.cuda.reach import Reach, reach

DATA = "flashinfer/data"
HEADER = f"{DATA}/include/flashinfer/comm/trtllm_allreduce.cuh"
INCLUDES = [f"{DATA}/{folder}" for folder in ("include", "csrc", "cutlass/include", "spdlog/include")]
SPELLINGS = ("9.0a", "10.0a", "12.0a")
GUARDS = (417, 455, 485, 533, 711, 895, 950, 991, 1053, 1207, 1265, 1335, 1444)


@dataclass(frozen=True)
class _Files:
    root: Path

    def facts(self, path: str) -> FileDirectives | None:
        return facts((self.root / path).read_bytes()) if self.exists(path) else None

    def exists(self, path: str) -> bool:
        return (self.root / path).is_file()


@dataclass(frozen=True)
class _Linked:
    unit: Unit
    programs: tuple[Program, ...]

    def reach(self, export: str) -> Reach:
        program = self.programs[1]
        file = program.file(self.unit.path)
        assert file is not None
        found = {e.name: e.function for e in exports(file, program.macros)}
        return reach(program, found[export])

    def guard(self, path: str, line: int) -> Guarded:
        files = [program.file(path) for program in self.programs]
        present = [file for file in files if file is not None]
        return Guards(present[:-1], present[-1], Stoppers(self.programs[-1].macros)).at(line)


def _link(demo: Path, *names: str) -> _Linked:
    configurations = [Configuration(text, Spelling.parse(text).macros()) for text in SPELLINGS]
    units = [walk(f"{DATA}/csrc/{name}", _Files(demo), INCLUDES, configurations) for name in names]
    reader = Reader(lambda path: (demo / path).read_bytes())
    return _Linked(units[0], tuple(link(units, 1 << bit, reader) for bit in range(len(SPELLINGS))))


@pytest.fixture(scope="module")
def allreduce(demo: Path) -> _Linked:
    return _link(demo, "trtllm_allreduce.cu")


def test_initialize_reaches_one_kernel_and_no_guard(allreduce: _Linked) -> None:
    found = allreduce.reach("trtllm_lamport_initialize")
    assert {kernel.name for kernel in found.kernels} == {"lamport_initialize_kernel"}
    assert not [line for line in GUARDS if found.holds(HEADER, line)]


def test_custom_all_reduce_reaches_all_guards(allreduce: _Linked) -> None:
    found = allreduce.reach("trtllm_custom_all_reduce")
    held = {line: found.holds(HEADER, line) for line in GUARDS}
    assert all(symbol is not None and symbol.kind == "kernel" for symbol in held.values())
    assert len({symbol.name for symbol in held.values() if symbol is not None}) == 7


def test_fusion_reaches_no_guard_of_the_other_header(demo: Path) -> None:
    found = _link(demo, "trtllm_allreduce_fusion.cu").reach("trtllm_allreduce_fusion")
    assert {kernel.name for kernel in found.kernels} == {
        "allreduce_fusion_kernel_oneshot_lamport",
        "allreduce_fusion_kernel_twoshot_sync",
    }
    assert not [line for line in GUARDS if found.holds(HEADER, line)]


def test_a_function_may_be_defined_in_another_unit_of_the_build(demo: Path) -> None:
    assert _link(demo, "flashinfer_norm_binding.cu").reach("rmsnorm").kernels == ()
    found = _link(demo, "flashinfer_norm_binding.cu", "norm.cu").reach("rmsnorm")
    assert {kernel.name for kernel in found.kernels} == {"RMSNormKernel", "QKRMSNormKernel"}


@pytest.mark.parametrize("line", GUARDS)
def test_each_guard(allreduce: _Linked, line: int) -> None:
    found = allreduce.guard(HEADER, line)
    assert found.function is not None
    assert found.kind == "kernel"
    if line == 711:
        assert found.effect == "empty_kernel"
        assert found.function.name == "lamport_style_one_shot_all_reduce_norm_kernel"
        assert {"body", "wait", "trigger", "barrier"} == {loss.kind for loss in found.losses}
    else:
        assert found.effect == "lost_sync"
        assert [loss.line for loss in found.losses] == [line + 1]
        assert {loss.what for loss in found.losses} <= {
            "cudaGridDependencySynchronize",
            "cudaTriggerProgrammaticLaunchCompletion",
        }
