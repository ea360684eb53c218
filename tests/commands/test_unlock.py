"""``unlock`` and ``whatif`` on a saved report: text, JSON, the patch, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from analyzer import cli, model
from tests.judge.opened import apply, write
from tests.report import sample
from tests.report.sample import REPORT, SOURCES

OPTION = "servekit --enable-fused-reduce"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    file = tmp_path / "report.json"
    jit = msgspec.structs.replace(sample.JIT_GATE, column=33)
    gates = tuple(jit if gate.id == jit.id else gate for gate in REPORT.gates)
    file.write_bytes(model.encode(msgspec.structs.replace(REPORT, gates=gates)))
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "site", SOURCES)


def test_unlock_as_text(saved: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["unlock", OPTION, "--from", str(saved), "--root", str(root)]) == 0
    text = capsys.readouterr().out
    assert "To open: 5 gates" in text
    assert "[9, 10] → [9, 10, 12]" in text
    assert "only for prebuilt packages" in text
    assert "no edit:" in text
    assert "Stays lost: nothing." in text


def test_unlock_as_json(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["unlock", OPTION, "--from", str(saved), "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["entry"] == OPTION
    assert {"gate", "when", "justification", "edit"} <= set(plan["opens"][0])
    assert plan["remains"] == []


def test_the_patch_applies_and_the_tree_is_not_touched(saved: Path, root: Path, tmp_path: Path) -> None:
    diff = tmp_path / "open.diff"
    command = ["unlock", "custom_reduce", "--from", str(saved), "--root", str(root), "--patch", str(diff)]
    assert cli.run(command) == 0
    assert all((root / file).read_text() == text for file, text in SOURCES.items())
    apply(root, diff.read_text())
    assert "supported=[9, 10, 12]" in (root / sample.JIT).read_text()
    assert "1200" not in (root / sample.HEADER).read_text()


def test_alike_gates_are_one_row(saved: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["unlock", "custom_reduce", "--from", str(saved), "--root", str(root)]) == 0
    assert "alike at 1 more line: 20" in capsys.readouterr().out


def test_whatif_as_text(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["whatif", "--open", f"{sample.JIT}:6", "--from", str(saved)]) == 0
    text = capsys.readouterr().out
    assert "With 1 gate open for sm_120:" in text
    assert f"1 way in next stopped at {sample.HEADER}:5:" in text


def test_whatif_as_a_report(saved: Path, tmp_path: Path) -> None:
    output = tmp_path / "after.json"
    gates = [f"--open={sample.JIT_GATE.id}", f"--open={sample.HEADER}:5"]
    assert cli.run(["whatif", *gates, "--from", str(saved), "--format", "json", "-o", str(output)]) == 0
    after = model.decode(output.read_bytes())
    assert {gate.id for gate in REPORT.findings} - {gate.id for gate in after.findings} == {
        sample.JIT_GATE.id,
        sample.EMPTY.id,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["unlock", "nothing.like.it"], "no entry"),
        (["whatif", "--open", "nowhere.py:3"], "nowhere.py"),
        (["whatif", "--open", f"{sample.API}:1"], "no gate"),
        (["whatif"], "--open"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str], message: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*arguments, "--from", str(saved)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1


def test_a_root_that_is_not_the_scanned_tree(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path / "other", {"lib/__init__.py": ""})
    assert cli.run(["unlock", OPTION, "--from", str(saved), "--root", str(other)]) == 2
    assert "servekit" in capsys.readouterr().err
