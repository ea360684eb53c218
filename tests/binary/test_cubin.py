"""Cubins: architecture and kernels, and what is damaged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.binary import cubin
from analyzer.binary.errors import DamagedError
from tests.binary import made


@pytest.mark.parametrize("name", ["8.0", "9.0", "9.0a", "10.0f", "12.0", "12.0a", "12.1f"])
def test_architecture(name: str) -> None:
    number, suffix = int(name.rstrip("af").replace(".", "")), name.lstrip("0123456789.")
    assert str(cubin.spelling(cubin.parse(made.cubin(number, suffix)))) == name


def test_architecture_in_the_old_layout() -> None:
    plain = made.elf([], machine=190, flags=0x00500550, abi=7)
    special = made.elf([], machine=190, flags=0x005A0D5A, abi=7)
    assert str(cubin.spelling(cubin.parse(plain))) == "8.0"
    assert str(cubin.spelling(cubin.parse(special))) == "9.0a"


def test_kernels_are_the_entries_among_the_functions() -> None:
    found = cubin.parse(made.cubin(90, kernels=["_Z4plusPf", "second"], functions=["helper"]))
    assert cubin.kernels(found) == ("_Z4plusPf", "second")


def test_not_for_a_gpu() -> None:
    with pytest.raises(DamagedError, match="machine 62"):
        cubin.parse(made.elf([]))


@given(st.data())
def test_damaged_in_any_place(data: st.DataObject) -> None:
    whole = bytearray(made.cubin(100, "f", kernels=["a", "b"], functions=["c"]))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        found = cubin.parse(cut)
        cubin.spelling(found)
        cubin.kernels(found)
    except DamagedError:
        pass
