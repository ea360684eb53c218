"""Mangled names made readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.binary.symbols import readable


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("plain_c", "plain_c"),
        ("_Z5timesPf", "times"),
        ("_ZN5outer5innerEv", "outer::inner"),
        ("_ZN5outer6launchINS_9enable_90INS_4CoreEEEEEvNT_6ParamsE", "outer::launch<…>"),
        (
            "_ZN7cutlass13device_kernelIN5flash9enable_90INS1_3FwdEEEEEvv",
            "cutlass::device_kernel<flash::enable_90…>",
        ),
        ("_Z4copyI6__halfLi8EEvPT_", "copy<__half…>"),
        ("_ZN60_GLOBAL__N__00000000_10_kernels_cu_00000000_00000_0000000000004fillEv", "(anonymous)::fill"),
        ("_ZTV3Foo", "_ZTV3Foo"),
        ("_Z99cut", "_Z99cut"),
    ],
)
def test_readable(mangled: str, name: str) -> None:
    assert readable(mangled) == name


@given(st.text("_ZNIE019abS").map(lambda text: "_Z" + text))
def test_anything_gives_a_name(mangled: str) -> None:
    assert readable(mangled)
