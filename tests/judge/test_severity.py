"""Severity follows from effect, silence and losses, by the contract."""

from __future__ import annotations

import msgspec
import pytest

from analyzer.judge.severity import judged, severity
from analyzer.model import Gate, Justification, Loss

GATE = Gate(
    id="runtime:a.py:f:00000000",
    layer="runtime",
    file="a.py",
    line=1,
    end_line=1,
    column=1,
    scope="f",
    code="x",
    verdict={"sm_120": "reject"},
)


def gate(**changes: object) -> Gate:
    return msgspec.structs.replace(GATE, **changes)


@pytest.mark.parametrize(
    "effect", ["raises", "empty_kernel", "illegal_instruction", "no_image", "over_resource"]
)
def test_what_stops_or_breaks_is_an_error(effect: str) -> None:
    assert severity(gate(effect=effect)) == "error"


@pytest.mark.parametrize("effect", ["excluded", "degraded"])
def test_silence_makes_the_difference(effect: str) -> None:
    assert severity(gate(effect=effect, silent=True)) == "warning"
    assert severity(gate(effect=effect, silent=False)) == "note"


@pytest.mark.parametrize(("kind", "expected"), [("wait", "error"), ("barrier", "error"), ("trigger", "note")])
def test_a_lost_trigger_costs_only_overlap(kind: str, expected: str) -> None:
    lost = (Loss("trigger", "trigger", "k.cuh", 3), Loss("other", kind, "k.cuh", 4))
    assert severity(gate(effect="lost_sync", loses=lost)) == expected


def test_what_the_chip_lacks_is_a_note() -> None:
    assert severity(gate(effect="raises", justification=Justification("hardware"))) == "note"
    assert severity(gate(effect="raises", justification=Justification("unknown"))) == "error"
    # A build that compiles what it cannot assemble fails.
    assert severity(gate(effect="illegal_instruction", justification=Justification("hardware"))) == "error"


def test_no_effect_no_severity() -> None:
    assert judged(GATE).severity == "none"
