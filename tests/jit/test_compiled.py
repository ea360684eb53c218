"""Builds that a call compiles and loads at once: what they are made of, and what is told of their sources."""

from __future__ import annotations

import pytest

from analyzer.model import Build, Report
from tests.judge.opened import scanned, write

LOADER = """\
import os
import pathlib

import torch

HERE = pathlib.Path(__file__).parent.resolve()


class Arguments(list[str]):
    def __str__(self):
        return ", ".join(self)


def compile_now(*args, files=None, wrappers=None, flags=None):
    from tvm_ffi.cpp import load_inline

    sources = [f'#include "{HERE / "csrc" / name}"' for name in files or []]
    sources += [f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, ({what}));" for name, what in wrappers or []]
    there = "TVM_FFI_CUDA_ARCH_LIST" in os.environ
    if not there:
        major, minor = torch.cuda.get_device_capability()
        os.environ["TVM_FFI_CUDA_ARCH_LIST"] = f"{major}.{minor}" + ("a" if major >= 9 else "")
    try:
        return load_inline(
            "jit_" + "_".join(str(arg) for arg in args),
            cuda_sources=sources,
            extra_cuda_cflags=["-DFAST", *(flags or [])],
            extra_include_paths=[str(HERE / "include")],
        )
    finally:
        if not there:
            del os.environ["TVM_FFI_CUDA_ARCH_LIST"]
"""
OPS = """\
import functools
import os

import torch
from torch.utils import cpp_extension

from pkg.jit.utils import Arguments, compile_now

TYPES = {torch.float16: "half", torch.bfloat16: "nv_bfloat16"}


@functools.cache
def make_fixed():
    return compile_now("fixed", files=["fixed.cuh"], wrappers=[("fixed", "Fixed::run")])


def make_typed(dtype: torch.dtype):
    args = Arguments([TYPES[dtype]])
    return compile_now("typed", *args, files=["typed.cuh"], wrappers=[("typed", f"Typed<{args}>::run")])


def fixed(x):
    return make_fixed().fixed(x)


def typed(x):
    return make_typed(x.dtype).typed(x)


def given_on():
    return make_fixed()


def inline():
    from tvm_ffi.cpp import load_inline

    source = "__global__ void k() {}\\nvoid go() { k<<<1, 1>>>(); }"
    return load_inline("inline", cuda_sources=source, functions=["go"])


def pinned():
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../jit/csrc/pinned.cu")
    return cpp_extension.load(
        name="pinned", sources=[source], extra_cuda_cflags=["-gencode", "arch=compute_103a,code=sm_103a"]
    )


def for_the_host():
    return cpp_extension.load_inline(name="host", cpp_sources="int one() { return 1; }", functions=["one"])
"""
FIXED = """\
#include "wait.cuh"
struct Fixed { static void run(int* p) { kernel<<<1, 1>>>(p); } };
"""
TYPED = """\
template <typename T>
__global__ void typed_kernel(T* p) {
#if __CUDA_ARCH__ < 1200
  cudaGridDependencySynchronize();
#endif
  p[0] = T(1);
}
template <typename T>
struct Typed { static void run(T* p) { typed_kernel<T><<<1, 1>>>(p); } };
"""
WAIT = """\
__global__ void kernel(int* p) {
#if __CUDA_ARCH__ < 1200
  cudaGridDependencySynchronize();
#endif
#ifdef FAST
  p[0] = 1;
#endif
}
"""
PINNED = """\
__global__ void pinned_kernel(int* p) { p[0] = 1; }
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    files = {
        "pkg/__init__.py": "",
        "pkg/jit/__init__.py": "from pkg.jit.ops import fixed, typed\n",
        "pkg/jit/utils.py": LOADER,
        "pkg/jit/ops.py": OPS,
        "pkg/jit/csrc/fixed.cuh": FIXED,
        "pkg/jit/csrc/typed.cuh": TYPED,
        "pkg/jit/csrc/pinned.cu": PINNED,
        "pkg/jit/include/wait.cuh": WAIT,
    }
    return scanned(write(tmp_path_factory.mktemp("compiled"), files))


def build(report: Report, name: str) -> Build:
    (found,) = [build for build in report.builds if build.function == f"pkg.jit.ops.{name}"]
    return found


def test_a_helper_is_no_build_and_sources_for_the_host_alone_are_none(report: Report) -> None:
    names = [build.function.rpartition(".")[2] for build in report.builds]
    assert names == ["inline", "make_fixed", "make_typed", "pinned"]


def test_the_sources_are_those_that_the_text_includes(report: Report) -> None:
    assert build(report, "make_fixed").sources == ("pkg/jit/csrc/fixed.cuh",)
    assert build(report, "make_fixed").name == "jit_fixed"
    assert build(report, "inline").sources == ("pkg/jit/ops.py",)


def test_it_is_compiled_for_what_the_variable_lists_else_for_the_host(report: Report) -> None:
    assert build(report, "make_fixed").spelling["sm_120"] == ("12.0a",)
    assert build(report, "make_fixed").spelling["sm_89"] == ("8.9",)
    assert build(report, "inline").spelling["sm_120"] == ("12.0",)


def test_flags_that_name_an_architecture_leave_the_host_out(report: Report) -> None:
    assert build(report, "pinned").spelling["sm_120"] == ("10.3a",)
    assert build(report, "pinned").sources == ("pkg/jit/csrc/pinned.cu",)


def test_its_flags_are_known(report: Report) -> None:
    assert build(report, "make_fixed").flags["sm_120"] == ("-DFAST",)


def test_one_that_is_made_to_measure_says_with_what(report: Report) -> None:
    assert build(report, "make_typed").given == "dtype=torch.float16"
    assert build(report, "make_typed").sources == ("pkg/jit/csrc/typed.cuh",)


@pytest.mark.parametrize(("entry", "file"), [("fixed", "include/wait.cuh"), ("typed", "csrc/typed.cuh")])
def test_the_way_leads_through_the_build_to_the_kernel_and_its_guard(
    report: Report, entry: str, file: str
) -> None:
    (gate,) = [gate for gate in report.gates if gate.file == f"pkg/jit/{file}"]
    assert gate.effect == "lost_sync"
    (path,) = [path for path in report.paths if path.entry.name == f"pkg.jit.{entry}"]
    assert [barrier.gate for barrier in path.barriers] == [gate.id]
    kinds = [step.partition(":")[0] for step in path.steps]
    assert kinds == ["entry", "function", "function", "build", "source", "export", "kernel", "guard"]
