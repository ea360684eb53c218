"""Functions that say by a decorator on which devices they may be used, though nothing asks them."""

from __future__ import annotations

import pytest

from analyzer.judge.declared import Run, borne_out
from analyzer.model import Gate, Report
from tests.judge.opened import scanned, write

UTILS = """\
import functools

import torch


def supported_compute_capability(supported_ccs):
    numbers = [number for number in supported_ccs]

    def decorator(func):
        func._numbers = set(numbers)

        def serves(cc):
            return cc in func._numbers

        func.is_compute_capability_supported = serves
        return func

    return decorator


def checked(check):
    def decorator(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            major, minor = torch.cuda.get_device_capability()
            if not check.is_compute_capability_supported(major * 10 + minor):
                raise RuntimeError("this device is not served")
            return func(*args, **kwargs)

        return wrapper

    return decorator
"""
OPS = """\
import torch

from flashinfer.utils import checked, supported_compute_capability


@supported_compute_capability([100, 103])
def unasked(x):
    return torch.relu(x)


@supported_compute_capability([90, 120])
def served(x):
    return torch.relu(x)


@supported_compute_capability(supported_ccs=[90])
def refused(x):
    if torch.cuda.get_device_capability()[0] != 9:
        raise RuntimeError("Hopper alone")
    return torch.relu(x)


@supported_compute_capability([90, 100])
def check(x):
    return True


@checked(check)
def asked(x):
    return torch.relu(x)
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    files = {
        "flashinfer/__init__.py": "from .ops import asked, refused, served, unasked\n",
        "flashinfer/utils.py": UTILS,
        "flashinfer/ops.py": OPS,
    }
    return scanned(write(tmp_path_factory.mktemp("claims"), files))


def told(report: Report) -> dict[str, Gate]:
    return {gate.scope: gate for gate in report.gates if gate.layer == "api"}


def test_each_claim_is_one_gate_at_its_argument(report: Report) -> None:
    gates = told(report)
    assert sorted(gates) == ["check", "refused", "served", "unasked"]
    assert len([gate for gate in report.gates if gate.layer == "api"]) == 4
    lines = OPS.split("\n")
    assert {lines[gate.line - 1][gate.column - 1 :].rstrip(")") for gate in gates.values()} == {
        gate.code for gate in gates.values()
    }


@pytest.mark.parametrize(
    ("scope", "admitted"),
    [
        ("unasked", {"sm_100", "sm_103"}),
        ("served", {"sm_90", "sm_120"}),
        ("refused", {"sm_90"}),
        ("check", {"sm_90", "sm_100"}),
    ],
)
def test_it_answers_for_every_architecture(report: Report, scope: str, admitted: set[str]) -> None:
    verdict = told(report)[scope].verdict
    assert {arch for arch, each in verdict.items() if each == "admit"} == admitted
    assert set(verdict.values()) == {"admit", "reject"}


@pytest.mark.parametrize(
    ("scope", "effect"),
    [
        ("unasked", "excluded"),  # it would be run
        ("served", "none"),
        ("refused", "raises"),  # by what stands behind
        ("check", "raises"),  # by what asks
    ],
)
def test_the_effect_is_what_the_target_meets(report: Report, scope: str, effect: str) -> None:
    assert told(report)[scope].effect == effect


@pytest.mark.parametrize(("asked", "effect"), [(False, "raises"), (True, "excluded")])
def test_what_is_asked_keeps_its_own_effect(report: Report, asked: bool, effect: str) -> None:
    """Who asks it stops the target there: what stands behind is not met."""
    gates = {gate.id: gate for gate in report.gates}
    claim = told(report)["unasked"]
    (stopping,) = [gate.id for gate in report.gates if gate.scope == "refused" and gate.layer == "runtime"]
    own = frozenset([claim.id])
    run = Run(
        "flashinfer.unasked",
        "",
        own if asked else frozenset(),
        "unsupported",
        (stopping,),
        frozenset() if asked else own,
    )
    assert borne_out([run], gates, "sm_120").get(claim.id, claim).effect == effect
