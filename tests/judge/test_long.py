"""Options whose choices lead to builds past code that takes long to follow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzer import archs
from analyzer.graph.entries import declared_options
from analyzer.python import survey
from analyzer.python.device import Host
from analyzer.python.machine import STEPS, Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.options import option_trials
from analyzer.python.trials import Trial
from analyzer.python.words import words
from tests.judge import test_held, test_matrix
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE
from tests.judge.test_led import CHECKED, UNCHECKED, UNIT

PROGRAM = {
    "flashinfer/__init__.py": "",
    "flashinfer/jit/__init__.py": "",
    "flashinfer/jit/core.py": CORE,
    "flashinfer/ops.py": """\
from flashinfer.jit.core import gen_jit_spec

def make_wide():
    return gen_jit_spec("wide", ["wide.cu"])

def run_wide(x):
    return make_wide().build_and_load().run(x)
""",
    "flashinfer/data/plain.cu": UNIT.format(check=UNCHECKED),
    "kit/__init__.py": "",
    "kit/meta.py": "class Arg:\n    def __init__(self, help='', choices=None): ...\n",
    "kit/fields.py": """\
from dataclasses import dataclass
from typing import Annotated, Optional

from .meta import Arg

@dataclass
class Fields:
    engine: Annotated[Optional[str], Arg(help="engine", choices=["wide", "plain"])] = None
""",
    "kit/resolve.py": """\
from typing import Any

import torch

def resolve(view: Any) -> dict:
    declared = {}
    if view.engine is None:
        declared["engine"] = "wide" if torch.cuda.get_device_capability()[0] >= 10 else "plain"
    return declared
""",
    "kit/settings.py": "def settings(x, size):\n"
    + "".join(f"    x.field_{i} = x.other_{i} + {i}\n" for i in range(900)),
    "kit/engine.py": """\
from flashinfer.ops import run_wide

from .context import options
from .settings import settings

class Engine:
    def __init__(self, config):
        self.kind = options().kernel.engine

    def run(self, x):
        return self.wide(x) if self.kind == "wide" else x

    def wide(self, x):
        for size in (1, 2, 3, 4):
            settings(x, size)
        return run_wide(x)
""",
    "kit/context.py": "from elsewhere import options\n",
}


@pytest.mark.parametrize(("check", "effect"), [(CHECKED, "wrongly_admitted"), (UNCHECKED, "none")])
def test_what_takes_long_does_not_hide_the_build_behind_it(tmp_path: Path, check: str, effect: str) -> None:
    report = scanned(write(tmp_path, PROGRAM | {"flashinfer/data/wide.cu": UNIT.format(check=check)}))
    (gate,) = [one for one in report.gates if one.file == "kit/resolve.py"]
    assert (gate.verdict["sm_120"], gate.effect) == ("admit", effect)


def trials(program: Mapping[str, str], steps: int) -> list[Trial]:
    """What the options of a program do on the target, each after a run that took so many steps."""
    files = {file: text.encode() for file, text in program.items()}
    index = ModuleIndex(list(files), files.__getitem__, ["torch"])
    spelled = {file: words(data) for file, data in files.items()}
    observer = Observer()
    work = survey.Survey(Machine(Host(archs.find("sm_120"), (13, 0)), index, observer), observer)
    survey.run(work, survey.Interest(index, spelled))
    found: list[Trial] = []
    for option in declared_options(index, spelled):
        work.machine.steps = steps
        found += option_trials(work, [option], spelled)
    return found


def test_choices_are_read_however_long_the_run_before_took() -> None:
    found = trials(test_held.PROGRAM, STEPS)
    assert {one.choice for one in found if one.entry == "kit --first"} == {"wide", "narrow", "plain"}


@pytest.mark.parametrize("program", [test_held.PROGRAM, test_matrix.PROGRAM], ids=["held", "kept"])
def test_what_options_do_does_not_depend_on_the_run_before(program: Mapping[str, str]) -> None:
    assert trials(program, STEPS) == trials(program, 0)
