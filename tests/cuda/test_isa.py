"""Instructions that the target compiles and cannot assemble."""

from __future__ import annotations

from textwrap import dedent

from analyzer.cuda.gates import GuardGate
from analyzer.cuda.units import CudaResult
from tests.cuda.test_units import PLAIN, admitted, analysed, build


def isa(result: CudaResult) -> list[GuardGate]:
    return [guard for guard in result.guards if guard.gate.layer == "isa"]


def unit(kernel: str, launch: str = "k<<<1, 1>>>(p);") -> dict[str, str]:
    binding = f"""
    void run(int* p) {{ {launch} }}
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
    """
    return {"unit.cu": dedent(kernel) + dedent(binding)}


FENCE = """
    __device__ void fence() { asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory"); }
    __global__ void k(int* p) {
      fence();
      p[0] = 1;
    }
"""


def test_an_instruction_that_only_a_reference_has() -> None:
    (found,) = isa(analysed(unit(FENCE)))
    gate = found.gate
    assert (gate.file, gate.line, gate.scope, gate.code) == (
        "unit.cu",
        2,
        "fence",
        "wgmma.fence.sync.aligned",
    )
    assert gate.effect == "illegal_instruction"
    assert admitted(found) == {"sm_90"}
    assert not gate.silent
    assert gate.message == "wgmma.fence.sync.aligned does not assemble for sm_120a"
    assert [(loss.what, loss.kind) for loss in gate.loses] == [("wgmma.fence.sync.aligned", "instruction")]
    assert [step.what for step in gate.because] == ["wgmma needs sm_90a"]
    assert found.reached_by == ("build",)


def test_the_spelling_of_the_build_decides() -> None:
    text = unit("""
    __global__ void k(int* p) {
      asm volatile("cvt.rn.satfinite.e2m1x2.f32 b, %0, %1;" ::"f"(1.f), "f"(2.f));
      p[0] = 1;
    }
    """)
    assert isa(analysed(text)) == []
    plain = {**PLAIN, "sm_100": PLAIN["sm_100"].__class__(100, "a")}
    (found,) = isa(analysed(text, build("unit.cu", spelling=plain)))
    assert admitted(found) == {"sm_100"}


def test_what_the_target_does_not_compile_is_no_gate() -> None:
    guarded = FENCE.replace("fence();", "\n#if __CUDA_ARCH__ < 1000\n  fence();\n#endif\n")
    assert isa(analysed(unit(guarded))) == []
    inside = """
    __global__ void k(int* p) {
      asm volatile(
    #if __CUDA_ARCH__ < 1000
          "wgmma.fence.sync.aligned;\\n"
    #endif
          "griddepcontrol.wait;\\n" ::: "memory");
      p[0] = 1;
    }
    """
    assert isa(analysed(unit(inside))) == []


def test_what_no_export_runs_is_no_gate() -> None:
    assert isa(analysed(unit(FENCE, launch=""))) == []


def test_what_no_target_assembles_or_no_reference_either_is_no_gate() -> None:
    nowhere = FENCE.replace("wgmma.fence.sync.aligned", "setctarank.shared.u32 a, b, c")
    assert isa(analysed(unit(nowhere))) == []
    result = analysed(unit(FENCE), references=("sm_100",))
    assert isa(result) == []


def test_an_instruction_that_the_table_lacks_is_unresolved() -> None:
    result = analysed(unit(FENCE.replace("wgmma.fence", "wgmma.leap")))
    assert isa(result) == []
    assert [(u.line, u.what) for u in result.unresolved] == [(2, "wgmma.leap.sync.aligned")]


def test_calls_that_stand_for_an_instruction() -> None:
    text = unit("""
    __global__ void k(float2* p) { p[0] = __ffma2_rn(p[0], p[1], p[2]); }
    """)
    (found,) = isa(analysed(text, target="sm_90", references=("sm_100",)))
    assert found.gate.code == "__ffma2_rn"
    assert found.gate.effect == "illegal_instruction"
