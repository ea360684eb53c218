"""Loaders of the tree itself, as ``queries/contracts.toml`` describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Build, Report
from tests.judge.opened import scanned, write

COMMON = """\
def cache_once(fn):
    kept = {}

    def wrapper(*args):
        if args not in kept:
            kept[args] = fn(*args)
        return kept[args]

    return wrapper
"""
ARCH = """\
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from sglang.kernels.jit.utils.common import cache_once


@dataclass
class ArchInfo:
    major: int
    minor: int
    suffix: str


@cache_once
def find_out():
    global _CUDA_ARCH
    major, minor = torch.cuda.get_device_capability()
    _CUDA_ARCH = ArchInfo(major, minor, "f" if major == 12 else "a" if major >= 9 else "")


@contextmanager
def override(major, minor):
    global _CUDA_ARCH
    old = get_jit_cuda_arch()
    _CUDA_ARCH = ArchInfo(major, minor, "")
    try:
        yield
    finally:
        _CUDA_ARCH = old


def get_jit_cuda_arch():
    find_out()
    return _CUDA_ARCH


@cache_once
def has_waits():
    return get_jit_cuda_arch().major >= 9


def get_default_target_flags():
    arch = get_jit_cuda_arch()
    return [f"-DOWN_ARCH={arch.major * 100 + arch.minor * 10}", "-O3"]
"""
LOADER = """\
def load_jit(*args, cuda_files=None, cuda_wrappers=None, extra_cuda_cflags=None, header_only=True):
    spec = build_spec(args, cuda_files, cuda_wrappers, extra_cuda_cflags)
    return run_ninja(spec)
"""
PATHS = """\
import importlib.util
import pathlib


def _find():
    spec = importlib.util.find_spec("sglang.kernels.jit")
    return pathlib.Path(spec.origin).parent.resolve()


KERNEL_PATH = _find()
DEFAULT_INCLUDE = [str(KERNEL_PATH / "include")]
"""
TOOLCHAIN = """\
from sglang.kernels.jit.utils.arch import get_jit_cuda_arch


def target_flags():
    arch = get_jit_cuda_arch()
    target = f"{arch.major}{arch.minor}{arch.suffix}"
    return [f"-gencode=arch=compute_{target},code=sm_{target}"]
"""
OPS = """\
from typing import Literal

import torch

from sglang.kernels.jit.utils.arch import has_waits
from sglang.kernels.jit.utils.common import cache_once
from sglang.kernels.jit.utils.compile.loader import load_jit


@cache_once
def _module(kind: Literal["one", "two"], size: int):
    waits = str(has_waits()).lower()
    return load_jit(
        "sum", kind, cuda_files=["sum.cuh"], cuda_wrappers=[("run", f"Sum<{size}, {waits}>::run_{kind}")]
    )


@cache_once
def _plain():
    return load_jit("plain", cuda_files=["plain.cu"], header_only=False)


@cache_once
def _for_blackwell():
    if torch.cuda.get_device_capability()[0] != 10:
        raise RuntimeError("made for datacenter Blackwell")
    return load_jit("memory", cuda_files=["memory.cuh"], cuda_wrappers=[("run", "Memory::run")])


def memory(x):
    return _for_blackwell().run(x)


def total(x):
    return _module("one", x.size).run(x)
"""
SUM = """\
#include "own.cuh"
template <int N, bool kWaits>
struct Sum {
  static void run_one(int* p) { sum_kernel<<<1, 1>>>(p); }
};
"""
MEMORY = """\
#include "own.cuh"
__global__ void memory_kernel(int* p) {
#if OWN_ARCH >= 1000 && OWN_ARCH < 1100
  asm volatile("tcgen05.fence::before_thread_sync;");
#endif
  asm volatile("tcgen05.fence::after_thread_sync;");
}
struct Memory { static void run(int* p) { memory_kernel<<<1, 1>>>(p); } };
"""
OWN = """\
#ifndef OWN_ARCH
#error "the architecture is not known"
#endif
__global__ void sum_kernel(int* p) {
#if OWN_ARCH < 1200
  cudaGridDependencySynchronize();
#endif
  p[0] = 1;
}
"""


def files() -> dict[str, str]:
    utils = "sglang/kernels/jit/utils"
    return {
        "sglang/__init__.py": "",
        "sglang/kernels/__init__.py": "from sglang.kernels.ops import memory, total\n",
        "sglang/kernels/jit/__init__.py": "",
        f"{utils}/__init__.py": "",
        f"{utils}/common.py": COMMON,
        f"{utils}/arch.py": ARCH,
        f"{utils}/compile/__init__.py": "",
        f"{utils}/compile/loader.py": LOADER,
        f"{utils}/compile/paths.py": PATHS,
        f"{utils}/compile/toolchain.py": TOOLCHAIN,
        "sglang/kernels/ops.py": OPS,
        "sglang/kernels/jit/csrc/sum.cuh": SUM,
        "sglang/kernels/jit/csrc/memory.cuh": MEMORY,
        "sglang/kernels/jit/csrc/plain.cu": "__global__ void plain(int* p) { p[0] = 1; }\n",
        "sglang/kernels/jit/include/own.cuh": OWN,
    }


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scanned(write(tmp_path_factory.mktemp("loader"), files()))


def build(report: Report, name: str) -> Build:
    (found,) = [build for build in report.builds if build.function == f"sglang.kernels.ops.{name}"]
    return found


def test_its_own_functions_say_what_is_compiled_for(report: Report) -> None:
    """Whatever else is run of the module that they stand in, such as what overrides the architecture."""
    made = build(report, "_module")
    assert {arch: made.spelling[arch] for arch in ("sm_89", "sm_90", "sm_120")} == {
        "sm_89": ("8.9",),
        "sm_90": ("9.0a",),
        "sm_120": ("12.0f",),
    }
    assert made.flags["sm_120"] == ("-DOWN_ARCH=1200",)


def test_files_are_relative_to_its_folder(report: Report) -> None:
    assert build(report, "_module").sources == ("sglang/kernels/jit/csrc/sum.cuh",)
    assert build(report, "_plain").sources == ("sglang/kernels/jit/csrc/plain.cu",)


def test_the_first_of_a_literal_type_is_taken(report: Report) -> None:
    assert build(report, "_module").given == "kind='one', size=128"


def test_what_it_compiles_is_told_and_the_way_to_it(report: Report) -> None:
    (gate,) = [gate for gate in report.gates if gate.effect == "lost_sync"]
    assert (gate.file, gate.line) == ("sglang/kernels/jit/include/own.cuh", 5)
    guards = [gate for gate in report.gates if gate.layer == "guard"]
    assert not [gate for gate in guards if gate.effect == "raises"], "the flag is known"
    assert [path.entry.name for path in report.paths if gate.id in path.steps] == ["sglang.kernels.total"]


def test_what_is_not_made_on_an_architecture_is_supposed_to_be_made_as_the_others_are(report: Report) -> None:
    """With the flags that follow the architecture; that an instruction fails to assemble is then not told."""
    (guard,) = [gate for gate in report.gates if gate.file.endswith("memory.cuh")]
    assert guard.layer == "guard"
    admitted = {arch for arch, verdict in guard.verdict.items() if verdict == "admit"}
    assert admitted == {"sm_100", "sm_103"}


def test_where_the_flags_are_not_known_nothing_is_said_of_what_is_compiled(tmp_path: Path) -> None:
    toolchain = "import subprocess\n\n\ndef target_flags():\n    return [subprocess.getoutput('which-gpu')]\n"
    changed = {**files(), "sglang/kernels/jit/utils/compile/toolchain.py": toolchain}
    report = scanned(write(tmp_path, changed))
    assert not [gate for gate in report.gates if gate.layer == "guard"]
    assert build(report, "_module").sources == ("sglang/kernels/jit/csrc/sum.cuh",)
    assert "_module" in [one.what for one in report.coverage.unresolved if "with which flags" in one.why]
