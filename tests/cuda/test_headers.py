"""Headers outside the tree: what is known, what is closed, what stays open."""

from __future__ import annotations

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import headers, passes
from analyzer.cuda.preprocess import walk
from tests.cuda.tree import Tree


def value(condition: str, head: str = "", cuda: str | None = None) -> bool | None:
    """Whether the condition holds for sm_120 behind these lines; None where unknown."""
    sources = Tree({"a.cu": f"{head}\n#if {condition}\n#endif\n"})
    unit = walk("a.cu", sources, (), (passes.device_pass(Spelling(120, "a"), cuda=cuda),))
    branch = unit.files["a.cu"].branches[-1]
    assert not unit.missing
    return None if branch.unknown else bool(branch.active)


@pytest.mark.parametrize(
    ("condition", "head", "expected"),
    [
        ("defined(CUDA_VERSION)", "", False),
        ("CUDA_VERSION >= 12080", "#include <cuda.h>", True),
        ("CUDART_VERSION == 13000", "", True),
        ("defined(__CUDA_FP8_TYPES_EXIST__)", "", False),
        ("defined(__CUDA_FP8_TYPES_EXIST__)", "#include <cuda_fp4.h>", True),
        ("defined(_CG_HAS_CLUSTER_GROUP)", "#include <cooperative_groups.h>", True),
        ("defined(ENABLE_BF16) || defined(SPEC_DEC)", "#include <vector>\n#include <cub/cub.cuh>", False),
        (
            "defined(ENABLE_BF16)",
            "#include <tvm/ffi/function.h>\n#include <torch/all.h>\n#include <unistd.h>",
            False,
        ),
        ("defined(CUB_VERSION)", "", False),
        ("defined(CUB_VERSION)", "#include <cub/cub.cuh>", None),
        ("defined(__cpp_lib_bit_cast)", "#include <version>", False),  # not before C++20
        ("defined(__cpp_lib_span)", "#include <version>", None),
        ("defined(TVM_FFI_CHECK)", "#include <tvm/ffi/error.h>", None),
        ("defined(_MSC_VER) || defined(_WIN32) || defined(__clang__) || defined(__CUDACC_RTC__)", "", False),
        ("defined(__GNUC__) && __GNUC__ >= 9 && defined(__x86_64__) && defined(__linux__)", "", True),
        ("__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && __SIZEOF_INT128__ == 16", "", True),
        ("__cpp_if_constexpr && !defined(__cpp_consteval)", "", True),
        ("defined(__device__) && defined(__global__)", "", True),
        ("defined(__FLT16_MAX__)", "", True),
        ("__has_builtin(__builtin_popcount)", "", True),
        ("__has_builtin(__builtin_assume)", "", False),
        ("__has_builtin(__builtin_nobody_listed)", "", None),
        ("__has_cpp_attribute(nodiscard) >= 201603", "", True),
        ("defined(UINTPTR_MAX)", "#include <cstdint>", True),
        ("defined(UINTPTR_MAX)", "#include <cstdlib>", None),
    ],
)
def test_known_macros(condition: str, head: str, expected: bool | None) -> None:
    assert value(condition, head) is expected


def test_the_toolkit_release_is_a_parameter() -> None:
    assert value("CUDA_VERSION == 12080 && CUDART_VERSION == 12080", "#include <cuda.h>", "12.8")


@pytest.mark.parametrize(
    ("header", "present"),
    [
        ("cuda_runtime.h", True),
        ("cuda/std/array", True),
        ("sys/mman.h", True),
        ("windows.h", False),
        ("x/y.h", None),
    ],
)
def test_present(header: str, present: bool | None) -> None:
    assert headers.present(header) is present
    assert (headers.find(header) is not None) == bool(present)


def test_stand_ins_never_look_like_files_of_the_tree() -> None:
    stand_in = headers.find("cuda_runtime.h")
    assert stand_in is not None
    assert stand_in.path == "<cuda_runtime.h>"
    unit = walk("a.cu", Tree({"a.cu": "#include <vector>\n"}), (), (passes.device_pass(Spelling(120)),))
    assert list(unit.files) == ["a.cu"]


def test_stand_ins_are_well_formed() -> None:
    assert not headers.compiler().unbalanced
    for row in headers._entries():
        assert not row.facts.unbalanced
