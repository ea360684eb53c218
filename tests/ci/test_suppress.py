"""Rules that suppress: what they fit, when they are over, which are of no use."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from analyzer.ci.suppress import Rule, suppress
from analyzer.model import Input
from tests.ci.gates import known, report

TODAY = datetime.date(2026, 6, 1)
GATE = known(file="lib/deep/a.py")
INPUTS = (Input("lib-python", "1", "lib"), Input("libs", "1", "libs"))


def fits(**rule: Any) -> bool:
    found = suppress(report(GATE, inputs=INPUTS), [Rule("why", **rule)], TODAY)
    assert (GATE.id in found.gates) != bool(found.unused or found.expired)
    return GATE.id in found.gates


@pytest.mark.parametrize(
    ("rule", "fit"),
    [
        ({"id": GATE.id}, True),
        ({"id": GATE.id + ".2"}, False),
        ({"path": "lib/deep/a.py"}, True),
        ({"path": "lib/**"}, True),
        ({"path": "lib/*"}, False),
        ({"path": "lib/*/a.py"}, True),
        ({"path": "**/a.py"}, True),
        ({"path": "**/lib/deep/?.py"}, True),
        ({"path": "lib/deep/[a].py"}, False),
        ({"path": "deep/a.py"}, False),
        ({"layer": "runtime"}, True),
        ({"layer": "guard"}, False),
        ({"package": "lib-python"}, True),
        ({"package": "Lib_Python"}, True),
        ({"package": "libs"}, False),
        ({"package": "lib-python", "layer": "guard"}, False),
        ({"path": "lib/**", "expires": TODAY}, True),
        ({"path": "lib/**", "expires": TODAY - datetime.timedelta(1)}, False),
    ],
)
def test_what_a_rule_fits(rule: dict[str, Any], fit: bool) -> None:
    assert fits(**rule) is fit


def test_rules_that_are_over_or_fit_nothing_are_told() -> None:
    over = Rule("old", path="lib/**", expires=datetime.date(2026, 1, 1))
    useless = Rule("typo", path="lob/**")
    first, second = Rule("one", path="lib/**"), Rule("two", layer="runtime")
    found = suppress(report(GATE, inputs=INPUTS), [over, useless, first, second], TODAY)
    assert found.gates == {GATE.id: first}
    assert (found.expired, found.unused) == ((over,), (useless,)), (
        "the second rule is of use, but comes later"
    )


def test_a_gate_without_loss_needs_no_rule() -> None:
    fine = known("is_new()", "sm_120")
    found = suppress(report(fine), [Rule("why", id=fine.id)], TODAY)
    assert found.gates == {}
    assert len(found.unused) == 1
