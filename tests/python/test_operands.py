"""Shared memory that kernels in Triton surely ask for, against what Triton allocates."""

from __future__ import annotations

import ast

import pytest

from analyzer.python import operands

NAMES = {"tl": "triton.language", "triton": "triton"}

KERNELS = """
def attention(Q, K, V, O, n, s, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    nn = tl.arange(0, N)
    q = tl.load(Q + m[:, None] * s + d[None, :])
    acc = tl.zeros([M, D], dtype=tl.float32)
    total = tl.zeros([M], dtype=tl.float32)
    most = tl.zeros([M], dtype=tl.float32) - float("inf")
    for i in range(0, n, N):
        k = tl.load(K + (i + nn)[None, :] * s + d[:, None], mask=(i + nn)[None, :] < n, other=0.0)
        qk = tl.dot(q, k)
        new = tl.maximum(most, tl.max(qk, 1))
        p = tl.exp(qk - new[:, None])
        scale = tl.exp(most - new)
        total = total * scale + tl.sum(p, 1)
        v = tl.load(V + (i + nn)[:, None] * s + d[None, :], mask=(i + nn)[:, None] < n, other=0.0)
        acc = acc * scale[:, None] + tl.dot(p.to(v.dtype), v)
        most = new
    tl.store(O + m[:, None] * s + d[None, :], (acc / total[:, None]).to(O.dtype.element_ty))

def scores(Q, K, O, n, s, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    m = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    nn = tl.arange(0, N)
    q = tl.load(Q + m[:, None] * s + d[None, :])
    acc = tl.zeros([M, N], dtype=tl.float32)
    for i in range(0, n, N):
        k = tl.load(K + (i + nn)[None, :] * s + d[:, None])
        acc += tl.dot(q, k)
    tl.store(O + m[:, None] * s + nn[None, :], acc.to(O.dtype.element_ty))
"""

#: ``metadata.shared`` of these kernels compiled by Triton 3.5.1 with its own ptxas for elements of 16 bits,
#: with eight warps: kernel, D, M, N, stages, bytes for sm_80, sm_90, sm_100, sm_120. Triton 3.3.1 gives the
#: same, but up to 16 KB more for sm_100.
COMPILED = [
    ("attention", 128, 128, 64, 1, (49152, 49152, 50176, 49152)),
    ("attention", 128, 128, 64, 3, (98304, 131072, 131616, 98304)),
    ("attention", 256, 128, 64, 1, (114688, 98304, 99328, 114688)),
    ("attention", 256, 128, 64, 3, (212992, 262144, 262688, 212992)),
    ("attention", 512, 32, 64, 1, (102400, 102400, 102400, 102400)),
    ("attention", 512, 32, 64, 3, (299008, 299008, 299008, 299008)),
    ("attention", 64, 16, 64, 1, (12288, 12288, 12288, 12288)),
    ("attention", 128, 16, 128, 1, (40960, 40960, 40960, 40960)),
    ("scores", 128, 128, 64, 1, (49152, 49152, 49160, 49152)),
    ("scores", 128, 128, 64, 3, (65536, 81920, 81936, 65536)),
    ("scores", 256, 128, 64, 1, (98304, 98304, 98312, 98304)),
    ("scores", 512, 32, 64, 1, (98304, 98304, 98304, 98304)),
    ("scores", 512, 32, 64, 3, (163840, 163840, 163840, 163840)),
    ("scores", 64, 16, 64, 1, (10240, 10240, 10240, 10240)),
    ("scores", 128, 16, 128, 1, (36864, 36864, 36864, 36864)),
]


def held(text: str, name: str, **numbers: int) -> int:
    kernels = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    return operands.held(kernels[name], kernels[name].body, numbers, NAMES.get)


@pytest.mark.parametrize(("name", "d", "m", "n", "stages", "wanted"), COMPILED)
def test_never_more_than_triton_allocates(
    name: str, d: int, m: int, n: int, stages: int, wanted: tuple[int, ...]
) -> None:
    found = 2 * held(KERNELS, name, D=d, M=m, N=n)
    assert found == 2 * (m * d + d * n)
    assert found <= min(wanted)
    if name == "scores" and stages == 1:
        assert min(wanted) == found  # and nothing else is there


def test_sizes_that_are_not_known_ask_for_nothing() -> None:
    assert held(KERNELS, "scores", D=128, M=128) == 0 + 128 * 128
    assert held(KERNELS, "scores", M=128, N=64) == 0


CONDITIONS = """
def kernel(A, B, sink, n, N: tl.constexpr, FAST: tl.constexpr, MASK: tl.constexpr):
    x = tl.arange(0, N)
    a = tl.load(A + x[:, None] * n + x[None, :])
    skip = False
    for i in range(0, n):
        if MASK > 0:
            skip = tl.max(tl.load(B + x)) == 0
        if not skip:
            if FAST:
                b = tl.load(B + x[:, None] * n + x[None, :])
                c = tl.dot(a, b)
            elif sink is not None:
                wide = tl.arange(0, 4 * N)
                b = tl.load(B + x[:, None] * n + wide[None, :])
                c = tl.dot(a, b)
"""


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"FAST": 1}, 2 * 64 * 64),
        ({"FAST": 0}, 0),  # the argument may be None, and the branch is not compiled
        ({}, 0),
        ({"FAST": 1, "MASK": 1}, 2 * 64 * 64),
    ],
)
def test_only_what_is_compiled_on_every_way_counts(given: dict[str, int], wanted: int) -> None:
    assert held(CONDITIONS, "kernel", N=64, **given) == wanted


PRODUCED = """
def prefetched(A, B, n, N: tl.constexpr):
    x = tl.arange(0, N)
    a = tl.load(A + x[:, None] * n + x[None, :])
    for i in range(0, n):
        b = tl.load(B + x[:, None] * n + x[None, :])
        c = tl.dot(a, b)
        a = tl.load(A + i + x[:, None] * n + x[None, :])

def computed(A, B, n, N: tl.constexpr):
    x = tl.arange(0, N)
    a = tl.load(A + x[:, None] * n + x[None, :]) * 2
    for i in range(0, n):
        b = tl.trans(tl.load(B + x[:, None] * n + x[None, :]))
        c = tl.dot(a, b)

def once(A, B, n, N: tl.constexpr):
    x = tl.arange(0, N)
    a = tl.load(A + x[:, None] * n + x[None, :])
    c = tl.dot(a, a)
"""


@pytest.mark.parametrize(("name", "wanted"), [("prefetched", 64 * 64), ("computed", 64 * 64), ("once", 0)])
def test_only_what_is_read_and_stays_counts(name: str, wanted: int) -> None:
    assert held(PRODUCED, name, N=64) == wanted
