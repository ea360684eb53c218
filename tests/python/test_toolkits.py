"""Checks that want a newer toolkit for an architecture than its compiler needs."""

from __future__ import annotations

import pytest

from analyzer import archs
from analyzer.model import Gate
from analyzer.python import findings, gates, survey
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.words import words

PROGRAM = """
import torch
from packaging.version import Version

def detect():
    major, minor = torch.cuda.get_device_capability()
    flags = [f"compute_{major}{minor}"]

    def has(compute, version):
        if not any(compute in flag for flag in flags):
            return False
        return Version(torch.version.cuda) >= Version(version)

    return {
        "sm90": has("compute_90", "12.3"),
        "sm100": has("compute_100", "12.8"),
        "sm120": has("compute_120", "13.0"),
    }

def shared():
    if torch.cuda.get_device_capability()[0] >= 9:
        return newer("13.0")

def newer(version):
    return Version(torch.version.cuda) >= Version(version)
"""


REFUSAL = """
import torch
from packaging.version import Version

def at_least(version):
    return Version(torch.version.cuda) >= Version(version)

def normalized(major, minor):
    if major == 9:
        return f"{minor}a"
    elif major == 12:
        if at_least("12.9"):
            return f"{minor}f"
        else:
            raise RuntimeError("SM 12.x wants CUDA 12.9")
    if not at_least("12.0"):
        raise RuntimeError("too old for all")
    return str(minor)

def flags():
    major, minor = torch.cuda.get_device_capability()
    if major < 9:
        return ""
    return normalized(major, minor)
"""


def told(cuda: tuple[int, int]) -> list[Gate]:
    return [gate for gate in gates_of(PROGRAM, cuda) if gate.code == "'13.0'"]


def gates_of(program: str, cuda: tuple[int, int]) -> list[Gate]:
    files = {"pkg/__init__.py": b"", "pkg/builds.py": program.encode()}
    index = ModuleIndex(list(files), files.__getitem__, ["torch", "packaging"])
    interest = survey.Interest(index, {file: words(text) for file, text in files.items()})
    found = {}
    for name in ("sm_80", "sm_90", "sm_100", "sm_120"):
        observer = Observer()
        work = survey.Survey(Machine(Host(archs.find(name), cuda), index, observer), observer)
        survey.run(work, interest)
        found[name] = findings.collect(work, name)
    drafts = gates.gates(found, "sm_120", ("sm_90", "sm_100")).gates
    return [draft.gate for draft in drafts]


def test_a_release_that_only_the_table_asks_for() -> None:
    """Not the one that all architectures are asked for alike."""
    (gate,) = told((12, 9))
    assert (gate.line, gate.effect, gate.silent) == (17, "excluded", True)
    assert gate.scope == "detect"
    assert gate.verdict == {"sm_80": "reject", "sm_90": "admit", "sm_100": "admit", "sm_120": "reject"}
    assert [step.what for step in gate.because] == [
        "wants CUDA 13.0 for sm_120, for which CUDA 12.8 compiles",
        "compared with CUDA 12.9, which is assumed",
    ]


@pytest.mark.parametrize("cuda", [(13, 0), (12, 6)])
def test_nothing_where_it_is_new_enough_or_the_compiler_is_too_old_as_well(cuda: tuple[int, int]) -> None:
    assert told(cuda) == []


def test_a_raise_for_the_target_alone_that_a_newer_toolkit_would_not_lead_to() -> None:
    line = 1 + next(i for i, text in enumerate(REFUSAL.split("\n")) if "SM 12.x" in text)
    (gate,) = [gate for gate in gates_of(REFUSAL, (12, 8)) if gate.line == line]
    assert (gate.effect, gate.message) == ("raises", "SM 12.x wants CUDA 12.9")
    assert gate.verdict == {"sm_80": "unknown", "sm_90": "admit", "sm_100": "admit", "sm_120": "reject"}
    assert [step.line for step in gate.because] == [line - 3]


def test_none_where_it_is_new_enough() -> None:
    assert not [gate for gate in gates_of(REFUSAL, (12, 9)) if "at_least" in gate.code]
