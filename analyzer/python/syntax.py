"""Parsed Python files as CPython's own ``ast`` nodes, tolerant of damage, function bodies on demand."""

from __future__ import annotations

import ast
import codecs
import re

from tree_sitter import Node, Parser, Tree

from analyzer.python.lowering.nodes import LANGUAGE, Broken, Source, Span, at
from analyzer.python.lowering.statements import block, broken, suite_at

__all__ = ["Broken", "ParsedFile", "parse"]

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: The parser is handed this many bytes at a time, and the whole text this many times at most.
_CHUNK = 4096
_REREADS = 64

#: Texts of so many bytes in all have their syntax trees kept, which are twenty times as large; of others the
#: tree is made anew when it is asked for.
_KEPT = 8_000_000

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")


class ParsedFile:
    """One Python file.

    ``module`` holds every statement outside of functions, with positions as CPython gives them; a function in
    it has its signature, and an empty body until :meth:`body` is asked for it.
    """

    def __init__(self, data: bytes, tree: Tree | None, notes: tuple[tuple[int, str], ...]) -> None:
        self._read = tree is not None
        self._notes = notes
        self._source = Source(data, tree is not None and tree.root_node.has_error)
        self._module: ast.Module | None = None
        self._errors: tuple[tuple[int, str], ...] | None = None

    @property
    def data(self) -> bytes:
        """The text as parsed: UTF-8, plain line feeds, no byte order mark. Columns count in it."""
        return self._source.data

    @property
    def module(self) -> ast.Module:
        """The whole file, with empty bodies for functions."""
        if self._module is None:
            body: list[ast.stmt] = []
            if self._read:
                root = self._root
                body = block(self._source, root)
                if not body and root.has_error:
                    broken(body, at(root), "cannot be parsed")
            else:
                line, reason = self._notes[-1]
                broken(body, Span(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0), reason)
            self._module = ast.Module(body, [])
        return self._module

    def body(self, node: Function) -> list[ast.stmt]:
        """The statements of a function of this file; those nested in it are again left for later.

        The list is also put into ``node.body``; asking twice gives the same list.
        """
        start = self._source.pending.pop(node, None)
        if start is not None:
            node.body = suite_at(self._source, self._root, start)
        return node.body

    @property
    def _root(self) -> Node:
        tree = _TREES.of(self.data)
        assert tree is not None, "the same text was parsed before"
        return tree.root_node

    def complete(self) -> ast.Module:
        """The module with every function body filled in."""
        module = self.module
        while self._source.pending:
            node = next(iter(self._source.pending))
            assert isinstance(node, Function)
            self.body(node)
        return module

    @property
    def errors(self) -> tuple[tuple[int, str], ...]:
        """Where the text could not be parsed: line (from 1) and what stands there, in order of lines."""
        if self._errors is None:
            found: list[tuple[int, str]] = []
            if self._read and self._source.damaged:
                found = _errors(self._source.data, self._root)
            self._errors = tuple(sorted({*self._notes, *found}))
        return self._errors


def parse(data: bytes) -> ParsedFile:
    """Parse the bytes of a Python file. Never raises for what the bytes hold: see ``ParsedFile.errors``."""
    text, notes = _normalise(data)
    tree = _TREES.of(text)
    if tree is None:
        notes = (*notes, (1, "takes too long to parse"))
    return ParsedFile(text, tree, notes)


def _tree(data: bytes) -> Tree | None:
    """The syntax tree, or nothing if the parser goes over the text again and again.

    The grammar's scanner looks ahead over a whole run of comments or continued lines from each of them: time
    grows with the square of their number. The work is measured by the bytes that the parser asks for (those
    of real files ask for less than three times their size), not by a clock, so that the answer is the same on
    every machine.
    """
    allowed = _REREADS * (len(data) + _CHUNK)

    def read(offset: int, _: object) -> bytes:
        nonlocal allowed
        piece = data[offset : offset + _CHUNK] if allowed > 0 else b""
        allowed -= len(piece)
        return piece

    tree = Parser(LANGUAGE).parse(read)
    return tree if allowed > 0 else None


class _Trees:
    """The syntax trees that were asked for last, by text."""

    def __init__(self) -> None:
        self._trees: dict[bytes, Tree | None] = {}
        self._size = 0

    def of(self, data: bytes) -> Tree | None:
        """The tree of a text, kept or made; nothing if it takes too long to parse."""
        if data in self._trees:
            tree = self._trees.pop(data)
        else:
            tree = _tree(data)
            self._size += len(data)
        self._trees[data] = tree
        while self._size > _KEPT and len(self._trees) > 1:
            oldest = next(iter(self._trees))
            del self._trees[oldest]
            self._size -= len(oldest)
        return tree


_TREES = _Trees()


def _errors(data: bytes, root: Node) -> list[tuple[int, str]]:
    """All error and missing nodes, the outermost of those nested."""
    result: list[tuple[int, str]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        line = node.start_point[0] + 1
        if node.is_missing:
            result.append((line, f"missing {node.type}"))
        elif node.is_error:
            text = data[node.start_byte : node.start_byte + 60].decode(errors="replace").partition("\n")[0]
            result.append((line, f"unexpected {text!r}"))
        else:
            stack.extend(child for child in node.children if child.has_error or child.is_missing)
    return result


def _normalise(data: bytes) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """The text as UTF-8 with plain line feeds, as CPython's tokenizer sees it, and what was wrong with it."""
    notes: list[tuple[int, str]] = []
    if data.startswith(codecs.BOM_UTF8):
        data = data[3:]
    encoding = _declared(data)
    if encoding is None:
        notes.append((1, "unknown source encoding"))
        encoding = "utf-8"
    if encoding != "utf-8" or not data.isascii():
        try:
            data = data.decode(encoding).encode()
        except (UnicodeError, LookupError) as error:
            where = error.start if isinstance(error, UnicodeDecodeError) else 0
            notes.append((data.count(b"\n", 0, where) + 1, f"not valid {encoding}"))
            data = data.decode("utf-8", "replace").encode()
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        notes.append((data.count(b"\n", 0, data.index(b"\0")) + 1, "null byte"))
    return data, tuple(notes)


def _declared(data: bytes) -> str | None:
    """The encoding that the first two lines declare (PEP 263); ``None`` if there is no such text encoding."""
    for line in re.split(rb"\r\n|\r|\n", data[:1000], maxsplit=2)[:2]:
        found = _COOKIE.match(line)
        if found:
            try:
                codec = codecs.lookup(found.group(1).decode())
            except (LookupError, UnicodeDecodeError, ValueError):
                return None
            return codec.name if codec._is_text_encoding else None
        if not _BLANK.match(line):
            break
    return "utf-8"
