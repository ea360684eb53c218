"""Gates that let the target in to a value, and what is stopped where that value is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Gate
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE

OPS = """\
from typing import Literal

import torch

from flashinfer.jit.core import gen_jit_spec


def make_wide():
    return gen_jit_spec("wide", ["wide.cu"])


def make_plain():
    return gen_jit_spec("plain", ["plain.cu"])


def run_wide(x):
    return make_wide().build_and_load().run(x)


def run_plain(x):
    return make_plain().build_and_load().run(x)


def plainly(x):
    return x.plain()


def settled(*, x, backend, mask):
    if mask is None:
        return backend
    if backend != "auto":
        raise ValueError(f"{backend} takes no mask")
    return "plain"


def run_named(x, backend: Literal["auto", "wide", "plain"], mask=None):
    backend = settled(x=x, backend=backend, mask=mask)
    if backend == "auto":
        backend = "wide" if torch.cuda.get_device_capability(x.device)[0] == 10 else "plain"
    if backend == "plain":
        run_plain(x)
        return torch.empty_like(x)
    run_wide(x)
    return torch.zeros_like(x)


class Engine:
    def __init__(self, config):
        self.major = torch.cuda.get_device_capability()[0]
        self.kind = config.kind

    def _resolve(self, extra, kind):
        if extra is None:
            return kind
        if self.major >= 10:
            return "wide"
        if self.major == 9:
            return "narrow"
        return kind

    def run(self, x, extra):
        kind = self._resolve(extra, self.kind)
        {consumer}
        return x
"""
CONSUMERS = {
    "if": """
        if kind == "wide" and not self.busy:
            return run_wide(x)
        if kind == "plain":
            return run_plain(x)
    """,
    "chain": """
        if kind == "plain":
            return run_plain(x)
        elif kind in ("narrow", "other"):
            return run_plain(x)
        elif kind != "wide":
            return run_plain(x)
        else:
            return run_wide(x)
    """,
    "by name": """
        if kind == "wide":
            return run_named(x.data, "wide")
        if kind == "plain":
            return run_named(x.data, "plain")
    """,
    "left to it": """
        if kind == "wide":
            return run_named(x.data, "auto")
    """,
    "both": """
        if kind == "wide":
            if x.small:
                return run_plain(x)
            return run_wide(x)
    """,
    "beside": """
        if kind == "wide":
            if x.small:
                return x.slow(plainly(x))
            return run_wide(x)
    """,
    "not asked": """
        if kind == "plain":
            return run_wide(x)
    """,
}
UNIT = """\
__global__ void kernel(int* p) {{ p[0] = 1; }}
{check}
void run(int* p) {{
  Runner runner;
  kernel<<<1, 1>>>(p);
}}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""
CHECKED = """\
inline int version() {
  int device = 0;
  int major = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  return major;
}
struct Runner {
  int major_;
  Runner() : major_(version()) { TORCH_CHECK(major_ == 10, "of another GPU"); }
};"""
UNCHECKED = "struct Runner {};"


def gates(root: Path, consumer: str, wide: str = CHECKED) -> list[Gate]:
    """The gates of a tree in which a method answers with a back end, and another runs what it asks for."""
    program = {
        "flashinfer/__init__.py": "from .ops import run_named\n",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": OPS.replace("        {consumer}\n", CONSUMERS[consumer].strip("\n") + "\n"),
        "flashinfer/data/wide.cu": UNIT.format(check=wide),
        "flashinfer/data/plain.cu": UNIT.format(check=UNCHECKED),
    }
    return list(scanned(write(root, program)).gates)


def loose(found: list[Gate]) -> Gate:
    (one,) = [gate for gate in found if gate.code == "self.major >= 10"]
    return one


@pytest.mark.parametrize("consumer", ["if", "chain", "by name"])
def test_a_value_that_leads_to_a_check_on_the_host_lets_in_wrongly(tmp_path: Path, consumer: str) -> None:
    one = loose(gates(tmp_path, consumer))
    assert (one.verdict["sm_120"], one.effect, one.severity) == ("admit", "wrongly_admitted", "error")
    assert one.justification is not None
    (step,) = one.justification.evidence
    assert (step.file, step.line) == ("flashinfer/data/wide.cu", 11)
    assert step.what == "wide: sm_120 is stopped here: major_ == 10"


@pytest.mark.parametrize("consumer", ["both", "beside", "left to it", "not asked"])
def test_a_value_that_leads_elsewhere_as_well_or_alone_does_not(tmp_path: Path, consumer: str) -> None:
    assert loose(gates(tmp_path, consumer)).effect == "none"


def test_a_value_that_leads_to_what_runs_everywhere_does_not(tmp_path: Path) -> None:
    assert loose(gates(tmp_path, "if", UNCHECKED)).effect == "none"
