"""The surveys of all architectures: what an exploration began is gone on with, wherever that is."""

from __future__ import annotations

import os

import pytest

from analyzer import archs
from analyzer.python import fleet
from analyzer.python.fleet import Task, Told
from analyzer.python.modules import ModuleIndex
from analyzer.python.survey import Survey
from analyzer.python.words import words
from tests.python.surveys import REFERENCES, TARGET

ARCHS = ("sm_80", "sm_90", "sm_100", "sm_120")
#: Every answer stands above what asks for it.
IN_ORDER = """
import torch

def is_wide():
    return torch.cuda.get_device_capability()[0] >= 10

def run(x):
    return wide(x) if is_wide() else x
"""
#: ``run`` comes first; what it calls is not worth following until it is known to give an answer.
OUT_OF_ORDER = """
import torch

def run(x):
    device = torch.cuda.get_device_capability()
    return wide(x, device) if is_wide(x) else x

def is_wide(x):
    return torch.cuda.get_device_capability()[0] >= 10
"""


def surveyed(text: str, jobs: int = 1) -> dict[str, Told]:
    files = {"server/run.py": text.encode()}
    index = ModuleIndex(list(files), files.__getitem__, ["torch"])
    task = Task(index, {file: words(data) for file, data in files.items()}, (13, 0), (), _calls)
    return fleet.run(task, TARGET, REFERENCES, ARCHS, jobs)


def _calls(survey: Survey) -> object:
    return sorted((call.caller, call.callee) for call in survey.observer.calls)


def begun(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The architectures for which a survey is begun, as often as it is."""
    made: list[str] = []
    new = fleet._new

    def counting(arch: str, explaining: bool = True) -> object:
        made.append(arch)
        return new(arch, explaining)

    monkeypatch.setattr(fleet, "_new", counting)
    surveyed(text)
    return sorted(made)


def test_an_exploration_is_the_beginning_of_its_survey(monkeypatch: pytest.MonkeyPatch) -> None:
    assert begun(IN_ORDER, monkeypatch) == sorted(ARCHS)


def test_a_survey_begins_anew_if_a_call_that_was_passed_over_is_worth_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    explored = [*REFERENCES, TARGET]
    assert begun(OUT_OF_ORDER, monkeypatch) == sorted([*ARCHS, *explored])


@pytest.mark.parametrize("text", [IN_ORDER, OUT_OF_ORDER])
def test_every_architecture_decides_as_its_capability_says(text: str) -> None:
    for arch, told in surveyed(text).items():
        found = {
            answer.outcome.value for (key, _), answer in told.findings.answers.items() if key[3] == "ifexp"
        }
        assert found == {"true" if archs.find(arch).number >= 100 else "false"}, arch


@pytest.mark.parametrize("text", [IN_ORDER, OUT_OF_ORDER])
def test_the_result_does_not_depend_on_how_many_processes_there_are(text: str) -> None:
    one = surveyed(text)
    for jobs in (2, 3, 8):
        many = surveyed(text, jobs)
        assert list(many) == list(one)
        for arch, told in many.items():
            assert told.extract == one[arch].extract
            assert told.findings.answers.keys() == one[arch].findings.answers.keys()


#: Each turn makes the provenance of three names longer than that of the turn before.
LONG = """
import torch

def run(x):
    a = b = c = torch.cuda.get_device_capability()[0]
    for _ in range(2_900):
        a, b, c = a + b, b + c, c + a
    return x if a >= 10 else -x
"""


def test_a_provenance_may_be_as_long_as_loops_run() -> None:
    found = surveyed(LONG)
    assert {answer.outcome.value for answer in found["sm_120"].findings.answers.values()} == {"true"}


def _failing(survey: Survey) -> object:
    raise ValueError("no such thing")


def _ending(survey: Survey) -> object:
    os._exit(3)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_process_raises_is_raised(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    monkeypatch.setattr(f"{__name__}._calls", _failing)
    with pytest.raises(ValueError, match="no such thing"):
        surveyed(IN_ORDER, jobs)


def test_a_process_that_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}._calls", _ending)
    with pytest.raises(ChildProcessError, match="has ended"):
        surveyed(IN_ORDER, 2)
