"""Kernels emptied through the functions that they call."""

from __future__ import annotations

import pytest

from analyzer.model import Gate
from tests.cuda.test_units import analysed

CODE = """
    template <typename T>
    __device__ void store(T* p, T value) {
    #if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
      p[0] = value;
    #endif
    }
    __device__ __forceinline__ void between(int* p) {
      int value = 3;
      store<int>(p, value);
    }
    __global__ void k(int* p) { BODY }
    void run(int* p) { k<<<1, 1>>>(p); }
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def gate(body: str, code: str = CODE) -> Gate:
    (found,) = analysed({"unit.cu": code.replace("BODY", body)}).guards
    return found.gate


@pytest.mark.parametrize(
    "body", ["store(p, 1);", "between(p);", "if (p != nullptr) { between(p); store(p, 2); }"]
)
def test_a_kernel_of_which_only_calls_of_nothing_are_left(body: str) -> None:
    found = gate(body)
    assert (found.line, found.scope, found.effect) == (4, "store", "empty_kernel")
    assert [(loss.what, loss.kind, loss.line) for loss in found.loses] == [("k", "body", 12)]
    assert found.silent


@pytest.mark.parametrize("body", ["store(p, 1); p[1] = 2;", "store(p, next());", "p->store(1); store(p, 1);"])
def test_a_kernel_that_does_something_beside(body: str) -> None:
    assert gate(body).effect == "excluded"


def test_a_function_that_does_something_beside() -> None:
    assert gate("store(p, 1);", CODE.replace("#endif", "#endif\n      p[9] = value;")).effect == "excluded"


def test_another_function_of_that_name_that_does_something() -> None:
    more = CODE + "__device__ void store(float* p, float v) { p[0] = v; }\n"
    assert gate("store(p, 1);", more).effect == "excluded"
