"""Labels of boxes: whole names on two lines, without what the place below them says."""

from __future__ import annotations

import pytest

from analyzer.model import Node
from analyzer.report import gallery
from tests.report import sample


@pytest.mark.parametrize(
    ("kind", "name", "file", "drawn"),
    [
        ("function", "kit.comm.reduce.Plan.run", "kit/comm/reduce.py", "Plan.run"),
        ("function", "kit.comm.make", "kit/comm/__init__.py", "make"),
        ("kernel", "kit::comm::reduce<Half>", "kit/reduce.cuh", "reduce<Half>"),
        ("source", "kit/csrc/reduce.cu", "kit/csrc/reduce.cu", "reduce.cu"),
        ("entry", "kit.Plan.run", "kit/plan.py", "kit.Plan.run"),
    ],
)
def test_short_name(kind: str, name: str, file: str, drawn: str) -> None:
    assert gallery.short(Node(name, kind, name, file, 1)) == drawn


def test_a_long_name_goes_on_two_lines_between_its_parts() -> None:
    drawn = gallery.label("sglang --enable-flashinfer-allreduce-fusion")
    assert drawn == "sglang --enable-flashinfer-\nallreduce-fusion"
    assert gallery.label("selective_state_update_kernel_producer_consumer_vertical").count("\n") == 1


@pytest.mark.parametrize("name", ["a" * 300, "a_" * 40, "Ab" * 25, "x" * 31, "x" * 32, "::" * 31])
@pytest.mark.parametrize("gate", [False, True])
def test_no_line_is_too_long(name: str, gate: bool) -> None:
    first, *rest = gallery.label(name, gate).split("\n")
    assert len(first) <= (26 if gate else 31)
    assert len(rest) <= 1
    assert all(len(line) <= 31 for line in rest)


def test_names_that_differ_at_the_end_are_told_apart() -> None:
    names = [f"selective_state_update_kernel_producer_consumer_{way}" for way in ("vertical", "horizontal")]
    assert len({gallery.label(name) for name in names}) == 2


def test_gates_of_one_condition_are_told_apart_by_what_is_lost() -> None:
    assert gallery.gate_name(sample.WAIT) == f"without {sample.WAIT.loses[0].what}"
    assert gallery.gate_name(sample.JIT_GATE) == sample.JIT_GATE.code
    assert gallery.gate_name(sample.FUSE_GATE) == sample.FUSE_GATE.scope
    empty = next(gate for gate in sample.GATES if gate.effect == "empty_kernel")
    assert gallery.gate_name(empty).startswith("nothing is left of ")
