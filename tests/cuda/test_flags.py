"""Flags without which synchronisation is compiled out: gates where a build is given its flags."""

from __future__ import annotations

import dataclasses

import pytest

from analyzer.cuda.gates import GuardGate
from analyzer.cuda.units import BuildUnits, CudaResult, FlagPlace
from tests.cuda.test_units import analysed, build, export

CONTROL = """
    #if defined(CUTLASS_ENABLE_GDC_FOR_SM100) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
    #define GDC_ENABLED
    #endif
    __device__ void wait_before() {
    #if defined(GDC_ENABLED)
      asm volatile("griddepcontrol.wait;" ::: "memory");
    #endif
    }
    __device__ void unrelated() {
    #if defined(OTHER)
      asm volatile("griddepcontrol.launch_dependents;");
    #endif
    }
    __global__ void k(int* p) {
      wait_before();
      unrelated();
      p[0] = 1;
    }
    __global__ void other(int* p) { p[0] = 2; }
    void run(int* p) {
      cudaLaunchAttribute attribute{cudaLaunchAttributeProgrammaticStreamSerialization};
      k<<<1, 1>>>(p);
    }
    void start(int* p) { other<<<1, 1>>>(p); }
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(start, start);
"""
PLACE = FlagPlace("package/jit.py", 12, 12, 9, "gen_module", "flags=nvcc_flags")


def asking(**options: object) -> BuildUnits:
    return dataclasses.replace(build("unit.cu", **options), place=PLACE)  # type: ignore[arg-type]


def told(result: CudaResult) -> list[GuardGate]:
    return [guard for guard in result.guards if guard.gate.layer == "jit"]


def test_the_missing_flag_is_a_gate_at_the_build() -> None:
    result = analysed({"unit.cu": CONTROL}, asking())
    (found,) = told(result)
    gate = found.gate
    assert (gate.file, gate.line, gate.scope, gate.code) == ("package/jit.py", 12, "gen_module", PLACE.code)
    assert gate.effect == "lost_sync"
    assert gate.silent
    assert gate.message == "-DCUTLASS_ENABLE_GDC_FOR_SM100=1 is not given"
    assert [(x.what, x.kind, x.file, x.line) for x in gate.loses] == [
        ("griddepcontrol.wait", "wait", "unit.cu", 7)
    ]
    assert export(result, "run").guards == (gate.id,)
    assert export(result, "start").guards == ()


def test_a_build_with_the_flag_lacks_nothing() -> None:
    macros = {"sm_120": {"CUTLASS_ENABLE_GDC_FOR_SM100": "1"}}
    assert told(analysed({"unit.cu": CONTROL}, asking(macros=macros))) == []


def test_a_flag_that_would_change_nothing_is_not_missing() -> None:
    assert told(analysed({"unit.cu": CONTROL.replace(">= 1000", "== 1000")}, asking())) == []


def test_a_build_that_no_one_asks_about_is_told_nothing_of() -> None:
    assert told(analysed({"unit.cu": CONTROL}, build("unit.cu"))) == []


def test_synchronisation_that_no_export_runs_is_not_missed() -> None:
    assert told(analysed({"unit.cu": CONTROL.replace("wait_before();\n", "\n")}, asking())) == []


def test_builds_alike_with_and_without_a_place() -> None:
    named = dataclasses.replace(build("unit.cu"), name="other")
    result = analysed({"unit.cu": CONTROL}, asking(), named)
    (found,) = told(result)
    assert found.builds == ("build",)
    assert [e.guards for e in result.exports if e.build == "other"] == [(), ()]


ADAPTER = """
    #include "control.cuh"
    #include <cutlass/adapter.h>
    void run(int* p) { Adapter<int>().run(p, {arguments}); }
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""
LAUNCHER = """
    #pragma once
    template <class T>
    struct Adapter {
      void run(int* p, int stream, bool launch_with_pdl = false) {
        if (launch_with_pdl) attribute = cudaLaunchAttributeProgrammaticStreamSerialization;
        k<<<1, 1>>>(p);
      }
    };
"""


@pytest.mark.parametrize(
    ("arguments", "missed"),
    [("0", False), ("0, false", False), ("0, true", True), ("0, enable_pdl", True), ("(0, 1)", False)],
)
def test_a_wait_is_missed_only_if_the_launch_may_be_a_dependent_one(arguments: str, missed: bool) -> None:
    control = CONTROL.partition("void run")[0]
    files = {
        "unit.cu": ADAPTER.replace("{arguments}", arguments),
        "include/control.cuh": control,
        "include/cutlass/adapter.h": LAUNCHER,
    }
    assert bool(told(analysed(files, asking()))) is missed
