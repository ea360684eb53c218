"""Builds that are loaded where their flags compile nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.judge.images import fits, images
from analyzer.python.trials import Compiled, Trial
from analyzer.python.values import Site
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE

PLACE = Site("kit/jit.py", 7, 7, 9)


def compiled(*flags: str) -> Compiled:
    return Compiled("kit.jit.make", PLACE, "make", "flags=wide_flags", flags, True)


def trial(choice: str, *builds: Compiled) -> Trial:
    return Trial("kit.run", "kit.run", choice, PLACE, (), False, (), (), builds, ())


@pytest.mark.parametrize(
    ("spelling", "arch", "expected"),
    [
        (Spelling(90, "a"), "sm_90", True),
        (Spelling(90, "a"), "sm_100", False),
        (Spelling(100, "f"), "sm_103", True),
        (Spelling(100, "f"), "sm_120", False),
        (Spelling(120, "f"), "sm_121", True),
        (Spelling(80), "sm_89", True),
        (Spelling(100), "sm_90", False),
    ],
)
def test_what_is_compiled_for_one_architecture_runs_on(spelling: Spelling, arch: str, expected: bool) -> None:
    assert spelling.compiles_on(archs.find(arch)) is expected


def test_one_fitting_architecture_is_enough() -> None:
    both = compiled("-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_120a,code=sm_120a")
    assert [arch for arch in ("sm_90", "sm_100", "sm_120") if fits(both, arch)] == ["sm_90", "sm_120"]


@pytest.mark.parametrize(("choice", "effect"), [("", "no_image"), ("auto", "no_image"), ("wide", "none")])
def test_only_what_the_program_loads_by_itself_is_a_loss(choice: str, effect: str) -> None:
    build = compiled("-gencode=arch=compute_90a,code=sm_90a")
    found = images({arch: [trial(choice, build)] for arch in ("sm_90", "sm_120")}, "sm_120", ["sm_90"])
    (gate,) = found.gates.values()
    assert (gate.verdict, gate.effect) == ({"sm_90": "admit", "sm_120": "reject"}, effect)
    assert found.lacking(build, "sm_120") == gate.id
    assert found.lacking(build, "sm_90") is None


def test_what_may_be_loaded_or_another_in_its_place_is_no_loss() -> None:
    build = replace(compiled("-gencode=arch=compute_90a,code=sm_90a"), sure=False)
    found = images({arch: [trial("auto", build)] for arch in ("sm_90", "sm_120")}, "sm_120", ["sm_90"])
    assert [gate.effect for gate in found.gates.values()] == ["none"]


def test_what_is_never_loaded_there_is_no_loss() -> None:
    build = compiled("-gencode=arch=compute_90a,code=sm_90a")
    found = images({"sm_90": [trial("", build)], "sm_120": [trial("")]}, "sm_120", ["sm_90"])
    (gate,) = found.gates.values()
    assert (gate.verdict["sm_120"], gate.effect) == ("reject", "none")


def test_a_build_that_fits_wherever_it_is_loaded_is_no_gate() -> None:
    seen = {
        "sm_90": [trial("", compiled("-gencode=arch=compute_90a,code=sm_90a"))],
        "sm_120": [trial("", compiled("-gencode=arch=compute_120a,code=sm_120a"))],
    }
    assert not images(seen, "sm_120", ["sm_90"]).gates


PROGRAM = """\
import torch

from flashinfer.jit.core import gen_jit_spec


def wide():
    return gen_jit_spec("wide", ["ops.cu"], ["-gencode=arch=compute_90a,code=sm_90a"])


def plain():
    return gen_jit_spec("plain", ["ops.cu"])


WAYS = {"wide": lambda: wide().build_and_load(), "plain": lambda: plain().build_and_load()}


def ask():
    if torch.cuda.get_device_capability()[0] < 8:
        raise ValueError("too old")


def run(x, names, backend="auto"):
    ask()
    ways = [WAYS[name]() for name in (names if backend == "auto" else [backend])]
    return ways[0].run(x)


def only(x):
    ask()
    return wide().build_and_load().run(x)
"""
UNIT = """\
__global__ void kernel(int* p) { p[0] = 1; }
void run(int* p) { kernel<<<1, 1>>>(p); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def test_one_way_of_several_is_not_surely_loaded(tmp_path: Path) -> None:
    tree = {
        "flashinfer/__init__.py": "from .ops import only, run\n",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": PROGRAM,
        "flashinfer/data/ops.cu": UNIT,
    }
    report = scanned(write(tmp_path, tree))
    status = {(cell.api, cell.backend): cell.status["sm_120"] for cell in report.matrix}
    assert status["flashinfer.only", ""] == "unsupported"
    assert status["flashinfer.run", "auto"] == "supported"


LOOSE = """\
import torch

from flashinfer.jit.core import gen_jit_spec

WIDE = ["-gencode=arch=compute_100a,code=sm_100a"]


def make():
    major, minor = torch.cuda.get_device_capability()
    flags = WIDE if major >= 10 and minor >= 0 else []
    return gen_jit_spec("wide", ["ops.cu"], flags)


def right():
    major, minor = torch.cuda.get_device_capability()
    return gen_jit_spec("right", ["ops.cu"], WIDE if major == 10 and minor == 0 else [])


def run(x):
    return make().build_and_load().run(x)


def other(x):
    return right().build_and_load().run(x)
"""


def test_a_loose_condition_that_chooses_flags_lets_the_target_in_wrongly(tmp_path: Path) -> None:
    """Whom it keeps away, is compiled for."""
    tree = {
        "flashinfer/__init__.py": "from .ops import other, run\n",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": LOOSE,
        "flashinfer/data/ops.cu": UNIT,
    }
    report = scanned(write(tmp_path, tree))
    gates = {(gate.scope, gate.layer): gate for gate in report.gates if gate.file == "flashinfer/ops.py"}
    flags = gates["make", "jit"]
    assert {arch for arch, verdict in flags.verdict.items() if verdict == "reject"} == {
        "sm_103",
        "sm_110",
        "sm_120",
        "sm_121",
    }
    assert flags.effect == "no_image"
    loose = gates["make", "runtime"]
    assert (loose.effect, loose.severity) == ("wrongly_admitted", "error")
    assert loose.justification is not None
    assert [step.line for step in loose.justification.evidence] == [flags.line]
    assert gates["right", "runtime"].effect != "wrongly_admitted"
    assert ("right", "jit") not in gates
