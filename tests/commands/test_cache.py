"""``smgate cache`` tells where the cache lies, and clears it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import cli


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "smgate"


def test_it_says_where_and_how_much(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / "a.whl").write_bytes(b"x" * 3 * 2**20)
    assert cli.run(["cache"]) == 0
    assert capsys.readouterr().out == f"{folder}: 3.0 MiB\n"
    assert (folder / "wheels" / "a.whl").is_file()


def test_clearing_leaves_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir()
    (folder / "facts-1.sqlite").write_bytes(b"x" * 2**20)
    assert cli.run(["cache", "clear"]) == 0
    assert not folder.exists()
    assert "1.0 MiB freed" in capsys.readouterr().out
    assert cli.run(["cache", "clear"]) == 0


def test_what_cannot_be_deleted_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("analyzer.commands.cache.shutil.rmtree", refuse)
    assert cli.run(["cache", "clear"]) == 2
    assert capsys.readouterr().err == f"smgate: cannot delete {folder}: Permission denied\n"
