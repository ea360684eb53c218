"""Calls into packages that are not in the tree."""

from __future__ import annotations

from analyzer.graph.unlinked import unlinked
from tests.python.surveys import surveyed

SERVER = """
import torch
import numpy
from flashinfer import wide_norm
from flashinfer.comm import reduce

def run(x):
    if torch.cuda.get_device_capability()[0] >= 9:
        reduce(x)
        return wide_norm(x)
    return numpy.sum(x)
"""
LIBRARY = "def wide_norm(x): return x\n"


def told(program: dict[str, str]) -> list[str]:
    archs = ("sm_90", "sm_120")
    found = surveyed(program, lambda file: program[file].encode(), names=archs)
    return [notice.what for notice in unlinked(found, archs)]


def test_a_package_that_is_absent_is_named_with_what_is_called() -> None:
    (what,) = told({"server/run.py": SERVER})
    assert what == (
        "flashinfer is not in the tree: 2 calls into it are not followed "
        "(flashinfer.comm.reduce, flashinfer.wide_norm)"
    )


def test_a_package_that_is_there_is_followed() -> None:
    library = {"flashinfer/__init__.py": LIBRARY, "flashinfer/comm.py": "def reduce(x): return x\n"}
    assert told({"server/run.py": SERVER, **library}) == []
