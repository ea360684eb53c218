"""A declared capability that the code behind it contradicts is a finding of its own."""

from __future__ import annotations

from pathlib import Path

from analyzer.model import Gate
from tests.judge.opened import scanned, write

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
