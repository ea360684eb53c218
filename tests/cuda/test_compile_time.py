"""``if constexpr`` in device code: what the architecture decides, where the gate stands, what is lost."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer.cuda import tokens
from analyzer.cuda.constants import Values, constants
from analyzer.cuda.directives import Macro
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.source import read
from analyzer.model import Gate
from tests.cuda.test_units import analysed

TRAITS = """
    #pragma once
    #ifdef __CUDA_ARCH__
    struct arch_info { static constexpr int major = __CUDA_ARCH__ / 100; };
    #else
    struct arch_info { static constexpr int major = 0; };
    #endif
    template <int Major>
    struct is_major : std::bool_constant<arch_info::major == Major> {};
    template <int Major>
    inline constexpr bool is_major_v = is_major<Major>::value;
"""
UNIT = """
    #include "traits.h"
    {constant}
    template <typename T>
    __device__ void step(T* p) {{
      if constexpr ({condition}) {{
        {then}
      }} else {{
        {other}
      }}
    }}
    __global__ void kernel(int* p) {{ step(p); }}
    void run(int* p) {{ kernel<<<1, 1>>>(p); }}
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def gates(
    condition: str, constant: str = "", then: str = "p[0] = 1;", other: str = "p[0] = 2;"
) -> list[Gate]:
    text = UNIT.format(condition=condition, constant=constant, then=then, other=other)
    found = analysed({"unit.cu": text, "include/traits.h": TRAITS}).guards
    return [guard.gate for guard in found if guard.gate.layer == "host"]


def test_a_trait_decides_where_it_is_asked() -> None:
    (gate,) = gates("is_major_v<10> || is_major_v<11>")
    assert (gate.line, gate.scope, gate.effect, gate.falls_back_to) == (6, "step", "degraded", "p[0] = 2;")
    admitted = {name for name, verdict in gate.verdict.items() if verdict == "admit"}
    assert admitted == {"sm_100", "sm_103", "sm_110"}


def test_a_constant_that_holds_the_answer_is_the_gate() -> None:
    constant = "static constexpr bool kFast = is_major_v<10>;"
    (gate,) = gates("!kFast || sizeof(T) == 8", constant, then="p[0] = 2;", other="p[0] = 1;")
    assert (gate.line, gate.code, gate.effect) == (3, "is_major_v<10>", "degraded")
    assert gate.verdict["sm_100"] == "admit"
    assert gate.verdict["sm_90"] == gate.verdict["sm_120"] == "reject"
    assert [step.line for step in gate.because] == [6]


def test_a_trap_in_its_place_raises() -> None:
    (gate,) = gates("is_major_v<10>", other="__trap();")
    assert (gate.effect, gate.silent, gate.message) == ("raises", False, "__trap()")


@pytest.mark.parametrize(
    "condition",
    [
        "is_major_v<9>",  # sm_100 goes without it, too
        "is_major_v<12>",
        "sizeof(T) == 4",
        "is_major_v<10> || unknown_v<T>",
        "arch_info::major >= 9",
    ],
)
def test_nothing_is_lost(condition: str) -> None:
    assert {gate.effect for gate in gates(condition)} <= {"none"}


def test_what_no_export_runs_has_no_effect() -> None:
    text = UNIT.format(constant="", condition="is_major_v<10>", then="", other="p[0] = 2;")
    text = text.replace("step(p); }}", "}}").replace("{ step(p); }", "{ p[0] = 3; }")
    found = analysed({"unit.cu": text, "include/traits.h": TRAITS}).guards
    assert {guard.gate.effect for guard in found} == {"none"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("size", 64),
        ("half < size && !none", 1),
        ("twice<twice<3>::value>::value", 12),
        ("lib::at_least_v<8>", 1),
        ("LIMIT / 10", 90),
        ("size + unknown", None),
        ("false && unknown", 0),
        ("several", None),
        ("sizeof(int) == 4 || size", 1),
        ("at_least_v<unknown>", None),
    ],
)
def test_values(expression: str, expected: int | None) -> None:
    text = """
        constexpr int size{64};
        static constexpr int half = size / 2;
        inline constexpr bool none = false;
        template <int N> struct twice : std::integral_constant<int, N * 2> {};
        template <int Least> inline constexpr bool at_least_v = LIMIT >= Least * 100;
        constexpr int several = 1;
        constexpr int several = 2;
    """
    known = Values(constants(read(dedent(text).encode())), {"LIMIT": Macro("LIMIT", None, ("900",))})
    source = [token for token in tokens.split(expression) if token != " "]
    value = known.of(source)
    assert (None if isinstance(value, Unknown) else value) == expected
