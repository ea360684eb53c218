"""Guards that only define macros bear what the target loses where these are used."""

from __future__ import annotations

from tests.cuda.test_units import analysed

UNIT = """
    #if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    #define HOPPER
    #endif
    #ifdef HOPPER
    #define WAITS
    #define SHAPE 64
    #endif
    __global__ void kernel(int* p) {{
    #ifdef WAITS
      {guarded}
    #endif
      p[0] = 1;
    }}
    void run(int* p) {{ kernel<<<1, 1>>>(p); }}
    void idle() {{}}
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, {exported});
"""


def effects(guarded: str, exported: str = "run") -> list[tuple[int, str, list[str]]]:
    result = analysed({"unit.cu": UNIT.format(guarded=guarded, exported=exported)})
    return [(g.gate.line, g.gate.effect, [loss.what for loss in g.gate.loses]) for g in result.guards]


def test_a_lost_wait_is_told_at_each_guard_that_it_hangs_on() -> None:
    wait = "cudaGridDependencySynchronize"
    assert effects(f"{wait}();") == [
        (2, "lost_sync", ["HOPPER", wait]),
        (5, "lost_sync", ["WAITS", "SHAPE", wait]),
        (10, "lost_sync", [wait]),
    ]


def test_what_nobody_can_run_is_lost_nowhere() -> None:
    found = effects("cudaGridDependencySynchronize();", exported="idle")
    assert {effect for _, effect, _ in found} == {"none"}


def test_code_that_is_missing_is_told_where_it_stands_alone() -> None:
    assert [(line, effect) for line, effect, _ in effects("p[1] = 1;")] == [
        (2, "none"),
        (5, "none"),
        (10, "excluded"),
    ]
