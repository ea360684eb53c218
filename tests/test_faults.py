"""A fault of the analyzer costs the function that it happens in, is told with its place, and nothing more."""

from __future__ import annotations

import pytest

from analyzer import faults
from analyzer.python import calls, imports
from analyzer.python.frames import Frame, ModuleState
from analyzer.python.machine import Machine
from analyzer.python.values import Function, Value
from tests.python.surveys import surveyed

PROGRAM = {
    "kit/ops.py": """import torch

def first():
    return torch.cuda.get_device_capability()[0] == 9

def second():
    if torch.cuda.get_device_capability()[0] == 10:
        return 1
    return 2
"""
}


def _break(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = calls.run

    def broken(m: Machine, function: Function, frame: Frame) -> Value:
        if function.name == name:
            raise ZeroDivisionError("oops")
        return run(m, function, frame)

    monkeypatch.setattr(calls, "run", broken)


def test_the_function_is_told_and_the_others_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(faults.VARIABLE)
    _break("first", monkeypatch)
    found = surveyed(PROGRAM, lambda file: PROGRAM[file].encode(), names=["sm_120"])["sm_120"]
    assert [(site.line, what) for site, what, _ in found.unresolved] == [(3, "kit.ops.first")]
    reason = found.unresolved[0][2]
    assert reason.startswith("internal error: ZeroDivisionError: oops at analyzer/python/survey.py:")
    assert "kit.ops.first" in found.cut
    assert {static.scope for static in found.statics.values()} == {"second"}


def test_a_module_is_told_and_the_others_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(faults.VARIABLE)
    run = imports.run_module

    def broken(m: Machine, state: ModuleState) -> None:
        if state.source.name == "kit.other":
            raise ZeroDivisionError("oops")
        run(m, state)

    monkeypatch.setattr(imports, "run_module", broken)
    program = {**PROGRAM, "kit/other.py": PROGRAM["kit/ops.py"]}
    found = surveyed(program, lambda file: program[file].encode(), names=["sm_120"])["sm_120"]
    assert [(site.file, what) for site, what, _ in found.unresolved] == [("kit/other.py", "kit.other")]
    assert {(static.module, static.scope) for static in found.statics.values()} == {("kit.ops", "second")}


def test_it_ends_everything_for_those_who_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(faults.VARIABLE, "1")
    _break("first", monkeypatch)
    with pytest.raises(ZeroDivisionError):
        surveyed(PROGRAM, lambda file: PROGRAM[file].encode(), names=["sm_120"])


def test_the_innermost_place_of_ours_is_told() -> None:
    try:
        faults.told(3)  # type: ignore[arg-type]
    except AttributeError as error:
        text = faults.told(error)
    assert text.startswith("internal error: AttributeError:")
    assert " at analyzer/faults.py:" in text
