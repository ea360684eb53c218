"""The support matrix of small packages: what is run for each back end and option, and what decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import msgspec
import pytest

from analyzer.judge import matrix
from analyzer.judge.images import Images
from analyzer.model import Cell, Gate, Justification, Report
from analyzer.python.gates import PythonGate
from analyzer.python.trials import Trial
from analyzer.python.values import Site, Truth
from tests.judge.opened import scanned, write

PROGRAM = {
    "kit/__init__.py": (
        "from .api import Plan, Space, enter, everywhere, listed, looked_up, route, wide_only\n"
    ),
    "kit/device.py": """\
import torch

def capability():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor

def has_wide():
    return capability() in (90, 100)

def is_modern():
    return capability() >= 90
""",
    "kit/api.py": """\
from abc import ABC, abstractmethod
from typing import Literal

import torch

from .device import capability, has_wide

def wide_only(x: torch.Tensor):
    if not has_wide():
        raise RuntimeError("wide kernels need another chip")
    return x

def route(x: torch.Tensor, backend: Literal["auto", "wide", "narrow"] = "auto"):
    if backend == "auto":
        backend = "wide" if has_wide() else "narrow"
    if backend == "wide":
        return wide_only(x)
    return x

def listed(x: torch.Tensor, fast: bool):
    allowed = []
    if has_wide():
        allowed.append("a")
    ways = ("a", "b") if fast else ("b", "a")
    if not [way for way in ways if way in allowed]:
        raise RuntimeError("no way")
    return x

TABLE = {"a": 1}

def looked_up(x: torch.Tensor, fast: bool):
    capability()
    ways = ("a",) if fast else ("b",)
    return [TABLE[way] for way in ways] if has_wide() else [TABLE[way] for way in ways]

class Space(ABC):
    @abstractmethod
    def fits(self): ...

def enter(space: Space):
    if not space.fits():
        raise ValueError("too small")
    return enable_wide() if has_wide() else None

def enable_wide():
    return 1

def everywhere(x):
    return x

class Plan:
    def __init__(self, backend: str = "narrow"):
        self._backend = backend

    def only_elsewhere(self):
        raise NotImplementedError

    def run(self, x: torch.Tensor):
        if self._backend == "wide" and capability() < 90:
            raise ValueError("too old")
        if self._backend == "new" and not capability() >= 100:
            raise ValueError("not new")
        return x
""",
    "kit/engines.py": """\
import torch
from flash_attn import attend

from .api import wide_only
from .device import capability, has_wide

ENGINES = {}

def engine(name):
    def register(make):
        make.fast = capability() >= 90
        ENGINES[name] = make
        return make

    return register

class Engine:
    def plan(self):
        raise NotImplementedError

    def method(self, layer):
        raise NotImplementedError

    def run(self, x):
        raise NotImplementedError

class Wide(Engine):
    def run(self, x):
        if not has_wide():
            raise RuntimeError("wide engine needs another chip")
        return x

class Foreign(Engine):
    def run(self, x):
        return attend(x) if capability() >= 80 else x

class Flat(Engine):
    def run(self, x):
        return x

class Modern(Engine):
    def run(self, x):
        return x if capability() >= 80 else x + 1

    def run_wide(self, x):  # whoever chooses an engine does not know of it
        return wide_only(x)

@engine("wide")
def make_wide(runner):
    return Wide()

@engine("foreign")
def make_foreign(runner):
    return Foreign()

@engine("flat")
def make_flat(runner):
    return Flat()

class Layer(torch.nn.Module):
    pass

class Config(Engine):
    def method(self, layer: torch.nn.Module):
        return Wide() if isinstance(layer, Layer) else None

@engine("configured")
def make_configured(runner):
    return Config()

@engine("modern")
def make_modern(runner):
    return Modern() if runner.big else Flat()
""",
    "kit/runners.py": """\
from enum import Enum

from .device import has_wide

class Runner(Enum):
    AUTO = "auto"
    WIDE = "wide_runner"
    NARROW = "narrow_runner"
    SLOW = "slow_runner"

    def is_auto(self):
        return self == Runner.AUTO

    def is_wide(self):
        return self == Runner.WIDE

    def is_narrow(self):
        return self == Runner.NARROW

    def is_slow(self):
        return self == Runner.SLOW

RUNNER = None

def configure(args):
    global RUNNER
    RUNNER = Runner(args.runner)

def get_runner():
    global RUNNER
    if RUNNER is None:
        RUNNER = Runner.AUTO
    return RUNNER
""",
    "kit/experts.py": """\
from .device import has_wide
from .runners import get_runner

class Experts:
    def __init__(self, size):
        self.size = size
        self.wide = get_runner().is_wide()

    def apply(self, x):
        if self.wide:
            if not has_wide():
                raise ValueError("no wide experts")
            return x.fast()
        return x.slow()

def narrow(x):
    if get_runner().is_narrow():
        if has_wide():
            return x.narrow()
    return x.slow()

def slow(x):
    return x.slow() if get_runner().is_slow() else None
""",
    "kit/meta.py": """\
from dataclasses import dataclass

@dataclass
class Arg:
    help: str = ""
    choices: list = None
""",
    "kit/server.py": """\
from dataclasses import dataclass
from typing import Annotated, Optional

from .device import has_wide, is_modern
from .meta import Arg

KERNELS = ["wide", "narrow", "plain"]
ENGINES = ["wide", "configured", "foreign", "flat", "modern", "lost"]

@dataclass
class Args:
    model: str
    kernel: Optional[str] = None
    other: Optional[str] = None
    engine: Annotated[Optional[str], Arg(help="which engine", choices=ENGINES)] = None
    fuse_wide: Annotated[bool, "fuse the wide ones"] = False
    runner: str = "auto"

    @staticmethod
    def add(parser):
        parser.add_argument("--model")
        parser.add_argument("--kernel", choices=KERNELS)
        parser.add_argument("--other", choices=["a", "b"])
        add_annotated(parser, Args)
        parser.add_argument("--runner", choices=["auto", "wide_runner", "narrow_runner", "slow_runner"])

    def check(self):
        if self.other is not None:
            self.kernel = self.other
        if self.kernel == "wide":
            if not has_wide():
                raise ValueError("--kernel wide needs another chip")
        if self.kernel == "plain" and has_wide():
            self.kernel = "wide"
        if self.engine == "wide":
            if not is_modern():
                raise ValueError("--engine wide needs a newer chip")
        if self.engine is None and is_modern():
            self.engine = "wide"
        if self.model == "small" and is_modern():
            self.engine = "modern"
        if self.model == "large" and is_modern():
            self.fuse_wide = True

def fused(args):
    return args.fuse_wide and has_wide()
""",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return scanned(write(tmp_path_factory.mktemp("tree"), PROGRAM))


def cell(report: Report, api: str, backend: str = "") -> Cell:
    (found,) = [cell for cell in report.matrix if (cell.api, cell.backend) == (api, backend)]
    return found


def reasons(report: Report, found: Cell, arch: str) -> list[Gate]:
    gates = {gate.id: gate for gate in report.gates}
    return [gates[identity] for identity in found.reasons.get(arch, ())]


def test_an_api_that_raises_is_unsupported_and_names_the_gate(report: Report) -> None:
    found = cell(report, "kit.wide_only")
    assert {arch for arch, status in found.status.items() if status == "supported"} == {"sm_90", "sm_100"}
    assert found.status["sm_120"] == "unsupported"
    assert [gate.code for gate in reasons(report, found, "sm_120")] == ["not has_wide()"]
    assert found.message["sm_120"] == "wide kernels need another chip"


def test_each_choice_of_a_back_end_is_a_row(report: Report) -> None:
    rows = {cell.backend: cell for cell in report.matrix if cell.api == "kit.route"}
    assert list(rows) == ["auto", "wide"]  # on the narrow way nothing asks the device
    assert rows["wide"].status["sm_120"] == "unsupported"
    assert rows["wide"].status["sm_90"] == "supported"
    assert rows["auto"].status["sm_120"] == "degraded"
    assert (rows["auto"].chosen["sm_120"], rows["auto"].chosen["sm_100"]) == ("narrow", "wide")


def test_a_class_is_tried_method_by_method(report: Report) -> None:
    wide, new = cell(report, "kit.Plan", "wide"), cell(report, "kit.Plan", "new")
    assert (wide.status["sm_89"], wide.status["sm_120"]) == ("unsupported", "supported")
    assert (new.status["sm_90"], new.status["sm_120"]) == ("unsupported", "supported")
    assert wide.message == {arch: "too old" for arch in wide.status if wide.status[arch] == "unsupported"}


def test_an_abstract_method_of_what_is_given_stops_nothing(report: Report) -> None:
    assert "unsupported" not in cell(report, "kit.enter").status.values()


def test_what_is_in_none_of_several_containers_is_in_no_list_of_them(report: Report) -> None:
    found = cell(report, "kit.listed")
    assert (found.message.get("sm_100"), found.message.get("sm_120")) == (None, "no way")


def test_what_raises_over_one_of_several_containers_does_not_surely_raise(report: Report) -> None:
    assert cell(report, "kit.looked_up").message == {}


def test_what_asks_no_device_has_no_row(report: Report) -> None:
    assert "kit.everywhere" not in {cell.api for cell in report.matrix}


def test_a_choice_of_an_option_is_given_alone(report: Report) -> None:
    wide = cell(report, "kit --kernel", "wide")
    assert (wide.status["sm_120"], wide.status["sm_90"]) == ("unsupported", "unknown")
    assert [gate.code for gate in reasons(report, wide, "sm_120")] == ["not has_wide()"]
    assert wide.message["sm_120"] == "--kernel wide needs another chip"


def test_a_choice_that_no_gate_decides_is_unknown(report: Report) -> None:
    narrow = cell(report, "kit --kernel", "narrow")
    assert set(narrow.status.values()) == {"unknown"}


def test_a_choice_that_is_replaced_elsewhere_loses_nothing_here(report: Report) -> None:
    assert cell(report, "kit --kernel", "plain").status["sm_120"] == "unknown"


def test_what_a_choice_stands_for_is_followed_through_its_table(report: Report) -> None:
    rows = {cell.backend: cell for cell in report.matrix if cell.api == "kit --engine"}
    wide = rows["wide"]
    assert (wide.status["sm_120"], wide.status["sm_90"]) == ("unsupported", "supported")
    assert [gate.code for gate in reasons(report, wide, "sm_120")] == ["not has_wide()"]
    assert wide.message["sm_120"] == "wide engine needs another chip"
    assert rows["configured"].status["sm_120"] == "unsupported"  # by what one of its methods makes
    assert rows["modern"].status["sm_120"] == "supported"
    told = {name: row.why["sm_120"] for name, row in rows.items() if row.status["sm_120"] == "unknown"}
    assert told == {
        "foreign": "what it calls in flash_attn is not in the tree",
        "flat": "nothing behind it was seen to depend on the device",
        "lost": "no gate asks for this choice; what lies behind it was not followed",
    }


def test_what_lets_a_choice_in_that_is_stopped_further_on_admits_wrongly(report: Report) -> None:
    found = {
        gate.code: gate
        for gate in report.gates
        if gate.file == "kit/server.py" and gate.verdict["sm_120"] == "admit" and "is_modern" in gate.code
    }
    assert {code: gate.effect for code, gate in found.items()} == {
        "not is_modern()": "wrongly_admitted",
        "self.engine is None and is_modern()": "wrongly_admitted",
        "self.model == 'small' and is_modern()": "none",
        "self.model == 'large' and is_modern()": "wrongly_admitted",
    }
    setting = found["self.engine is None and is_modern()"]
    assert setting.justification is not None
    assert [step.what for step in setting.justification.evidence] == [
        "kit --engine with wide does not run on sm_120: raises"
    ]


def test_options_that_nothing_decides_have_no_row(report: Report) -> None:
    assert {cell.api for cell in report.matrix if " --" in cell.api} == {
        "kit --kernel",
        "kit --engine",
        "kit --fuse-wide",
        "kit --runner",
    }


def test_what_asks_for_a_choice_that_is_kept_as_a_member_is_run(report: Report) -> None:
    wide, narrow = (cell(report, "kit --runner", choice) for choice in ("wide_runner", "narrow_runner"))
    assert (wide.status["sm_90"], wide.status["sm_120"]) == ("supported", "unsupported")
    assert wide.message["sm_120"] == "no wide experts"
    assert narrow.status["sm_120"] == "unknown", "nothing is compiled or stopped there"
    assert cell(report, "kit --runner", "slow_runner").status["sm_120"] == "unknown"
    assert wide.status["sm_89"] == "unknown", "only of the target and the references"


def test_unsupported_cells_name_a_gate(report: Report) -> None:
    for found in report.matrix:
        for arch, status in found.status.items():
            assert (status == "unsupported") <= bool(found.reasons.get(arch)), (
                found.api,
                found.backend,
                arch,
            )


def test_unknown_cells_and_only_they_name_their_reason(report: Report) -> None:
    for found in report.matrix:
        unknown = {arch for arch, status in found.status.items() if status == "unknown"}
        assert set(found.why) == unknown
        assert all(found.why.values())
    assert "not followed" in cell(report, "kit --kernel", "narrow").why["sm_120"]


@pytest.mark.parametrize(
    ("name", "file", "area"),
    [
        ("kit.norm.rmsnorm", "kit/norm.py", "normalisation"),
        ("kit.BatchDecodeWrapper", "kit/decode.py", "attention"),
        ("kit.comm.allreduce_fusion", "kit/comm/a.py", "communication"),
        ("kit.mm_fp4", "kit/gemm/base.py", "GEMM"),
        ("kit.fused_moe.run", "kit/fused_moe/core.py", "fused MoE"),
        ("kit.rope.apply", "kit/rope.py", "rotary embedding"),
        ("kit.thing", "kit/thing.py", "other"),
    ],
)
def test_areas_go_by_words(name: str, file: str, area: str) -> None:
    assert matrix.area_of(name, file) == area


def test_the_last_area_takes_what_is_left() -> None:
    assert matrix.areas()[-1].words == ()


@pytest.mark.parametrize(
    ("kind", "choice", "status"),
    [
        ("hardware", "wide", "unsupported"),
        ("liftable", "wide", "supported"),
        ("unknown", "wide", "supported"),
        ("hardware", "auto", "supported"),
    ],
)
def test_who_is_let_in_wrongly_is_not_served(
    kind: Literal["hardware", "liftable"], choice: str, status: str
) -> None:
    place = ("kit/jit.py", 7, 5, "majors=[10, 12]")
    gate = Gate(
        "jit:kit/jit.py:make:1",
        "jit",
        *place[:2],
        place[1],
        place[2],
        "make",
        place[3],
        dict.fromkeys(("sm_100", "sm_120"), "admit"),
        effect="wrongly_admitted",
        justification=Justification(kind),
    )
    also = ("kit/jit.py", 17, 5, "majors=[12]")
    other = msgspec.structs.replace(gate, id="jit:kit/jit.py:other:1", line=17, effect="none")
    drafts = [
        PythonGate(one, frozenset([where]), frozenset(), frozenset(), "kit.jit", "make", "kit.jit.make", True)
        for one, where in ((gate, place), (other, also))
    ]
    judge = matrix.Judge(
        drafts,
        lambda _: {},
        {},
        (),
        {},
        {"kit.run": ("kit.run",)},
        tuple(gate.verdict),
        Images({}),
        lambda _: False,
        "sm_120",
    )
    site = Site("kit/api.py", 1, 1, 1)
    trial = Trial(
        "kit.run",
        "kit.run",
        choice,
        site,
        (),
        False,
        (((place, None), Truth.TRUE),),
        (("m", "run"),),
        (),
        (),
    )
    (found,) = judge.cells(matrix.rows({arch: [trial] for arch in gate.verdict}), ())
    assert found.status == {"sm_100": "supported", "sm_120": status}
    assert found.reasons == ({"sm_120": (gate.id,)} if status == "unsupported" else {})
    either = replace(trial, decided=(*trial.decided, ((also, None), Truth.TRUE)))
    (found,) = judge.cells(matrix.rows({arch: [either] for arch in gate.verdict}), ())
    assert found.status == {"sm_100": "supported", "sm_120": "supported"}
