"""Conditions of ``#if``: true, false or unknown under given macros (C++ [cpp.cond]).

A condition is split into tokens once, with its file's facts. Macros are replaced before it is parsed, as
compilers do, because a macro may stand for an operator or half an expression; what evaluates a condition
remembers the outcome for each state of the macros that it read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.cuda import tokens
from analyzer.cuda.expansion import Feature, Item, Lookup, TooLong, Unknown, expand

_INTEGER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9]\d*))"
    r"(?P<suffix>[uUlLzZ]*)\Z"
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11}
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_LOGICAL = frozenset({"||", "&&", "==", "!=", "<", ">", "<=", ">="})


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of the widest type; arithmetic wraps at 64 bits."""

    value: int
    unsigned: bool = False


Value = Number | Unknown


class _Malformed(Exception):
    """The condition is no expression; compilers refuse it."""


def evaluate(condition: Sequence[str], lookup: Lookup, feature: Feature) -> bool | Unknown:
    """Whether the condition holds.

    Unknown where an unknown name decides, and where the condition is malformed (compilers stop there).
    Unknown parts that decide nothing are harmless: ``0 && X`` is false (Kleene's logic).
    """
    try:
        items = [t for t in expand(condition, lookup, feature) if t != " "]
        value = _Parser(items).whole()
    except _Malformed as error:
        return Unknown(f"malformed condition: {error}")
    except (TooLong, RecursionError):
        return Unknown("condition is too large to expand")
    return value if isinstance(value, Unknown) else value.value != 0


class _Parser:
    """Precedence climbing over expanded tokens."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._at = 0

    def whole(self) -> Value:
        value = self._comma()
        if self._at < len(self._items):
            raise _Malformed(f"unexpected {self._items[self._at]!r}")
        return value

    def _peek(self) -> Item | None:
        if self._at >= len(self._items):
            return None
        item = self._items[self._at]
        return tokens.WORDS.get(item, item) if isinstance(item, str) else item

    def _take(self, expected: str) -> None:
        if self._peek() != expected:
            raise _Malformed(f"missing {expected!r}")
        self._at += 1

    def _comma(self) -> Value:
        value = self._conditional()
        while self._peek() == ",":
            self._at += 1
            value = self._conditional()
        return value

    def _conditional(self) -> Value:
        test = self._binary(1)
        if self._peek() != "?":
            return test
        self._at += 1
        chosen = self._comma()
        self._take(":")
        other = self._conditional()
        if isinstance(test, Unknown):
            return chosen if chosen == other else test
        return chosen if test.value else other

    def _binary(self, least: int) -> Value:
        left = self._unary()
        while True:
            operator = self._peek()
            rank = _PRECEDENCE.get(operator, 0) if isinstance(operator, str) else 0
            if rank < least:
                return left
            self._at += 1
            left = _apply(str(operator), left, self._binary(rank + 1))

    def _unary(self) -> Value:
        item = self._peek()
        if item is None:
            raise _Malformed("it ends early")
        self._at += 1
        if isinstance(item, Unknown):
            return item
        if item == "(":
            value = self._comma()
            self._take(")")
            return value
        if item in ("!", "-", "+", "~"):
            return _prefix(item, self._unary())
        return _primary(item)


def _primary(item: str) -> Value:
    if tokens.is_name(item):
        return Number(1 if item == "true" else 0)
    match = _INTEGER.match(item.replace("'", "") if item[0].isdigit() else item)
    if match:
        base, digits = next(
            (base, match.group(name))
            for name, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10))
            if match.group(name)
        )
        value = int(digits, base)
        return _wrap(value, "u" in match.group("suffix").lower() or value >= 1 << 63)
    if item[0] == "'" and len(item) > 2:
        body = item[1:-1]
        if body[0] == "\\" and len(body) == 2:
            return Number(_ESCAPES.get(body[1], ord(body[1])))
        if len(body) == 1:
            return Number(ord(body))
        return Unknown(f"value of {item} depends on the compiler")
    raise _Malformed(f"unexpected {item!r}")


def _wrap(value: int, unsigned: bool) -> Number:
    value &= (1 << 64) - 1
    if not unsigned and value >> 63:
        value -= 1 << 64
    return Number(value, unsigned)


def _prefix(operator: str, operand: Value) -> Value:
    if isinstance(operand, Unknown):
        return operand
    if operator == "!":
        return Number(int(not operand.value))
    value = {"-": -operand.value, "+": operand.value, "~": ~operand.value}[operator]
    return _wrap(value, operand.unsigned)


def _apply(operator: str, left: Value, right: Value) -> Value:
    if operator in ("&&", "||"):
        return _connect(operator, left, right)
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    unsigned = left.unsigned or right.unsigned
    if operator in ("<<", ">>"):
        unsigned = left.unsigned
        a, b = left.value, right.value
        if b < 0 and not right.unsigned:
            operator, b = (">>", -b) if operator == "<<" else ("<<", -b)
        b = min(b, 64)
    else:
        a, b = _wrap(left.value, unsigned).value, _wrap(right.value, unsigned).value
    result = _arithmetic(operator, a, b)
    if isinstance(result, Unknown):
        return result
    return Number(result) if operator in _LOGICAL else _wrap(result, unsigned)


def _connect(operator: str, left: Value, right: Value) -> Value:
    """Kleene's ``and`` and ``or``: one deciding operand is enough, on either side."""
    decisive = operator == "||"
    unknown: Unknown | None = None
    for operand in (left, right):
        if isinstance(operand, Unknown):
            unknown = unknown or operand
        elif bool(operand.value) == decisive:
            return Number(int(decisive))
    return unknown or Number(int(not decisive))


def _arithmetic(operator: str, a: int, b: int) -> int | Unknown:
    if operator in ("/", "%"):
        if b == 0:
            return Unknown("division by zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    match operator:
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "&":
            return a & b
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case ">":
            return int(a > b)
        case "<=":
            return int(a <= b)
        case ">=":
            return int(a >= b)
        case "<<":
            return a << b
        case ">>":
            return a >> b
        case "+":
            return a + b
        case "-":
            return a - b
        case _:
            return a * b
