"""Budgets for one block out of what a multiprocessor has."""

from __future__ import annotations

import pytest

from analyzer import archs
from analyzer.cuda.budgets import facts
from analyzer.cuda.limits import gates

ASK = """\
template <int TILE>
int launch(int dim) {
  int whole = 0, optin = 0;
  cudaDeviceGetAttribute(&whole, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
  cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
BODY
}
"""
SHARED = """\
  const int blocks = whole >= 2 * (TILE * dim) ? 2 : 1;
  const int budget = whole / blocks;
  return budget / TILE;"""
NAMES = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")


def told(body: str) -> dict[int, tuple[str, dict[str, str]]]:
    found = {"a.cuh": facts(ASK.replace("BODY", body).encode())}
    made = gates(found, "sm_120", ("sm_90", "sm_100"), NAMES)
    assert not any(item.always for item in made)
    return {item.gate.line: (item.gate.effect, dict(item.gate.verdict)) for item in made}


def test_a_block_alone_is_given_all() -> None:
    """Two of 60 KB share what an sm_90 has; on sm_120 one of them is given a KB more than it may have."""
    assert told(SHARED) == {
        7: (
            "over_resource",
            {"sm_80": "reject", "sm_89": "reject", "sm_90": "admit", "sm_100": "admit", "sm_120": "reject"},
        )
    }


@pytest.mark.parametrize(("arch", "demand", "most"), [("sm_120", 51_200, 51_200), ("sm_120", 51_201, 102_400),
                                                       ("sm_90", 101_376, 116_736)])  # fmt: skip
def test_what_a_block_is_given(arch: str, demand: int, most: int) -> None:
    (budget,) = facts(ASK.replace("BODY", SHARED).encode())
    assert budget.largest(archs.find(arch), demand) == most


@pytest.mark.parametrize(
    "body",
    [
        SHARED.replace("whole / blocks", "min(whole / blocks, optin)"),
        SHARED.replace("  return", "  budget = min(budget, optin);\n  return").replace(
            "const int b", "int b"
        ),
        SHARED.replace("whole / blocks", "optin / blocks"),
        SHARED.replace("? 2 : 1", "? 2 : TILE"),
        SHARED.replace("2 * (TILE * dim)", "TILE * dim"),
        SHARED.replace("return budget / TILE", "return 0"),
        SHARED.replace("blocks = whole >= 2 * (TILE * dim) ? 2 : 1", "blocks = dim"),
    ],
)
def test_what_is_capped_or_not_known_is_no_gate(body: str) -> None:
    assert told(body) == {}


def test_a_share_for_always_two_is_never_too_much() -> None:
    assert told("  int budget = whole / 2;\n  return budget / TILE;") == {}


def test_properties_of_the_device() -> None:
    body = SHARED.replace("whole", "prop.sharedMemPerMultiprocessor")
    assert list(told(body)) == [7]
