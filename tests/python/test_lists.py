"""Lists of architectures in the environment of a build: whom they serve."""

from __future__ import annotations

import pytest

from analyzer.model import Gate
from analyzer.python.lists import names_architectures, serves
from analyzer.python.values import Value
from tests.python.surveys import gates_of


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (("sm_90a", "sm_100a"), True),
        (("90", "10.0"), True),
        (("sm_100a", "sm_199a"), True),  # newer than what is known, and meant all the same
        (("100", "199"), False),
        (("sm_100a", "fast"), False),
    ],
)
def test_names_of_architectures(names: tuple[str, ...], listed: bool) -> None:
    assert names_architectures(tuple(map(Value, names))) is listed


@pytest.mark.parametrize(
    ("text", "arch", "served"),
    [
        ("8.0;9.0", "sm_90", True),
        ("8.0;9.0", "sm_120", False),
        ("8.0 9.0+PTX", "sm_120", True),
        ("9.0a+PTX", "sm_120", False),
        ("12.0", "sm_121", True),
        ("12.0a", "sm_121", False),
        ("12.0f", "sm_121", True),
        ("80;90", "sm_120", True),
        ("80-real;90-real", "sm_120", False),
        ("90-virtual", "sm_120", True),
        ("Hopper", "sm_120", None),
        ("native", "sm_120", None),
        ("", "sm_120", None),
    ],
)
def test_serves(text: str, arch: str, served: bool | None) -> None:
    assert serves(text, arch) is served


PROGRAM = """
import os
import subprocess
import torch

def fixed():
    os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a;10.0a"

def own():
    major, minor = torch.cuda.get_device_capability()
    os.environ["TORCH_CUDA_ARCH_LIST"] = f"{major}.{minor}"

def child():
    subprocess.run(["make"], env={"CUDAARCHS": "90a-real", "OTHER": "x"})

def guarded():
    if torch.cuda.get_device_capability()[0] == 9:
        os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a"

def given(text):
    os.environ["TORCH_CUDA_ARCH_LIST"] = text
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Gate]:
    gates = gates_of({"pkg/__init__.py": "", "pkg/build.py": PROGRAM})
    return {gate.scope: gate for gate in gates if gate.layer == "env"}


def test_a_list_that_leaves_the_target_out(found: dict[str, Gate]) -> None:
    gate = found["fixed"]
    assert (gate.effect, gate.line, gate.code) == ("no_image", 7, "TORCH_CUDA_ARCH_LIST=9.0a;10.0a")
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {"sm_90", "sm_100"}


def test_the_environment_of_a_child(found: dict[str, Gate]) -> None:
    assert found["child"].code == "CUDAARCHS=90a-real"
    assert found["child"].effect == "no_image"


def test_what_serves_its_own_device_or_is_not_known_is_no_gate(found: dict[str, Gate]) -> None:
    assert set(found) == {"fixed", "child"}


CONSTANTS = """
import torch

class Kept:
    KERNEL_ARCHS: tuple[str, ...] = ("sm_100a", "sm_103a")
    ALL_ARCHS = ("sm_90", "sm_100", "sm_120")
    PTX_ARCHS = ["compute_80"]
    FOLDERS_ARCHS = ("x86_64", "aarch64")

SUPPORTED_ARCHS = ["90", "100"]

def folders():
    return [f"kernels/{arch}/" for arch in Kept.KERNEL_ARCHS]

def supported():
    if f"{torch.cuda.get_device_capability()[0]}0" not in SUPPORTED_ARCHS:
        raise ValueError("no kernel")

def local():
    OWN_ARCHS = ("sm_90a",)
    return OWN_ARCHS
"""


def test_constants_that_list_architectures() -> None:
    gates = gates_of({"pkg/__init__.py": "", "pkg/kept.py": CONSTANTS})
    told = {gate.code: (gate.line, gate.effect) for gate in gates if gate.layer == "env"}
    assert told == {
        "KERNEL_ARCHS=100a;103a": (5, "no_image"),
        "ALL_ARCHS=100-real;120-real;90-real": (6, "none"),
        "PTX_ARCHS=80": (7, "none"),
    }
    assert [gate.line for gate in gates if "SUPPORTED_ARCHS" in gate.code and gate.layer != "env"] == [10, 16]
