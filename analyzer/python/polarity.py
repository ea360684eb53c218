"""In which sense a condition names architectures: positively, in the negative, by order."""

from __future__ import annotations

import ast


def ordering(node: ast.AST) -> bool:
    """Whether a condition is a comparison for order."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))


def negated(node: ast.AST) -> bool:
    """Whether the condition names what is *not* let through: ``not x``, ``!=``, ``not in``, ``<``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not negated(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return isinstance(node.ops[0], (ast.NotEq, ast.NotIn, ast.Lt, ast.LtE, ast.IsNot))
    if isinstance(node, ast.BoolOp):
        return all(negated(value) for value in node.values)
    return False
