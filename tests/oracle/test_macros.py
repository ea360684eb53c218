"""The macros of each compiler pass, against ``nvcc --dryrun``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes

ORACLE = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "cuda" / "macros-13.0.json"
pytestmark = pytest.mark.skipif(not ORACLE.exists(), reason="the records of nvcc 13.0 are not at hand")

#: Known without a flag: from -std, which gcc defines itself, and for the stand-in headers.
OWN = {"__cplusplus", "__SMGATE_TOOLKIT_VERSION__"}


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(ORACLE.read_text())
    return loaded


def defined(flags: Iterable[str]) -> dict[str, str]:
    return passes.parse_flags(f"-D{flag}" for flag in flags)[0]


def test_every_spelling(oracle: dict[str, Any]) -> None:
    assert len(oracle["per_arch"]) >= 20
    for name, row in oracle["per_arch"].items():
        spelling = Spelling.parse(name)
        assert {p["kind"] for p in row["gencode"]} == {"host", "device"}
        for record in row["gencode"]:
            device = record["kind"] == "device"
            ours = passes.device_pass(spelling) if device else passes.host_pass([spelling])
            expected = defined([*record["arch"], *oracle["common_macros"][record["kind"]]])
            assert {k: v for k, v in ours.macros.items() if k not in OWN} == expected, (name, record["kind"])


def test_a_build_for_two_architectures(oracle: dict[str, Any]) -> None:
    spellings = [Spelling(120, "a"), Spelling(90, "a")]
    ours = {s.number: passes.device_pass(s, arch_list=spellings).macros for s in spellings} | {
        0: passes.host_pass(spellings).macros
    }
    for record in oracle["two_gencodes_90a_120a"]:
        expected = defined(record["arch"])
        macros = ours[int(expected.get("__CUDA_ARCH__", "0")) // 10]
        assert {k: v for k, v in macros.items() if "ARCH" in k} == expected


def test_further_flags(oracle: dict[str, Any]) -> None:
    flags = ["--expt-relaxed-constexpr", "--expt-extended-lambda", "-rdc=true", "-G", "-use_fast_math"]
    with_flags = passes.device_pass(Spelling(120, "a"), flags).macros
    without = passes.device_pass(Spelling(120, "a")).macros
    assert sorted(set(with_flags) - set(without)) == oracle["extra_from_relaxed_lambda_rdc_G"]["device"]
    assert oracle["extra_from_use_fast_math"]["device"] == []
