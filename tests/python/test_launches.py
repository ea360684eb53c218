"""Launches of kernels in Triton with numbers that the device and the arguments choose."""

from __future__ import annotations

from analyzer.model import Gate
from tests.python.surveys import gates_of

PROGRAM = """
import torch
import triton
import triton.language as tl

CAPABILITY = torch.cuda.get_device_capability()

def sizes(width: int):
    deep = 512 if width == 576 else triton.next_power_of_2(width)
    if {first}:
        rows = 32
    elif CAPABILITY[0] >= 9:
        rows = 128 if width <= 256 else 64
    else:
        rows = 32
    return deep, rows, 4

@triton.jit
def scores(Q, K, O, n, s, D: tl.constexpr, N: tl.constexpr):
    d = tl.arange(0, D)
    nn = tl.arange(0, N)
    q = tl.load(Q + nn[:, None] * s + d[None, :])
    for i in range(0, n, N):
        k = tl.load(K + (i + nn)[None, :] * s + d[:, None])
        tl.store(O + nn[:, None] * s + nn[None, :], tl.dot(q, k))

def score(q, k, o):
    width = q.shape[-1]
    deep, rows, warps = sizes(width)
    scores[(1,)](q, k, o, q.shape[0], 1, D=deep, N=rows, num_warps=warps)
"""


def resources(first: str) -> list[Gate]:
    found = gates_of({"pkg/__init__.py": "", "pkg/scores.py": PROGRAM.format(first=first)})
    return [gate for gate in found if gate.layer == "resource"]


def test_numbers_that_the_device_chooses_for_a_width() -> None:
    (gate,) = resources("width < 0")
    assert (gate.line, gate.effect) == (12, "over_resource")
    assert gate.code == "D=512, N=64"
    assert (gate.verdict["sm_90"], gate.verdict["sm_120"], gate.verdict["sm_80"]) == (
        "admit",
        "reject",
        "reject",
    )
    assert "width = 576" in gate.because[0].what
    assert gate.because[0].line == PROGRAM[: PROGRAM.index("scores[(1,)]")].count("\n") + 1
    assert gate.message == "out of resource: shared memory, Required: 131072, Hardware limit: 101376"


def test_a_branch_with_less_for_the_target() -> None:
    assert resources("CAPABILITY[0] == 12") == []


PLAIN = """
import torch
import triton
import triton.language as tl

@triton.jit
def scores(Q, K, O, n, s, D: tl.constexpr, N: tl.constexpr):
    d = tl.arange(0, D)
    nn = tl.arange(0, N)
    q = tl.load(Q + nn[:, None] * s + d[None, :])
    for i in range(0, n, N):
        k = tl.load(K + (i + nn)[None, :] * s + d[:, None])
        tl.store(O + nn[:, None] * s + nn[None, :], tl.dot(q, k))

def score(q, k, o):
    if torch.cuda.get_device_capability()[0] < 8:
        raise ValueError
    scores[(1,)](q, k, o, q.shape[0], 1, D=512, N=64)

def other(q, k, o):
    if torch.cuda.get_device_capability()[0] < 8:
        raise ValueError
    scores[(1,)](q, k, o, q.shape[0], 1, D=512, N=q.shape[0])
"""


def test_numbers_that_stand_in_the_launch() -> None:
    gates = [
        gate for gate in gates_of({"pkg/__init__.py": "", "pkg/scores.py": PLAIN}) if gate.layer == "resource"
    ]
    assert [(gate.line, gate.scope, gate.code) for gate in gates] == [(18, "score", "D=512, N=64")]
