"""Conditions of ``#if``: true, false or unknown under given macros (C++ [cpp.cond]).

A condition is split into tokens once, with its file's facts. Macros are replaced before it is parsed, as
compilers do, because a macro may stand for an operator or half an expression; what evaluates a condition
remembers the outcome for each state of the macros that it read.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analyzer.cuda import tokens
from analyzer.cuda.expansion import Feature, Item, Lookup, TooLongError, Unknown, expand

_INTEGER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9]\d*))"
    r"(?P<suffix>[uUlLzZ]*)\Z"
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11}
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_, "^": operator.xor, "&": operator.and_, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
    "<<": operator.lshift, ">>": operator.rshift, "+": operator.add, "-": operator.sub, "*": operator.mul,
}  # fmt: skip
_LOGICAL = frozenset({"||", "&&", "==", "!=", "<", ">", "<=", ">="})


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of the widest type; arithmetic wraps at 64 bits."""

    value: int
    unsigned: bool = False


Value = Number | Unknown


class _MalformedError(Exception):
    """The condition is no expression; compilers refuse it."""


def evaluate(condition: Sequence[str], lookup: Lookup, feature: Feature) -> bool | Unknown:
    """Whether the condition holds; as ``number``."""
    value = number(condition, lookup, feature)
    return value if isinstance(value, Unknown) else value != 0


def number(condition: Sequence[str], lookup: Lookup, feature: Feature) -> int | Unknown:
    """The value of the condition.

    Unknown where an unknown name decides, and where the condition is malformed (compilers stop there).
    Unknown parts that decide nothing are harmless: ``0 && X`` is false (Kleene's logic).
    """
    try:
        items = [t for t in expand(condition, lookup, feature) if t != " "]
        value = _Parser(items).whole()
    except _MalformedError as error:
        return Unknown(f"malformed condition: {error}")
    except (TooLongError, RecursionError):
        return Unknown("condition is too large to expand")
    return value if isinstance(value, Unknown) else value.value


class _Parser:
    """Precedence climbing over expanded tokens."""

    def __init__(self, items: list[Item]) -> None:
        self._items = items
        self._at = 0

    def whole(self) -> Value:
        value = self._comma()
        if self._at < len(self._items):
            raise _MalformedError(f"unexpected {self._items[self._at]!r}")
        return value

    def _peek(self) -> Item | None:
        if self._at >= len(self._items):
            return None
        item = self._items[self._at]
        return tokens.WORDS.get(item, item) if isinstance(item, str) else item

    def _take(self, expected: str) -> None:
        if self._peek() != expected:
            raise _MalformedError(f"missing {expected!r}")
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
        if isinstance(chosen, Number) and isinstance(other, Number):
            unsigned = chosen.unsigned or other.unsigned  # the common type of both, whichever is taken
            chosen, other = _wrap(chosen.value, unsigned), _wrap(other.value, unsigned)
        if isinstance(test, Unknown):
            return chosen if chosen == other else test
        return chosen if test.value else other

    def _binary(self, least: int) -> Value:
        left = self._unary()
        while True:
            sign = self._peek()
            rank = _PRECEDENCE.get(sign, 0) if isinstance(sign, str) else 0
            if rank < least:
                return left
            self._at += 1
            left = _apply(str(sign), left, self._binary(rank + 1))

    def _unary(self) -> Value:
        item = self._peek()
        if item is None:
            raise _MalformedError("it ends early")
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
    raise _MalformedError(f"unexpected {item!r}")


def _wrap(value: int, unsigned: bool) -> Number:
    value &= (1 << 64) - 1
    if not unsigned and value >> 63:
        value -= 1 << 64
    return Number(value, unsigned)


def _prefix(sign: str, operand: Value) -> Value:
    if isinstance(operand, Unknown):
        return operand
    if sign == "!":
        return Number(int(not operand.value))
    value = {"-": -operand.value, "+": operand.value, "~": ~operand.value}[sign]
    return _wrap(value, operand.unsigned)


def _apply(sign: str, left: Value, right: Value) -> Value:
    if sign in ("&&", "||"):
        return _connect(sign, left, right)
    if isinstance(left, Unknown):
        return left
    if isinstance(right, Unknown):
        return right
    unsigned = left.unsigned or right.unsigned
    if sign in ("<<", ">>"):
        unsigned = left.unsigned
        a, b = left.value, right.value
        if b < 0 and not right.unsigned:
            sign, b = (">>", -b) if sign == "<<" else ("<<", -b)
        b = min(b, 64)
    else:
        a, b = _wrap(left.value, unsigned).value, _wrap(right.value, unsigned).value
    result = _arithmetic(sign, a, b)
    if isinstance(result, Unknown):
        return result
    return Number(result) if sign in _LOGICAL else _wrap(result, unsigned)


def _connect(sign: str, left: Value, right: Value) -> Value:
    """Kleene's ``and`` and ``or``: one deciding operand is enough, on either side."""
    decisive = sign == "||"
    unknown: Unknown | None = None
    for operand in (left, right):
        if isinstance(operand, Unknown):
            unknown = unknown or operand
        elif bool(operand.value) == decisive:
            return Number(int(decisive))
    return unknown or Number(int(not decisive))


def _arithmetic(sign: str, a: int, b: int) -> int | Unknown:
    if sign in ("/", "%"):
        if b == 0:
            return Unknown("division by zero")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # C++ rounds towards zero
        return quotient if sign == "/" else a - b * quotient
    return int(_OPERATIONS[sign](a, b))
