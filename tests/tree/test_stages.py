"""Stages are computed once for the same files, options and code, and again when any of them changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from analyzer.tree import stages as module
from analyzer.tree.cache import Cache
from analyzer.tree.files import open_tree
from analyzer.tree.stages import Stage, Stages

PYTHON = Stage("some python", ("tree",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "site-packages"
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").write_text("a = 1\n")
    (folder / "pkg" / "k.cuh").write_text("#pragma once\n")
    return folder


class Counted:
    """Keeps a stage, and counts how often it was computed."""

    def __init__(self, root: Path, cache: Cache | None) -> None:
        self.root, self.cache, self.times = root, cache, 0

    def __call__(self, made_of: object = (), stage: Stage = PYTHON) -> int:
        return Stages(open_tree(self.root), self.cache).keep(stage, ("python",), made_of, self._compute)

    def _compute(self) -> int:
        self.times += 1
        return 42


@pytest.fixture
def counted(root: Path, tmp_path: Path) -> Counted:
    return Counted(root, Cache(tmp_path / "cache"))


def test_the_same_input_is_computed_once(counted: Counted) -> None:
    assert [counted(), counted()] == [42, 42]
    assert counted.times == 1


def test_without_a_cache_everything_is_computed(root: Path) -> None:
    counted = Counted(root, None)
    assert [counted(), counted()] == [42, 42]
    assert counted.times == 2


def test_a_file_of_the_stage_that_changes_counts(counted: Counted, root: Path) -> None:
    counted()
    (root / "pkg" / "__init__.py").write_text("a = 2\n")
    counted()
    assert counted.times == 2


def test_of_another_kind_of_file_only_its_presence_counts(counted: Counted, root: Path) -> None:
    counted()
    (root / "pkg" / "k.cuh").write_text("#pragma once\n#define X\n")
    counted()
    assert counted.times == 1
    (root / "pkg" / "l.cuh").write_text("")
    counted()
    assert counted.times == 2


def test_options_and_stages_are_kept_apart(counted: Counted) -> None:
    counted(("sm_120", frozenset(["b", "a"])))
    counted(("sm_120", frozenset(["a", "b"])))
    assert counted.times == 1
    counted(("sm_121", frozenset(["a", "b"])))
    counted(("sm_120", frozenset(["a", "b"])), Stage("another", ("tree",)))
    counted(("sm_120", frozenset(["a", "b"])), Stage("some python"))
    assert counted.times == 4


def test_of_a_huge_file_the_ends_and_the_time_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WHOLE", 8)
    monkeypatch.setattr(module, "_END", 4)
    counted = Counted(root, Cache(tmp_path / "cache"))
    source = root / "pkg" / "__init__.py"
    source.write_text("a = 1234567\n")
    counted()
    counted()
    assert counted.times == 1
    source.write_text("a = 1234568\n")
    counted()
    assert counted.times == 2
    stat = source.stat()
    os.utime(source, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    counted()
    assert counted.times == 3
