"""Time is measured by stage, and charged to files."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from analyzer.profile import Profile
from analyzer.report.spent import DEAREST, profile_text
from analyzer.scan import ScanOptions, scan


def test_a_stage_is_measured_on_the_clock_and_by_processor() -> None:
    profile = Profile()
    with profile.stage("sleeps"):
        time.sleep(0.05)
    with profile.stage("works"):
        until = time.process_time() + 0.06  # processor time is told in hundredths
        while time.process_time() < until:
            pass
    assert profile.stages["sleeps"].wall >= 0.05
    assert profile.stages["works"].processor >= 0.04
    assert profile.stages["sleeps"].processor < profile.stages["sleeps"].wall


def test_the_dearest_files_come_first_and_are_not_too_many() -> None:
    profile = Profile()
    profile.charge({f"f{n:02}.py": float(n) for n in range(20)})
    profile.charge({"f03.py": 100.0})
    dearest = profile.dearest(3)
    assert dearest == [("f03.py", 103.0), ("f19.py", 19.0), ("f18.py", 18.0)]
    assert profile_text(profile).count(".py") == DEAREST


def _scanned(root: Path, cache: bool) -> Profile:
    profile = Profile()
    options = ScanOptions(root, "sm_120", ("sm_90", "sm_100"), "13.0", {}, (), 1, cache)
    scan(options, profile=profile)
    return profile


def test_a_scan_charges_the_files_that_it_evaluates(tmp_path: Path) -> None:
    """What it runs for the matrix leads through many files, and is charged to none."""
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from .gate import f\n")
    (package / "gate.py").write_text(
        "import torch\n\ndef f(x):\n    if torch.cuda.get_device_capability()[0] == 9:\n        return x\n"
    )
    profile = _scanned(tmp_path, cache=False)
    assert profile.files["pkg/gate.py"] > 0
    assert {path for path in profile.files if not path.startswith("pkg/")} == {"(runs for the matrix)"}
    assert {"tree", "words", "python", "cuda", "followed", "matrix", "paths", "report"} <= set(profile.stages)


def test_a_second_scan_says_that_all_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = tmp_path / "site" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("import torch\n")
    _scanned(tmp_path / "site", cache=True)
    again = _scanned(tmp_path / "site", cache=True)
    assert again.stages["report"].kept
    assert set(again.stages) == {"tree", "report"}
    assert "from an earlier scan" in profile_text(again)
