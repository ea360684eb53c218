"""The command line: arguments, output, exit codes; the scan itself is stood in for by a sample report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analyzer import archs, cli, faults, model, pipeline, scan
from analyzer.tree import environment
from analyzer.tree.errors import TreeError
from tests.report.sample import REPORT


class Scans:
    """Stands in for the scan, and remembers what it was asked."""

    def __init__(self) -> None:
        self.options: list[Any] = []
        self.report = REPORT
        self.error: BaseException | None = None

    def scan(self, options: Any, progress: Any, profile: Any = None) -> model.Report:
        self.options.append(options)
        progress("reading", 1, 2)
        progress("reading", 2, 2)
        if self.error is not None:
            raise self.error
        return self.report

    def evaluate(self, names: Sequence[str], options: Any) -> dict[str, dict[str, Any]]:
        self.options.append(options)
        return {name: {"sm_90": True, "sm_100": True, "sm_120": {"unknown": "why"}} for name in names}


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    stand_in = Scans()
    monkeypatch.setattr(scan, "scan", stand_in.scan)
    monkeypatch.setattr(pipeline, "evaluate", stand_in.evaluate)
    return stand_in


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "plain.py").write_text("x = 1\n")
    return root


def failure(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 2) -> str:
    """Run, expect that exit code, no output, and one line on standard error, which is the answer."""
    assert cli.run([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("smgate: ")
    assert "Traceback" not in captured.err
    return captured.err


def test_scan_prints_a_summary(scans: Scans, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["scan", str(root)]) == 0
    captured = capsys.readouterr()
    assert "sm_120" in captured.out
    assert captured.err == "reading (2)\n"
    assert cli.run(["scan", str(root), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_options_reach_the_scan(scans: Scans, root: Path) -> None:
    arguments = [
        "--target",
        "12.1",
        "--reference",
        "sm90,100",
        "--cuda",
        "12.8",
        "--env",
        "A=b=c",
        "--env",
        "D=",
    ]
    arguments += ["--package", "lib", "--jobs", "3", "--no-cache", "-q"]
    assert cli.run(["scan", str(root), *arguments]) == 0
    (options,) = scans.options
    assert options.root == root.resolve()
    assert options.target == "sm_121"
    assert options.references == ("sm_90", "sm_100")
    assert options.cuda == "12.8"
    assert dict(options.env) == {"A": "b=c", "D": ""}
    assert options.packages == ("lib",)
    assert options.jobs == 3
    assert options.cache is False


def test_defaults(scans: Scans, root: Path) -> None:
    assert cli.run(["scan", str(root), "-q"]) == 0
    (options,) = scans.options
    assert (options.target, options.references, options.cuda) == ("sm_120", ("sm_90", "sm_100"), "13.0")
    assert dict(options.env) == {}
    assert options.cache is True
    assert options.jobs >= 1


def test_formats_and_several_reports(
    scans: Scans, root: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert cli.run(["scan", str(root), "-q", "--format", "json"]) == 0
    assert model.decode(capsysbinary.readouterr().out) == REPORT
    files = {kind: tmp_path / f"report.{kind}" for kind in ("json", "html", "sarif", "markdown")}
    given = [part for kind, file in files.items() for part in ("--report", f"{kind}={file}")]
    assert cli.run(["scan", str(root), "-q", *given]) == 0
    assert b"sm_120" in capsysbinary.readouterr().out
    assert model.decode(files["json"].read_bytes()) == REPORT
    assert files["html"].read_bytes().lower().startswith(b"<!doctype html>")
    assert json.loads(files["sarif"].read_bytes())["version"] == "2.1.0"
    assert files["markdown"].read_bytes().startswith(b"#")


def test_output_takes_its_format_from_the_name(
    scans: Scans, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["scan", str(root), "-q", "-o", str(tmp_path / "a.json")]) == 0
    assert model.decode((tmp_path / "a.json").read_bytes()) == REPORT
    assert cli.run(["scan", str(root), "-q", "-o", str(tmp_path / "a.txt")]) == 0
    assert "sm_120" in (tmp_path / "a.txt").read_text()
    assert "\x1b" not in (tmp_path / "a.txt").read_text()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        (("error",), {"error": 1, "warning": 1, "note": 1}),
        (("warning", "note"), {"error": 0, "warning": 1, "note": 1}),
        (("note",), {"error": 0, "warning": 0, "note": 1}),
        ((), {"error": 0, "warning": 0, "note": 0}),
    ],
)
def test_fail_on(
    scans: Scans, root: Path, severities: tuple[model.Severity, ...], expected: dict[str, int]
) -> None:
    gate = next(gate for gate in REPORT.findings)
    gates = tuple(
        msgspec.structs.replace(gate, id=str(number), severity=one) for number, one in enumerate(severities)
    )
    scans.report = msgspec.structs.replace(REPORT, gates=gates, paths=())
    assert cli.run(["scan", str(root), "-q"]) == 0
    assert {level: cli.run(["scan", str(root), "-q", "--fail-on", level]) for level in expected} == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scan", "--target", "sm_999"], "unknown architecture 'sm_999'"),
        (["scan", "--reference", "sm_90,foo"], "unknown architecture 'foo'"),
        (["scan", "--reference", ","], "no architecture named"),
        (["scan", "--reference", "sm_120"], "cannot be a reference"),
        (["scan", "--cuda", "twelve"], "not a CUDA release"),
        (["scan", "--env", "NAME"], "not NAME=VALUE"),
        (["scan", "--jobs", "0"], "--jobs"),
        (["scan", "--format", "pdf"], "pdf"),
        (["scan", "--report", "html"], "not FORMAT=FILE"),
        (["scan", "--report", "pdf=x"], "not FORMAT=FILE"),
        (["scan", "--report", "html=/no/such/folder/x"], "no such folder"),
        (["scan", "--output", "/"], "is a folder"),
        (["scan", "/no/such/place"], "no such folder"),
        (["scan", "--fetch", "name>=1"], "not NAME==VERSION"),
        (["scan", "--fetch", "name==1.*"], "not NAME==VERSION"),
        (["scan", "somewhere", "--fetch", "name==1"], "not both"),
        (["scan", "--no-such-option"], "--no-such-option"),
        (["scan", "a", "b"], "unexpected"),
        (["explain"], "GATE"),
        (["evaluate"], "NAME"),
        (["nonsense"], "nonsense"),
    ],
)
def test_misuse_is_one_line(
    scans: Scans, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert message in failure(capsys, *arguments)
    assert scans.options == []


def test_errors_of_the_scan_are_one_line(
    scans: Scans, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(faults.VARIABLE)
    scans.error = TreeError("no Python packages in\nhere")
    assert failure(capsys, "scan", root, "-q") == "smgate: no Python packages in here\n"
    scans.error = KeyboardInterrupt()
    assert cli.run(["scan", str(root), "-q"]) == 130
    assert capsys.readouterr().err.strip() == "smgate: interrupted", "below the terminal's own ^C"
    scans.error = ZeroDivisionError("oops")
    assert "internal error: ZeroDivisionError: oops" in failure(capsys, "scan", root, "-q")


def test_explain_by_id_place_and_file(scans: Scans, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = REPORT.gates[0]
    for name in (gate.id, f"{gate.file}:{gate.line}", f"{gate.file}:{gate.line}:{gate.column}"):
        assert cli.run(["explain", name, "--root", str(root), "-q"]) == 0
        out = capsys.readouterr().out
        assert f"{gate.file}:{gate.line}" in out
    assert cli.run(["explain", gate.file.rpartition("/")[2], "--root", str(root), "-q"]) == 0
    assert gate.file in capsys.readouterr().out
    assert cli.run(["explain", f"{gate.file}:99999", "--root", str(root), "-q"]) == 0
    assert str(gate.line) in capsys.readouterr().out, "the gates of the file are offered"


def test_explain_a_file_that_the_report_does_not_mention(
    scans: Scans, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["explain", "lib/plain.py", "--root", str(root), "-q"]) == 0
    assert "lib/plain.py" in capsys.readouterr().out
    assert "nowhere.py" in failure(capsys, "explain", "nowhere.py", "--root", root, "-q")


def test_evaluate(scans: Scans, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["evaluate", "a.b", "c.d", "--root", str(root), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        name: {"sm_90": True, "sm_100": True, "sm_120": {"unknown": "why"}} for name in ("a.b", "c.d")
    }
    assert cli.run(["evaluate", "a.b", "--root", str(root), "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out").read_text()
    assert re.search(r"true +sm_90 sm_100\n", text)
    assert re.search(r"unknown: why +sm_120\n", text)


def test_explain_from_a_saved_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "report.json"
    saved.write_bytes(model.encode(REPORT))
    gate = REPORT.findings[0]
    assert cli.run(["explain", gate.id, "--from", str(saved)]) == 0
    assert f"{gate.file}:{gate.line}" in capsys.readouterr().out.replace("\n", "")
    assert "nowhere.py" in failure(capsys, "explain", "nowhere.py", "--from", saved)
    saved.write_text("{")
    assert "report" in failure(capsys, "explain", gate.id, "--from", saved)
    assert "absent.json" in failure(capsys, "explain", gate.id, "--from", tmp_path / "absent.json")


@pytest.mark.parametrize("verb", [[], ["scan"], ["explain"], ["evaluate"], ["whatif"], ["unlock"]])
def test_help_has_examples(verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([*verb, "--help"]) == 0
    assert re.search(rf"^  smgate {verb[0] if verb else 'scan'} \S", capsys.readouterr().out, re.MULTILINE)


def test_module_and_version() -> None:
    command = [sys.executable, "-m", "analyzer"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"smgate, version \S+\n", done.stdout)
    done = subprocess.run([*command, "scan", "/no/such/place"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "smgate: no such folder: /no/such/place\n"


def test_reader_that_leaves_early(root: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} -m analyzer scan --help | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_default_root_is_the_environment_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "env" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho ran >> ran\n")
    program.chmod(0o755)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.chdir(tmp_path)
    assert environment.default_root() == tmp_path / "env"
    assert not (tmp_path / "ran").exists()
    (tmp_path / "env" / "pyvenv.cfg").unlink()
    program.write_text("#!/bin/sh\necho /some/site-packages\n")
    assert environment.default_root() == Path("/some/site-packages")
    program.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(TreeError, match="name the folder"):
        environment.default_root()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TreeError, match="no python on PATH"):
        environment.default_root()


def test_every_architecture_is_accepted(scans: Scans, root: Path) -> None:
    for name in archs.names():
        reference = "sm_90" if name != "sm_90" else "sm_100"
        assert cli.run(["scan", str(root), "-q", "--target", name, "--reference", reference]) == 0
    assert [options.target for options in scans.options] == list(archs.names())


def test_no_machine_is_needed(scans: Scans, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the tree is asked: no home folder, no PATH."""
    for variable in ("HOME", "PATH", "CUDA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert os.environ.get("PATH") is None
    assert cli.run(["scan", str(root), "-q"]) == 0
