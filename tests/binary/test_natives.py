"""From the Python API to a library that the target cannot run: operators, modules, and who loads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Report
from analyzer.scan import ScanOptions, scan
from tests.binary import made

API = """
import torch
from pkg import core_ops, fast_ops

def kept(x):
    return torch.ops.mine.shared.default(x)

def mixed(x):
    return torch.ops.mine.both(x)

def lost(x):
    return _inner(x)

def _inner(x):
    return torch.ops.mine.quick.default(x)

def checked(x):
    if torch.cuda.get_device_capability()[0] in (9, 10):
        return torch.ops.mine.quick(x)
    return x

def module(x):
    return fast_ops.direct(x)

def elsewhere(x):
    return torch.ops.theirs.quick(x)
"""


LOADER = """
import glob
import importlib.util
from pathlib import Path
import torch

def load():
    folder = Path(__file__).parent
    if torch.cuda.get_device_capability() == (9, 0):
        variant = "sm90"
    else:
        variant = "newer"
    for path in glob.glob(str(folder / variant / "chosen_ops.*")):
        spec = importlib.util.spec_from_file_location("chosen_ops", path)
        return importlib.util.module_from_spec(spec)

def use(x):
    return torch.ops.chosen_name.act(x)
"""


def library(namespace: bytes, operators: bytes, name: bytes, *images: tuple[int, str]) -> bytes:
    code = made.fatbin(*(made.image(2, n, s, made.cubin(n, s, ["k"])) for n, s in images))
    strings = (
        b"\0" + namespace + b"".join(b"\0%s(Tensor x) -> Tensor" % op for op in operators.split()) + b"\0"
    )
    return made.shared(code, strings, b"\0PyInit_" + name + b"\0")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root = tmp_path_factory.mktemp("tree")
    (root / "pkg").mkdir()
    (root / "pkg" / "__init__.py").write_text("from pkg.api import lost, checked\n")
    (root / "pkg" / "api.py").write_text(API)
    core = library(b"mine", b"shared both", b"core_ops", (90, "a"), (120, "a"))
    fast = library(b"mine", b"quick both", b"fast_ops", (90, "a"), (100, "f"))
    (root / "pkg" / "core_ops.abi3.so").write_bytes(core)
    (root / "pkg" / "fast_ops.abi3.so").write_bytes(fast)
    return scan(ScanOptions(root, "sm_120", ("sm_90", "sm_100"), "12.8", {}, (), 1, False))


@pytest.mark.parametrize(
    ("sm90", "newer", "findings"),
    [
        # Only what the target loads counts: here it runs that library, there it does not.
        ([(90, "a")], [(100, "f"), (120, "a")], []),
        ([(90, "a"), (120, "a")], [(100, "f")], ["pkg/newer/chosen_ops.so"]),
    ],
)
def test_the_library_that_the_target_loads(
    tmp_path: Path, sm90: list[tuple[int, str]], newer: list[tuple[int, str]], findings: list[str]
) -> None:
    (tmp_path / "pkg" / "sm90").mkdir(parents=True)
    (tmp_path / "pkg" / "newer").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from pkg.loader import load, use\n")
    (tmp_path / "pkg" / "loader.py").write_text(LOADER)
    for folder, images in (("sm90", sm90), ("newer", newer)):
        made_here = library(b"chosen_name", b"act", b"chosen_ops", *images)
        (tmp_path / "pkg" / folder / "chosen_ops.so").write_bytes(made_here)
    told = scan(ScanOptions(tmp_path, "sm_120", ("sm_90", "sm_100"), "12.8", {}, (), 1, False))
    assert [gate.file for gate in told.gates if gate.effect == "no_image"] == findings
    reached = {path.entry.name for path in told.paths if path.effect == "no_image"}
    assert reached == ({"pkg.use"} if findings else set())


def steps(report: Report, entry: str) -> tuple[str, ...]:
    (path,) = [path for path in report.paths if path.entry.name == entry]
    return tuple(step.partition(":")[0] for step in path.steps)


def test_the_way_to_an_operator(report: Report) -> None:
    assert steps(report, "pkg.lost") == ("entry", "function", "function", "operator", "library", "binary")
    (path,) = [path for path in report.paths if path.entry.name == "pkg.lost"]
    assert (path.effect, path.severity) == ("no_image", "error")
    assert [(barrier.gate.partition(":")[0], barrier.when) for barrier in path.barriers] == [
        ("binary", "always")
    ]


def test_a_gate_before_the_operator_comes_first(report: Report) -> None:
    (path,) = [path for path in report.paths if path.entry.name == "pkg.checked"]
    assert [barrier.gate.partition(":")[0] for barrier in path.barriers] == ["runtime", "binary"]


def test_a_function_of_a_library_that_is_a_module(report: Report) -> None:
    (path,) = [path for path in report.paths if path.entry.name == "pkg.api.module"]
    assert "operator:pkg/fast_ops.abi3.so:direct" in path.steps


def test_what_another_library_serves_is_not_lost(report: Report) -> None:
    entries = {path.entry.name for path in report.paths}
    assert entries == {"pkg.lost", "pkg.checked", "pkg.api.module"}


def test_who_loads_the_library(report: Report) -> None:
    loads = [(edge.source, edge.target) for edge in report.edges if edge.kind == "loads"]
    assert loads == [("function:pkg.api", "library:pkg/fast_ops.abi3.so")]
