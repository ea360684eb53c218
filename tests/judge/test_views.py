"""Rows of options that functions ask of an object which nothing is known of: the others are not given."""

from __future__ import annotations

import pytest

from analyzer.model import Cell
from tests.judge.opened import scanned, write

FIELDS = """\
from dataclasses import dataclass
from typing import Annotated, Optional

from .meta import Arg

KERNELS = ["wide", "narrow", "plain"]

@dataclass
class Fields:
    kernel: Annotated[Optional[str], Arg(help="which", choices=KERNELS)] = None
    other_kernel: Annotated[Optional[str], Arg(help="for the rest", choices=KERNELS)] = None
    rounding: Annotated[bool, "round in another way"] = False
    rounds: int = 4
    size: Annotated[Optional[int], Arg(help="of a page")] = None
"""
PASSES = """\
from typing import Any

from .device import has_wide

def resolving(args): return args.view()

def rounding_check(args: Any):
    cfg = resolving(args)
    if cfg.rounding:
        if cfg.kernel == "narrow" and not has_wide():
            raise ValueError("rounding needs another chip")

def page_size(view: Any) -> dict:
    if (view.kernel == "wide" or view.other_kernel == "wide") and has_wide() and view.size != 128:
        return {"size": 128}
    return {}

def by_helper(view: Any) -> dict:
    if view.kernel == "plain" and rounded(view) and has_wide():
        return {"size": 1}
    return {}

def rounded(view):
    return view.rounding and view.rounds > 4

def checked(view: Any) -> dict:
    if view.other_kernel == "narrow":
        if not has_wide():
            raise ValueError("narrow needs another chip")
    return {}
"""
PROGRAM = {
    "kit/__init__.py": "",
    "kit/meta.py": "class Arg:\n    def __init__(self, help='', choices=None): ...\n",
    "kit/device.py": (
        "import torch\n\ndef has_wide():\n    return torch.cuda.get_device_capability()[0] in (9, 10)\n"
    ),
    "kit/fields.py": FIELDS,
    "kit/passes.py": PASSES,
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Cell]:
    found = scanned(write(tmp_path_factory.mktemp("tree"), PROGRAM)).matrix
    return {(cell.api, cell.backend): cell for cell in found}


def status(cells: dict[tuple[str, str], Cell], option: str, choice: str) -> str:
    """What the target makes of a choice; unknown if there is no row for it."""
    found = cells.get((f"kit --{option}", choice))
    return found.status["sm_120"] if found is not None else "unknown"


def test_what_only_another_option_asks_for_is_no_loss(cells: dict[tuple[str, str], Cell]) -> None:
    assert status(cells, "kernel", "narrow") == "unknown", "rounding is not given"
    assert status(cells, "kernel", "plain") == "unknown", "nor where a helper is asked"
    assert status(cells, "other-kernel", "plain") == "unknown"


def test_what_the_choice_itself_asks_for_is_told(cells: dict[tuple[str, str], Cell]) -> None:
    assert status(cells, "kernel", "wide") == "degraded"
    assert status(cells, "other-kernel", "wide") == "degraded"
    assert status(cells, "other-kernel", "narrow") == "unsupported"
