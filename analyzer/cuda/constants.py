"""Constants of C++ that stand for an answer about the architecture: ``constexpr`` variables, traits, macros.

What a file declares is a fact about its text; what a name stands for is worked out for one pass of the
compiler. Nothing is known of a name that has no value, or several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analyzer.cuda import tokens
from analyzer.cuda.directives import Macro
from analyzer.cuda.expansion import Unknown
from analyzer.cuda.expressions import number
from analyzer.cuda.source import Source

#: What may stand before a constant or a trait.
_TEMPLATE = re.compile(r"\btemplate\s*<([^<>]*)>\s*(?:\b(?:inline|static)\s+)*")
# Both begin with a literal: the regular expression engine then skips to it.
_VARIABLE = re.compile(
    r"constexpr(?<=\bconstexpr)\s+(?P<type>[\w:\s]+?)\s(?P<name>[A-Za-z_]\w*)"
    r"\s*(?:=(?!=)\s*(?P<value>[^;{}]+)|\{(?P<braced>[^;{}]*)\})\s*;"
)
_TRAIT = re.compile(
    r"struct(?<=\bstruct)\s+(?P<name>[A-Za-z_]\w*)\s*(?:final\s*)?:\s*(?:public\s+)?(?:::)?(?:\w+::)*"
    r"(?:bool_constant\s*<|integral_constant\s*<\s*\w+\s*,)(?P<value>[^{;]*)>\s*\{"
)
#: How deep constants are followed through constants.
_DEPTH = 12
_UNKNOWN = Unknown("not known")
#: Stands in an expression for what is not known.
_ANYTHING = "_"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant of a file, with the tokens of its value; ``parameters`` are those of its template.

    ``[start, end)`` are the offsets of the value in the file, ``line`` is where the name stands.
    """

    name: str
    parameters: tuple[str, ...] | None
    value: tuple[str, ...]
    truth: bool
    line: int
    start: int
    end: int


def constants(source: Source) -> tuple[Constant, ...]:
    """What a file declares, in whatever branch."""
    code = source.whole.code
    found = [_constant(source, match, False) for match in _VARIABLE.finditer(code)]
    if "_constant" in code:  # told fast: most files have none
        found += (_constant(source, match, True) for match in _TRAIT.finditer(code))
    return tuple(found)


def _constant(source: Source, match: re.Match[str], trait: bool) -> Constant:
    held = "value" if trait or match["value"] is not None else "braced"
    parameters = _parameters(source.whole.code, match.start())
    names = None if parameters is None else tuple(_parameter(text) for text in parameters.split(","))
    truth = not trait and match["type"].split()[-1:] == ["bool"]
    line = source.line(match.start("name"))
    text = source.text[match.start(held) : match.end(held)]
    value = tuple(token for token in tokens.split(text) if token != " ")
    return Constant(match["name"], names, value, truth, line, match.start(held), match.end(held))


def _parameters(code: str, at: int) -> str | None:
    """The parameters of the template whose declaration begins at an offset; None if it is none."""
    begin = code.rfind("template", 0, at)
    match = _TEMPLATE.fullmatch(code, begin, at) if begin >= 0 else None
    return match[1] if match is not None else None


def _parameter(text: str) -> str:
    """The name of a template's parameter: the last word before its default."""
    words = re.findall(r"\w+", text.partition("=")[0])
    return words[-1] if words else ""


class Values:
    """What names stand for in one pass: by the constants and macros that it compiles."""

    def __init__(self, declared: Iterable[Constant], macros: Mapping[str, Macro]) -> None:
        self._declared: dict[str, list[Constant]] = {}
        for constant in declared:
            self._declared.setdefault(constant.name, []).append(constant)
        self._macros = macros
        self._bound: list[Mapping[str, int]] = []

    def of(self, source: Sequence[str]) -> int | Unknown:
        """The value of an expression; Unknown where a part decides that is not known."""
        if len(self._bound) > _DEPTH:
            return _UNKNOWN
        return number(tuple(self._replaced(self._expanded(source))), self._lookup, lambda _, __: _UNKNOWN)

    def _expanded(self, source: Sequence[str]) -> list[str]:
        """The tokens; macros without parameters are replaced, so that the names in them are seen."""
        found: list[str] = []
        for token in source:
            macro = self._macros.get(token)
            if (
                macro is None
                or macro.parameters is not None
                or token in (self._bound[-1] if self._bound else ())
            ):
                found.append(token)
            else:
                found += ["(", *(part for part in macro.body if part != " "), ")"] if macro.body else []
        return found if found == list(source) or len(found) > 500 else self._expanded(found)

    def _replaced(self, source: Sequence[str]) -> Iterable[str]:
        at = 0
        while at < len(source):
            if not tokens.is_name(source[at]) or source[at] in ("true", "false", *tokens.WORDS):
                yield source[at]
                at += 1
                continue
            path = [source[at]]
            at += 1
            arguments: list[list[str]] | None = None
            while at < len(source):
                if source[at] == "::" and at + 1 < len(source):
                    path.append(source[at + 1])
                    at += 2
                elif source[at] == "<" and arguments is None and self._is_template(path[-1]):
                    arguments, at = _arguments(source, at)
                else:
                    break
            if at < len(source) and source[at] in ("(", "{", "<") and not self._declared.get(path[-1]):
                at = _past(source, at)  # a call or a type that is not known
            value = self._named([name for name in path if name != "value"], arguments)
            if isinstance(value, Unknown):
                yield _ANYTHING
            else:
                yield from (str(value),) if value >= 0 else ("(", "-", str(-value), ")")

    def _is_template(self, name: str) -> bool:
        return any(constant.parameters is not None for constant in self._declared.get(name, ()))

    def _named(self, path: Sequence[str], arguments: list[list[str]] | None) -> int | Unknown:
        if not path:
            return _UNKNOWN
        name = path[-1]
        if len(path) == 1 and self._bound and name in self._bound[-1]:
            return self._bound[-1][name]
        given = [self.of(argument) for argument in arguments or ()]
        found: set[int] = set()
        for constant in self._declared.get(name, ()):
            parameters = constant.parameters or ()
            if len(parameters) != len(given):
                return _UNKNOWN
            bound = {
                key: value for key, value in zip(parameters, given, strict=True) if isinstance(value, int)
            }
            if len(bound) != len(given):
                return _UNKNOWN
            self._bound.append(bound)
            value = self.of(constant.value)
            self._bound.pop()
            if isinstance(value, Unknown):
                return value
            found.add(value)
        return found.pop() if len(found) == 1 else _UNKNOWN

    def _lookup(self, name: str) -> Macro | Unknown | None:
        return None if name in ("true", "false") else _UNKNOWN


def _arguments(source: Sequence[str], at: int) -> tuple[list[list[str]], int]:
    """Template arguments from the ``<`` at an index, and the index after the ``>``."""
    found: list[list[str]] = [[]]
    depth = 0
    for index in range(at + 1, len(source)):
        token = source[index]
        if token == ">" and depth == 0:
            return found, index + 1
        if token == "," and depth == 0:
            found.append([])
            continue
        depth += {"(": 1, ")": -1, "<": 1, ">": -1}.get(token, 0)
        found[-1].append(token)
    return found, len(source)


def _past(source: Sequence[str], at: int) -> int:
    """The index after the bracket that closes the one at an index; after this one if none does."""
    closing = {"(": ")", "{": "}", "<": ">"}[source[at]]
    depth = 0
    for index in range(at, len(source)):
        depth += {source[at]: 1, closing: -1}.get(source[index], 0)
        if depth == 0:
            return _past(source, index + 1) if _calls(source, index + 1) else index + 1
    return at + 1


def _calls(source: Sequence[str], at: int) -> bool:
    return at < len(source) and source[at] in ("(", "{")
