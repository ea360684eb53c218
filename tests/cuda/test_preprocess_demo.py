"""The preprocessor on a real unit of the demo packages."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes
from analyzer.cuda.preprocess import Unit, walk
from tests.cuda.tree import Disk

DATA = "flashinfer/data"
DIRS = (f"{DATA}/include", f"{DATA}/csrc", f"{DATA}/cutlass/include", f"{DATA}/spdlog/include")
HEADER = f"{DATA}/include/flashinfer/comm/trtllm_allreduce.cuh"
ARCHS = ("8.9", "9.0a", "10.0a", "10.3a", "11.0a", "12.0a", "12.1a")


@pytest.fixture(scope="module")
def unit(demo: Path) -> Unit:
    configurations = [passes.device_pass(Spelling.parse(arch)) for arch in ARCHS]
    return walk(f"{DATA}/csrc/trtllm_allreduce.cu", Disk(demo), DIRS, configurations)


def test_thirteen_guards_leave_out_everything_from_sm_120_on(unit: Unit) -> None:
    guards = [b for b in unit.files[HEADER].dependent if "__CUDA_ARCH__ < 1200" in b.condition]
    lines = [417, 455, 485, 533, 711, 895, 950, 991, 1053, 1207, 1265, 1335, 1444]
    assert [b.line for b in guards] == lines
    for guard in guards:
        assert unit.labels(guard.active) == ("9.0a", "10.0a", "10.3a", "11.0a")
        assert (guard.enclosing, guard.unknown) == (unit.full, 0)
        assert unit.files[HEADER].active(guard.line + 1) == guard.active
        assert [s.line for s in guard.because] == [guard.line]


def test_nothing_is_missing_and_nothing_unknown(unit: Unit) -> None:
    assert unit.missing == ()
    assert unit.errors == ()
    assert not any(b.unknown for activity in unit.files.values() for b in activity.dependent)


def test_a_unit_can_be_sent_to_another_process(unit: Unit) -> None:
    again = pickle.loads(pickle.dumps(unit))
    assert list(again.files) == list(unit.files)
    assert again.files[HEADER].branches == unit.files[HEADER].branches
    assert again.files[HEADER].branches[5].because == unit.files[HEADER].branches[5].because
