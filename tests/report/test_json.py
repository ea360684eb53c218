"""The JSON view, its schema, and their agreement with the model."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import msgspec
import pytest

from analyzer import data, model
from analyzer.report import json as view
from analyzer.report import schema
from tests.report import sample

SCHEMA = json.loads((data.folder("reports") / "schema-1.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(view.render(sample.REPORT))
    return loaded


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_kept_schema_is_that_of_the_model() -> None:
    kept = (data.folder("reports") / "schema-1.json").read_text("utf-8")
    assert kept == schema.text(), "run: python -m analyzer.report.schema > reports/schema-1.json"


def test_every_type_of_the_model_is_described() -> None:
    described = set(SCHEMA["$defs"])
    types = {
        name
        for name, kind in vars(model).items()
        if isinstance(kind, type) and issubclass(kind, model.Value) and kind is not model.Value
    }
    assert described == types


def test_sample_is_valid() -> None:
    VALIDATOR.validate(document())


def test_reading_back_gives_the_same_report() -> None:
    written = view.render(sample.REPORT)
    assert model.decode(written) == sample.REPORT
    assert view.render(model.decode(written)) == written


def put(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        inner: Any = report
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(report: dict[str, Any]) -> None:
        inner: Any = report
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]

    return change


WRONG = {
    "version": put("schema_version", value="2"),
    "no gates": drop("gates"),
    "no verdict": drop("gates", 0, "verdict"),
    "effect": put("gates", 0, "effect", value="broken"),
    "severity": put("gates", 0, "severity", value="fatal"),
    "layer": put("gates", 0, "layer", value="python"),
    "verdict": put("gates", 0, "verdict", "sm_120", value="maybe"),
    "verdict of no architecture": put("gates", 0, "verdict", "compute_120", value="admit"),
    "line 0": put("gates", 0, "line", value=0),
    "column 0": put("gates", 0, "column", value=0),
    "count 0": put("gates", 0, "count", value=0),
    "absolute path": put("gates", 0, "file", value="/site-packages/a.py"),
    "path upwards": put("gates", 0, "file", value="a/../../b.py"),
    "empty id": put("gates", 0, "id", value=""),
    "loss without kind": drop("gates", 4, "loses", 0, "kind"),
    "justification": put("gates", 1, "justification", "kind", value="bug"),
    "because line": put("gates", 1, "because", 0, "line", value="7"),
    "target": put("target", "arch", value="Blackwell"),
    "capability": put("target", "capability", value="12"),
    "reference": put("references", 0, value="hopper"),
    "twice the same reference": put("references", value=["sm_90", "sm_90"]),
    "no architectures": put("archs", value=[]),
    "outcome": put("builds", 0, "outcome", "sm_90", value="fails"),
    "spelling": put("builds", 0, "spelling", "sm_90", value="9.0a"),
    "source outside": put("builds", 0, "sources", value=["/usr/include/x.h"]),
    "edge without end": drop("edges", 0, "to"),
    "entry kind": put("paths", 0, "entry", "kind", value="flag"),
    "path without steps": put("paths", 0, "steps", value=[]),
    "when": put("paths", 0, "barriers", 0, "when", value="sometimes"),
    "status": put("matrix", 0, "status", "sm_120", value="yes"),
    "unresolved without reason": drop("coverage", "unresolved", 0, "why"),
    "files": put("coverage", "files", "read", value="all"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_damaged_report_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    damaged = copy.deepcopy(document())
    change(damaged)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(damaged)


def test_keys_may_be_added() -> None:
    report = document()
    report["comment"] = "hello"
    report["gates"][0]["colour"] = "red"
    VALIDATOR.validate(report)
    assert model.decode(json.dumps(report).encode()) == sample.REPORT


@pytest.mark.parametrize("field", ["message", "order", "parts", "admits", "in_tests"])
def test_fields_beyond_the_contract_may_be_missing(field: str) -> None:
    report = document()
    for gate in report["gates"]:
        del gate[field]
    VALIDATOR.validate(report)
    msgspec.json.decode(json.dumps(report).encode(), type=model.Report)
