"""C++ source text made ready for reading: comments, directives and inactive lines blanked at equal length."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

Lines = tuple[int, int]
"""First and last line of a run of lines, both included; empty where the first comes after the last."""

# Comments, raw strings, strings and characters (ISO C++, [lex.phases] 3). A quote between digits separates
# them ([lex.icon]); a stray quote that does not close on its line (text under #error) opens nothing. Every
# alternative begins with a literal: the regular expression engine then skips to these characters at once.
_LEXEME = re.compile(
    r"//[^\n]*(?:(?<=\\)\n[^\n]*)*"
    r"|/\*[^*]*(?:\*+(?!/)[^*]*)*(?:\*+/|\Z)"
    r'|"(?<=R")([^()\\\s]{0,16})\(.*?\)\1"'
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    r"|'(?<![0-9a-fA-F]')[^'\\\n]*(?:\\.[^'\\\n]*)*'",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*([A-Za-z_]*)(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE | re.DOTALL)
_MACRO = re.compile(r"\s*#\s*define\s+([A-Za-z_]\w*)(\([^()]*\))?(.*)", re.DOTALL)
_TYPE_PARAMETER = re.compile(r"\b(?:class|typename)\s+(\w+)\s*[,>=]")
_DECLARED = re.compile(r"\b(\w+)\s*(?:&&?\s*|\s)(\w+)\s*;")
_CALLED = re.compile(r"\b(\w+)\s*\(")
_CONDITIONAL = {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"}


@dataclass(frozen=True, slots=True)
class Macro:
    """One ``#define``: its parameters (None for an object-like macro) and its replacement."""

    name: str
    parameters: tuple[str, ...] | None
    body: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """One directive of an ``#if`` chain."""

    keyword: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Chain:
    """An ``#if`` with its alternatives: each branch's directive, in order, and the line of ``#endif``."""

    branches: tuple[Conditional, ...]
    end: int

    def lines(self, index: int) -> Lines:
        """The lines under branch ``index``; empty (first after last) where none stand under it."""
        last = self.branches[index + 1].line if index + 1 < len(self.branches) else self.end
        return self.branches[index].end_line + 1, last - 1


@dataclass(frozen=True)
class Source:
    """One file without its comments; ``code`` has the contents of strings blanked too.

    Offsets are positions in ``text``, which equal the byte offsets of the file (bytes are read as Latin-1,
    so that nothing moves); lines start at 1.
    """

    raw: str
    text: str
    code: str

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The offset of each line's first character."""
        return (0, *(match.end() for match in re.finditer("\n", self.text)))

    @cached_property
    def whole(self) -> ActiveText:
        """The text with no lines compiled out."""
        return self.active()

    @cached_property
    def called(self) -> frozenset[str]:
        """The names before a parenthesis, whether active or not."""
        return frozenset(_CALLED.findall(self.code))

    @cached_property
    def directives(self) -> tuple[tuple[str, int, int], ...]:
        """Keyword and range of offsets of every directive, continuation lines included."""
        return tuple((m[1], m.start(), m.end()) for m in _DIRECTIVE.finditer(self.code))

    @cached_property
    def macros(self) -> tuple[Macro, ...]:
        """All ``#define`` directives, whether active or not."""
        found = []
        for keyword, start, end in self.directives:
            match = _MACRO.match(self.text[start:end].replace("\\\n", " \n")) if keyword == "define" else None
            if match is not None:
                names = None if match[2] is None else _parameters(match[2])
                last = self.line(max(start, end - 1))
                found.append(Macro(match[1], names, match[3].strip(), self.line(start), last))
        return tuple(found)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """The ``#if`` chains, inner before outer. A chain that is never closed ends after the last line."""
        found: list[Chain] = []
        stack: list[list[Conditional]] = []
        for keyword, start, end in self.directives:
            if keyword not in _CONDITIONAL:
                continue
            here = Conditional(keyword, self.line(start), self.line(max(start, end - 1)))
            if keyword.startswith("if"):
                stack.append([here])
            elif not stack:
                continue
            elif keyword == "endif":
                found.append(Chain(tuple(stack.pop()), here.line))
            else:
                stack[-1].append(here)
        found.extend(Chain(tuple(rest), len(self.starts) + 1) for rest in reversed(stack))
        return tuple(found)

    def chain(self, line: int) -> tuple[Chain, int] | None:
        """The chain that has a branch's directive at this line, and the branch's index in it."""
        return self._branches.get(line)

    @cached_property
    def _branches(self) -> dict[int, tuple[Chain, int]]:
        return {b.line: (chain, index) for chain in self.chains for index, b in enumerate(chain.branches)}

    @cached_property
    def directive_lines(self) -> dict[int, str]:
        """The keyword of the directive that begins at a line."""
        return {self.line(start): keyword for keyword, start, _ in self.directives}

    def line(self, offset: int) -> int:
        """The line that holds this offset."""
        return bisect_right(self.starts, offset)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The offsets from the start of line ``first`` to the end of line ``last``."""
        if last < first or first > len(self.starts):
            return 0, 0
        end = self.starts[last] if last < len(self.starts) else len(self.text)
        return self.starts[first - 1], end

    def active(self, inactive: Sequence[Lines] = ()) -> ActiveText:
        """The text that a compiler pass sees: directives and the given runs of lines blanked.

        The runs stand in ascending order and do not overlap.
        """
        spans = [(start, end) for _, start, end in self.directives]
        spans += [self.span(first, last) for first, last in inactive]
        spans.sort()
        return ActiveText(self, _blanked(self.text, spans), _blanked(self.code, spans), tuple(inactive))


@dataclass(frozen=True)
class ActiveText:
    """A file as one compiler pass sees it; offsets and lines are those of the file."""

    source: Source
    text: str
    code: str
    inactive: tuple[Lines, ...]

    def is_active(self, line: int) -> bool:
        """Whether the pass sees this line."""
        at = bisect_right(self._ends, line - 1)
        return at >= len(self.inactive) or self.inactive[at][0] > line

    def sees(self, first: int, last: int) -> bool:
        """Whether the pass sees one of these lines."""
        at = bisect_right(self._ends, first - 1)
        while first <= last and at < len(self.inactive) and self.inactive[at][0] <= first:
            first = self.inactive[at][1] + 1
            at += 1
        return first <= last

    @cached_property
    def _ends(self) -> list[int]:
        return [last for _, last in self.inactive]

    @cached_property
    def given(self) -> frozenset[str]:
        """What is declared with a type that a template before it has as a parameter."""
        types: dict[str, int] = {}
        for match in _TYPE_PARAMETER.finditer(self.code):
            types.setdefault(match[1], match.end())
        declared: dict[str, tuple[str, int]] = {}
        for match in _DECLARED.finditer(self.code) if types else ():
            declared.setdefault(match[2], (match[1], match.start()))
        return frozenset(name for name, (kind, at) in declared.items() if kind in types and types[kind] <= at)

    def macros(self) -> tuple[Macro, ...]:
        """The ``#define`` directives in active lines."""
        return tuple(m for m in self.source.macros if self.is_active(m.line))


def _parameters(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text[1:-1].split(",") if name.strip())


def _blank(text: str) -> str:
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """``text`` with the sorted, possibly nested spans replaced by spaces; line ends stay."""
    pieces, done = [], 0
    for start, end in spans:
        if end <= done:
            continue
        start = max(start, done)
        pieces += [text[done:start], _blank(text[start:end])]
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def read(data: bytes) -> Source:
    """The source text of a file's bytes. Never fails: bytes that are no UTF-8 stay single characters."""
    raw = data.decode("latin-1").replace("\r\n", " \n").replace("\r", " ")
    text, code, done = [], [], 0
    for match in _LEXEME.finditer(raw):
        start, end = match.span()
        lexeme = match[0]
        text.append(raw[done:start])
        code.append(raw[done:start])
        if lexeme[0] == "/":
            text.append(_blank(lexeme))
            code.append(text[-1])
        else:
            text.append(lexeme)
            code.append(lexeme[0] + _blank(lexeme[1:-1]) + lexeme[-1])
        done = end
    text.append(raw[done:])
    code.append(raw[done:])
    return Source(raw, "".join(text), "".join(code))


_BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}


def closing(code: str, at: int, end: int | None = None, opening: str = "(") -> int:
    """The offset of the bracket that closes the ``opening`` one before ``at``; of the end, if none does.

    ``code`` is C++ with the contents of strings and comments blanked.
    """
    end = len(code) if end is None else end
    depth = 1
    for match in _BRACKETS[opening].finditer(code, at, end):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return match.start()
    return end


def shown(text: str) -> str:
    """A piece of source text as a reader sees it: decoded as UTF-8, white space joined."""
    return " ".join(text.encode("latin-1").decode("utf-8", "replace").split())
