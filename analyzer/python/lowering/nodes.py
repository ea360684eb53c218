"""The grammar, the source being lowered, positions, and the table from node kinds to their lowering."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypedDict
from unicodedata import normalize

import tree_sitter_python
from tree_sitter import Language, Node

LANGUAGE = Language(tree_sitter_python.language())

#: Levels of nesting that are followed. CPython's own parser stops at 200 nested brackets; half of that keeps
#: ``ast.unparse``, ``pickle`` and any other recursive reader of the result inside the default limit.
MAX_DEPTH = 100

LOAD, STORE, DEL = ast.Load(), ast.Store(), ast.Del()


class UnreadableError(Exception):
    """This piece of syntax is not Python 3, or nested too deeply; the message says which."""


class Broken(ast.Pass):
    """A statement that could not be read; ``reason`` says why. Stands where the statement stood."""

    reason: str

    @property
    def line(self) -> int:
        """The line at which the unreadable statement starts, from 1."""
        return self.lineno


class Span(TypedDict):
    """The position attributes of an ``ast`` node: lines from 1, columns from 0 in UTF-8 bytes."""

    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


class Source:
    """What lowering carries along: the bytes, the depth, and the function bodies not lowered yet."""

    __slots__ = ("damaged", "data", "depth", "pending")

    def __init__(self, data: bytes, damaged: bool) -> None:
        self.data = data
        self.damaged = damaged
        self.depth = 0
        self.pending: dict[ast.AST, int] = {}
        """A function to the byte at which its definition starts."""

    def text(self, node: Node) -> str:
        """The source text of a node."""
        return self.data[node.start_byte : node.end_byte].decode()

    def name(self, node: Node) -> str:
        """The text of an identifier, in the normal form that the compiler uses (PEP 3131: NFKC)."""
        text = self.data[node.start_byte : node.end_byte].decode()
        return text if text.isascii() else normalize("NFKC", text)


Lowering = Callable[[Source, Node], ast.expr]


def at(node: Node) -> Span:
    """The position of a node."""
    row, column = node.start_point
    end_row, end_column = node.end_point
    return {"lineno": row + 1, "col_offset": column, "end_lineno": end_row + 1, "end_col_offset": end_column}


def between(first: Node, last: Node) -> Span:
    """The position from the start of one node to the end of another."""
    row, column = first.start_point
    end_row, end_column = last.end_point
    return {"lineno": row + 1, "col_offset": column, "end_lineno": end_row + 1, "end_col_offset": end_column}


def kinds(*names: str) -> frozenset[int]:
    """The ids of these node kinds; a kind can have several. A token's kind is its text.

    Raises:
        ValueError: the grammar has no such kind.
    """
    known: dict[str, set[int]] = {}
    for index in range(LANGUAGE.node_kind_count):
        known.setdefault(LANGUAGE.node_kind_for_id(index) or "", set()).add(index)
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(f"unknown node kinds: {missing}")
    return frozenset(index for name in names for index in known[name])


def field(name: str) -> int:
    """The id of a field of the grammar."""
    found = LANGUAGE.field_id_for_name(name)
    if found is None:
        raise ValueError(f"unknown field: {name}")
    return found


EXTRAS = kinds("comment", "line_continuation")
COMMA = kinds(",")


def inner(node: Node) -> list[Node]:
    """The named children without comments."""
    return [child for child in node.named_children if child.kind_id not in EXTRAS]


def tokens(node: Node) -> list[Node]:
    """All children, punctuation included, without comments."""
    return [child for child in node.children if child.kind_id not in EXTRAS]


def child(node: Node, field_id: int) -> Node:
    """The child in a field.

    Raises:
        UnreadableError: there is none; the source is damaged here.
    """
    found = node.child_by_field_id(field_id)
    if found is None:
        raise UnreadableError(f"incomplete {node.type.replace('_', ' ')}")
    return found


def _unknown(source: Source, node: Node) -> ast.expr:
    raise UnreadableError(f"not an expression of Python 3: {node.type.replace('_', ' ')}")


_TABLE: list[Lowering] = [_unknown] * LANGUAGE.node_kind_count


def lowers(*names: str) -> Callable[[Lowering], Lowering]:
    """Register the decorated function as the lowering of these kinds of expression."""

    def register(function: Lowering) -> Lowering:
        for index in kinds(*names):
            if LANGUAGE.node_kind_is_named(index):
                _TABLE[index] = function
        return function

    return register


def expression(source: Source, node: Node) -> ast.expr:
    """Lower one expression.

    Raises:
        UnreadableError: it is not an expression of Python 3, or nested deeper than ``MAX_DEPTH``.
    """
    source.depth += 1
    if source.depth > MAX_DEPTH:
        raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
    result = _TABLE[node.kind_id](source, node)
    source.depth -= 1
    return result


def target(source: Source, node: Node) -> ast.expr:
    """Lower an expression that is assigned to."""
    return with_context(expression(source, node), STORE)


def with_context(node: ast.expr, context: ast.expr_context) -> ast.expr:
    """The same node as the target of an assignment (``STORE``) or a deletion (``DEL``).

    Raises:
        UnreadableError: nothing can be assigned to this kind of expression.
    """
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        node.ctx = context
    elif isinstance(node, (ast.Tuple, ast.List)):
        node.ctx = context
        for element in node.elts:
            with_context(element, context)
    elif isinstance(node, ast.Starred):
        node.ctx = context
        with_context(node.value, context)
    else:
        raise UnreadableError(f"cannot assign to {type(node).__name__}")
    return node
