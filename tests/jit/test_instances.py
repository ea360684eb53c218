"""Builds that are made to measure: one of them stands for all, and is told with what it was made."""

from __future__ import annotations

import pytest

from analyzer.model import Report
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE

OPS = """\
import functools
import pathlib, shutil
from typing import List, Optional

import jinja2
import torch

from flashinfer.jit.core import SOURCES, gen_jit_spec

OUT = pathlib.Path("/made")
names = {torch.bfloat16: "bf16", torch.float32: "f32"}
modes = {0: "Mode::kNone", 1: "Mode::kFull"}


def make(
    backend: str,
    dtype: torch.dtype,
    idtype: torch.dtype,
    head_dim: int,
    mode: int,
    fast: bool,
    extra: List[str],
    suffix: str = "x",
):
    uri = f"ops_{names[dtype]}_{head_dim}_{str(fast).lower()}_{suffix}"
    folder = OUT / uri
    if backend == "old":
        raise ValueError("gone")
    elif backend == "plain":
        flags = ["-DPLAIN"]
    else:
        flags = ["-DOTHER"]
    with open(SOURCES / "inst.jinja") as f:
        template = jinja2.Template(f.read())
    values = {"dtype": names[dtype], "idtype": str(idtype)}
    values |= {"tile": head_dim, "mode": modes[mode]}
    path = folder / "inst.cu"
    path.write_text(template.render(**values))
    shutil.copy(SOURCES / "ops.cu", folder / "ops.cu")
    return gen_jit_spec(uri, [path, folder / "ops.cu"], flags)


def sink(backend: str, dtype: torch.dtype):
    from flashinfer.tables import declared

    flags = ["-gencode=arch=compute_90a,code=sm_90a"] if backend == "pinned" else []
    uri = f"sink_{names[dtype]}"
    (OUT / uri / "sink.cu").write_text((SOURCES / "sink.cu").read_text())
    return gen_jit_spec(declared[backend] + uri, [OUT / uri / "sink.cu"], flags)


def like_sink(backend: str):
    if backend == "none":
        return 0
    return 1 if backend == "pinned" else 2 if backend == "plain" else 3


def refuse(dtype: torch.dtype):
    if dtype == torch.bfloat16:
        raise ValueError("no")
    return gen_jit_spec(f"ops_{dtype}", [OUT / f"{dtype}" / "ops.cu"])


def gated(x, dtype):
    if torch.cuda.get_device_capability()[0] == 9:
        return make("other", dtype, x.dtype, x.size, x.mode, x.fast, x.extra).build_and_load().run(x)
    return x.slow()


def run(x, backend, dtype):
    made = make(backend, dtype, x.dtype, x.size, x.mode, x.fast, x.extra).build_and_load()
    return made.run(x)
"""
INST = """\
using T = {{ dtype }};
constexpr int kTile = {{ tile }};
constexpr auto kMode = {{ mode }};
__global__ void kernel(int* p) {
#if __CUDA_ARCH__ < 1200
  cudaGridDependencySynchronize();
#endif
  p[0] = kTile;
}
void used(int* p) { kernel<<<1, 1>>>(p); }
"""
UNIT = """\
void used(int* p);
void run(int* p) { used(p); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    files = {
        "flashinfer/__init__.py": "",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": OPS,
        "flashinfer/tables.py": "declared = {'pinned': 'a', 'plain': 'b'}\n",
        "flashinfer/data/sink.cu": UNIT,
        "flashinfer/data/inst.jinja": INST,
        "flashinfer/data/ops.cu": UNIT,
    }
    return scanned(write(tmp_path_factory.mktemp("measure"), files))


def test_the_sources_are_those_of_one_that_is_made(report: Report) -> None:
    (build,) = [build for build in report.builds if build.function.endswith(".make")]
    assert build.sources == ("flashinfer/data/inst.jinja", "flashinfer/data/ops.cu")
    assert build.name == "make"


def test_the_first_choice_that_can_be_made_is_taken(report: Report) -> None:
    (build,) = [build for build in report.builds if build.function.endswith(".make")]
    assert build.flags["sm_120"] == ("-DPLAIN",)
    assert build.given == (
        "backend='plain', dtype=torch.bfloat16, idtype=torch.float16, head_dim=128, mode=0, fast=False, "
        "extra=[], suffix='x'"
    )


def test_choices_are_those_of_the_module_and_what_is_compiled_for_the_host_goes_first(report: Report) -> None:
    (build,) = [build for build in report.builds if build.function.endswith(".sink")]
    assert build.sources == ("flashinfer/data/sink.cu",)
    assert build.given == "backend='plain', dtype=torch.bfloat16"


def test_gates_of_its_sources_are_told(report: Report) -> None:
    (found,) = [gate for gate in report.gates if gate.file == "flashinfer/data/inst.jinja"]
    assert (found.line, found.effect) == (5, "lost_sync")


def test_what_raises_for_the_values_that_are_tried_stays_open(report: Report) -> None:
    assert any("refuse" in one.what for one in report.coverage.unresolved)


def test_one_of_many_does_not_vouch_for_the_others(report: Report) -> None:
    """What was read was made with another choice than the one behind the gate."""
    (gate,) = [gate for gate in report.gates if gate.scope == "gated"]
    assert gate.justification is not None
    assert gate.justification.kind == "unknown"
    (step,) = [step for step in gate.justification.evidence if "made to measure" in step.what]
    assert "backend='plain'" in step.what
