"""The compiler's passes as configurations."""

from __future__ import annotations

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes


def test_flags() -> None:
    flags = ["-DA", "-D", "B=2", "-DC=", '-DD="x y"', "-UA", "-O3", "-std=gnu++20", "-DF(x)=x"]
    assert passes.parse_flags(flags) == ({"B": "2", "C": "", "D": '"x y"', "F(x)": "x"}, "c++20")


@pytest.mark.parametrize(
    ("cuda", "version", "atomics"),
    [("13.0", "13000", True), ("12.8", "12080", True), ("12.4", "12040", False)],
)
def test_toolkit_version(cuda: str, version: str, atomics: bool) -> None:
    macros = passes.device_pass(Spelling(90, "a"), cuda=cuda).macros
    assert f"{macros['__CUDACC_VER_MAJOR__']}.{macros['__CUDACC_VER_MINOR__']}" == cuda
    assert macros["__SMGATE_TOOLKIT_VERSION__"] == version
    assert ("__CUDACC_DEVICE_ATOMIC_BUILTINS__" in macros) == atomics


def test_standard() -> None:
    assert passes.device_pass(Spelling(120)).macros["__cplusplus"] == "201703L"
    assert passes.device_pass(Spelling(120), ["-std=c++20"]).macros["__cplusplus"] == "202002L"


def test_arch_list() -> None:
    both = [Spelling(120, "a"), Spelling(90, "a"), Spelling(90)]
    assert passes.device_pass(both[0]).macros["__CUDA_ARCH_LIST__"] == "1200"
    assert passes.device_pass(both[0], arch_list=both).macros["__CUDA_ARCH_LIST__"] == "900,1200"
    assert passes.host_pass(both).macros["__CUDA_ARCH_LIST__"] == "900,1200"


def test_flags_win() -> None:
    assert passes.device_pass(Spelling(120), ["-D__NVCC__=0"]).macros["__NVCC__"] == "0"
