"""The edit of an ``#if`` or ``#elif`` that takes the target in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from analyzer import archs
from analyzer.cuda import tokens
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.expressions import evaluate
from analyzer.judge.edits.text import NoEditError, Planned, Splice, Text
from analyzer.model import Gate

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(?P<word>elifdef|ifdef|elif|if)\b(?P<condition>(?:\\\r?\n|[^\n])*)")
_ARCH = "__CUDA_ARCH__"
_UPPER = frozenset({"<", "<="})
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

#: A token with the offset at which it begins.
_Token = tuple[str, int]


def edit(gate: Gate, target: str, text: Text) -> Planned:
    """The edit of a guard, at each place where it stands.

    A bound above (``__CUDA_ARCH__ < 1200``) that keeps the target out is dropped; another condition that does
    is widened to name the target.

    Raises:
        NoEditError: the condition cannot be widened so.
    """
    content = text(gate.file)
    if content is None:
        raise NoEditError(f"{gate.file} is not at hand")
    splices: list[Splice] = []
    what = ""
    for line in dict.fromkeys([gate.line, *(use.line for use in gate.uses if use.file == gate.file)]):
        start, condition = _condition(content, gate.file, line)
        found = _widened(condition, target)
        splices += [Splice(gate.file, start + a, start + b, new) for a, b, new in found]
        what = what or _shown(condition, found)
    return Planned(what, tuple(splices))


def _shown(condition: str, found: Sequence[tuple[int, int, str]]) -> str:
    after = condition
    for start, end, new in sorted(found, reverse=True):
        after = after[:start] + new + after[end:]
    before, after = (" ".join(text.replace("\\\n", " ").split()) for text in (condition, after))
    return f"{before} → {after}"


def _condition(content: str, file: str, line: int) -> tuple[int, str]:
    """Offset and text of the condition that stands at a line, without comments."""
    start = 0
    for _ in range(line - 1):
        start = content.find("\n", start) + 1
        if not start:
            raise NoEditError(f"{file} has no line {line}")
    match = _DIRECTIVE.match(content, start)
    if match is None or match["word"] not in ("if", "elif"):
        raise NoEditError(f"{file}:{line} tests whether a macro is defined, not what it is")
    condition = re.split(r"//|/\*", match["condition"])[0].rstrip()
    return match.start("condition"), condition


def _widened(condition: str, target: str) -> list[tuple[int, int, str]]:
    """The replacements in a condition by which it holds for the target."""
    items = list(_tokens(condition))
    number = archs.find(target).number * 10
    terms = [term for term in _conjuncts(items) if _value(term, number) is not True]
    if not terms:
        raise NoEditError("the condition holds for the target as it stands")
    if any(_value(term, number) is None for term in terms):
        raise NoEditError("macros decide that other lines define")
    found = []
    for term in terms:
        start, end = term[0][1], term[-1][1] + len(term[-1][0])
        if _is_upper_bound(term):
            found.append(_dropped(items, term))
        else:
            named = f"{_ARCH} == {number}"
            found.append((start, end, f"({condition[start:end]} || {named})"))
    return found


def _tokens(condition: str) -> Iterator[_Token]:
    at = 0
    for token in tokens.split(condition.replace("\\\n", "  ").replace("\\\r\n", "   ")):
        if token == " ":
            continue
        at = condition.index(token, at)
        yield token, at
        at += len(token)


def _conjuncts(items: Sequence[_Token]) -> Iterator[list[_Token]]:
    """The operands of ``&&`` at the top, seen through parentheses around the whole."""
    items = _bare(items)
    parts: list[list[_Token]] = [[]]
    depth = 0
    for token in items:
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0] in ("||", "?"):
            yield list(items)
            return
        if depth == 0 and token[0] == "&&":
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) == 1:
        yield list(items)
        return
    for part in parts:
        yield from _conjuncts(part)


def _bare(items: Sequence[_Token]) -> Sequence[_Token]:
    while len(items) > 2 and items[0][0] == "(" and _closing(items) == len(items) - 1:
        items = items[1:-1]
    return items


def _closing(items: Sequence[_Token]) -> int:
    depth = 0
    for index, (token, _) in enumerate(items):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0:
            return index
    return -1


def _value(term: Sequence[_Token], number: int) -> bool | None:
    """Whether an operand holds for the target; None where it reads other macros."""
    names = {token for token, _ in term if tokens.is_name(token)} - {"defined"}
    if names - {_ARCH}:
        return None

    def lookup(name: str) -> Unknown | None:
        return None

    written = [str(number) if token == _ARCH else token for token, _ in term]
    if "defined" in written:
        return True if written[0] == "defined" else None
    value = evaluate(tuple(written), lookup, lambda operator, operand: Unknown(operator))
    return value if isinstance(value, bool) else None


def _is_upper_bound(term: Sequence[_Token]) -> bool:
    if len(term) != 3:
        return False
    left, sign, _ = (token for token, _ in term)
    return (sign if left == _ARCH else _MIRROR.get(sign, "")) in _UPPER


def _dropped(items: Sequence[_Token], term: Sequence[_Token]) -> tuple[int, int, str]:
    """The replacement that takes an operand out, with its parentheses and the ``&&`` beside it."""
    first, last = items.index(term[0]), items.index(term[-1])
    while first and items[first - 1][0] == "(" and last + 1 < len(items) and items[last + 1][0] == ")":
        first, last = first - 1, last + 1
    if first and items[first - 1][0] == "&&":
        before = items[first - 2]
        return before[1] + len(before[0]), items[last][1] + len(items[last][0]), ""
    if last + 1 < len(items) and items[last + 1][0] == "&&":
        return items[first][1], items[last + 2][1], ""
    return items[first][1], items[last][1] + len(items[last][0]), "1"
