"""Conditions: values, precedence, macros inside them, and what stays unknown."""

from __future__ import annotations

import pytest

from analyzer.cuda.directives import Macro, facts
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.expressions import evaluate

MACROS = {
    d.macro.name: d.macro
    for d in facts(
        b"""#define ARCH 1200
#define EMPTY
#define ONE 1
#define ALIAS ARCH
#define GE >=
#define AT_LEAST(n) (ARCH >= (n))
#define FEATURE(x) HAS_##x
#define HAS_TMA 1
#define BOTH(a, b) (a) && (b)
#define FIRST(a, ...) a
#define REST(a, ...) __VA_ARGS__
#define NAMED(xs...) xs
#define LOOP LOOP
#define PING PONG
#define PONG PING
#define IS_DEFINED defined(ARCH)
#define STR(x) #x
#define CALL AT_LEAST
#define LONG(x) x x x x x x x x
"""
    ).directives
    if d.macro
}


def lookup(name: str) -> Macro | Unknown | None:
    return Unknown(f"{name} is unknown") if name.startswith("U_") else MACROS.get(name)


def feature(operator: str, operand: str) -> int | Unknown:
    return int(operand == "<there.h>") if operator == "__has_include" else Unknown(operator)


def value(condition: str) -> bool | str:
    (directive,) = facts(f"#if {condition}\n".encode()).directives
    result = evaluate(directive.condition, lookup, feature)
    return result.reason if isinstance(result, Unknown) else result


@pytest.mark.parametrize(
    "condition",
    [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "1 << 2 + 1 == 8",
        "-7 / 2 == -3 && -7 % 2 == -1",
        "7 - 2 - 1 == 4",
        "0x10 == 16 && 010 == 8 && 0b101 == 5 && 1'000 == 1000",
        "201703L > 201402l && 3u > 2UL",
        "-1 > 0u",
        "-1 < 0",
        "~0 == -1",
        "(1 ? 2 : 3) == 2",
        "0 ? 0 : 1 ? 1 : 0",
        "'a' == 97 && '\\n' == 10",
        "(2, 1)",
        "(1 ? -1 : 0u) > 0",
        "true && !false",
        "not 0 and (1 or 0) and 6 bitand 2",
        "UNDEFINED == 0",
        "defined(ARCH) && defined ONE && !defined(UNDEFINED)",
        "defined EMPTY",
        "ARCH >= 900 && ARCH < 1300",
        "ALIAS == 1200",
        "ARCH GE 900",
        "AT_LEAST(900) && !AT_LEAST(1300)",
        "CALL(900)",
        "AT_LEAST (900)",
        "FEATURE(TMA)",
        "!FEATURE(WGMMA)",
        "BOTH(AT_LEAST(900), ONE)",
        "FIRST(1, 0, 0)",
        "FIRST(1)",
        "REST(0, 1)",
        "NAMED(1)",
        "!LOOP && !PING",
        "IS_DEFINED",
        "AT_LEAST((900, 901))",
        "__has_include(<there.h>) && !__has_include(<away.h>)",
        "9223372036854775807 + 1 < 0",
        "0xFFFFFFFFFFFFFFFF == -1",
        "1 || 1 / 0",
        "!(0 && 1 / 0)",
    ],
)
def test_true(condition: str) -> None:
    assert value(condition) is True


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("0 && U_X", False),
        ("U_X && 0", False),
        ("U_X || 1", True),
        ("defined(U_X) && ARCH < 900", False),
        ("U_F(1, (2)) || ARCH >= 900", True),
        ("U_X ? 1 : 1", True),
        ("U_X", "U_X is unknown"),
        ("!U_X", "U_X is unknown"),
        ("U_X >= 3 && ONE", "U_X is unknown"),
        ("defined(U_X)", "U_X is unknown"),
        ("U_F(1)", "U_F is unknown"),
        ("AT_LEAST(U_X)", "U_X is unknown"),
        ("U_X ? 1 : 0", "U_X is unknown"),
        ("__has_builtin(x)", "__has_builtin"),
        ("1 / 0", "division by zero"),
        ("EMPTY", "malformed condition: it ends early"),
        ("", "malformed condition: it ends early"),
        ("1 1", "malformed condition: unexpected '1'"),
        ("(1", "malformed condition: missing ')'"),
        ("STR(a) == 1", "malformed condition: unexpected '\"a\"'"),
        ("1.5 > 1", "malformed condition: unexpected '1.5'"),
        ("defined(3)", "malformed 'defined'"),
        ("EMPTY(1) == U_X", "U_X is unknown"),
    ],
)
def test_unknown_decides_only_where_it_must(condition: str, expected: bool | str) -> None:
    assert value(condition) == expected


def test_an_exploding_macro_is_unknown() -> None:
    nested = "1"
    for _ in range(7):
        nested = f"LONG({nested})"
    assert value(nested) == "condition is too large to expand"
