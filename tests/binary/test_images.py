"""Which GPU runs which image, by the rules of the CUDA C++ Programming Guide."""

from __future__ import annotations

import pytest

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.binary.fatbin import Image
from analyzer.binary.images import names, runs_on


def image(text: str) -> Image:
    kind = "ptx" if text.startswith("compute_") else "machine"
    return Image(kind, Spelling.parse(text), "", 0, 0, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made_for", "on"),
    [
        ("sm_80", "sm_80 sm_86 sm_87 sm_89"),
        ("sm_86", "sm_86 sm_87 sm_89"),
        ("sm_90", "sm_90"),
        ("sm_90a", "sm_90"),
        ("sm_100", "sm_100 sm_103"),
        ("sm_100a", "sm_100"),
        ("sm_100f", "sm_100 sm_103"),
        ("sm_103f", "sm_103"),
        ("sm_120", "sm_120 sm_121"),
        ("sm_120a", "sm_120"),
        ("sm_120f", "sm_120 sm_121"),
        ("sm_121a", "sm_121"),
        ("compute_90", "sm_90 sm_100 sm_103 sm_110 sm_120 sm_121"),
        ("compute_90a", "sm_90"),
        ("compute_100f", "sm_100 sm_103"),
        ("compute_120", "sm_120 sm_121"),
        ("compute_121", "sm_121"),
    ],
)
def test_runs_on(made_for: str, on: str) -> None:
    found = [arch.name for arch in archs.profiles() if runs_on(image(made_for), arch)]
    assert found == on.split()


def test_code_for_linking_runs_nowhere() -> None:
    assert not any(runs_on(Image("ir", Spelling(90), "", 0, 0, 0), arch) for arch in archs.profiles())


def test_names_are_in_order_and_once() -> None:
    given = map(image, ["compute_90", "sm_120a", "sm_80", "sm_90a", "sm_90", "sm_80"])
    assert names(given) == ("sm_80", "sm_90", "sm_90a", "sm_120a", "compute_90")
