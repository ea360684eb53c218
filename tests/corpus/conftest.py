"""One scan of the demo packages for all corpus tests, by the command that users run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer import model


def scan_demo(demo: Path, output: Path, *arguments: str, cache: Path | None = None) -> None:
    """Scan the demo packages into a JSON report; what a scan keeps goes into ``cache``, if that is given."""
    command = [sys.executable, "-m", "analyzer", "scan", str(demo), "--quiet", *arguments]
    command += ["--format", "json", "--output", str(output), *([] if cache else ["--no-cache"])]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)} if cache else None
    subprocess.run(command, check=True, timeout=1500, env=environment)


@pytest.fixture(scope="session")
def report_file(
    demo: Path, demo_cache: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Path:
    """The JSON report of the demo packages; test workers share one scan.

    While working on the tests, ``SMGATE_REPORT`` names a report that was made beforehand.
    """
    if "SMGATE_REPORT" in os.environ:
        return Path(os.environ["SMGATE_REPORT"])
    base = tmp_path_factory.getbasetemp()
    folder = base if worker_id == "master" else base.parent
    output = folder / "demo-report.json"
    with (folder / "demo-report.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not output.exists():
            part = folder / "demo-report.part"
            scan_demo(demo, part, cache=demo_cache)
            part.rename(output)
    return output


@pytest.fixture(scope="session")
def report(report_file: Path) -> model.Report:
    """The report of the demo packages."""
    return model.decode(report_file.read_bytes())
