"""The preprocessor directives of one file, as facts: a pure function of its bytes.

The lexer works on whole lines as compilers do (C++ [lex.phases]): continuations are joined first, then
comments, strings, character constants and raw strings are told apart, so that a ``#if`` inside one of
them is none. Branches that split a brace are no matter here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from analyzer.cuda import tokens

#: Directives that open, continue and close a conditional group.
OPENING = frozenset({"if", "ifdef", "ifndef"})
CONTINUING = frozenset({"elif", "elifdef", "elifndef", "else"})
CONDITIONAL = OPENING | CONTINUING | {"endif"}

_CONTINUATION = re.compile(r"\\[ \t\f\v]*\r?\n")
# Every alternative begins with a plain character, which lets the engine skip all others at once.
_LEXEME = re.compile(
    r"""
    \n(?=[ \t\f\v\r]*(?:\#|%:|/\*))(?P<lead>(?:[ \t\f\v\r]|/\*(?:.*?)\*/)*)(?:\#|%:)(?P<body>
        (?:[^\n/"']+|//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|["'/])*)
  | //[^\n]*
  | /\*[^*]*\*+(?:[^/*][^*]*\*+)*/
  | /\*.*\Z                                                                     # never closed
  | "(?:(?<=\bR")|(?<=\bu8R")|(?<=\b[uUL]R"))(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
  | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
  | '(?<=[0-9a-fA-F]')(?=[0-9a-fA-F])(?<!u8')                                   # between digits
  | '[^'\\\n]*(?:\\.[^'\\\n]*)*'
    """,
    re.VERBOSE | re.DOTALL,
)
# A line that begins with a directive's mark; a mark that does not begin its line.
_HASH = re.compile(r"\n[ \t\f\v\r]*(?:\#|%:)")
_AFTER_COMMENT = re.compile(r"\*/[ \t\f\v\r]*(?:\#|%:)")
_IN_DIRECTIVE = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.VERBOSE | re.DOTALL,
)
_HEAD = re.compile(r"\s*([A-Za-z_]\w*)?\s*(.*)", re.DOTALL)
_DEFINE = re.compile(r"([A-Za-z_$][\w$]*)(?:\(([^()]*)\))?(.*)", re.DOTALL)
_INCLUDE = re.compile(r"""(?:"([^"]+)"|<([^>]+)>)\s*\Z""")
_NOT_DEFINED = re.compile(r"!\s*defined\s*(?:\(\s*(\w+)\s*\)|(\w+))\Z")


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro definition.

    ``parameters`` is None for an object-like macro; a trailing ``...`` stands for ``__VA_ARGS__``. ``body``
    holds tokens, with ``" "`` for white space.
    """

    name: str
    parameters: tuple[str, ...] | None
    body: tuple[str, ...]


class Directive(NamedTuple):
    """One directive.

    ``text`` is what follows the keyword, without comments, white space collapsed. Lines and columns
    start at 1; ``column`` is that of the ``#``. ``following`` is, for a conditional, the index of the
    next directive of its group (the number of directives where the group is never closed), else -1. An
    ``#else``, ``#elif`` or ``#endif`` without a group has a kind of its own (``stray else``).
    """

    kind: str
    line: int
    end_line: int
    column: int
    text: str
    following: int = -1
    condition: tuple[str, ...] = ()
    """Tokens to evaluate: ``#ifdef X`` is ``defined ( X )``; for ``#include``, those of a computed name."""
    macro: Macro | None = None
    """What a ``#define`` defines; for ``#undef`` only the name counts."""
    header: str | None = None
    """The name in an ``#include`` that spells it out."""
    quoted: bool = False
    names: tuple[tuple[str, int], ...] = ()
    """For a conditional: macros defined or undefined somewhere in its branch, with their lines."""


@dataclass(frozen=True, slots=True)
class FileDirectives:
    """All directives of one file, in order, and what a walk over them needs to know.

    ``guard`` is the macro whose definition makes a second inclusion empty; ``unbalanced`` the lines of
    directives without their counterpart.
    """

    lines: int
    directives: tuple[Directive, ...]
    guard: str | None
    once: bool
    unbalanced: tuple[int, ...] = ()

    @property
    def conditional(self) -> bool:
        """Whether any lines hang on a condition, beside all of them on the guard."""
        groups = sum(directive.kind in OPENING for directive in self.directives)
        return groups > (self.guard is not None)


class _Lines:
    """Physical lines of positions in text whose continuations were joined."""

    def __init__(self, text: str) -> None:
        self.joined = text
        self._cuts: list[int] = []
        if "\\" in text:
            pieces, last, removed = [], 0, 0
            for match in _CONTINUATION.finditer(text):
                pieces.append(text[last : match.start()])
                self._cuts.append(match.start() - removed)
                removed += match.end() - match.start()
                last = match.end()
            pieces.append(text[last:])
            self.joined = "".join(pieces)
        self._starts = list(accumulate([len(line) + 1 for line in self.joined.split("\n")], initial=0))

    def line(self, position: int) -> int:
        """The physical line of a position, from 1 (the joined text starts with an extra line end)."""
        return bisect_right(self._starts, position) - 1 + bisect_right(self._cuts, position)

    def column(self, position: int) -> int:
        """The column of a position, from 1, counted from its physical line's start."""
        start = self._starts[bisect_right(self._starts, position) - 1]
        cut = bisect_right(self._cuts, position) - 1
        if cut >= 0:
            start = max(start, self._cuts[cut])
        return position - start + 1


def facts(data: bytes) -> FileDirectives:
    """The directives of a file with these bytes.

    Bytes that are no UTF-8 are kept as they are; a byte order mark is skipped. Never fails: what a
    compiler would refuse (an ``#endif`` too many) is listed in ``unbalanced``.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    count = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    if "#" not in text and "%:" not in text:
        return FileDirectives(count, (), None, False)
    lines = _Lines("\n" + text)
    found = [_directive(match, lines) for match in _matches(lines.joined)]
    directives, unbalanced = _nest(found)
    once = any(d.kind == "pragma" and d.text.split()[:1] == ["once"] for d in directives)
    return FileDirectives(count, directives, _guard(directives), once, unbalanced)


def _matches(text: str) -> list[re.Match[str]]:
    """The matches of directives in joined text."""
    if 'R"' in text or _AFTER_COMMENT.search(text):
        return _lexed(text)
    found: list[re.Match[str]] = []
    done = 0
    for line in _HASH.finditer(text):
        at = line.start()
        if at < done:
            continue  # inside a comment that began in the directive before
        opened = text.rfind("/*", done, at)
        if opened >= 0 and text.find("*/", opened + 2, at) < 0:
            return _lexed(text)  # inside a comment, or after something that looks like one
        match = _LEXEME.match(text, at)
        assert match is not None  # the pattern for directives matches any text after the mark
        found.append(match)
        done = match.end()
    return found


def _lexed(text: str) -> list[re.Match[str]]:
    """The same by telling apart all comments and strings of the text, which takes longer."""
    return [match for match in _LEXEME.finditer(text) if match.group("body") is not None]


def _directive(match: re.Match[str], lines: _Lines) -> Directive:
    body = _IN_DIRECTIVE.sub(lambda m: " " if m.group("comment") else m.group(), match.group("body"))
    head = _HEAD.match(body)
    assert head is not None  # the pattern matches any text
    kind, rest = head.group(1) or "", head.group(2).strip()
    start = match.end("lead")
    place = (lines.line(start), lines.line(max(start, match.end() - 1)), lines.column(start))
    text = " ".join(rest.split())
    if kind in ("define", "undef"):
        return Directive(kind, *place, text, macro=_macro(rest))
    if kind in ("include", "include_next", "import"):
        name = _INCLUDE.match(rest)
        if name:
            header = name.group(1) or name.group(2)
            return Directive(kind, *place, text, header=header.strip(), quoted=name.group(1) is not None)
        return Directive(kind, *place, text, condition=tokens.split(rest))
    return Directive(kind, *place, text, condition=_condition(kind, rest))


def _condition(kind: str, rest: str) -> tuple[str, ...]:
    if kind in ("if", "elif"):
        return tuple(t for t in tokens.split(rest) if t != " ")
    if kind in ("ifdef", "elifdef", "ifndef", "elifndef"):
        name = next(iter(tokens.split(rest)), "")
        test = ("defined", "(", name, ")")
        return test if kind.endswith("ifdef") or kind == "elifdef" else ("!", *test)
    return ()


def _macro(rest: str) -> Macro | None:
    parts = _DEFINE.match(rest)
    if parts is None:
        return None
    name, parameters, body = parts.groups()
    names = None if parameters is None else tuple(p.strip() for p in parameters.split(",") if p.strip())
    return Macro(name, names, tokens.split(body))


def _nest(found: list[Directive]) -> tuple[tuple[Directive, ...], tuple[int, ...]]:
    """Tie the directives of each conditional group together, and note what their branches define."""
    following: dict[int, int] = {}
    names: dict[int, dict[str, int]] = {}
    open_branches: list[int] = []
    stray: list[int] = []
    for index, directive in enumerate(found):
        kind = directive.kind
        if kind in CONTINUING or kind == "endif":
            if not open_branches:
                stray.append(index)
                continue
            following[open_branches.pop()] = index
        if kind in OPENING or kind in CONTINUING:
            open_branches.append(index)
            names[index] = {}
        elif directive.macro is not None:
            for branch in open_branches:
                names[branch].setdefault(directive.macro.name, directive.line)
    for index in stray:
        found[index] = found[index]._replace(kind=f"stray {found[index].kind}")
    for index in names:
        end = following.get(index, len(found))
        found[index] = found[index]._replace(following=end, names=tuple(names[index].items()))
    unbalanced = sorted(found[index].line for index in (*stray, *open_branches))
    return tuple(found), tuple(unbalanced)


def _guard(directives: tuple[Directive, ...]) -> str | None:
    """The include guard: the first group asks for it and spans all directives that can do anything."""
    own = [(i, d) for i, d in enumerate(directives) if d.kind != "pragma"]
    if len(own) < 3 or own[0][1].kind not in ("if", "ifndef"):
        return None
    first = own[0][1]
    if first.following != own[-1][0] or directives[first.following].kind != "endif":
        return None
    if first.kind == "ifndef":
        return first.condition[3] or None
    asked = _NOT_DEFINED.match(first.text)
    return (asked.group(1) or asked.group(2)) if asked else None
