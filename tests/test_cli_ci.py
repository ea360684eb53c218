"""check, diff, history, config and schema by their command lines; small reports stand in for scans."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from analyzer import cli, model
from analyzer import scan as pipeline
from analyzer.ci.known import Known
from analyzer.report import schema
from analyzer.tree.files import open_tree
from tests.ci.gates import known, report
from tests.report.sample import REPORT
from tests.tree.test_fetch import add

Run = Callable[..., int]
OLD = [known("old()"), known("fine()", "sm_120"), known("listed=[9]", scope="build")]
NEW = [
    known("platform().old()"),
    known("fine()"),
    known("more() and x", scope="other", file="p/b.py", effect="excluded", severity="warning"),
    known("listed=[9, 12]", "sm_120", scope="build"),
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "site" / "p").mkdir(parents=True)
    (tmp_path / "site" / "p" / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    save("old.json", OLD)
    save("new.json", NEW)
    return tmp_path


def save(name: str, gates: list[Known], **more: Any) -> None:
    Path(name).write_bytes(model.encode(report(*gates, **more)))


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.run(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def check(name: str, *more: str) -> int:
    return cli.run(["check", "--from", name, "--baseline", "b.jsonl", "-q", *more])


def test_baseline_is_made_held_and_brought_up_to_date(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "make it with --update" in failure(capsys, "check", "--from", "old.json", "--baseline", "b.jsonl")
    assert check("old.json", "--update") == 0
    made = Path("b.jsonl").read_bytes()
    assert check("old.json") == 0
    assert "nothing is new or worse" in capsys.readouterr().out
    assert check("new.json") == 1
    assert check("new.json", "--fail-on", "note") == 1
    assert check("new.json", "--update") == 1, "a new error is not taken in"
    assert "--accept-new" in capsys.readouterr().err
    assert Path("b.jsonl").read_bytes() == made
    assert check("new.json", "--update", "--accept-new") == 0
    assert check("new.json", "--fail-on", "note") == 0
    save("fewer.json", NEW[1:])
    assert check("fewer.json", "--update") == 0, "nothing new: no need to accept"
    assert len(Path("b.jsonl").read_text().splitlines()) == len(NEW)


def test_what_a_check_says(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("old.json", "--update")
    capsys.readouterr()
    check("new.json", "--fail-on", "warning")
    out = capsys.readouterr().out
    assert re.search(r"^sm_120: 2 gates are new or worse than b.jsonl allows$", out, re.MULTILINE)
    assert re.search(
        r"p/a.py:20\n +sm_120 no longer admitted to run; for sm_120 no loss became “raises”", out
    )
    assert "sm_120 admitted to build" in out
    assert "old() → platform().old()" in out


def test_every_format_of_a_check(place: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    check("old.json", "--update")
    files = {
        kind: f"out.{kind}" for kind in ("json", "markdown", "html", "sarif", "junit", "gitlab", "github")
    }
    given = [part for kind, file in files.items() for part in ("--report", f"{kind}={file}")]
    assert check("new.json", *given) == 1
    told = json.loads(Path("out.json").read_bytes())
    jsonschema.validate(told, schema.NAMES["check"]())
    assert (told["ok"], [row["kind"] for row in told["failing"]]) == (False, ["changed"])
    sarif = json.loads(Path("out.sarif").read_bytes())
    states = {r["properties"]["gate"]: r["baselineState"] for r in sarif["runs"][0]["results"]}
    assert states == {NEW[0].id: "unchanged", NEW[1].id: "updated", NEW[2].id: "new"}
    junit = ElementTree.parse("out.junit").getroot()
    assert (junit.get("tests"), junit.get("failures")) == ("4", "1")
    assert [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None] == [
        NEW[1].id
    ]
    quality = json.loads(Path("out.gitlab").read_bytes())
    assert {row["severity"] for row in quality} == {"critical", "major"}
    assert len({row["fingerprint"] for row in quality}) == len(quality) == 3
    (line,) = Path("out.github").read_text().splitlines()
    assert line.startswith("::error file=p/a.py,line=20,endLine=20,title=sm_120%3A raises::")
    assert Path("out.markdown").read_text().startswith("## sm_120: 1 gate is new")
    assert b"<h1>" in Path("out.html").read_bytes()


def test_suppressions_are_named_everywhere(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("old.json", "--update")
    Path("smgate.toml").write_text(
        "baseline = 'b.jsonl'\n[[suppress]]\npath = 'p/a.py'\nreason = 'known'\n"
        "[[suppress]]\npath = 'q/*'\nreason = 'typo'\n"
        "[[suppress]]\nlayer = 'runtime'\nreason = 'late'\nexpires = 2020-01-01\n"
    )
    capsys.readouterr()
    assert cli.run(["check", "--from", "new.json", "--report", "sarif=s", "--report", "junit=j"]) == 0
    out = capsys.readouterr().out
    assert "Put up with by a suppression (1)" in out
    assert "path = 'q/*'" in out.partition("Suppressions that fit nothing (1)")[2]
    assert "layer = 'runtime'" in out.partition("Suppressions that are over (1)")[2]
    results = json.loads(Path("s").read_bytes())["runs"][0]["results"]
    reasons = [r["suppressions"][0]["justification"] for r in results if "suppressions" in r]
    assert reasons == ["known", "known"]
    assert ElementTree.parse("j").getroot().get("skipped") == "2"
    assert cli.run(["--config", "none.toml", "check", "--from", "new.json"]) == 2
    Path("none.toml").write_text("")
    assert cli.run(["--config", "none.toml", "check", "--from", "new.json", "--baseline", "b.jsonl"]) == 1


def test_misuse_of_check(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check("old.json", "--update")
    capsys.readouterr()
    base = ("check", "--baseline", "b.jsonl")
    assert "name the baseline" in failure(capsys, "check", "--from", "old.json")
    assert "--accept-new goes with --update" in failure(capsys, *base, "--from", "old.json", "--accept-new")
    assert "give one of" in failure(capsys, *base, "site", "--from", "old.json")
    assert "give one of" in failure(capsys, *base, "--fetch", "a==1", "--from", "old.json")
    assert "no such folder" in failure(capsys, *base, "--from", "old.json", "--report", "json=no/x")
    save("other.json", OLD, references=("sm_90",))
    assert "is for references sm_90, sm_100, the check for sm_90" in failure(
        capsys, *base, "--from", "other.json"
    )
    text = Path("b.jsonl").read_text()
    for damage, message in (
        (text + "<<<<<<< HEAD\n", "b.jsonl:5: a merge conflict is not resolved here"),
        (text.replace('"layer"', '"layr"', 1), "b.jsonl:2: not a gate: "),
        (text.replace('baseline":1', 'baseline":9'), "b.jsonl:1: baseline of version 9"),
        (text + '{"id":\n', "b.jsonl:5: not a gate: "),
    ):
        Path("b.jsonl").write_text(damage)
        assert message in failure(capsys, *base, "--from", "old.json")
        assert Path("b.jsonl").read_text() == damage


def test_diff_in_every_format(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["diff", "old.json", "new.json"]) == 0
    out = capsys.readouterr().out
    assert "2 gates new or worse and 1 better for sm_120" in out
    assert "sm_120 admitted to build" in out
    for name in ("d.json", "d.md", "d.html"):
        assert cli.run(["diff", "old.json", "new.json", "-o", name]) == 0
    told = json.loads(Path("d.json").read_bytes())
    jsonschema.validate(told, schema.NAMES["diff"]())
    assert [len(told[part]) for part in ("worse", "better", "others")] == [2, 1, 1]
    assert told["better"][0]["what"].startswith("sm_120 admitted to `build`")
    assert Path("d.md").read_text().startswith("## ")
    assert "sm_120 admitted to <code>build</code>" in Path("d.html").read_text()
    assert cli.run(["diff", "old.json", "old.json", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["same"] == len(OLD)


def test_diff_of_matrix_entries_and_versions(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = REPORT.matrix[0]
    better = msgspec.structs.replace(cell, status={**cell.status, "sm_120": "supported"})
    path = REPORT.paths[1]
    mended = msgspec.structs.replace(path, effect="none", severity="none")
    save("old.json", [], matrix=(cell,), paths=(path,))
    inputs = (model.Input("servekit", "0.5.9", "servekit"), REPORT.inputs[1])
    save("new.json", [], matrix=(better,), paths=(mended,), inputs=inputs)
    assert cli.run(["diff", "old.json", "new.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("servekit 0.5.8.post1 → 0.5.9: no gate changes anything for sm_120\n")
    assert "turbine.comm.all_reduce with one_shot on sm_120: unsupported → supported" in out
    assert "turbine.comm.custom_reduce on sm_120: “empty kernel” (error) → “none” (none)" in out


def test_misuse_of_diff(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot read" in failure(capsys, "diff", "old.json", "absent.json")
    assert "no such wheel" in failure(capsys, "diff", "old.json", "absent.whl")
    assert "no such folder" in failure(capsys, "diff", "old.json", "absent", "-q")
    assert "cannot be written as sarif" in failure(capsys, "diff", "old.json", "new.json", "-o", "x.sarif")
    save("other.json", OLD, target=model.Target("sm_121", "12.1", "13.0"))
    assert "differ in their target: sm_120 and sm_121" in failure(capsys, "diff", "old.json", "other.json")


def test_diff_of_trees(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def scan(options: pipeline.ScanOptions, *others: object) -> model.Report:
        asked.append(options.root.name)
        return report(*(OLD if len(asked) == 1 else NEW))

    monkeypatch.setattr(pipeline, "scan", scan)
    (place / "next").mkdir()
    (place / "next" / "p.py").write_text("")
    assert cli.run(["diff", "site", "next", "-q", "--jobs", "1"]) == 0
    assert asked == ["site", "next"]
    assert "1 better for sm_120" in capsys.readouterr().out


def test_history_of_saved_reports(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save("first.json", OLD, matrix=REPORT.matrix)
    inputs = (model.Input("servekit", "0.5.9", "servekit"),)
    save("second.json", NEW, matrix=REPORT.matrix, inputs=inputs)
    given = ["history", "servekit", "--from", "first.json", "--from", "second.json"]
    assert cli.run(given) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["release", "0.5.8.post1", "0.5.9"]
    assert rows[2][-2:] == ["2", "1"]
    assert cli.run([*given, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, schema.NAMES["history"]())
    assert [release["findings"] for release in told["releases"]] == [{"runtime": 2}, {"runtime": 3}]
    assert told["releases"][0]["cells"] == {"degraded": 1, "unknown": 3, "unsupported": 1}
    for name in ("h.md", "h.html"):
        assert cli.run([*given, "-o", name]) == 0
    page = Path("h.html").read_text()
    assert page.count("<svg role=") == 2
    heights = [float(h) for h in re.findall(r'height="([0-9.]+)" class', page)]
    assert 220.0 in heights
    assert "| 0.5.9 | 2 | 1 |" in Path("h.md").read_text()


def test_history_of_releases_scans_each_once(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    index = place / "index"
    index.mkdir()
    for version in ("1.0", "1.1", "2.0"):
        add(index, "lib", version)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    scans: list[str] = []

    def scan(options: pipeline.ScanOptions, *others: object) -> model.Report:
        (found,) = open_tree(options.root).inputs
        scans.append(found.version)
        return report(*(OLD if found.version == "1.0" else NEW), inputs=(found,))

    monkeypatch.setattr(pipeline, "scan", scan)
    assert cli.run(["history", "lib", "--last", "2", "-q"]) == 0
    assert cli.run(["history", "lib", "--last", "3", "-q"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-3:]]
    assert [(row[0], row[-2:]) for row in rows] == [
        ("1.0", ["0", "2"]),  # nothing to compare with: the last number is that of the layer
        ("1.1", ["2", "1"]),
        ("2.0", ["0", "0"]),
    ]
    assert scans == ["1.1", "2.0", "1.0"]
    assert "cannot list the releases of absent" in failure(capsys, "history", "absent", "-q")


def test_config_shows_where_values_come_from(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("smgate.toml").write_text(
        "target = 'sm_121'\nreference = ['sm_90']\nroot = 'site'\n[env]\nA = '1'\n"
    )
    assert cli.run(["config", "--cuda", "12.8", "--format", "json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["target"] == {"name": "target", "value": "sm_121", "from": str(place / "smgate.toml")}
    assert rows["cuda"] == {"name": "cuda", "value": "12.8", "from": "command line"}
    assert rows["fail-on"] == {"name": "fail-on", "value": "error", "from": "default"}
    assert (rows["reference"]["value"], rows["env"]["value"]) == (["sm_90"], {"A": "1"})
    assert cli.run(["config"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^target +sm_121 +.*smgate.toml$", out, re.MULTILINE)
    assert re.search(r"^baseline +- +default$", out, re.MULTILINE)


def test_settings_reach_the_verbs(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[pipeline.ScanOptions] = []

    def scan(options: pipeline.ScanOptions, *others: object) -> model.Report:
        asked.append(options)
        return report(*NEW)

    monkeypatch.setattr(pipeline, "scan", scan)
    Path("pyproject.toml").write_text(
        "[tool.smgate]\nroot = 'site'\ntarget = 'sm_121'\nreference = ['sm_90', 'sm_89']\nfail-on = 'note'\n"
        "package = ['p']\njobs = 1\n"
    )
    assert cli.run(["scan", "-q"]) == 0, "a scan fails only where its own command line says so"
    assert cli.run(["scan", "-q", "--fail-on", "error", "--target", "sm_120"]) == 1
    first, second = asked
    assert (first.root, first.target, first.references) == (place / "site", "sm_121", ("sm_90", "sm_89"))
    assert (first.packages, first.jobs, second.target) == (("p",), 1, "sm_120")
    Path("pyproject.toml").write_text("[tool.smgate]\ntarget = 'sm_999'\n")
    capsys.readouterr()
    assert "unknown architecture 'sm_999'" in failure(capsys, "scan", "-q")
    Path("pyproject.toml").write_text("[tool.smgate]\ntarge = 'sm_120'\n")
    assert "[tool.smgate]: Object contains unknown field `targe`" in failure(capsys, "scan", "-q")


@pytest.mark.parametrize("name", schema.NAMES)
def test_schemas_are_schemas(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["schema", name]) == 0
    content = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(content)
    assert content["$id"] == f"urn:smgate:{name}:1"


def test_baseline_lines_fit_their_schema(place: Path) -> None:
    check("new.json", "--update")
    validator = jsonschema.Draft202012Validator(schema.NAMES["baseline"]())
    lines = [json.loads(line) for line in Path("b.jsonl").read_text().splitlines()]
    assert all(validator.is_valid(line) for line in lines)
    assert not validator.is_valid({**lines[1], "line": 3})


@pytest.mark.parametrize("verb", ["check", "diff", "history", "config", "schema"])
def test_help_has_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([verb, "--help"]) == 0
    assert re.search(rf"^  smgate {verb}\b", capsys.readouterr().out, re.MULTILINE)
