"""The baseline file: its bytes, and one clear line for everything that can be wrong with it."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ci.baseline import Baseline, Header, decode, encode, header, kept, load
from analyzer.ci.compare import compare
from analyzer.ci.known import Known, remembered
from analyzer.tree.errors import TreeError
from tests.ci.gates import known
from tests.report.sample import REPORT

HEADER = Header(1, "sm_120", ("sm_90", "sm_100"), "13.0")
GATE = msgspec.structs.replace(known(), reason="we know", expires=datetime.date(2030, 1, 31))
TEXT = encode(Baseline(HEADER, (GATE, known("b()", "sm_120", file="p/z.py")))).decode()


def test_what_stands_in_a_line() -> None:
    first, gate, _ = (json.loads(line) for line in TEXT.splitlines())
    assert first == {
        "smgate_baseline": 1,
        "target": "sm_120",
        "references": ["sm_90", "sm_100"],
        "cuda": "13.0",
    }
    assert list(gate) == [
        "id",
        "layer",
        "file",
        "scope",
        "order",
        "condition",
        "verdict",
        "effect",
        "severity",
        "reason",
        "expires",
    ]
    assert gate["verdict"] == {"sm_100": "reject", "sm_120": "reject", "sm_90": "reject"}
    assert gate["expires"] == "2030-01-31"


def test_sorted_and_read_back() -> None:
    gates = remembered(REPORT)
    content = encode(Baseline(header(REPORT), tuple(reversed(gates))))
    assert content == encode(Baseline(header(REPORT), gates))
    assert decode(content.decode(), "x").gates == gates
    ids = [json.loads(line)["id"] for line in content.splitlines()[1:]]
    assert ids == sorted(ids)
    assert len(ids) == sum(not gate.in_tests for gate in REPORT.gates)
    for gate in REPORT.gates:
        if gate.line > 9:
            assert f":{gate.line}," not in content.decode(), "no line number"


@given(
    st.lists(
        st.builds(known, st.text(st.characters(codec="utf-8"), min_size=1)),
        unique_by=lambda k: k.id,
        max_size=5,
    )
)
def test_any_condition_survives(gates: list[Known]) -> None:
    content = encode(Baseline(HEADER, tuple(gates)))
    assert content.count(b"\n") == len(gates) + 1
    assert sorted(decode(content.decode(), "x").gates) == sorted(gates)


def lines(*more: str) -> str:
    return TEXT + "".join(line + "\n" for line in more)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "b is empty"),
        (lines('{"id": "x"'), "b:4: not a gate: "),
        (lines("nonsense"), "b:4: not a gate: "),
        (lines('{"id": "x"}'), "b:4: not a gate: .*missing required field `layer`"),
        (TEXT.replace('"effect"', '"efect"', 1), "b:2: not a gate: .*unknown field `efect`"),
        (TEXT.replace('"scope"', '"line":3,"scope"', 1), "b:2: not a gate: .*unknown field `line`"),
        (TEXT.replace('"reject"', '"rejected"', 1), "b:2: not a gate: .*'rejected'"),
        (TEXT.replace("2030-01-31", "next year", 1), "b:2: not a gate: .*date"),
        (lines(TEXT.splitlines()[1]), "b:4: the gate of line 2 once more: runtime:p/a.py:run:"),
        (lines("<<<<<<< ours"), "b:4: a merge conflict is not resolved here"),
        (lines("======="), "b:4: a merge conflict"),
        (lines(">>>>>>> theirs"), "b:4: a merge conflict"),
        ("<<<<<<< ours\n" + TEXT, "b:1: a merge conflict"),
        (TEXT.replace('_baseline":1', '_baseline":2', 1), "b:1: baseline of version 2; .*reads version 1"),
        (TEXT.replace('"cuda"', '"cud"', 1), "b:1: not the first line of a baseline: .*cud"),
        ("\n".join(TEXT.splitlines()[1:]), "b:1: not the first line of a baseline"),
        ("[]", "b:1: not the first line of a baseline"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, message: str) -> None:
    with pytest.raises(TreeError, match=message) as caught:
        decode(text, "b")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match=r"cannot read the baseline .*absent"):
        load(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe{}")
    with pytest.raises(TreeError, match="no baseline: not UTF-8"):
        load(tmp_path / "binary")


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    with pytest.raises(TreeError) as caught:
        decode(text, "b")
    assert "\n" not in str(caught.value)


def test_reasons_follow_a_gate_that_moves() -> None:
    moved = known(scope="elsewhere")
    (now,) = kept(compare([GATE], [moved]))
    assert (now.scope, now.reason, now.expires) == ("elsewhere", GATE.reason, GATE.expires)


def test_an_entry_is_valid_on_its_last_day() -> None:
    baseline = Baseline(HEADER, (GATE, known("b()")))
    assert baseline.expired(datetime.date(2030, 1, 31)) == ()
    assert baseline.expired(datetime.date(2030, 2, 1)) == (GATE,)
