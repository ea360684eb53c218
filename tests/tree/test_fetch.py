"""Wheels from an index: a folder stands in for it, pip is the real one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from analyzer.tree.errors import TreeError
from analyzer.tree.fetch import fetched, unpack, versions
from analyzer.tree.files import open_tree


def add(folder: Path, name: str, version: str) -> None:
    """A wheel with one module."""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "x = 1\n")
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: absent==9\n"
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", metadata)
        wheel.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-{version}.dist-info/RECORD", f"{name}/__init__.py,,\n")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("one", "two"):
        add(folder, name, "1.0")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_releases_become_one_tree(index: Path) -> None:
    with fetched(["one==1.0", "two==1.0"]) as folder:
        inputs = open_tree(folder).inputs
    assert [(i.package, i.version, i.root) for i in inputs] == [("one", "1.0", "one"), ("two", "1.0", "two")]
    assert not folder.exists()


def test_release_that_does_not_exist(index: Path) -> None:
    with (
        pytest.raises(TreeError, match=r"cannot fetch one==2\.0: .*one==2\.0") as caught,
        fetched(["one==2.0"]),
    ):
        pytest.fail("there is no such release")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["one", "one>=1", "one==1,!=2", "one==1.*", "one[x]==1", "one @ file:///x", "-r x"]
)
def test_only_exact_releases(index: Path, text: str) -> None:
    with pytest.raises(TreeError, match="not NAME==VERSION"), fetched([text]):
        pytest.fail("accepted")


def test_damaged_and_hostile_wheels(tmp_path: Path) -> None:
    bad = tmp_path / "bad.whl"
    bad.write_bytes(b"PK not really")
    with pytest.raises(TreeError, match=r"cannot unpack bad\.whl"):
        unpack(bad, tmp_path / "out")
    with zipfile.ZipFile(bad, "w") as wheel:
        wheel.writestr("../../escaped.py", "")
        wheel.writestr("/absolute.py", "")
    unpack(bad, tmp_path / "out" / "deep")
    assert not (tmp_path / "escaped.py").exists()
    assert sorted(path.name for path in (tmp_path / "out" / "deep").iterdir()) == [
        "absolute.py",
        "escaped.py",
    ]


def test_wheels_are_kept(index: Path, tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "smgate" / "wheels"
    with fetched(["One==1.0"], keep=False):
        assert not kept.exists()
    with fetched(["One==1.0"]):
        pass
    assert [path.name for path in kept.rglob("*")] == ["one-1.0", "one-1.0-py3-none-any.whl"]
    (index / "one-1.0-py3-none-any.whl").unlink()
    with fetched(["one==1.0"]) as folder:
        assert (folder / "one" / "__init__.py").is_file()
    with pytest.raises(TreeError, match="cannot fetch"), fetched(["one==1.0"], keep=False):
        pytest.fail("it is in the index no more")


def test_a_download_that_fails_leaves_nothing(index: Path, tmp_path: Path) -> None:
    with pytest.raises(TreeError), fetched(["one==7"]):
        pytest.fail("there is no such release")
    assert list((tmp_path / "cache" / "smgate" / "wheels").iterdir()) == []


def test_the_newest_versions(index: Path) -> None:
    for version in ("1.10", "1.9", "1.9.post1", "2.0rc1"):
        add(index, "one", version)
    assert versions("one", 3) == ("1.9", "1.9.post1", "1.10")
    assert versions("one", 9) == ("1.0", "1.9", "1.9.post1", "1.10")
    with pytest.raises(TreeError, match="cannot list the releases of three"):
        versions("three", 2)
    for name in ("one==1", "one[x]", "-r x"):
        with pytest.raises(TreeError, match="not the name of a package"):
            versions(name, 2)
