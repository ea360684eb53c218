"""The plans of the two entries of the story: what is opened, by which edits, and that it then is open."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer import model
from analyzer.judge.unlock import Unlocking, unlock
from analyzer.model import Gate, Report
from tests.corpus.conftest import scan_demo
from tests.corpus.test_story import AOT, COMMUNICATOR, GUARDED, HEADER, JIT, SERVER_ARGS
from tests.judge.opened import apply, reader

OPTION = "sglang --enable-flashinfer-allreduce-fusion"
API = "flashinfer.comm.trtllm_custom_all_reduce"


def opens(found: Unlocking) -> list[tuple[str, int, str]]:
    return [(opening.file, opening.line, opening.when) for opening in found.plan.opens]


def edits(found: Unlocking) -> list[str]:
    assert all(opening.edit is not None for opening in found.plan.opens), found.plan.opens
    return [opening.edit.what for opening in found.plan.opens if opening.edit is not None]


@pytest.fixture(scope="session")
def option(report: Report, demo: Path) -> Unlocking:
    return unlock(report, OPTION, reader(demo))


@pytest.fixture(scope="session")
def api(report: Report, demo: Path) -> Unlocking:
    return unlock(report, API, reader(demo))


def test_the_option_needs_four_gates(option: Unlocking) -> None:
    assert opens(option) == [
        (COMMUNICATOR, 93, "always"),
        (JIT, 61, "always"),
        (SERVER_ARGS, 1611, "default"),
        (AOT, 526, "ahead_of_time"),
    ]
    assert option.plan.remains == ()
    assert {opening.justification.kind for opening in option.plan.opens} == {"liftable"}


def test_the_api_needs_the_list_the_guards_and_the_packages(api: Unlocking) -> None:
    found = opens(api)
    assert found[0] == (JIT, 61, "always")
    assert found[1] == (HEADER, 711, "always")  # the empty kernel is first
    assert sorted(found[1:-1]) == [(HEADER, line, "always") for line in GUARDED]
    assert found[-1] == (AOT, 526, "ahead_of_time")
    assert api.plan.remains == ()
    assert {opening.justification.kind for opening in api.plan.opens} == {"liftable"}


def test_the_edits(option: Unlocking, api: Unlocking) -> None:
    assert edits(option) == [
        "(_is_sm90_supported or _is_sm100_supported) → "
        "(_is_sm90_supported or _is_sm100_supported or _is_sm120_supported)",
        "[9, 10] → [9, 10, 12]",
        "(is_sm90_supported() or is_sm100_supported()) → "
        "(is_sm90_supported() or is_sm100_supported() or is_sm120_supported())",
        "has_sm100 → has_sm100 or has_sm120",
    ]
    guard = "(defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)"
    assert set(edits(api)[1:-1]) == {f"{guard} && (__CUDA_ARCH__ < 1200)) → {guard})"}
    (variable,) = [
        change
        for change in option.plan.opens[0].edit.changes
        if "=" in change.after  # type: ignore[union-attr]
    ]
    assert variable.after == "_is_sm120_supported = _is_cuda and is_sm120_supported()"


def test_the_comment_beside_the_gate_is_in_the_evidence(option: Unlocking) -> None:
    first = option.plan.opens[0].justification.evidence[0]
    assert "performance regression on sm100" in first.what
    assert "17237" in first.what


def at(report: Report, file: str, line: int) -> Gate:
    (one,) = [gate for gate in report.gates if gate.file == file and gate.line == line]
    return one


def test_fmha_for_datacenter_blackwell_is_wrongly_admitted(report: Report) -> None:
    for one in (
        at(report, "flashinfer/prefill.py", 104),
        at(report, "flashinfer/jit/attention/modules.py", 1754),
    ):
        assert (one.effect, one.severity) == ("wrongly_admitted", "error")
        assert one.justification is not None
        told = [step for step in one.justification.evidence if "tcgen05" in step.what]
        assert {step.file.rpartition("/")[2] for step in told} >= {"fmha_common.hpp"}


def test_fa3_needs_hopper(report: Report) -> None:
    (one,) = [gate for gate in report.gates if gate.scope == "determine_attention_backend"]
    assert one.justification is not None
    assert one.justification.kind == "hardware"
    assert any("wgmma" in step.what for step in one.justification.evidence)
    assert one.severity == "note"


def test_deep_gemm_is_not_in_the_tree_and_that_is_said(report: Report) -> None:
    one = at(report, "sglang/srt/layers/deep_gemm_wrapper/configurer.py", 11)
    assert one.verdict["sm_120"] == "admit"
    assert one.justification is not None
    assert one.justification.kind == "unknown"
    assert any("was not scanned" in step.what for step in one.justification.evidence)


@pytest.mark.parametrize("entry", [OPTION, API])
def test_answers_from_a_saved_report_come_at_once(entry: str, report_file: Path, demo: Path) -> None:
    """User time: waiting for other programs does not count."""
    command = [sys.executable, "-m", "analyzer", "unlock", entry, "--from", str(report_file)]
    before = os.times().children_user
    subprocess.run([*command, "--root", str(demo)], check=True, capture_output=True)
    assert os.times().children_user - before < 2


@pytest.fixture(scope="session")
def opened(demo: Path, option: Unlocking, api: Unlocking, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with both patches applied; files that no patch touches are links."""
    root = tmp_path_factory.mktemp("opened") / "tree"
    shutil.copytree(demo, root, copy_function=os.link)
    for found in (option, api):
        for file in re.findall(r"^--- (\S+)$", found.patch, re.MULTILINE):
            text = (root / file).read_bytes()
            (root / file).unlink()
            (root / file).write_bytes(text)
    apply(root, option.patch)
    apply(root, without(api.patch, {JIT, AOT}))  # both plans hold these two
    return root


def without(patch: str, done: set[str]) -> str:
    """A unified diff without what it says of some files."""
    parts = re.split(r"(?m)^(?=--- )", patch)
    return "".join(part for part in parts if part and part.split()[1] not in done)


@pytest.mark.slow
def test_a_scan_of_the_opened_copy_finds_the_paths_open(opened: Path, tmp_path: Path) -> None:
    scan_demo(opened, tmp_path / "report.json", "--jobs", "1")
    report = model.decode((tmp_path / "report.json").read_bytes())
    for name in (OPTION, API):
        paths = [path for path in report.paths if path.entry.name == name]
        assert all(path.barriers == () for path in paths if "build:trtllm_comm" in path.steps), paths
    target = report.target.arch
    gates = [
        gate for gate in report.gates if gate.file in (JIT, HEADER, COMMUNICATOR) and gate.effect != "none"
    ]
    assert gates == []
    (build,) = [build for build in report.builds if build.name == "trtllm_comm"]
    assert build.outcome[target] == "ok"
    assert build.spelling[target] == ("12.0a",)
