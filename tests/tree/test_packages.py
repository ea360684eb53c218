"""Packages of an installed tree in its various shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.tree.errors import TreeError
from analyzer.tree.files import open_tree
from analyzer.tree.packages import UNKNOWN, find


def write(root: Path, **files: str) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def install(
    root: Path, name: str, version: str, files: dict[str, str], requires: tuple[str, ...] = ()
) -> None:
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    headers = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    record = [*(f"{file},," for file in files), f"{folder}/METADATA,,", "../../bin/tool,,"]
    write(root, **files, **{f"{folder}/METADATA": "\n".join(headers), f"{folder}/RECORD": "\n".join(record)})


def test_site_packages(tmp_path: Path) -> None:
    install(tmp_path, "Big-Lib", "1.2", {"biglib/__init__.py": "", "biglib/a/b.py": "", "helper.py": ""})
    write(
        tmp_path, **{"loose/deep/module.py": "", "empty/readme.txt": "", "single.py": "", ".hidden/x.py": ""}
    )
    found = find(tmp_path)
    assert [(p.name, p.version, p.root, p.tops) for p in found.packages] == [
        ("Big-Lib", "1.2", "biglib", ("biglib", "helper.py")),
        ("loose", UNKNOWN, "loose", ("loose",)),
        ("single", UNKNOWN, "single.py", ("single.py",)),
    ]
    assert found.bases == ("",)


def test_virtual_environment(tmp_path: Path) -> None:
    inside = tmp_path / "lib" / "python3.12" / "site-packages"
    install(inside, "lib", "1", {"lib/__init__.py": ""})
    assert find(tmp_path).root == inside.resolve()
    write(tmp_path, **{"lib/python3.13/site-packages/x.py": ""})
    with pytest.raises(TreeError, match="several"):
        find(tmp_path)


def test_folder_of_folders_that_each_hold_a_wheel(tmp_path: Path) -> None:
    install(tmp_path / "one-1.0", "one", "1.0", {"one/__init__.py": ""})
    install(tmp_path / "two-2.0", "two", "2.0", {"two/__init__.py": "", "two/x.cu": ""})
    tree = open_tree(tmp_path)
    assert tree.bases == ("one-1.0", "two-2.0")
    assert [(file.path, file.package) for file in tree.files] == [
        ("one-1.0/one/__init__.py", "one"),
        ("two-2.0/two/__init__.py", "two"),
        ("two-2.0/two/x.cu", "two"),
    ]
    assert [i.root for i in tree.inputs] == ["one-1.0/one", "two-2.0/two"]


def test_packages_that_share_a_folder(tmp_path: Path) -> None:
    install(tmp_path, "vendor-a", "1", {"vendor/a/x.py": "", "vendor/a/y.py": ""})
    install(tmp_path, "vendor-b", "2", {"vendor/b/z.py": ""})
    tree = open_tree(tmp_path)
    assert {file.path: file.package for file in tree.files} == {
        "vendor/a/x.py": "vendor-a",
        "vendor/a/y.py": "vendor-a",
        "vendor/b/z.py": "vendor-b",
    }
    assert [i.root for i in tree.inputs] == ["vendor/a", "vendor/b"]
    assert [file.path for file in open_tree(tmp_path, ["vendor_b"]).files] == ["vendor/b/z.py"]


def test_old_metadata_and_none_at_all(tmp_path: Path) -> None:
    write(tmp_path, **{"old-1.5.egg-info/PKG-INFO": "Name: old\nVersion: 1.5\n", "old/__init__.py": ""})
    write(tmp_path, **{"gone-3.dist-info/METADATA": "Name: gone\nVersion: 3\n"})
    assert [(p.name, p.version) for p in find(tmp_path).packages] == [("old", "1.5")]


def test_selection_by_either_name(tmp_path: Path) -> None:
    install(tmp_path, "some-dist", "1", {"imported/__init__.py": ""})
    install(tmp_path, "other", "1", {"other/__init__.py": ""})
    for name in ("some-dist", "Some.Dist", "imported"):
        assert [p.name for p in open_tree(tmp_path, [name]).packages] == ["some-dist"]
    with pytest.raises(TreeError, match=r"no package named 'nothing'.*other, some-dist"):
        open_tree(tmp_path, ["nothing"])


@pytest.mark.parametrize(
    ("files", "root", "message"),
    [
        ({}, "missing", "no such folder"),
        ({"file": ""}, "file", "not a folder"),
        ({"data/readme.txt": ""}, "data", "no Python packages"),
        ({"package/__init__.py": ""}, "package", "single package"),
    ],
)
def test_wrong_roots(tmp_path: Path, files: dict[str, str], root: str, message: str) -> None:
    write(tmp_path, **files)
    with pytest.raises(TreeError, match=message) as caught:
        find(tmp_path / root)
    assert "\n" not in str(caught.value)


def test_demo(demo: Path) -> None:
    tree = open_tree(demo)
    assert [(i.package, i.version, i.root) for i in tree.inputs] == [
        ("flashinfer-python", "0.6.3", "flashinfer"),
        ("sglang", "0.5.8.post1", "sglang"),
    ]
    assert len(tree.of("python")) == 1597
    assert len(tree.of("cuda")) > 1500
    assert tree.skipped == ()
