"""The names that a piece of code uses: calls, members, qualified names, types; locals told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import tree_sitter
import tree_sitter_cpp

from analyzer import data
from analyzer.cuda.declarations import TOKEN, words

Role = Literal["name", "member", "own"]
"""``name``: stands alone or qualified; ``member``: after ``.`` or ``->``; ``own``: after ``this->``."""

_LAUNCH = re.compile(r"<<<")
_STOP = frozenset(";{}")


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


@dataclass(frozen=True, slots=True)
class Locals:
    """The names that a function declares itself; ``lambdas`` among them are called without leaving it."""

    names: frozenset[str]
    lambdas: frozenset[str]
    places: frozenset[int]
    doubtful: bool


def uses(code: str, start: int = 0, end: int | None = None) -> Iterator[Use]:
    """All mentions of names in ``code[start:end]``, whose comments and string contents are blank."""
    end = len(code) if end is None else end
    tokens = [(m[0], m.start()) for m in TOKEN.finditer(code, start, end)]
    keywords = words("keywords", "words")
    opened: list[int] = []
    owner: dict[int, int] = {}
    for index, (token, at) in enumerate(tokens):
        if token == "<":
            opened.append(index)
        elif token == ">" and opened and tokens[opened[-1]][0] == "<":
            owner[index] = opened.pop()
        elif token in "([":
            opened.append(index)
        elif token in ")]":
            while opened and tokens[opened[-1]][0] == "<":
                opened.pop()
            if opened:
                owner[index] = opened.pop()
        elif token in _STOP:
            opened.clear()
        elif (token[0].isalpha() or token[0] == "_") and token not in keywords and token != "this":
            yield _use(tokens, index, at, owner)


def _use(tokens: Sequence[tuple[str, int]], index: int, at: int, owner: dict[int, int]) -> Use:
    name = tokens[index][0]
    qualifiers: list[str] = []
    before = index - 1
    if before >= 0 and tokens[before][0] == "template":
        before -= 1
    while before >= 1 and tokens[before][0] == "::":
        before -= 1
        if tokens[before][0] == ">" and before in owner:
            before = owner[before] - 1
        word = tokens[before][0] if before >= 0 else ""
        if not word or not (word[0].isalpha() or word[0] in "_"):
            if word in (")", "]", ">"):
                qualifiers.insert(0, "?")
            break
        if word in words("keywords", "words"):
            break
        qualifiers.insert(0, word)
        before -= 1
        if before >= 0 and tokens[before][0] == "template":
            before -= 1
    role: Role = "name"
    if before >= 0 and tokens[before][0] in (".", "->"):
        role = "own" if before >= 1 and tokens[before - 1][0] == "this" else "member"
    after = tokens[index + 1][0] if index + 1 < len(tokens) else ""
    if after == "<":
        after = _past_arguments(tokens, index + 1)
    launched = after == "<<" and index + 2 < len(tokens)
    return Use(name, role, tuple(qualifiers), after in ("(", "{"), launched, at)


def _past_arguments(tokens: Sequence[tuple[str, int]], index: int) -> str:
    """The token after the template arguments that open at ``index``; empty if they are none."""
    depth = 0
    for at in range(index, min(index + 400, len(tokens))):
        token = tokens[at][0]
        if token in "<([":
            depth += 1
        elif token in ">)]":
            depth -= 1
            if depth == 0:
                return tokens[at + 1][0] if at + 1 < len(tokens) else ""
        elif token in _STOP:
            break
    return ""


def declared(text: str, parameters: int, end: int, constructor: bool = False) -> Locals:
    """The parameters and local variables of the function whose text from its ``(`` on is given.

    The text is parsed as C++ on its own, after what CUDA adds to the language is blanked; ``doubtful``
    if the parser met something that it does not know.
    """
    tree, snippet = parse_function(text, parameters, end, constructor)
    head = snippet.index("(")
    captures = tree_sitter.QueryCursor(_declarators()).captures(tree.root_node)
    names, lambdas, places = set(), set(), set()
    for label, nodes in captures.items():
        for node in nodes:
            name = snippet[node.start_byte : node.end_byte]
            names.add(name)
            places.add(node.start_byte - head + parameters)
            if label == "lambda":
                lambdas.add(name)
    return Locals(frozenset(names), frozenset(lambdas), frozenset(places), tree.root_node.has_error)


def parse_function(
    text: str, parameters: int, end: int, constructor: bool = False
) -> tuple[tree_sitter.Tree, str]:
    """The syntax tree of a function given from its ``(`` on, parsed alone as C++, and the parsed text."""
    snippet = ("f" if constructor else "void f") + plain_cpp(text[parameters:end])
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
