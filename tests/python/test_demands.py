"""Tables of tile sizes against the shared memory of each architecture."""

from __future__ import annotations

import pytest

from analyzer import archs
from analyzer.model import Gate
from analyzer.python.tiles import Tiles
from analyzer.python.values import Site
from tests.python.surveys import gates_of

#: ``metadata.shared`` of a matrix kernel (tiles of ``m x k`` and ``k x n``, loaded and multiplied in a loop
#: over K) compiled by Triton 3.9.0 with its own ptxas: architecture, bits, m, n, k, stages, bytes.
COMPILED = [
    (80, 16, 128, 256, 128, 4, 294912),
    (80, 16, 128, 128, 64, 3, 65536),
    (89, 8, 128, 256, 128, 4, 147456),
    (89, 8, 64, 128, 128, 4, 73728),
    (89, 16, 64, 128, 128, 4, 147456),
    (90, 8, 128, 256, 128, 4, 196608),
    (90, 8, 128, 128, 64, 3, 49152),
    (90, 16, 64, 128, 128, 4, 196608),
    (100, 8, 128, 256, 128, 4, 196624),
    (100, 16, 128, 128, 64, 3, 98320),
    (120, 8, 128, 256, 128, 4, 147456),
    (120, 8, 128, 128, 64, 3, 32768),
    (120, 16, 128, 256, 128, 4, 294912),
    (120, 16, 64, 128, 128, 4, 147456),
]

TABLES = """
import torch
from somewhere import is_hip

def default(dtype, M, E):
    if dtype == "fp8_w8a8":
        config = {
            "BLOCK_SIZE_M": 128,
            "BLOCK_SIZE_N": 256,
            "BLOCK_SIZE_K": 128,
            "num_stages": 4 if torch.version.hip is None else 2,
        }
        if M <= E:
            config = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "num_stages": 4}
    elif dtype == "int4_w4a16":
        config = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "num_stages": 4}
    else:
        config = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": M, "num_stages": 4}
    return config

def chosen(dtype):
    if torch.cuda.get_device_capability()[0] == 12:
        return {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "num_stages": 2}
    return {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128, "num_stages": 4}

def launch(a, b, *,
           block_m: int = 128,
           block_n: int = 256,
           block_k: int = 128,
           num_stages: int = 4):
    kernel[(1,)](a, b, block_m, block_n, block_k, num_stages)
"""


@pytest.mark.parametrize(("number", "bits", "m", "n", "k", "stages", "wanted"), COMPILED)
def test_what_triton_allocates(
    number: int, bits: int, m: int, n: int, k: int, stages: int, wanted: int
) -> None:
    """To the byte; but for the few of barriers, which only sizes of references may lack."""
    tiles = Tiles(Site("f.py", 1, 1, 1), m, n, k, stages, bits, "", "f", "")
    found = tiles.demand(archs.find(f"sm_{number}"))
    assert found is not None
    assert 0 <= wanted - found <= 16
    assert found == wanted or number == 100


@pytest.fixture(scope="module")
def found() -> dict[str, list[Gate]]:
    gates: dict[str, list[Gate]] = {}
    for gate in gates_of({"pkg/__init__.py": "", "pkg/tables.py": TABLES}):
        if gate.layer == "resource":
            gates.setdefault(gate.scope, []).append(gate)
    return gates


def test_a_table_that_does_not_fit(found: dict[str, list[Gate]]) -> None:
    (gate,) = found["default"]
    assert gate.effect == "over_resource"
    assert (gate.line, gate.end_line) == (7, 12)
    assert gate.verdict["sm_120"] == gate.verdict["sm_89"] == "reject"
    assert gate.verdict["sm_90"] == gate.verdict["sm_100"] == "admit"
    assert gate.message == "out of resource: shared memory, Required: 147456, Hardware limit: 101376"


def test_formats_of_four_bits_and_unknown_sizes_are_no_demand(found: dict[str, list[Gate]]) -> None:
    assert [gate.line for gate in found["default"]] == [7]


def test_a_table_that_the_target_does_not_reach(found: dict[str, list[Gate]]) -> None:
    assert "chosen" not in found


def test_parameters(found: dict[str, list[Gate]]) -> None:
    (gate,) = found["launch"]
    assert gate.effect == "over_resource"
    assert TABLES.splitlines()[gate.line - 1].strip() == "block_m: int = 128,"
    assert "num_stages" in TABLES.splitlines()[gate.end_line - 1]


TUNED = """
import torch
import triton

@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64}, num_stages=3, num_warps=4),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 128}, num_stages=4, num_warps=8),
        triton.Config({"BLOCK_M": 256, "BLOCK_N": 128, "BLOCK_K": 128}, num_stages=4, num_warps=8),
    ],
    key=["M"],
)
@triton.jit
def skips(a, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pass

@triton.autotune(
    [triton.Config({"BLOCK_M": m, "BLOCK_N": 256, "BLOCK_K": 128}, num_stages=4) for m in (128, 160)],
    key=["M"],
)
@triton.jit
def none_left(a, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pass

def few():
    return [triton.Config(dict(BLOCK_M=64, BLOCK_N=64, BLOCK_K=64), num_stages=n) for n in (2, 3)]

@triton.autotune(configs=few(), key=["M"])
@triton.jit
def fits(a, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pass
"""


def test_configurations_of_a_tuner() -> None:
    """What a tuner can pass over costs speed; where it has nothing else, the launch fails."""
    gates = gates_of({"pkg/__init__.py": "", "pkg/tuned.py": TUNED})
    skipped, failing = [gate for gate in gates if gate.layer == "resource"]
    assert (skipped.line, skipped.effect, skipped.silent, skipped.count) == (8, "degraded", True, 2)
    assert skipped.admits == "2 of 3 configurations"
    assert (skipped.verdict["sm_90"], skipped.verdict["sm_89"]) == ("admit", "reject")
    assert (failing.line, failing.effect, failing.count) == (18, "over_resource", 2)
    assert failing.message == "out of resource: shared memory, Required: 147456, Hardware limit: 101376"
