"""nvcc as the judge of a patch: what it opens compiles for the target, and every kernel waits again."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from analyzer.judge.unlock import unlock
from analyzer.model import Report
from tests.binary import toolkit
from tests.corpus.conftest import report, report_file
from tests.corpus.test_story import HEADER
from tests.corpus.test_unlock import API, OPTION, without
from tests.judge.opened import apply, reader

__all__ = ["report", "report_file"]

#: Instantiates every kernel of the header for one type, as the binding does for three.
UNIT = """\
#include "flashinfer/comm/trtllm_allreduce.cuh"
using namespace flashinfer::trtllm_allreduce;
template cudaError_t flashinfer::trtllm_allreduce::customAllReduce<half>(
    AllReduceParams<half>&, AllReduceStrategyType, AllReduceStrategyConfig, AllReduceFusionOp, bool,
    cudaStream_t);
"""
KERNELS = (
    "oneShotAllReduceKernel",
    "twoShotAllReduceKernel",
    "rms_norm_kernel",
    "rms_pre_post_norm_kernel",
    "lamport_style_one_shot_all_reduce_norm_kernel",
    "one_shot_all_reduce_norm_kernel",
    "one_shot_prenorm_all_reduce_norm_kernel",
)


#: Instantiates both kernels behind the server option for one pattern; the binding does for all of them.
FUSION = """\
#include "flashinfer/comm/trtllm_allreduce_fusion.cuh"
using namespace flashinfer::trtllm_allreduce_fusion;
template cudaError_t flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_launcher<
    AllReduceFusionPattern::kARResidualRMSNorm, half, 2, false>(AllReduceFusionParams<half> const&, bool);
"""
FUSED = ("allreduce_fusion_kernel_oneshot_lamport", "allreduce_fusion_kernel_twoshot_sync")


def waits(unit: str, include: list[Path], folder: Path) -> dict[str, bool]:
    """By entry of a unit's PTX for sm_120a, whether it waits for the kernel before it."""
    (folder / "unit.cu").write_text(unit)
    flags = ["-ptx", "-arch=compute_120a", "-std=c++17", "--expt-relaxed-constexpr", "-w"]
    flags += [f"-I{path}" for path in include]
    toolkit.nvcc(folder / "unit.cu", folder / "unit.ptx", *flags)
    found: dict[str, bool] = {}
    for part in re.split(r"(?m)^\.visible \.entry |^\.entry ", (folder / "unit.ptx").read_text())[1:]:
        name = re.match(r"[\w$]+", part)
        assert name is not None
        found[name[0]] = "griddepcontrol.wait" in part
    return found


@pytest.mark.slow
@pytest.mark.skipif(toolkit.tool("nvcc") is None, reason="no nvcc: make toolkit")
def test_every_kernel_waits_once_the_patch_is_applied(report: Report, demo: Path, tmp_path: Path) -> None:
    found = unlock(report, API, reader(demo))
    assert f"+++ {HEADER}" in found.patch
    data = tmp_path / "flashinfer" / "data"
    shutil.copytree(demo / "flashinfer" / "data" / "include", data / "include")
    python = set(re.findall(r"(?m)^--- (\S+\.py)$", found.patch))
    apply(tmp_path, without(found.patch, python))
    told = waits(UNIT, [data / "include", demo / "flashinfer" / "data" / "spdlog" / "include"], tmp_path)
    for kernel in KERNELS:
        assert any(kernel in entry for entry in told), kernel
    assert all(told.values()), [entry for entry, does in told.items() if not does][:4]


@pytest.mark.slow
@pytest.mark.skipif(toolkit.tool("nvcc") is None, reason="no nvcc: make toolkit")
def test_what_the_option_leads_to_compiles_and_waits(report: Report, demo: Path, tmp_path: Path) -> None:
    """Its patch changes Python alone: the kernels behind it serve the target as they are."""
    found = unlock(report, OPTION, reader(demo))
    assert set(re.findall(r"(?m)^--- \S+(\.\w+)$", found.patch)) == {".py"}
    data = demo / "flashinfer" / "data"
    told = waits(FUSION, [data / "include", data / "spdlog" / "include"], tmp_path)
    for kernel in FUSED:
        assert any(kernel in entry for entry in told), kernel
    assert all(told.values()), [entry for entry, does in told.items() if not does][:4]
