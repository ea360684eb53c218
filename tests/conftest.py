"""Fixtures shared by all tests: the demo packages, fetched once and unpacked."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import settings

from analyzer import faults

#: A fault of the analyzer must fail a test, not become a line of a report.
os.environ[faults.VARIABLE] = "1"
# How long one example takes says how busy the machine is.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

CACHE = Path(__file__).resolve().parent.parent / ".cache"
DEMO_WHEELS = (("flashinfer-python", "0.6.3"), ("sglang", "0.5.8.post1"))


def wheel(name: str, version: str, folder: Path) -> Path:
    """The wheel of that release in ``folder``, downloaded if it is not there yet."""
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not any(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--dest", str(folder), f"{name}=={version}"], check=True)
    return next(folder.glob(pattern))


def unpack_demo(cache: Path = CACHE) -> Path:
    """The folder with both demo packages unpacked; built once, complete or absent."""
    tree = cache / "trees" / "demo"
    wheels = cache / "wheels"
    for folder in (tree.parent, wheels):
        folder.mkdir(parents=True, exist_ok=True)
    with (cache / "demo.lock").open("w") as lock:  # test workers start together
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not tree.is_dir():
            building = Path(tempfile.mkdtemp(prefix=".demo-", dir=tree.parent))
            try:
                for name, version in DEMO_WHEELS:
                    with zipfile.ZipFile(wheel(name, version, wheels)) as archive:
                        archive.extractall(building)
                building.chmod(0o755)
                os.rename(building, tree)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    return tree


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the runner of the tests says of its terminal is not what a test expects of its own."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def demo() -> Path:
    """The unpacked tree of flashinfer-python 0.6.3 and sglang 0.5.8.post1."""
    return unpack_demo()


@pytest.fixture(scope="session")
def demo_cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The cache folder of the scan of the demo packages: another scan of the same finds there what it did."""
    base = tmp_path_factory.getbasetemp()
    return (base if worker_id == "master" else base.parent) / "demo-cache"


if __name__ == "__main__":
    print(unpack_demo())
