"""Findings as SARIF 2.1.0 for code scanning: one rule for each effect, the way to the gate as code flow.

Source: OASIS "Static Analysis Results Interchange Format (SARIF) Version 2.1.0"; GitHub Docs, "SARIF
support for code scanning" (what is shown; of one run 5,000 results, of one result 100 places, and 1,000
places of its flows).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from analyzer.ci.marks import UNMARKED, Marks
from analyzer.judge.severity import EFFECT_ORDER
from analyzer.model import Effect, Gate, Path, Report, Severity
from analyzer.report import tally, words
from analyzer.report.source import one_line, visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: GitHub shows no more results of one run.
RESULT_LIMIT = 5000
#: GitHub takes no more places of one result.
LOCATION_LIMIT = 100
_FLOWS = 2
"""Ways in that are shown for one result, worst first."""
_STEPS = 300
"""Places of one flow; those nearest to the gate are kept."""
_NOTIFICATIONS = 1000
"""Notifications of one run; beyond, their number is given."""
_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note", "none": "none"}
_EFFECTS: tuple[Effect, ...] = tuple(effect for effect in EFFECT_ORDER if effect != "none")

_Json = dict[str, Any]


def render(report: Report, marks: Marks = UNMARKED) -> bytes:
    """The findings as one SARIF run; equal reports and marks, equal bytes.

    Beyond :data:`RESULT_LIMIT` results the mildest are left out, and a notification says how many.
    """
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, marks)]}
    return (json.dumps(log, separators=(",", ":"), ensure_ascii=True) + "\n").encode()


def _run(report: Report, marks: Marks) -> _Json:
    findings = tally.worst_first(report.findings)
    kept = findings[:RESULT_LIMIT]
    ways = _ways(report)
    places = _places(report)
    return {
        "tool": {
            "driver": {
                "name": report.tool.name,
                "version": report.tool.version,
                "rules": [_rule(effect) for effect in _EFFECTS],
            }
        },
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The scanned site-packages folder."}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": _notifications(report, len(findings) - len(kept)),
            }
        ],
        "results": [_result(gate, report, ways.get(gate.id, ()), places, marks) for gate in kept],
        "properties": {
            "target": report.target.arch,
            "references": list(report.references),
            "cuda": report.target.cuda,
            "packages": [f"{i.package}=={i.version}" for i in report.inputs],
        },
    }


def _rule(effect: Effect) -> _Json:
    meaning = words.MEANING[effect]
    return {
        "id": effect,
        "name": "".join(word.title() for word in effect.split("_")),
        "shortDescription": {"text": f"GPU architecture gate: {words.EFFECTS[effect]}"},
        "fullDescription": {"text": meaning},
        "help": {
            "text": f"{meaning} Run `smgate explain FILE:LINE` to see how the verdict was reached.",
            "markdown": f"{meaning}\n\nRun `smgate explain FILE:LINE` to see how the verdict was reached.",
        },
        "defaultConfiguration": {"level": "warning" if effect in ("degraded", "excluded") else "error"},
        "properties": {"tags": ["gpu", "cuda", "compatibility"]},
    }


def _result(
    gate: Gate, report: Report, ways: tuple[Path, ...], places: Mapping[str, _Json], marks: Marks
) -> _Json:
    result: _Json = {
        "ruleId": gate.effect,
        "ruleIndex": _EFFECTS.index(gate.effect),
        "level": _LEVEL[gate.severity],
        "message": {"text": visible(words.plain(words.sentence(gate, report.target.arch)), keep="")},
        "locations": [_location(gate.file, gate.line, gate=gate)],
        "partialFingerprints": {"gate/v1": hashlib.sha256(gate.id.encode("utf-8", "replace")).hexdigest()},
        "properties": {
            "gate": visible(gate.id),
            "layer": gate.layer,
            "silent": gate.silent,
            "verdict": dict(sorted(gate.verdict.items())),
        },
    }
    if marks.states is not None:
        result["baselineState"] = marks.states.get(gate.id, "new")
    if gate.id in marks.suppressed:
        reason = visible(marks.suppressed[gate.id], keep="")
        result["suppressions"] = [{"kind": "external", "justification": reason}]
    if gate.falls_back_to:
        result["properties"]["fallsBackTo"] = visible(gate.falls_back_to)
    if gate.justification:
        result["properties"]["justification"] = gate.justification.kind
    flows = _flows(gate, ways, places)
    if flows:
        result["codeFlows"] = flows
    related = [
        {**_location(loss.file, loss.line, f"lost: {loss.what} ({loss.kind})"), "id": number}
        for number, loss in enumerate(gate.loses[:LOCATION_LIMIT])
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _location(file: str, line: int, message: str = "", gate: Gate | None = None) -> _Json:
    region: _Json = {"startLine": max(1, line)}
    if gate is not None:
        region |= {"startColumn": gate.column, "endLine": max(gate.line, gate.end_line)}
        region["snippet"] = {"text": visible(gate.code)}
    place: _Json = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file.encode("utf-8", "replace")), "uriBaseId": "ROOT"},
            "region": region,
        }
    }
    if gate is not None and gate.scope:
        place["logicalLocations"] = [{"fullyQualifiedName": visible(gate.scope, keep="")}]
    if message:
        place["message"] = {"text": visible(message, keep="")}
    return place


def _flows(gate: Gate, ways: tuple[Path, ...], places: Mapping[str, _Json]) -> list[_Json]:
    """From the device query to the gate; then, for the worst ways in, from the entry to the gate."""
    flows: list[_Json] = []
    if gate.because:
        steps = [_location(step.file, step.line, step.what) for step in reversed(gate.because)]
        flows.append(_flow("how the condition gets its value", [*steps, _gate_place(gate)]))
    for path in ways[:_FLOWS]:
        until = path.steps.index(gate.id) if gate.id in path.steps else len(path.steps)
        steps = [places[step] for step in path.steps[:until] if step in places]
        flows.append(_flow(f"from {one_line(path.entry.name, 200)}", [*steps, _gate_place(gate)]))
    return flows


def _gate_place(gate: Gate) -> _Json:
    return _location(gate.file, gate.line, f"decides: {one_line(gate.code, 200)}")


def _flow(message: str, locations: list[_Json]) -> _Json:
    return {
        "message": {"text": visible(message, keep="")},
        "threadFlows": [{"locations": [{"location": place} for place in locations[-_STEPS:]]}],
    }


def _ways(report: Report) -> dict[str, tuple[Path, ...]]:
    """For each gate, the paths on which it is a barrier, worst first."""
    found: dict[str, list[Path]] = {}
    for path in tally.paths_worst_first(report.paths):
        for gate in dict.fromkeys(barrier.gate for barrier in path.barriers):
            found.setdefault(gate, []).append(path)
    return {gate: tuple(paths) for gate, paths in found.items()}


def _places(report: Report) -> dict[str, _Json]:
    """For each node and gate, its place with a caption."""
    nodes = {n.id: _location(n.file, n.line, f"{n.kind} {n.name}") for n in report.nodes}
    gates = {
        g.id: _location(g.file, g.line, f"{g.layer} gate: {one_line(g.code, 200)}") for g in report.gates
    }
    return {**nodes, **gates}


def _notifications(report: Report, cut: int) -> list[_Json]:
    """What was skipped or left undecided, and what was cut from the results."""
    notes: list[_Json] = []
    if cut:
        text = f"{cut} of the mildest results are left out: a run may hold {RESULT_LIMIT}"
        notes.append({"level": "warning", "message": {"text": text}})
    for skipped in report.coverage.files.skipped:
        notes.append(_notification("warning", f"not read: {skipped.why}", skipped.file, 1))
    for place in report.coverage.unresolved:
        what = f"undecided: {one_line(place.what, 200)}: {place.why}"
        notes.append(_notification("note", what, place.file, place.line))
    if len(notes) > _NOTIFICATIONS:
        text = f"{len(notes) - _NOTIFICATIONS} more notifications are left out"
        notes = [*notes[:_NOTIFICATIONS], {"level": "note", "message": {"text": text}}]
    return notes


def _notification(level: str, text: str, file: str, line: int) -> _Json:
    return {
        "level": level,
        "message": {"text": visible(text, keep="")},
        "locations": [_location(file, line)],
    }
