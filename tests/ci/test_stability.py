"""Ids of gates in real files survive every edit that means nothing: to them, or at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.ci.known import Known, known
from analyzer.cuda.units import BuildUnits, analyse
from analyzer.python import gates
from tests.ci import mutations
from tests.conftest import unpack_demo
from tests.python.surveys import REFERENCES, TARGET, surveyed

NAMES = (*REFERENCES, TARGET)
#: Files that are edited, and files that tell them what the device is.
PYTHON = {
    "flashinfer": (
        ("flashinfer/gemm/gemm_base.py", "flashinfer/jit/gemm/core.py", "flashinfer/jit/comm.py"),
        ("flashinfer/utils.py", "flashinfer/compilation_context.py", "flashinfer/jit/core.py"),
    ),
    "sglang": (
        ("sglang/srt/layers/communicator.py", "sglang/srt/layers/quantization/modelopt_quant.py"),
        ("sglang/srt/utils/common.py",),
    ),
}
DATA = "flashinfer/data"
CUDA = (
    f"{DATA}/include/flashinfer/comm/trtllm_allreduce.cuh",
    f"{DATA}/csrc/trtllm_allreduce.cu",
    f"{DATA}/include/flashinfer/utils.cuh",
)
#: One example takes seconds: none is made smaller, the seed says enough.
EDITS = settings(
    max_examples=4,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@cache
def _files() -> tuple[Path, tuple[str, ...]]:
    root = unpack_demo()
    return root, tuple(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())


def _python(package: str, edited: Mapping[str, str]) -> list[Known]:
    root, files = _files()
    changed, telling = PYTHON[package]

    def read(file: str) -> bytes:
        return edited[file].encode() if file in edited else (root / file).read_bytes()

    found = surveyed(files, read, walked=[*changed, *telling], names=NAMES)
    every = [known(draft.gate) for draft in gates.gates(found, TARGET, REFERENCES).gates]
    return sorted(gate for gate in every if gate.file in changed)


def _cuda(edited: Mapping[str, str]) -> list[Known]:
    root, files = _files()

    def read(file: str) -> bytes:
        return edited[file].encode() if file in edited else (root / file).read_bytes()

    build = BuildUnits(
        "allreduce",
        (CUDA[1],),
        tuple(f"{DATA}/{folder}" for folder in ("include", "csrc", "cutlass/include", "spdlog/include")),
        {},
        {name: Spelling(archs.find(name).number, "a") for name in NAMES},
        (13, 0),
    )
    found = analyse(
        [build], read, frozenset(files).__contains__, NAMES, TARGET, REFERENCES, 1, lambda a, b: None
    )
    return sorted(known(guard.gate) for guard in found.guards if guard.gate.file in CUDA)


@cache
def _before(package: str) -> tuple[Known, ...]:
    gates = _cuda({}) if package == "cuda" else _python(package, {})
    assert len(gates) >= 4
    assert len({gate.id for gate in gates}) == len(gates), "two equal conditions stay apart"
    return tuple(gates)


def _edited(files: tuple[str, ...], edit: Callable[[str], str]) -> dict[str, str]:
    root, _ = _files()
    texts = {file: (root / file).read_text() for file in files}
    edited = {file: edit(text) for file, text in texts.items()}
    assert edited != texts
    return edited


@pytest.mark.parametrize("package", PYTHON)
@EDITS
@given(seed=st.integers(0, 2**32))
def test_lines_that_shift_in_python(package: str, seed: int) -> None:
    edited = _edited(PYTHON[package][0], lambda text: mutations.shifted_python(text, Random(seed)))
    assert _python(package, edited) == list(_before(package))


@pytest.mark.parametrize("package", PYTHON)
@EDITS
@given(seed=st.integers(0, 2**32))
def test_other_statements_in_python(package: str, seed: int) -> None:
    edited = _edited(PYTHON[package][0], lambda text: mutations.more_statements_python(text, Random(seed)))
    assert _python(package, edited) == list(_before(package))


@pytest.mark.parametrize("package", PYTHON)
@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda text: mutations.reindented_python(text, 2), id="narrow"),
        pytest.param(lambda text: mutations.reindented_python(text, 7), id="wide"),
        pytest.param(mutations.formatted_python, id="formatted"),
        pytest.param(
            lambda text: mutations.reindented_python(mutations.shifted_python(text, Random(1)), 3), id="both"
        ),
    ],
)
def test_layout_of_python(package: str, edit: Callable[[str], str]) -> None:
    assert _python(package, _edited(PYTHON[package][0], edit)) == list(_before(package))


@EDITS
@given(seed=st.integers(0, 2**32))
def test_lines_that_shift_in_cuda(seed: int) -> None:
    edited = _edited(CUDA, lambda text: mutations.shifted_cuda(text, Random(seed)))
    assert _cuda(edited) == list(_before("cuda"))


@EDITS
@given(seed=st.integers(0, 2**32))
def test_other_statements_in_cuda(seed: int) -> None:
    edited = _edited(CUDA, lambda text: mutations.more_statements_cuda(text, Random(seed)))
    assert _cuda(edited) == list(_before("cuda"))


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda text: mutations.reindented_cuda(text, 3), id="indented"),
        pytest.param(mutations.commented_cuda, id="commented"),
        pytest.param(
            lambda text: mutations.commented_cuda(mutations.shifted_cuda(text, Random(1))), id="both"
        ),
    ],
)
def test_layout_of_cuda(edit: Callable[[str], str]) -> None:
    assert _cuda(_edited(CUDA, edit)) == list(_before("cuda"))
