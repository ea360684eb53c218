"""What references run behind exports and guards, held against the target."""

from __future__ import annotations

import pytest

from analyzer.cuda import instructions, toolkit
from analyzer.cuda.followed import Followed
from analyzer.cuda.needs import features, in_library
from analyzer.cuda.ptx import instructions as inline
from tests.cuda.test_units import analysed, export

HEAD = """\
#include "kernels.cuh"
void run(int* p) { kernel<<<1, 1>>>(p); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def followed(kernels: str, **more: str) -> dict[str, Followed]:
    """By reference, what it runs behind the export of a unit with these kernels."""
    files = {"unit.cu": HEAD, "include/kernels.cuh": kernels, **more}
    return {one.arch: one for one in export(analysed(files), "run").followed}


def lacking(found: Followed) -> list[tuple[str, int, bool]]:
    return [(need.asks, need.line, need.chosen) for need in found.lacks]


WGMMA = 'asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory");'
TMEM = 'asm volatile("tcgen05.wait::ld.sync.aligned;");'


def test_plain_code_needs_nothing_special() -> None:
    told = followed(
        "__global__ void kernel(int* p) {\n  cudaGridDependencySynchronize();\n  p[0] = __ldg(p + 1);\n}\n"
    )
    assert set(told) == {"sm_90", "sm_100"}
    assert all((one.lacks, one.open) == ((), ()) for one in told.values())
    assert told["sm_90"].functions == 2


def test_an_instruction_that_the_target_lacks() -> None:
    told = followed(
        f"__device__ void deep() {{\n  {WGMMA}\n}}\n__global__ void kernel(int* p) {{ deep(); }}\n"
    )
    assert lacking(told["sm_90"]) == [("wgmma", 2, True)]
    assert "sm_90a only" in told["sm_90"].lacks[0].why


def test_what_is_no_call() -> None:
    told = followed("""\
template <class F> struct Fold {
  template <class X> __device__ auto operator|(X x) { return given_(x); }
  F given_;
};
struct Half {
  [[deprecated("use the other")]] __device__ explicit operator Full() const { return get(); }
  __device__ int get() const { return 1; }
};
__global__ void kernel(int* p) {
  __shared__ int __attribute__((aligned(16))) there[4];
  cuda::barrier<cuda::thread_scope_block> bar;
  init(&bar, 1);
  Half half;
  p[0] = (Fold<int>{} | there[0]) + half.get();
}
""")["sm_100"]
    assert told.open == ()


def test_a_member_of_a_type_that_nobody_gives_leads_out() -> None:
    told = followed("""\
struct Fold {
  __device__ int operator|(int x) { return given_(x); }
  Somewhere given_;
};
__global__ void kernel(int* p) { p[0] = Fold{} | 1; }
""")["sm_100"]
    assert [step.what for step in told.open] == ["given_ is defined nowhere in the tree"]


def test_only_what_the_reference_compiles_counts() -> None:
    kernel = (
        "__global__ void kernel(int* p) {\n#if __CUDA_ARCH__ == 900\n"
        f"  {WGMMA}\n#else\n  p[0] = 1;\n#endif\n}}\n"
    )
    told = followed(kernel)
    assert lacking(told["sm_90"]) == [("wgmma", 3, True)]
    assert lacking(told["sm_100"]) == []


def test_what_the_target_has_instead_is_told() -> None:
    mma = (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
    )
    told = followed(f'__global__ void kernel(int* p) {{\n  {WGMMA}\n  asm("{mma}");\n}}\n')["sm_90"]
    assert lacking(told) == [("wgmma", 2, True)]
    assert [need.line for need in told.instead] == [3]


def test_names_of_a_library_stand_for_instructions() -> None:
    told = followed("struct Shape { using Op = cute::SM100_MMA_F16BF16_SS<1>; };\n"
                    "__global__ void kernel(int* p) { Shape::Op s; }\n")["sm_100"]  # fmt: skip
    assert lacking(told) == [("tensor memory", 1, True)]
    assert "tcgen05" in told.lacks[0].why


def test_what_a_library_only_offers_is_no_choice() -> None:
    library = f"#pragma once\n__device__ void wrapper() {{\n  {TMEM}\n}}\n"
    kernel = '#include "cute/arch.hpp"\n__global__ void kernel(int* p) { wrapper(); }\n'
    told = followed(kernel, **{"include/cute/arch.hpp": library})["sm_100"]
    assert [chosen for _, _, chosen in lacking(told)] == [False]


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("__global__ void kernel(int* p) { mystery(p); }\n", "mystery is defined nowhere in the tree"),
        ('__global__ void kernel(int* p) { asm("frobnicate.sync;"); }\n', "frobnicate"),
    ],
)
def test_what_is_not_understood_is_named(kernel: str, why: str) -> None:
    assert [step.what for step in followed(kernel)["sm_90"].open if why in step.what]


def test_a_template_that_another_source_instantiates_is_open() -> None:
    unit = (
        "template <class T>\nvoid launch(T* p);\nvoid run(int* p) { launch<int>(p); }\n"
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"
    )
    (one, _) = export(analysed({"unit.cu": unit}), "run").followed
    assert [step.what for step in one.open] == ["launch is declared in the tree and defined nowhere"]


def test_kernels_from_outside_are_open() -> None:
    unit = "void run(int* p) { cuLaunchKernelEx(p, 0, 0, 0); }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"
    (one, _) = export(analysed({"unit.cu": unit}), "run").followed
    assert "loaded from outside" in one.open[0].what


def test_constructors_and_local_types_are_no_calls() -> None:
    kernel = (
        "struct Pair {\n  int a, b;\n  __device__ Pair(int x) : a(x), b(x) {}\n};\n"
        "__global__ void kernel(int* p) {\n  struct Local { int v; };\n  Local one = Local{1};\n"
        "  Pair two(uint32_t(3));\n  p[0] = one.v + two.a + max(1, 2) + std::min(1, 2);\n}\n"
    )
    assert followed(kernel)["sm_90"].open == ()


def test_guards_are_followed_to_what_they_hold() -> None:
    kernel = (
        f"__device__ void deep() {{\n  {WGMMA}\n}}\n__global__ void kernel(int* p) {{\n"
        "#if __CUDA_ARCH__ == 900\n  deep();\n#endif\n"
        "#if __CUDA_ARCH__ < 1200\n  cudaGridDependencySynchronize();\n#endif\n  p[0] = 1;\n}\n"
    )
    result = analysed({"unit.cu": HEAD, "include/kernels.cuh": kernel})
    by_line = {found.gate.line: result.guarded.get(found.gate.id, ()) for found in result.guards}
    assert [need.asks for one in by_line[5] for need in one.lacks] == ["wgmma"]
    assert by_line[8]
    assert all(one.lacks == () and one.open == () for one in by_line[8])


@pytest.mark.parametrize("name", sorted(features()))
def test_features_agree_with_the_table_of_instructions(name: str) -> None:
    """The row's own instruction assembles just for the architectures that the row names."""
    from analyzer import archs, data

    row = next(row for row in data.table("archs")["feature"] if row["name"] == name)
    code = f'asm("{row["opcode"]};");'
    (instruction,) = inline(code, code.replace(row["opcode"], " " * len(row["opcode"])), 0, len(code))
    required = instructions.requirement(instruction)
    for arch in archs.profiles():
        spelling = arch.richest
        assert (required.lacking(spelling) is None) == (arch.name in features()[name].archs), arch.name


def test_libraries_by_their_folder() -> None:
    assert in_library("pkg/data/cutlass/include/cute/arch/mma.hpp")
    assert not in_library("pkg/data/include/pkg/attention.cuh")
    assert not in_library("pkg/cute/attention.cuh")


@pytest.mark.parametrize(
    ("name", "qualifiers", "known"),
    [
        ("__shfl_xor_sync", (), True),
        ("min", ("std",), True),
        ("this_cluster", ("cooperative_groups",), True),
        ("cudaLaunchKernelEx", (), True),
        ("make_float4", (), True),
        ("rsqrtf", (), True),
        ("my_helper", (), False),
        ("min_of_all", ("mine",), False),
    ],
)
def test_the_toolkits_names(name: str, qualifiers: tuple[str, ...], known: bool) -> None:
    assert toolkit.is_known(name, qualifiers) is known
