"""Checks against collections of choices that are not the same on every architecture."""

from __future__ import annotations

import pytest

from analyzer.model import Gate
from tests.python.surveys import gates_of

PROGRAM = """
import torch

def major(): return torch.cuda.get_device_capability()[0]

def check(o):
    if major() >= 10:
        if major() == 10:
            allowed = {"plain", "fast", "old"}
        else:
            allowed = {"plain", "fast", "new"}
        first, second = o.first, o.second
        assert first in allowed and second in allowed, "not for these"
    elif o.other:
        assert o.first == "other"
    return o
"""
OLD, NEW = '{"plain", "fast", "old"}', '{"plain", "fast", "new"}'


def told(program: str = PROGRAM) -> list[Gate]:
    found = gates_of({"p/__init__.py": "", "p/a.py": program})
    return [gate for gate in found if gate.code.startswith("allowed = ")]


def test_the_collection_that_leaves_out_what_a_reference_may_ask_for() -> None:
    (gate,) = told()
    assert (gate.scope, gate.effect, gate.message) == ("check", "raises", "not for these")
    assert gate.line == PROGRAM[: PROGRAM.index(NEW)].count("\n") + 1
    assert gate.verdict["sm_120"] == gate.verdict["sm_121"] == "reject"
    assert gate.verdict["sm_100"] == gate.verdict["sm_103"] == "admit"
    steps = [step.what for step in gate.because]
    assert steps[0] == "leaves out 'old'"
    assert steps[1] == "raises unless first in allowed"


def test_the_message_of_a_check_that_is_an_if() -> None:
    test = 'if first not in allowed or second not in allowed: raise ValueError("no")'
    (gate,) = told(PROGRAM.replace(_ASSERT, test))
    assert (gate.effect, gate.message) == ("raises", "no")


_ASSERT = 'assert first in allowed and second in allowed, "not for these"'


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        (NEW, '{"old", "fast", "plain", "new"}'),  # it holds more
        (NEW, OLD),
        (_ASSERT, 'if first not in allowed: print("not for these")'),  # nothing is refused
        (_ASSERT, "assert first in allowed or second in allowed"),
        (_ASSERT, 'if first not in allowed and second: raise ValueError("no")'),
        ("first, second = o.first, o.second", 'first, second = "plain", "fast"'),
        ("first, second = o.first, o.second", 'first = second = "plain" if o.first else "fast"'),
        (NEW, '{"plain", "fast", o.third}'),  # what it holds is not known
        (_ASSERT, f"try:\n            {_ASSERT}\n        except AssertionError:\n            return None"),
    ],
)
def test_nothing_is_told_where_nothing_is_lost(there: str, instead: str) -> None:
    assert there in PROGRAM
    assert told(PROGRAM.replace(there, instead)) == []


PAST = (
    PROGRAM.replace("major() == 10", "major() == 11")
    .replace(NEW, '{"plain", "fast"}')
    .replace("elif o.other:", "elif major() == 7:")
)


def test_who_never_comes_to_the_check_may_ask_for_it() -> None:
    (gate,) = told(PAST)
    assert gate.verdict["sm_100"] == gate.verdict["sm_120"] == "reject"
    assert gate.verdict["sm_90"] == gate.verdict["sm_110"] == "admit"


def test_each_part_of_a_check_tells_who_passes_it_by() -> None:
    (gate,) = told(PAST.replace("first, second = o.first, o.second", 'first, second = "plain", o.second'))
    assert gate.because[1].what == "raises unless second in allowed"
    assert gate.verdict["sm_90"] == "admit"


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("elif major() == 7:", "elif o.other:"),  # some check is met on the other side, too
        ("if major() >= 10:", "if major() >= 10 or o.forced:"),
        ("def check(o):", 'def check(o):\n    if major() == 9: raise ValueError("none of it")'),
    ],
)
def test_who_may_be_stopped_elsewhere_says_nothing(there: str, instead: str) -> None:
    assert there in PAST
    assert told(PAST.replace(there, instead)) == []
