"""Guards that leave the target without a declaration that its code needs."""

from __future__ import annotations

import pytest

from analyzer.model import Gate
from tests.cuda.test_units import analysed

UNIT = """
    #ifdef __CUDA_ARCH__
    #if __CUDA_ARCH__ >= 1200
    {own}
    #elif __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
    constexpr unsigned kShared = (227u << 10);
    #endif
    #endif
    {use}
    __global__ void kernel(int* p) {{ p[0] = 1; }}
    void run(int* p) {{ kernel<<<1, 1>>>(p); }}
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def gate(use: str, own: str = "", target: str = "sm_110") -> Gate:
    result = analysed({"unit.cu": UNIT.format(use=use, own=own)}, target=target)
    (found,) = [guard.gate for guard in result.guards if guard.gate.line == 5]
    return found


@pytest.mark.parametrize(
    "use",
    [
        "static_assert(sizeof(int) < kShared);",
        "__device__ unsigned left(unsigned used) { return kShared - used; }",
    ],
)
def test_a_table_without_the_target_does_not_compile(use: str) -> None:
    found = gate(use)
    assert (found.effect, found.silent) == ("raises", False)
    assert found.message == "kShared is not declared (unit.cu:9)"


@pytest.mark.parametrize(
    "use",
    [
        "",
        "__device__ unsigned half(unsigned kShared) { return kShared / 2; }",  # a parameter of that name
        "struct Sizes { static constexpr unsigned kShared = 1; };\nstatic_assert(Sizes::kShared < 2);",
        "template <typename T> unsigned of() { return T::kShared; }",
    ],
)
def test_nothing_is_claimed_where_the_name_is_not_used_or_may_be_another(use: str) -> None:
    assert gate(use).effect == "none"


def test_a_value_of_its_own_is_none_lost() -> None:
    found = gate(
        "static_assert(sizeof(int) < kShared);", "constexpr unsigned kShared = (99u << 10);", "sm_120"
    )
    assert found.effect == "none"
