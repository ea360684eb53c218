"""Compilations that are pinned to one architecture: whom they leave out, and who gets there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from analyzer.model import Gate
from analyzer.python import gates
from tests.python.surveys import surveyed

KERNELS = """
import torch
import cutlass.cute as cute

def fixed(kernel, x):
    return cute.compile(kernel, x, options=(cute.GPUArch("sm_120a"),))

def family(kernel, x):
    return cute.compile(kernel, x, options=(cute.GPUArch("sm_120f"),))

def hopper(kernel, x):
    return cute.compile(kernel, x, options=(cute.GPUArch("sm_90a"),))

def own(kernel, x):
    major, minor = torch.cuda.get_device_capability()
    return cute.compile(kernel, x, options=(cute.GPUArch(f"sm_{major}{minor}a"),))

def given(kernel, x, name):
    return cute.compile(kernel, x, options=(cute.GPUArch(name),))

class Launcher:
    def __init__(self, kernel):
        self.kernel = kernel
    def launch(self, x):
        return cute.compile(self.kernel, x, options=(cute.GPUArch("sm_120a"),))
"""
API = """
import torch
from pkg.kernels import fixed, family, hopper, own, given, Launcher

def through(x):
    return hopper(None, x)

def run(x):
    if torch.cuda.get_device_capability()[0] == 9:
        return through(x)
    return fixed(None, x) + family(None, x) + own(None, x) + given(None, x, x) + Launcher(None).launch(x)
"""


def told(target: str, references: tuple[str, ...], api: str = API) -> dict[str, Gate]:
    program: Mapping[str, str] = {"pkg/__init__.py": "", "pkg/kernels.py": KERNELS, "pkg/api.py": api}
    found = surveyed(program, lambda file: program[file].encode())
    drafts = gates.gates(found, target, references).gates
    return {draft.gate.scope: draft.gate for draft in drafts if draft.gate.layer == "jit"}


def test_one_that_leaves_out_a_later_member_of_the_family_raises() -> None:
    found = told("sm_121", ("sm_90", "sm_100", "sm_120"))
    gate = found["fixed"]
    assert (gate.file, gate.line, gate.effect) == ("pkg/kernels.py", 6, "raises")
    assert gate.code == "GPUArch('sm_120a')"
    assert gate.message == "compiled for sm_120a alone"
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {"sm_120"}
    assert found["Launcher.launch"].effect == "raises"
    assert found["family"].verdict["sm_121"] == "admit"
    assert found["family"].effect == "none"
    assert not {"own", "given"} & set(found)


def test_one_for_others_to_which_the_target_is_not_led_tells_nothing() -> None:
    found = told("sm_120", ("sm_90", "sm_100"))
    assert found["fixed"].effect == "none"
    assert found["hopper"].verdict["sm_120"] == "reject"
    assert found["hopper"].effect == "none"


@pytest.mark.parametrize(
    ("api", "effect"), [("", "none"), (API.replace("[0] == 9", "[0] >= 9"), "raises")], ids=["nobody", "led"]
)
def test_one_tells_of_a_loss_only_if_the_target_is_led_to_it(api: str, effect: str) -> None:
    assert told("sm_120", ("sm_90", "sm_100"), api)["hopper"].effect == effect
