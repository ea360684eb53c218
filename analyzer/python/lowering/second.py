"""A second opinion, from CPython's own parser, on a simple statement that the grammar misreads."""

from __future__ import annotations

import ast
import warnings

from tree_sitter import Node

#: A statement that the grammar misreads is short; do not hand megabytes of damage to the other parser.
_LONGEST = 20_000


def reread(data: bytes, node: Node, depth: int) -> ast.stmt | None:
    """The statement as CPython reads it, or nothing if it does not accept it as exactly one statement.

    The grammar takes ``type(x).y = z`` for a type alias, for one. Nothing is run: this only parses. ``depth``
    is how many levels of nesting the result may have.
    """
    if node.end_byte - node.start_byte > _LONGEST:
        return None
    row, column = node.start_point
    text = b"if 1:\n" + b" " * max(column, 1) + data[node.start_byte : node.end_byte] + b"\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outer = ast.parse(text).body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(outer, ast.If) or len(outer.body) != 1 or _deeper(outer.body[0], depth):
        return None
    found = outer.body[0]
    for part in ast.walk(found):
        if isinstance(part, (ast.stmt, ast.expr, ast.arg, ast.keyword, ast.alias)):
            part.end_lineno = (part.end_lineno or part.lineno) + row - 1
            part.lineno += row - 1
            if column == 0 and part.lineno == row + 1:
                part.col_offset -= 1
            if column == 0 and part.end_lineno == row + 1 and part.end_col_offset is not None:
                part.end_col_offset -= 1
    return found


def _deeper(node: ast.AST, limit: int) -> bool:
    """Whether the tree has more levels than ``limit``."""
    level: list[ast.AST] = [node]
    while level and limit > 0:
        level = [child for parent in level for child in ast.iter_child_nodes(parent)]
        limit -= 1
    return bool(level)
