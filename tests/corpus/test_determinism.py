"""The same input gives the same bytes, whatever the number of processes."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.conftest import scan_demo


def test_two_scans_give_the_same_bytes(demo: Path, report_file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    scan_demo(demo, again, "--jobs", "1")
    assert again.read_bytes() == report_file.read_bytes()
