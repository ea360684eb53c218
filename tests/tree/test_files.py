"""The listing of files, links, and what cannot be read."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from analyzer.tree import files
from analyzer.tree.files import UnreadableFileError, decode, kind_of, open_tree


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "python"),
        ("a.pyc", None),
        ("a.cu", "cuda"),
        ("a.cu.jinja", "cuda"),
        ("a.hpp", "cuda"),
        ("lib.so", "binary"),
        ("lib.so.12.1", "binary"),
        ("lib.cpython-311-x86_64-linux-gnu.so", "binary"),
        ("lib.some", None),
        ("x.cubin", "binary"),
        ("so", None),
        (".py", None),
    ],
)
def test_kinds(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    (root / "lib" / "sub").mkdir(parents=True)
    for name in ("lib/__init__.py", "lib/b.py", "lib/a.cu", "lib/sub/c.h", "lib/notes.txt"):
        (root / name).write_text("x = 1\n")
    return root


def test_listing_is_sorted_and_has_sizes(root: Path) -> None:
    listed = open_tree(root).files
    assert [file.path for file in listed] == ["lib/__init__.py", "lib/a.cu", "lib/b.py", "lib/sub/c.h"]
    assert {file.size for file in listed} == {6}


def test_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("")
    lib = root / "lib"
    (lib / "out").symlink_to(tmp_path / "outside")
    (lib / "out.py").symlink_to(tmp_path / "outside" / "secret.py")
    (lib / "dangling.py").symlink_to(root / "nowhere")
    (lib / "sub" / "up").symlink_to("..")
    (lib / "sub" / "self").symlink_to("self")
    (lib / "again").symlink_to("sub")
    (lib / "inside.py").symlink_to("b.py")
    tree = open_tree(root)
    paths = [file.path for file in tree.files]
    assert "lib/inside.py" in paths
    assert "lib/again/c.h" in paths
    assert not any("secret" in path or "up/" in path or path.startswith("lib/out") for path in paths)
    reasons = {skipped.file: skipped.why for skipped in tree.skipped}
    assert "out of the tree" in reasons["lib/out"]
    assert "out of the tree" in reasons["lib/out.py"]
    assert "nothing" in reasons["lib/dangling.py"]
    assert "above" in reasons["lib/sub/up"]
    assert "nothing" in reasons["lib/sub/self"]


def test_links_around_each_other_end(root: Path) -> None:
    (root / "lib" / "x").mkdir()
    (root / "lib" / "y").mkdir()
    (root / "lib" / "x" / "y").symlink_to("../y")
    (root / "lib" / "y" / "x").symlink_to("../x")
    tree = open_tree(root)
    assert len(tree.files) == 4
    assert tree.skipped


def test_a_link_beside_the_root_with_the_same_beginning(root: Path, tmp_path: Path) -> None:
    (tmp_path / "site2").mkdir()
    (tmp_path / "site2" / "secret.py").write_text("")
    (root / "lib" / "other").symlink_to(tmp_path / "site2")
    assert [skipped.file for skipped in open_tree(root).skipped] == ["lib/other"]


def test_large_sources_are_skipped_and_large_libraries_are_not(root: Path) -> None:
    for name in ("large.py", "large.so"):
        with (root / "lib" / name).open("wb") as file:
            file.truncate(files.LARGEST_SOURCE + 1)
    tree = open_tree(root)
    assert [file.path for file in tree.of("binary")] == ["lib/large.so"]
    assert [(skipped.file, skipped.why) for skipped in tree.skipped] == [
        ("lib/large.py", "larger than 16 MiB")
    ]


def test_names_that_are_not_text(root: Path) -> None:
    (root / "lib" / os.fsdecode(b"bad\xff.py")).write_text("")
    tree = open_tree(root)
    assert len(tree.files) == 4
    assert tree.skipped[0].why == "name is not valid UTF-8"
    tree.skipped[0].file.encode()


def test_unreadable_file(root: Path) -> None:
    tree = open_tree(root)
    (root / "lib" / "b.py").unlink()
    with pytest.raises(UnreadableFileError, match="No such file") as caught:
        tree.read("lib/b.py")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.path, copy.why) == ("lib/b.py", caught.value.why)
    assert tree.read("lib/a.cu") == b"x = 1\n"


def test_decode_never_fails() -> None:
    assert decode(b"a\xffb") == "a�b"
