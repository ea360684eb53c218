"""Requests of dynamic shared memory in host code whose size is a number that the file alone decides.

Read are the calls that raise a kernel's limit (``queries/resources.toml``). The size is followed through
variables that are set once and through constants and macros of the file; where a template argument, a
parameter or a device answer has a part in it, or a condition on more than the function's own parameters
stands around the call, nothing is claimed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from analyzer import data
from analyzer.cuda import tokens
from analyzer.cuda.functions import Definition, outline, split_arguments
from analyzer.cuda.source import Source, closing, read

#: Names that are followed through one another at most.
_DEEPEST = 12
#: ``static int const NAME = expression;`` or with braces; and what changes a name or lends its address.
_INITIAL = r"(?<![\w.>&*])((?:[A-Za-z_][\w:]*\s+)+){name}\s*(?:=|\{{)([^;{{}}]+)\}}?\s*;"
_ASSIGNED = (
    r"(?<![\w.>]){name}\s*(?:[-+*/%|&^]|<<|>>)?=(?!=)|(?:\+\+|--)\s*{name}\b"
    r"|(?<![\w.>]){name}\s*(?:\+\+|--)|&\s*{name}\b(?!\s*&)"
)
_NUMBER = re.compile(r"(?:0[xX][\dA-Fa-f']+|\d[\d']*)[uUlLzZ]*\Z")
_CAST = re.compile(r"static_cast\s*<[^<>]*>\s*(?=\()")
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*([^()]+?)\s*\)")
_CONTROL = re.compile(r"\b(if|else|switch|case|while|for|do)\b")


@dataclass(frozen=True, slots=True)
class Place:
    """A statement: its lines and column, and what it says."""

    line: int
    end_line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """Bytes of dynamic shared memory that a kernel is to have.

    ``decides`` is where the number comes from: the largest constant that all of it is multiplied with, else
    the expression. ``steps`` lead from there to the call.
    """

    size: int
    function: str
    decides: Place
    steps: tuple[Place, ...]


@cache
def _calls() -> dict[str, Mapping[str, Any]]:
    return {row["call"]: row for row in data.table("resources")["request"]}


@cache
def _sizes() -> dict[str, int]:
    table = data.table("resources")["sizeof"]
    return {name: int(size) for size, names in table.items() if size.isdigit() for name in names}


def facts(content: bytes) -> tuple[Request, ...]:
    """The requests of a file whose size is known, by line; a pure function of its bytes."""
    if not any(row["attribute"].encode() in content for row in _calls().values()):
        return ()
    source = read(content)
    text = source.active()
    functions = [found for found in outline(text).functions if found.body[1] > found.body[0]]
    found: dict[tuple[str, Place], Request] = {}
    for function in functions:
        first, last = function.body
        reader = Reader(source, text.code, function)
        for start, expression in _asked(text.code[first:last]):
            request = reader.request(first + start, expression)
            if request is not None:
                found.setdefault((request.function, request.decides), request)
    return tuple(sorted(found.values(), key=lambda request: (request.decides.line, request.decides.column)))


def _asked(body: str) -> Iterator[tuple[int, str]]:
    """Offset of each request in a function's body, and the expression of its bytes."""
    for match in re.finditer(rf"\b({'|'.join(map(re.escape, _calls()))})\s*\(", body):
        row = _calls()[match.group(1)]
        end = closing(body, match.end())
        arguments = [part.strip() for part in split_arguments(body[match.end() : end])]
        # Counted from the attribute: template arguments of the kernel before it have commas of their own.
        names = [argument.rpartition("::")[2] for argument in arguments]
        if row["attribute"] in names[:-1]:
            yield match.start(), arguments[names.index(row["attribute"]) + 1]


class Reader:
    """Follows the names in one function."""

    def __init__(self, source: Source, code: str, function: Definition) -> None:
        self.source, self.code, self.function = source, code, function
        first, last = function.body
        self.body = code[first:last]
        bodies: dict[str, set[str]] = {}
        for macro in source.macros:
            bodies.setdefault(macro.name, set()).add(macro.body if macro.parameters is None else "(")
        self.macros = {name: each.pop() for name, each in bodies.items() if len(each) == 1}
        given = code[function.parameters : first] if function.parameters else ""
        self.parameters = set(re.findall(r"([A-Za-z_]\w*)\s*(?:=[^,]*)?[,)]", given))

    def request(self, at: int, expression: str) -> Request | None:
        """The request at an offset of the file, if its size is known and nothing unknown stands around it."""
        if not self._surely(at):
            return None
        steps: list[Place] = []
        used: dict[str, tuple[int, Place | None]] = {}
        size = self._value(expression, at, used, steps, 0)
        if size is None or size <= 0:
            return None
        call = self._place(at, self.code.find(";", at) + 1 or len(self.code))
        where = self._decides(expression, at, used, steps) or (steps[0] if steps else call)
        ordered = dict.fromkeys([where, *steps, call])
        return Request(size, self.function.qualified, where, tuple(ordered))

    def _surely(self, at: int) -> bool:
        """Whether every condition around an offset is on the function's parameters and constants alone."""
        first = self.function.body[0]
        inside = self.code[first:at]
        headers: list[str] = []
        begin = 0
        for match in re.finditer(r"[{};]", inside):
            if match.group() == "{":
                headers.append(inside[begin : match.start()])
            elif match.group() == "}" and headers:
                headers.pop()
            begin = match.end()
        headers.append(inside[begin:])  # a condition without braces
        for header in headers:
            if not _CONTROL.search(header):
                continue
            if re.search(r"\b(?:else|case|while|for|do|switch)\b", header):
                return False
            condition = header[header.find("(") :]
            names = [name for name in tokens.names(tokens.split(condition)) if name not in ("true", "false")]
            if any(name not in self.parameters and self._number(name) is None for name in names):
                return False
        return True

    def _number(self, name: str) -> int | None:
        return self._value(name, self.function.body[1], {}, [], 0)

    def _value(
        self,
        expression: str,
        at: int,
        used: dict[str, tuple[int, Place | None]],
        steps: list[Place],
        depth: int,
    ) -> int | None:
        """The number that an expression is; names that it goes through are noted."""
        if depth > _DEEPEST:
            return None
        text = _CAST.sub("", expression)
        unknown: list[str] = []

        def size(match: re.Match[str]) -> str:
            known = _sizes().get(" ".join(match.group(1).split()))
            if known is None:
                unknown.append(match.group(1))
            return str(known)

        text = _SIZEOF.sub(size, text)
        if unknown:
            return None
        parts: list[str] = []
        for token in tokens.split(text):
            if tokens.is_name(token):
                value = self._named(token, at, used, steps, depth)
                if value is None:
                    return None
                parts.append(f"({value})")
            elif _NUMBER.match(token):
                parts.append(str(_integer(token)))
            elif token in ("+", "-", "*", "/", "%", "(", ")", "<<", ">>", " "):
                parts.append("//" if token == "/" else token)
            else:
                return None
        return _evaluated("".join(parts).strip())

    def _named(
        self,
        name: str,
        at: int,
        used: dict[str, tuple[int, Place | None]],
        steps: list[Place],
        depth: int,
    ) -> int | None:
        if name in used:
            return used[name][0]
        if name in self.parameters or re.search(rf"\b{name}\b", self.function.template):
            return None
        found = self.initial(name)
        place: Place | None = None
        if found is not None:
            expression, place = found
        elif name in self.macros:
            expression = self.macros[name]
        else:
            return None
        value = self._value(expression, at, used, steps, depth + 1)
        if value is not None:
            used[name] = (value, place)
            if place is not None:
                steps.append(place)
        return value

    def initial(self, name: str) -> tuple[str, Place] | None:
        """The one initialiser of a name, in the function or, for a constant, outside of functions."""
        first, _ = self.function.body
        pattern = re.compile(_INITIAL.format(name=re.escape(name)))
        local = list(pattern.finditer(self.body))
        if local:
            changes = re.findall(_ASSIGNED.format(name=re.escape(name)), self.body)
            if len(local) != 1 or len(changes) > ("{" not in local[0].group().partition(name)[2][:3]):
                return None
            match, shift = local[0], first
        else:
            outside = [m for m in pattern.finditer(self.code) if re.search(r"\bconst(?:expr)?\b", m.group(1))]
            if len(outside) != 1:
                return None
            match, shift = outside[0], 0
        return match.group(2), self._place(shift + match.start(), shift + match.end())

    def _place(self, start: int, end: int) -> Place:
        text = self.source.text[start:end]
        start += len(text) - len(text.lstrip())
        line = self.source.line(start)
        column = start - self.source.starts[line - 1] + 1
        return Place(line, self.source.line(max(start, end - 1)), column, " ".join(text.split()))

    def _decides(
        self,
        expression: str,
        at: int,
        used: Mapping[str, tuple[int, Place | None]],
        steps: Sequence[Place],
    ) -> Place | None:
        """The largest plain constant that the whole size is multiplied with."""
        seen: set[str] = set()
        while tokens.is_name(expression.strip()) and expression not in seen:
            seen.add(expression)
            found = self.initial(expression.strip())
            if found is None or _NUMBER.match(found[0].strip()):
                break
            expression = _CAST.sub("", found[0])
        factors = [factor.strip() for factor in _factors(expression)]
        plain = [used[factor] for factor in factors if factor in used and used[factor][1] is not None]
        best = max(plain, key=lambda item: item[0], default=None)
        return best[1] if best is not None else None


def _factors(expression: str) -> Iterator[str]:
    """The factors of a product; the expression itself if it is none."""
    depth, begin = 0, 0
    for match in re.finditer(r"[()*]|(?<=[\w)\s])[-+/%]", expression):
        if match.group() == "(":
            depth += 1
        elif match.group() == ")":
            depth -= 1
        elif depth == 0 and match.group() != "*":
            return  # a sum: no factor of the whole
        elif depth == 0:
            yield expression[begin : match.start()]
            begin = match.end()
    yield expression[begin:]


def _integer(text: str) -> int:
    digits = text.replace("'", "").rstrip("uUlLzZ")
    if digits[:2].lower() == "0x":
        return int(digits, 16)
    return int(digits, 8) if len(digits) > 1 and digits.startswith("0") and digits.isdigit() else int(digits)


def _evaluated(text: str) -> int | None:
    """The value of an expression of numbers, operators and parentheses."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _number(tree.body)


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = _number(node.operand)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _number(node.left), _number(node.right)
    if left is None or right is None:
        return None
    return _applied(node.op, left, right)


def _applied(operator: ast.operator, left: int, right: int) -> int | None:
    if isinstance(operator, ast.Mult):
        return left * right
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if left < 0 or right < 0:
        return None
    if isinstance(operator, ast.FloorDiv):
        return left // right if right else None
    if isinstance(operator, ast.Mod):
        return left % right if right else None
    if isinstance(operator, ast.LShift):
        return left << right if right < 40 else None
    return left >> right if isinstance(operator, ast.RShift) else None
