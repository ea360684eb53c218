"""Options that objects keep from when they are made, and the gates that choose for them."""

from __future__ import annotations

import pytest

from analyzer.model import Cell, Gate, Report
from tests.judge.opened import scanned, write

PROGRAM = {
    "kit/__init__.py": "",
    "kit/meta.py": "class Arg:\n    def __init__(self, help='', choices=None): ...\n",
    "kit/device.py": """\
import torch

def has_wide():
    return torch.cuda.get_device_capability()[0] in (9, 10)

def is_modern():
    return torch.cuda.get_device_capability()[0] >= 9

def need_wide(x):
    if not has_wide():
        raise ValueError("wide engines need another chip")
    return x
""",
    "kit/fields.py": """\
from dataclasses import dataclass
from typing import Annotated, Optional

from .meta import Arg

@dataclass
class Fields:
    first: Annotated[Optional[str], Arg(help="first", choices=["wide", "narrow", "plain"])] = None
    second: Annotated[Optional[str], Arg(help="second", choices=["wide", "narrow", "plain"])] = None
    third: Annotated[Optional[str], Arg(help="third", choices=["wide", "narrow", "plain"])] = None
""",
    "kit/resolve.py": """\
from typing import Any

from .device import is_modern

def resolve_first(view: Any) -> dict:
    declared = {}
    default = "wide" if is_modern() else "plain"
    if view.first is None:
        declared["first"] = default
    return declared

def resolve_second(view: Any) -> dict:
    declared = {}
    if view.second is None:
        if is_modern():
            declared["second"] = "narrow"
        else:
            declared["second"] = "wide"
    return declared

def resolve_third(view: Any, size: int) -> dict:
    declared = {}
    if is_modern() and size > 4:
        declared["third"] = "wide"
    else:
        declared["third"] = "plain"
    return declared
""",
    "kit/engine.py": """\
from typing import Optional

from .context import options
from .device import need_wide

class Engine:
    metadata = None

    def __init__(self, config):
        self.first_kind: Optional[str] = options().kernel.first
        self.second_kind = options().kernel.second

    def prepare(self, x):
        self.metadata = x

    def encode(self, x):
        if self.second_kind == "wide":
            x = need_wide(x)
        if self.first_kind == "wide":
            return need_wide(self.metadata.size)
        if self.first_kind == "narrow":
            return x.narrow(self.metadata.size)
        raise ValueError(self.first_kind)

    def decode(self, x):
        if self.second_kind == "wide":
            return need_wide(x)
        elif self.second_kind == "narrow":
            return x
        assert False, "unsupported"

class Third:
    def __init__(self, config):
        self.kind = options().kernel.third

    def run(self, x):
        return need_wide(x) if self.kind == "wide" else x
""",
    "kit/context.py": "from elsewhere import options\n",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scanned(write(tmp_path_factory.mktemp("tree"), PROGRAM))


def gate(report: Report, scope: str) -> Gate:
    (found,) = [one for one in report.gates if one.scope == scope]
    return found


def cells(report: Report) -> dict[tuple[str, str], Cell]:
    return {(cell.api.partition("--")[2], cell.backend): cell for cell in report.matrix}


def test_what_is_chosen_for_an_option_and_stopped_by_who_keeps_it_is_let_in_wrongly(report: Report) -> None:
    found = gate(report, "resolve_first")
    assert (found.verdict["sm_120"], found.effect, found.severity) == ("admit", "wrongly_admitted", "error")
    assert found.justification is not None
    (step,) = found.justification.evidence
    assert (step.file, step.line) == ("kit/device.py", 10)
    assert step.what == "kit --first with wide does not run on sm_120: raises"


def test_what_is_chosen_and_not_stopped_is_let_in_rightly(report: Report) -> None:
    assert gate(report, "resolve_second").effect == "none"


def test_what_is_chosen_under_circumstances_counts_too(report: Report) -> None:
    found = gate(report, "resolve_third")
    assert (found.verdict["sm_120"], found.effect) == ("admit", "wrongly_admitted")


def test_a_choice_is_told_by_what_who_keeps_it_does_with_it_alone(report: Report) -> None:
    first = cells(report)["first", "wide"]
    assert (first.status["sm_120"], first.message["sm_120"]) == (
        "unsupported",
        "wide engines need another chip",
    )
    assert first.status["sm_100"] != "unsupported"
    narrow = cells(report).get(("second", "narrow"))
    assert narrow is None or narrow.status["sm_120"] == "unknown"
