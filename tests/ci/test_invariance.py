"""The same tree, the same baseline: in another folder, for another user, with any workers, warm or cold."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FORMS = REPOSITORY / "tests" / "python" / "forms" / "formpkg"


def smgate(
    *arguments: object, cache: Path, python: str = sys.executable, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run the program as a command of its own."""
    places = [str(REPOSITORY), *(place for place in sys.path if place.endswith("site-packages"))]
    environment = {
        "PATH": os.environ["PATH"],
        "XDG_CACHE_HOME": str(cache),
        "PYTHONPATH": os.pathsep.join(places),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [python, "-m", "analyzer", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **more)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, bytes]:
    """A tree, a cache folder that its scan has filled, and its baseline."""
    base = tmp_path_factory.mktemp("first")
    shutil.copytree(FORMS, base / "site" / "formpkg", ignore=shutil.ignore_patterns("__pycache__"))
    baseline = base / "gates.jsonl"
    given = ("check", base / "site", "--baseline", baseline, "--update", "--quiet")
    done = smgate(*given, "--jobs", 1, cache=base / "cache")
    assert (done.returncode, done.stderr) == (0, "")
    assert baseline.read_bytes().count(b"\n") > 40
    return base / "site", base / "cache", baseline.read_bytes()


def same(tmp_path: Path, baseline: bytes, tree: Path, cache: Path, jobs: int, **more: Any) -> None:
    known, again = tmp_path / "known.jsonl", tmp_path / "again.jsonl"
    known.write_bytes(baseline)
    for file, flag in ((known, "--strict"), (again, "--update")):
        given = ("check", tree, "--baseline", file, flag, "--quiet", "--jobs", jobs)
        done = smgate(*given, cache=cache, **more)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert again.read_bytes() == baseline


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("warm", [True, False])
def test_workers_and_cache(first: tuple[Path, Path, bytes], tmp_path: Path, jobs: int, warm: bool) -> None:
    tree, cache, baseline = first
    same(tmp_path, baseline, tree, cache if warm else tmp_path / "cold", jobs)


def test_another_folder(first: tuple[Path, Path, bytes], tmp_path: Path) -> None:
    tree, cache, baseline = first
    moved = tmp_path / "else where" / "lib" / "python3.11" / "site-packages"
    shutil.copytree(tree, moved)
    same(tmp_path, baseline, moved, cache, 1)
    shutil.copytree(tree, tmp_path / "folder")
    done = smgate("diff", tree, tmp_path / "folder", cache=cache)
    assert "no gate changes anything for sm_120" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a program as somebody else")
def test_another_user(first: tuple[Path, Path, bytes]) -> None:
    tree, _, baseline = first
    with tempfile.TemporaryDirectory() as folder:  # that of pytest is for its owner only
        place = Path(folder)
        shutil.copytree(tree, place / "site")
        try:
            user = pwd.getpwnam("nobody").pw_uid
        except KeyError:
            pytest.skip("there is no user nobody")
        for path in (place, *place.rglob("*")):
            os.chown(path, user, -1)
        theirs: dict[str, Any] = {"user": user, "cwd": place, "cache": place / "cache"}
        for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
            try:
                if smgate("--version", python=python, **theirs).returncode == 0:
                    break
            except OSError:
                continue
        else:
            pytest.skip("nobody cannot run any Python that can run this program")
        given = ("check", place / "site", "--baseline", place / "gates.jsonl", "--update", "--quiet")
        done = smgate(*given, "--jobs", 2, python=python, **theirs)
        assert (done.returncode, done.stderr) == (0, "")
        assert (place / "gates.jsonl").read_bytes() == baseline
        assert (place / "gates.jsonl").stat().st_uid == user
