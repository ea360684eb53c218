"""The names that a piece of code uses: calls, members, qualified names, types; locals told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import tree_sitter
import tree_sitter_cpp

from analyzer import data
from analyzer.cuda.declarations import TOKEN, words

Role = Literal["name", "member", "own"]
"""``name``: stands alone or qualified; ``member``: after ``.`` or ``->``; ``own``: after ``this->``."""

_LAUNCH = re.compile(r"<<<")
_STOP = frozenset(";{}")
#: A name or number, and what follows it; it begins with a set of characters, which the engine skips to.
_WORD = re.compile(
    r"([A-Za-z0-9_](?:(?<=[0-9])(?:[\w.]|'(?=\w))*|\w*))\s*(?:(::|->|\.(?!\.)|[({]|<<(?!=)|<(?![<=]))\s*)?"
)
_BRACKET = re.compile(r"->|<<=|>>=|<=|>=|<<|[<>()\[\];{}]")
_NEXT = re.compile(r"\s*(<<(?!=)|\S)")
#: How many tokens template arguments may have.
_LONG = 400
_THIS = ("this",)
#: In place of qualifiers: a keyword or a number, which is none; something that is no word.
_OTHER = ("",)
_ELSEWHERE = (" ",)
_ALONE: tuple[Role, tuple[str, ...]] = ("name", ())
_ANGLES = frozenset({"<", "<<"})
_CALLS = frozenset({"(", "{"})
_JOINTS = frozenset({".", "->", "::"})


class Use(NamedTuple):
    """One mention of a name. ``at`` is its offset in the text that was read.

    ``qualifiers`` are the names before ``::`` without template arguments; ``?`` stands for a qualifier
    that is no name (``decltype(x)::f``). ``launched``: ``<<<`` follows.
    """

    name: str
    role: Role
    qualifiers: tuple[str, ...]
    called: bool
    launched: bool
    at: int


Mention = tuple[str, Role, tuple[str, ...], bool, bool, int]
"""A use as a plain tuple."""


@dataclass(frozen=True, slots=True)
class Locals:
    """The names that a function declares itself; ``lambdas`` among them are called without leaving it.

    ``places`` are where it does, from its ``(`` on.
    """

    names: frozenset[str]
    lambdas: frozenset[str]
    places: frozenset[int]
    doubtful: bool


def uses(code: str, start: int = 0, end: int | None = None) -> Iterator[Use]:
    """All mentions of names in ``code[start:end]``, whose comments and string contents are blank."""
    return map(Use._make, mentions(code, start, len(code) if end is None else end))


def mentions(code: str, start: int, end: int) -> Iterator[Mention]:
    """The uses in ``code[start:end]`` as plain tuples, which cost less to make."""
    others = _others()
    arguments = _Arguments(code, start, end)
    # Where the word before and what joins it to the next one end; what it is as a qualifier.
    reached, joint = start, ""
    role: Role = "name"
    path: tuple[str, ...] = ()
    for match in _WORD.finditer(code, start, end):
        word, follows = match.groups()
        at = match.start()
        beside = at == reached
        if not beside:
            joint, path = _joint(code[reached:at]), _ELSEWHERE
        reached = match.end()
        if word == "template" and follows is None:
            continue  # x.template f<int>(): as if it were not there
        role, path = _joined(joint, role, path, arguments, at) if joint else _ALONE
        joint = follows if follows in _JOINTS else ""
        if word in others or word[0] in "0123456789":
            role, path = "name", _THIS if word == "this" else _OTHER
            continue
        whole = (*path, word)
        launched = False
        if follows in _ANGLES:
            follows, launched = arguments.past(match.start(2), follows, role, whole)
        yield word, role, path, follows in _CALLS, launched, at
        path = whole


def _joined(
    joint: str, role: Role, path: tuple[str, ...], arguments: _Arguments, at: int
) -> tuple[Role, tuple[str, ...]]:
    """Role and qualifiers of the name at ``at``, by those of the name before and what joins the two."""
    if joint != "::":
        return ("own" if path == _THIS else "member"), ()
    if path == _ELSEWHERE:
        return arguments.before(at)
    return ("name", ()) if path == _OTHER else (role, path)


@cache
def _others() -> frozenset[str]:
    """Words that mention nothing."""
    return words("keywords", "words") | {"this"}


def _joint(gap: str) -> str:
    """What joins a name to what stands before it (``.``, ``->``, ``::``), by the text between two words."""
    gap = gap.rstrip()
    last = gap[-1:]
    if last == ":":
        return "::" if gap.endswith("::") else ""
    if last == ">":
        return "->" if gap.endswith("->") else ""
    return "." if last == "." and not gap.endswith("..") else ""


class _Arguments:
    """The template arguments in a piece of code, by the offsets of their brackets; read as they are met."""

    def __init__(self, code: str, start: int, end: int) -> None:
        self._code, self._start, self._end = code, start, end
        self._owners: dict[int, tuple[Role, tuple[str, ...]]] = {}
        self._brackets = _BRACKET.finditer(code, start, end)
        self._opened: list[int] = []
        self._closed: dict[int, int] = {}
        self._done = start

    def past(self, at: int, token: str, role: Role, whole: tuple[str, ...]) -> tuple[str, bool]:
        """What follows a name before a ``<`` or ``<<`` at this offset, and whether that is a launch."""
        launch = at
        if token == "<":
            self._owners[at] = role, whole
            launch, token = self._past(at)
        launched = token == "<<" and not self._code[launch + 2 : self._end].isspace()
        return token, launched

    def _past(self, at: int) -> tuple[int, str]:
        """The token after the template arguments that open here, with its offset; empty if they are none."""
        depth, code = 0, self._code
        for match in _BRACKET.finditer(code, at, self._end):
            token = match[0]
            if token in "<([":
                depth += 1
            elif token in ">)]":
                depth -= 1
                if depth == 0:
                    close = match.end()
                    if close - at > _LONG and len(TOKEN.findall(code, at, close)) > _LONG:
                        break
                    after = _NEXT.match(code, close, self._end)
                    return (after.start(1), after[1]) if after is not None else (close, "")
            elif token in _STOP:
                break
        return at, ""

    def before(self, at: int) -> tuple[Role, tuple[str, ...]]:
        """Role and qualifiers of a name at ``at`` that follows a ``::`` which no name stands before."""
        before = self._code[self._start : at].rstrip()[:-2].rstrip()
        if before.endswith(">"):
            opened = self._opening(self._start + len(before) - 1)
            if opened in self._owners:
                return self._owners[opened]
            before = self._code[self._start : opened].rstrip() if opened >= 0 else before
        return "name", (("?",) if before.endswith((")", "]", ">")) else ())

    def _opening(self, at: int) -> int:
        """The offset of the ``<`` that the ``>`` at this offset closes; -1 if it closes none."""
        opened = self._opened
        while self._done <= at:
            match = next(self._brackets, None)
            if match is None:
                break
            token, here = match[0], match.start()
            self._done = match.end()
            if token in "<([":
                opened.append(here)
            elif token in _STOP:
                opened.clear()
            else:
                self._close(token, here)
        return self._closed.get(at, -1)

    def _close(self, token: str, here: int) -> None:
        opened, code = self._opened, self._code
        if token == ">" and opened and code[opened[-1]] == "<":
            self._closed[here] = opened.pop()
        elif token in ")]":
            while opened and code[opened[-1]] == "<":
                opened.pop()
            if opened:
                opened.pop()


@lru_cache(maxsize=8192)
def declared(text: str, constructor: bool = False) -> Locals:
    """The parameters and local variables of the function whose text from its ``(`` on is given.

    Builds make many sources in which the same functions stand.

    The text is parsed as C++ on its own, after what CUDA adds to the language is blanked; ``doubtful``
    if the parser met something that it does not know.
    """
    tree, snippet = parse_function(text, constructor)
    head = snippet.index("(")
    captures = tree_sitter.QueryCursor(_declarators()).captures(tree.root_node)
    names, lambdas, places = set(), set(), set()
    for label, nodes in captures.items():
        for node in nodes:
            name = snippet[node.start_byte : node.end_byte]
            names.add(name)
            places.add(node.start_byte - head)
            if label == "lambda":
                lambdas.add(name)
    return Locals(frozenset(names), frozenset(lambdas), frozenset(places), tree.root_node.has_error)


def parse_function(text: str, constructor: bool = False) -> tuple[tree_sitter.Tree, str]:
    """The syntax tree of a function given from its ``(`` on, parsed alone as C++, and the parsed text."""
    snippet = ("f" if constructor else "void f") + plain_cpp(text)
    return _parser().parse(snippet.encode("ascii", "replace")), snippet


def plain_cpp(text: str) -> str:
    """The text as C++ of the same length: CUDA's words blanked, launches written as calls."""
    text = _cuda_words().sub(lambda match: " " * len(match[0]), text)
    pieces, done = [], 0
    for match in _LAUNCH.finditer(text):
        close = _launch_end(text, match.end())
        if close is None or match.start() < done:
            continue
        pieces += [text[done : match.start()], "  (", text[match.end() : close], ")  "]
        done = close + 3
    pieces.append(text[done:])
    return "".join(pieces)


def _launch_end(text: str, at: int) -> int | None:
    """The offset of the ``>>>`` that closes a launch configuration which begins at ``at``."""
    depth = 0
    while at < len(text):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(">>>", at):
            return at
        if text[at] == ";" or depth < 0:
            return None
        at += 1
    return None


@cache
def _cuda_words() -> re.Pattern[str]:
    found = "|".join(sorted(words("specifiers", "cuda"), key=lambda word: (-len(word), word)))
    return re.compile(rf"\b(?:{found})\b(?:\s*\((?:[^()]|\([^()]*\))*\)(?=\s*[\w*&(]))?")


@cache
def _language() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_cpp.language())


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(_language())


@cache
def _declarators() -> tree_sitter.Query:
    return tree_sitter.Query(_language(), (data.folder("queries") / "declarators.scm").read_text("utf-8"))
