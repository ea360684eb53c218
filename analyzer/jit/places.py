"""Where a build is given its compiler flags."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from analyzer.model import Build
from analyzer.python import contracts


def flag_place(build: Build, source: bytes) -> tuple[int, int, int, str]:
    """First line, last line, column and text of the argument that gives a build its flags.

    ``source`` is the file of the function that makes the build. Where no such argument stands there, the
    call that makes the build; where no such call is found, the function's own place.
    """
    try:
        tree = _parsed(source)
    except (SyntaxError, ValueError):
        return build.line, build.line, 1, build.name
    name = build.function.rpartition(".")[2]
    calls = [call for function in _functions(tree, name) for call in _calls(function)]
    for call in reversed(calls):
        for keyword in call.keywords:
            if keyword.arg in _flags():
                return _place(source, keyword)
    if calls:
        line, _, column, text = _place(source, calls[-1].func)
        return line, calls[-1].end_lineno or line, column, text
    return build.line, build.line, 1, build.name


@lru_cache(maxsize=16)  # the builds of a file come one after the other
def _parsed(source: bytes) -> ast.Module:
    return ast.parse(source)


def _functions(tree: ast.AST, name: str) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            yield node


def _calls(function: ast.AST) -> Iterator[ast.Call]:
    """The calls in a function that make a build, by line."""
    makers = contracts.build_words()
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in makers
    ]
    yield from sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _place(source: bytes, node: ast.expr | ast.keyword) -> tuple[int, int, int, str]:
    last = node.end_lineno or node.lineno
    text = ast.get_source_segment(source.decode("utf-8", "replace"), node) or ""
    return node.lineno, last, node.col_offset + 1, " ".join(text.split())


def _flags() -> frozenset[str]:
    return frozenset(build.flags for build in contracts.builds().values())
