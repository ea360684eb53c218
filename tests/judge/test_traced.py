"""Kernels written in Python: what their language's operations need stands behind the gates before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Gate
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE

KERNEL = """\
import functools

import cutlass.cute as cute
import torch
import triton
from cutlass.cute.nvgpu import cpasync, tcgen05, warp
from flashinfer.jit.core import gen_jit_spec


class Wide:
    def __call__(self, x):
        tcgen05.make_tmem_copy(x)


class Narrow:
    def __call__(self, x):
        warp.MmaF16BF16Op(x)
        cpasync.tma_partition(x)


class Combined:
    def __init__(self, size):
        if torch.cuda.get_device_capability()[0] < 10:
            raise ValueError("needs a newer GPU")
        self.size = size

    def run(self, x):
        return cute.compile(Wide(), x)


class Light:
    def __init__(self, size):
        if torch.cuda.get_device_capability()[0] < 10:
            raise ValueError("needs a newer GPU")
        self.size = size

    def run(self, x):
        return cute.compile(Narrow(), x)


@functools.cache
def build(size):
    return cute.compile[1](Wide(), size, options="--fast")


class Prepared:
    def __init__(self, size):
        if torch.cuda.get_device_capability()[0] < 10:
            raise ValueError("needs a newer GPU")
        prepare[(1,)](size)
        self.kernel = build(size)


@functools.cache
def sums():
    return make_sums().build_and_load()


def make_sums():
    return gen_jit_spec("sums", ["sums.cu"])


class Helped:
    def __init__(self, size):
        if torch.cuda.get_device_capability()[0] < 10:
            raise ValueError("needs a newer GPU")
        self.kernel = build(size)

    def sum(self, x):
        if torch.cuda.get_device_capability()[0] < 8:
            raise ValueError("needs a newer GPU")
        return sums().run(x)


class Sometimes:
    def __init__(self, size):
        if size.small:
            if torch.cuda.get_device_capability()[0] < 10:
                raise ValueError("needs a newer GPU")
        self.kernel = build(size)


class Either:
    def __init__(self, size):
        if torch.cuda.get_device_capability()[0] < 10:
            raise ValueError("needs a newer GPU")
        if size.small:
            prepare[(1,)](size)
        else:
            self.kernel = build(size)


@triton.jit
def prepare(size):
    pass


def wide(x):
    if torch.cuda.get_device_capability()[0] != 10:
        raise ValueError("made for sm_100")
    return cute.compile(Wide(), x)


def narrow(x):
    if torch.cuda.get_device_capability()[0] != 10:
        raise ValueError("made for sm_100")
    return cute.compile(Narrow(), x)
"""

SUMS = """\
__global__ void add(float* x) { x[0] += x[1]; }
void run(float* x) { add<<<1, 1>>>(x); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


@pytest.fixture(scope="module")
def gates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Gate]:
    """The gates by the function that holds them."""
    texts = {
        "kit/__init__.py": "",
        "kit/kernel.py": KERNEL,
        "flashinfer/__init__.py": "",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/data/sums.cu": SUMS,
    }
    root = write(tmp_path_factory.mktemp("kit"), texts)
    return {gate.scope: gate for gate in scanned(root).gates}


def evidence(gate: Gate) -> list[tuple[str, int]]:
    assert gate.justification is not None
    return [(Path(step.file).name, step.line) for step in gate.justification.evidence]


def test_a_lower_bound_lets_the_target_in_to_tensor_memory(gates: dict[str, Gate]) -> None:
    found = gates["Combined.__init__"]
    assert found.effect == "wrongly_admitted"
    assert found.justification is not None
    assert found.justification.kind == "hardware"
    assert evidence(found) == [("kernel.py", 12)]


def test_what_runs_before_it_does_not_help(gates: dict[str, Gate]) -> None:
    assert gates["Prepared.__init__"].effect == "wrongly_admitted"


def test_a_build_for_another_purpose_does_not_help(gates: dict[str, Gate]) -> None:
    assert gates["Helped.__init__"].effect == "wrongly_admitted"


def test_a_check_that_is_not_always_come_to_stands_before_nothing(gates: dict[str, Gate]) -> None:
    assert gates["Sometimes.__init__"].effect == "none"


def test_a_way_beside_it_may_work(gates: dict[str, Gate]) -> None:
    assert gates["Either.__init__"].effect == "none"


def test_operations_that_the_target_has_are_no_reason(gates: dict[str, Gate]) -> None:
    assert gates["Light.__init__"].effect == "none"


def test_a_check_before_tensor_memory_is_hardware(gates: dict[str, Gate]) -> None:
    found = gates["wide"]
    assert (found.effect, found.severity) == ("raises", "note")
    assert evidence(found) == [("kernel.py", 12)]


def test_a_kernel_that_was_not_read_to_its_instructions_is_unknown(gates: dict[str, Gate]) -> None:
    found = gates["narrow"]
    assert found.justification is not None
    assert found.justification.kind == "unknown"
