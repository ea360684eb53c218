"""Switches in the environment that are on by default and lead to a library that the target cannot run."""

from __future__ import annotations

import pytest

from analyzer.model import Gate, Report
from analyzer.report import words
from analyzer.scan import ScanOptions, scan
from tests.binary.test_natives import library

SWITCHES = """\
import os


class Switch:
    def __init__(self, default):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name

    def get(self):
        value = os.getenv(self.name)
        if value is None:
            return self.default
        return value.lower() in ("1", "true")


class Switches:
    PKG_QUICK = Switch(True)
    PKG_OFF = Switch(False)
    PKG_KEPT = Switch(True)
    PKG_NOT = Switch(True)
    PKG_GATED = Switch(True)
    PKG_PERHAPS = Switch(True)
    PKG_PLAIN = Switch(True)


switches = Switches()
"""
API = """\
import torch

from pkg.switches import switches


def run(x, many):
    if x.is_long and (x.size > many or switches.PKG_QUICK.get()):
        return way(x)
    return x


def way(x):
    prepared = prepare(x)
    return quick(prepared)


def prepare(x):
    return x + 1


def quick(x):
    return torch.ops.mine.quick.default(x)


def plain(x):
    if switches.PKG_PLAIN.get():
        return torch.ops.mine.quick(x)
    return x


def off(x):
    if switches.PKG_OFF.get():
        return quick(x)
    return x


def kept(x):
    if switches.PKG_KEPT.get():
        return torch.ops.mine.shared(x)
    return x


def negated(x):
    if x.size > 3 or not switches.PKG_NOT.get():
        return quick(x)
    return x


def gated(x):
    if torch.cuda.get_device_capability()[0] in (9, 10):
        if switches.PKG_GATED.get():
            return quick(x)
    return x


def perhaps(x):
    if switches.PKG_PERHAPS.get():
        return either(x)
    return x


def either(x):
    if x.size > 3:
        return quick(x)
    return x
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root = tmp_path_factory.mktemp("switches")
    (root / "pkg").mkdir()
    (root / "pkg" / "__init__.py").write_text("from pkg.api import *\n")
    (root / "pkg" / "switches.py").write_text(SWITCHES)
    (root / "pkg" / "api.py").write_text(API)
    core = library(b"mine", b"shared", b"core_ops", (90, "a"), (120, "a"))
    fast = library(b"mine", b"quick", b"fast_ops", (90, "a"), (100, "f"))
    (root / "pkg" / "core_ops.abi3.so").write_bytes(core)
    (root / "pkg" / "fast_ops.abi3.so").write_bytes(fast)
    return scan(ScanOptions(root, "sm_120", ("sm_90", "sm_100"), "12.8", {}, (), 1, False))


def told(report: Report) -> dict[str, Gate]:
    return {gate.code: gate for gate in report.gates if gate.file == "pkg/switches.py"}


def test_what_is_on_by_default_and_surely_leads_there_is_told(report: Report) -> None:
    """Not what is off, negated, behind a gate, on one of several ways, or leads to what the target runs."""
    assert sorted(told(report)) == ["PKG_PLAIN", "PKG_QUICK"]


def test_it_stands_where_the_default_is_written(report: Report) -> None:
    gate = told(report)["PKG_QUICK"]
    line = 1 + SWITCHES.split("\n").index("    PKG_QUICK = Switch(True)")
    assert (gate.line, gate.layer, gate.effect, gate.severity) == (line, "env", "wrongly_admitted", "error")
    assert set(gate.verdict.values()) == {"admit"}
    assert gate.silent


def test_the_way_to_the_library_is_told(report: Report) -> None:
    gate = told(report)["PKG_QUICK"]
    assert gate.justification is not None
    steps = [(step.file, step.what) for step in gate.justification.evidence]
    assert steps == [
        ("pkg/api.py", "calls pkg.api.way"),
        ("pkg/api.py", "calls pkg.api.quick"),
        ("pkg/api.py", "calls torch.ops.mine.quick.default"),
        ("pkg/fast_ops.abi3.so", "mine::quick: this library carries no code that sm_120 can run"),
    ]
    assert gate.because[0].what == "PKG_QUICK is on where it is not set"


def test_people_are_told_which_variable_it_is(report: Report) -> None:
    said = words.plain(words.sentence(told(report)["PKG_QUICK"], "sm_120"))
    assert "PKG_QUICK" in said
    assert "is on by default, whatever the device, and leads sm_120 to a library without code for it." in said
