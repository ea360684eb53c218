"""Raises at which the target surely ends, though no decision there asks for the device."""

from __future__ import annotations

from analyzer.model import Gate
from tests.python.surveys import gates_of

PROGRAM = """
import torch

def spelled(major):
    if major == 12:
        raise RuntimeError("the toolkit is too old")
    return f"{major}.0a"

def targets():
    found = set()
    try:
        found.add(spelled(torch.cuda.get_device_capability()[0]))
    except Exception:
        pass
    return found

TARGETS = targets()

def check():
    eligible = False
    for name in TARGETS:
        if name:
            eligible = True
    if not eligible:
        raise RuntimeError("needs a newer GPU")

def told():
    if torch.cuda.get_device_capability()[0] == 12:
        raise RuntimeError("not on these")

def everywhere():
    if torch.cuda.get_device_capability()[0] < 7:
        return 1
    raise RuntimeError("never")
"""


def refused() -> list[Gate]:
    found = gates_of({"pkg/__init__.py": "", "pkg/checks.py": PROGRAM})
    return [gate for gate in found if gate.code.startswith("raise ")]


def test_a_raise_that_no_decision_explains() -> None:
    (gate,) = refused()
    assert (gate.scope, gate.effect, gate.message) == ("check", "raises", "needs a newer GPU")
    assert gate.line == PROGRAM[: PROGRAM.index('"needs a newer GPU"')].count("\n") + 1
    assert gate.verdict["sm_120"] == gate.verdict["sm_121"] == "reject"
    assert gate.verdict["sm_90"] == gate.verdict["sm_100"] == "admit"
    assert "every run of pkg.checks.check ends here on sm_120" in gate.because[0].what
