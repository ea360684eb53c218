"""Every architecture-dependent branch of flashinfer 0.6.3, against gcc -E under nvcc's own macros."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes
from analyzer.cuda.preprocess import Branch, Memory, Unit, walk
from tests.cuda.tree import Disk

ORACLE = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "cuda" / "branches-flashinfer-0.6.3.json"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ORACLE.exists(), reason="the records of gcc -E are not at hand"),
]

DATA = "flashinfer/data"
INTERNAL = f"{DATA}/csrc/nv_internal"
#: The folders that the package's just-in-time builds pass, and a place for headers taken to be empty.
INCLUDE_DIRS = (
    INTERNAL,
    f"{INTERNAL}/include",
    f"{INTERNAL}/tensorrt_llm/cutlass_extensions/include",
    f"{INTERNAL}/tensorrt_llm/kernels/cutlass_kernels/include",
    f"{INTERNAL}/tensorrt_llm/kernels/cutlass_kernels",
    f"{DATA}/csrc/fmha_v2",
    f"{DATA}/include",
    f"{DATA}/csrc",
    f"{DATA}/cutlass/include",
    f"{DATA}/cutlass/tools/util/include",
    f"{DATA}/spdlog/include",
    "stubs",
)
#: Flags that every unit has and the records leave out.
COMMON = (
    "-DFLASHINFER_ENABLE_F16",
    "-DFLASHINFER_ENABLE_BF16",
    "-DFLASHINFER_ENABLE_FP8_E4M3",
    "-DFLASHINFER_ENABLE_FP8_E5M2",
    "-DFLASHINFER_ENABLE_FP8_E8M0",
    "-DFLASHINFER_ENABLE_FP4_E2M1",
    "-DPy_LIMITED_API=0x03090000",
    "-D_GLIBCXX_USE_CXX11_ABI=1",
    "--expt-relaxed-constexpr",
)


@pytest.fixture(scope="module")
def oracle() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(ORACLE.read_text())
    return loaded


@pytest.fixture(scope="module")
def units(oracle: dict[str, Any], demo: Path) -> dict[int, Unit]:
    """The units whose source is in the package, by their index in the records.

    Ten device passes each, and the host pass.
    """
    # The records were made with these headers empty.
    sources = Disk(demo, (f"stubs/{header}" for header in oracle["stubbed_headers"]))
    memory = Memory()
    found = {}
    for index, unit in enumerate(oracle["tus"]):
        if unit["name"].startswith("gen:"):
            continue
        flags = (*COMMON, *unit["flags"])
        configurations = [passes.device_pass(Spelling.parse(a), flags) for a in oracle["archs"]]
        configurations.append(passes.host_pass([Spelling(120)], flags))
        source = unit["name"].partition("@")[0]
        found[index] = walk(source, sources, INCLUDE_DIRS, configurations, memory=memory)
    return found


@pytest.fixture(scope="module")
def answers(oracle: dict[str, Any], units: dict[int, Unit]) -> list[tuple[dict[str, Any], Branch]]:
    """Each record with the branch of each unit that it speaks of."""
    return list(_answers(oracle, units))


def _answers(oracle: dict[str, Any], units: dict[int, Unit]) -> Iterator[tuple[dict[str, Any], Branch]]:
    by_line: dict[tuple[int, str], dict[int, Branch]] = {}
    including: dict[str, list[int]] = defaultdict(list)
    for index, unit in units.items():
        for path in unit.files:
            including[path].append(index)
    for record in oracle["branches"]:
        speaks_of = including[record["file"]] if record["tu"] == "*" else record["tu"]
        for index in speaks_of:
            if index not in units:
                continue
            key = (index, record["file"])
            if key not in by_line:
                by_line[key] = {b.line: b for b in units[index].files[record["file"]].branches}
            yield record, by_line[key][record["line"]]


def test_the_units_are_those_of_the_package(oracle: dict[str, Any], units: dict[int, Unit]) -> None:
    kinds = Counter("rendered" if u["name"].startswith("gen:") else "source" for u in oracle["tus"])
    assert kinds == {"source": len(units), "rendered": 31}
    assert len({unit.path for unit in units.values()}) == 152


def test_the_same_files_are_reached(oracle: dict[str, Any], units: dict[int, Unit]) -> None:
    reached = Counter(path for unit in units.values() for path in unit.files)
    rendered = sum(unit["name"].startswith("gen:") for unit in oracle["tus"])
    counts: Counter[tuple[str, int]] = Counter()
    for record in oracle["branches"]:
        counts[record["file"], record["line"]] += record["n_tu"]
    for (file, line), count in counts.items():
        # The records count the rendered units too.
        assert count - rendered <= reached[file] <= count, (file, line)


def test_every_branch_agrees_and_none_is_unknown(
    oracle: dict[str, Any], answers: list[tuple[dict[str, Any], Branch]]
) -> None:
    archs = oracle["archs"]
    compared = 0
    for record, branch in answers:
        expected = sum(record["active"][arch] << bit for bit, arch in enumerate(archs))
        expected |= record["host"] << len(archs)
        assert branch.unknown == 0, (record, branch.reason)
        assert branch.active == expected, record
        compared += len(archs) + 1
    assert compared > 3_000_000


def test_nearly_all_records_are_answered(
    oracle: dict[str, Any], answers: list[tuple[dict[str, Any], Branch]]
) -> None:
    answered = {id(record) for record, _ in answers}
    left = [record for record in oracle["branches"] if id(record) not in answered]
    assert len(left) == 25  # in files that only rendered units reach
    assert all(oracle["tus"][i]["name"].startswith("gen:") for r in left if r["tu"] != "*" for i in r["tu"])


def test_the_same_units_run_into_an_error(oracle: dict[str, Any], units: dict[int, Unit]) -> None:
    passes_over = [*oracle["archs"], "host"]
    found: dict[str, set[str]] = defaultdict(set)
    for index, unit in units.items():
        for error in unit.errors:
            assert error.unknown == 0
            for bit, arch in enumerate(passes_over):
                if error.active >> bit & 1:
                    found[arch].add(oracle["tus"][index]["name"])
    recorded = {
        arch: {name for name in names if not name.startswith("gen:")}
        for arch, names in oracle["preprocess_errors"].items()
    }
    assert found == recorded
    assert recorded["120"]  # CUTLASS refuses sm_120 without a suffix


def test_what_varies_is_arch_dependent(answers: list[tuple[dict[str, Any], Branch]]) -> None:
    for record, branch in answers:
        if record["varies"]:
            assert branch.arch_dependent, record


def test_hardly_any_other_branch_is_arch_dependent(oracle: dict[str, Any], units: dict[int, Unit]) -> None:
    recorded = {(record["file"], record["line"]) for record in oracle["branches"]}
    extra = {
        (branch.file, branch.line): branch
        for unit in units.values()
        for activity in unit.files.values()
        for branch in activity.branches
        if branch.arch_dependent and (branch.file, branch.line) not in recorded
    }
    # The records go by names within a file. These ask for macros of headers that a unit
    # includes under an architecture-dependent condition of another file.
    assert len(extra) <= 9
    for branch in extra.values():
        defining, around = branch.because[:2]
        assert around.what.startswith("only under")
        assert around.file != defining.file


def test_reasons_lead_back_to_the_compiler(units: dict[int, Unit]) -> None:
    for unit in list(units.values())[::20]:
        for activity in unit.files.values():
            for branch in activity.branches[:50]:
                if branch.arch_dependent:
                    assert any(step.what.startswith("reads __CUDA_ARCH") for step in branch.because), branch
