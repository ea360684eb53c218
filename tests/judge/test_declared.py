"""A declared capability that the code behind it contradicts is a finding of its own."""

from __future__ import annotations

from pathlib import Path

from analyzer.judge.declared import Run, contradicted
from analyzer.model import Gate, Status
from tests.judge.opened import scanned, write
from tests.judge.test_severity import gate

DEVICE = """\
import functools

import torch

def capability():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor

def supported(numbers):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if capability() not in numbers:
                raise ValueError("declared for others")
            return function(*args, **kwargs)
        return wrapper
    return decorate
"""
API = """\
from .device import capability, supported

def flags(majors):
    if capability() // 10 not in majors:
        raise RuntimeError("no kernel for this chip")
    return ["-O3"]

@supported([90, 100, 120])
def over(x):
    return flags([9, 10])

@supported([90, 100, 120])
def right(x):
    return flags([9, 10, 12])

@supported([90, 100])
def under(x):
    return flags([9, 10, 12])
"""


def declarations(tmp_path: Path) -> dict[str, Gate]:
    """The gates at declarations by the function that they stand on."""
    root = write(
        tmp_path,
        {
            "kit/__init__.py": "from .api import over, right, under\n",
            "kit/device.py": DEVICE,
            "kit/api.py": API,
        },
    )
    return {gate.scope: gate for gate in scanned(root).gates if gate.layer == "api"}


def test_a_declaration_that_lets_in_what_is_stopped_behind_it(tmp_path: Path) -> None:
    found = declarations(tmp_path)
    assert found["over"].effect == "wrongly_admitted"
    assert found["over"].severity == "error"
    judgement = found["over"].justification
    assert judgement is not None
    assert [(step.line, step.what) for step in judgement.evidence] == [
        (10, "kit.over does not run on sm_120: raises")
    ]


def test_a_declaration_that_holds_is_none(tmp_path: Path) -> None:
    assert declarations(tmp_path)["right"].effect == "none"


def test_a_declaration_that_is_narrower_than_what_is_behind_raises(tmp_path: Path) -> None:
    assert declarations(tmp_path)["under"].effect == "raises"


def test_what_is_stopped_before_is_not_said_to_be_stopped_again(tmp_path: Path) -> None:
    root = write(tmp_path, {"kit/__init__.py": "", "kit/device.py": DEVICE, "kit/api.py": API})
    behind = [gate for gate in scanned(root).gates if gate.layer == "jit" and gate.scope == "under"]
    assert [gate.effect for gate in behind] == ["none"]


def runs(*told: tuple[str, str, Status, bool]) -> dict[str, Gate]:
    """What is told of a gate that lets sm_120 in, of runs behind it: entry, choice, status, of an option."""
    letting = gate(id="letting", verdict={"sm_80": "reject", "sm_90": "admit", "sm_120": "admit"})
    stopping = gate(id="stopping", line=9, effect="raises")
    made = [
        Run(entry, choice, frozenset(["letting"]), status, ("stopping",), option=option)
        for entry, choice, status, option in told
    ]
    return contradicted(made, {"letting": letting, "stopping": stopping}, "sm_120")


def test_one_option_that_is_given_what_is_stopped_is_enough() -> None:
    fine = ("tool --size", "wide", "supported", True)
    bad = ("tool --kernel", "trtllm", "unsupported", True)
    found = runs(fine, bad)["letting"]
    assert found.effect == "wrongly_admitted"
    assert found.justification is not None
    assert [step.what for step in found.justification.evidence] == [
        "tool --kernel with trtllm does not run on sm_120: raises"
    ]


def test_an_option_that_may_be_given_something_else_is_not_stopped() -> None:
    bad = ("tool --kernel", "trtllm", "unsupported", True)
    assert runs(bad, ("tool --kernel", "triton", "unknown", True)) == {}


def test_an_api_that_runs_with_one_of_its_back_ends_is_let_in_rightly() -> None:
    bad = ("kit.attention", "trtllm", "unsupported", False)
    assert runs(bad, ("kit.decode", "trtllm", "supported", False)) == {}
    assert "letting" in runs(bad)
