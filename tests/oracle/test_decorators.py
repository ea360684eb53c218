"""Capabilities in decorators, held against what the decorated functions themselves answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyzer import archs
from analyzer.model import Gate
from analyzer.python import gates
from tests.oracle.records import records
from tests.python.surveys import REFERENCES, TARGET, surveyed

PACKAGE = "flashinfer_python-0.6.3"
#: Lines between a decorator's list and the ``def`` that it decorates.
NEAR = 8


def scan(root: Path, marker: bytes) -> list[Gate]:
    """The gates of the files that hold a word, surveyed on every architecture."""
    files = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    marked = [file for file in files if file.endswith(".py") and marker in (root / file).read_bytes()]
    found = surveyed(files, lambda file: (root / file).read_bytes(), marked)
    return [draft.gate for draft in gates.gates(found, TARGET, REFERENCES).gates]


@pytest.fixture(scope="module")
def declared() -> list[dict[str, Any]]:
    """The requirement functions that some API uses, as executed: file, line of the ``def``, answers."""
    decorators = records(PACKAGE)["decorators"].values()
    used = {
        (check["file"], check["line"])
        for record in decorators
        if record["decorator"] == "backend_requirement"
        for check in [*record["backends"].values(), *filter(None, [record.get("common_check")])]
    }
    return [
        record
        for record in decorators
        if record["decorator"] == "supported_compute_capability" and (record["file"], record["line"]) in used
    ]


@pytest.fixture(scope="module")
def api_gates(demo: Path) -> list[Gate]:
    """The gates that stand at decorators."""
    return [gate for gate in scan(demo, b"supported_compute_capability") if gate.layer == "api"]


def test_every_declared_list_is_a_gate(declared: list[dict[str, Any]], api_gates: list[Gate]) -> None:
    assert len(declared) > 20
    for record in declared:
        before = [
            gate
            for gate in api_gates
            if gate.file == record["file"] and record["line"] - NEAR <= gate.line < record["line"]
        ]
        assert before, (record["file"], record["line"], record["name"])
        gate = max(before, key=lambda gate: gate.line)
        said = record["is_compute_capability_supported"]
        wanted = {
            arch.name: "admit" if said[str(arch.number)] else "reject"
            for arch in archs.profiles()
            if str(arch.number) in said
        }
        assert gate.verdict == wanted, (record["file"], record["line"])
        assert (gate.effect == "raises") is (wanted["sm_120"] == "reject"), (record["file"], record["line"])


def test_nothing_else_is_a_gate_there(declared: list[dict[str, Any]], api_gates: list[Gate]) -> None:
    lines = {(record["file"], record["line"]) for record in declared}
    for gate in api_gates:
        near = [line for file, line in lines if file == gate.file and gate.line < line <= gate.line + NEAR]
        assert near, (gate.file, gate.line, gate.code)
