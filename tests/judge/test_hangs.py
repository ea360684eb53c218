"""What a choice stands for that itself chooses by other options is not refused for one of its ways."""

from __future__ import annotations

from pathlib import Path

from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE
from tests.judge.test_led import CHECKED, UNIT

PROGRAM = {
    "flashinfer/__init__.py": "",
    "flashinfer/jit/__init__.py": "",
    "flashinfer/jit/core.py": CORE,
    "flashinfer/data/wide.cu": UNIT.format(check=CHECKED),
    "flashinfer/meta.py": "class Arg:\n    def __init__(self, help='', choices=None): ...\n",
    "flashinfer/fields.py": """\
from dataclasses import dataclass
from typing import Annotated, Optional

from .meta import Arg

@dataclass
class Fields:
    engine: Annotated[Optional[str], Arg(help="which", choices=["straight", "choosing", "none"])] = None
    inner: Annotated[Optional[str], Arg(help="inside", choices=["wide", "plain"])] = None
""",
    "flashinfer/engines.py": """\
import torch

from .context import options
from .jit.core import gen_jit_spec

def make_wide():
    return gen_jit_spec("wide", ["wide.cu"])

def run_wide(x):
    torch.cuda.get_device_capability()
    return make_wide().build_and_load().run(x)

class Straight:
    def run(self, x):
        return run_wide(x)

class Choosing:
    def __init__(self, config):
        self.kind = options().kernel.inner

    def run(self, x):
        if self.kind == "wide":
            return run_wide(x)
        elif self.kind == "plain":
            return x
        raise ValueError(self.kind)

class Nothing:
    def run(self, x): return x

ENGINES = {"straight": Straight, "choosing": Choosing, "none": Nothing}
""",
    "flashinfer/context.py": "from elsewhere import options\n",
}


def test_one_way_of_several_that_an_option_chooses_does_not_refuse_all(tmp_path: Path) -> None:
    found = {(cell.api, cell.backend): cell for cell in scanned(write(tmp_path, PROGRAM)).matrix}
    assert found["flashinfer --engine", "straight"].status["sm_120"] == "unsupported"
    choosing = found["flashinfer --engine", "choosing"]
    assert choosing.status["sm_120"] == "unknown"
    assert choosing.why["sm_120"] == "which of its ways it takes hangs on flashinfer --inner as well"
