"""What the branches of a decision do: raise, log, return, assign, call; read from the syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from analyzer import data
from analyzer.python import flow, statements


@dataclass(frozen=True, slots=True)
class Side:
    """One way out of a decision, as text and facts.

    ``empty``: no statement stands on it. ``action``: what it does, in a few words; ``message``: what it
    raises with; ``stores``: attributes that it assigns.
    """

    empty: bool
    raises: bool
    leaves: bool
    announces: bool
    action: str
    message: str
    stores: tuple[str, ...] = ()
    line: int = 0


NOTHING = Side(True, False, False, False, "", "")


@dataclass(frozen=True, slots=True)
class Shape:
    """A decision as it is written: its code, its two sides, whether it is written in the negative."""

    code: str
    then: Side
    other: Side
    negative: bool
    chain: int = 0
    """The line of the first ``if`` of an ``if``/``elif`` chain, 0 outside one."""


@cache
def announcing() -> frozenset[str]:
    """Names of functions and methods that tell the user something."""
    return frozenset(data.table("contracts")["announce"]["names"])


def shape(kind: str, node: ast.AST, owner: ast.AST, body: list[ast.stmt]) -> Shape:
    """The shape of a decision.

    Args:
        kind: as recorded (``if``, ``assert``, ``ifexp``, ``bool``, ...).
        node: the condition.
        owner: the statement or expression that decides by it.
        body: the statements of the function that holds it.
    """
    code = ast.unparse(node)
    negative = negated(node)
    if isinstance(owner, ast.If):
        other = side(owner.orelse)
        then = side(owner.body)
        following = after(body, owner)
        if other.empty and then.leaves:
            other = _rest(following)
        elif then.empty or (other.leaves and not owner.body):
            then = _rest(following)
        return Shape(code, then, other, negative, _chain(body, owner))
    if isinstance(owner, ast.Assert):
        message = ""
        if owner.msg is not None:
            message = (
                str(owner.msg.value)
                if isinstance(owner.msg, ast.Constant)
                else statements.source_text(owner.msg)
            )
        raising = Side(False, True, True, True, "raises AssertionError", message, line=owner.lineno)
        return Shape(code, NOTHING, raising, negative)
    if isinstance(owner, ast.IfExp):
        return Shape(
            ast.unparse(owner),
            _value_side(owner.body),
            _value_side(owner.orelse),
            negative,
        )
    if kind == "lookup":
        raising = Side(False, True, True, True, "raises KeyError", "", line=getattr(owner, "lineno", 0))
        return Shape(code, NOTHING, raising, False)
    return Shape(code, NOTHING, NOTHING, negative)


def _value_side(node: ast.expr) -> Side:
    return Side(False, False, False, False, ast.unparse(node), "", line=node.lineno)


def negated(node: ast.AST) -> bool:
    """Whether the condition names what is *not* let through: ``not x``, ``!=``, ``not in``, ``<``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not negated(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return isinstance(node.ops[0], (ast.NotEq, ast.NotIn, ast.Lt, ast.LtE, ast.IsNot))
    if isinstance(node, ast.BoolOp):
        return all(negated(value) for value in node.values)
    return False


def side(body: list[ast.stmt]) -> Side:
    """The facts of a block of statements."""
    if not body or all(isinstance(statement, ast.Pass) for statement in body):
        return NOTHING
    raising = flow.raises(body)
    return Side(
        empty=False,
        raises=raising,
        leaves=flow.leaves(body),
        announces=raising or any(_announces(node) for statement in body for node in ast.walk(statement)),
        action=_action(body),
        message=_message(body),
        stores=tuple(sorted(attr for _, attr in flow.stored_in(body)[1])),
        line=body[0].lineno,
    )


def _rest(body: list[ast.stmt]) -> Side:
    """What runs instead when the other side leaves: the statements that follow, up to where they end."""
    if not body:
        return NOTHING
    found = side(body)
    return Side(False, found.raises and len(body) == 1, found.leaves, found.announces and len(body) <= 3, found.action, found.message if len(body) == 1 else "", (), body[0].lineno)


def _announces(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in announcing()


def _message(body: list[ast.stmt]) -> str:
    for statement in body:
        if isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Call) and statement.exc.args:
            first = statement.exc.args[0]
            return str(first.value) if isinstance(first, ast.Constant) else statements.source_text(first)
    return ""


def _action(body: list[ast.stmt]) -> str:
    """What a block is for, in a few words: what it returns, raises, assigns or calls."""
    for statement in body:
        if isinstance(statement, ast.Return):
            return _short(statement.value) if statement.value is not None else "returns"
        if isinstance(statement, ast.Raise):
            return f"raises {ast.unparse(statement.exc).partition('(')[0]}" if statement.exc else "raises"
    for statement in body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            return f"{ast.unparse(target)} = {_short(statement.value)}"
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and not _announces(statement.value):
            return _short(statement.value)
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            return ast.unparse(statement).splitlines()[0]
    for statement in body:
        if isinstance(statement, (ast.If, ast.For, ast.With, ast.Try, ast.While)):
            inner = _action(statement.body)
            if inner:
                return inner
    return ""


def _short(node: ast.expr) -> str:
    """An expression in few letters: a call by its name."""
    if isinstance(node, ast.Call):
        return f"{ast.unparse(node.func)}(…)" if node.args or node.keywords else ast.unparse(node)
    text = ast.unparse(node)
    return text if len(text) <= 80 else text[:79] + "…"


def after(body: list[ast.stmt], owner: ast.AST) -> list[ast.stmt]:
    """The statements that follow a statement in its block, and then those after the enclosing ones."""
    for position, statement in enumerate(body):
        if statement is owner:
            return body[position + 1 :]
        for inner in blocks(statement):
            if any(node is owner for child in inner for node in ast.walk(child)):
                found = after(inner, owner)
                if found:
                    return found
                if isinstance(statement, (ast.For, ast.While, ast.AsyncFor)):
                    return []
                return body[position + 1 :]
    return []


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks directly inside a statement."""
    found = [getattr(statement, name) for name in ("body", "orelse", "finalbody") if getattr(statement, name, None)]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    found += [case.body for case in getattr(statement, "cases", [])]
    return [block for block in found if isinstance(block, list) and not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _chain(body: list[ast.stmt], owner: ast.If) -> int:
    """The first line of the ``if``/``elif`` chain that a statement is part of."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.If):
                link: ast.If | None = node
                while link is not None and len(link.orelse) == 1 and isinstance(link.orelse[0], ast.If):
                    link = link.orelse[0]
                    if link is owner:
                        return _chain_root(body, node)
        if any(node is owner for node in ast.walk(statement)):
            break
    has_elif = len(owner.orelse) == 1 and isinstance(owner.orelse[0], ast.If)
    return owner.lineno if has_elif else 0


def _chain_root(body: list[ast.stmt], node: ast.If) -> int:
    return node.lineno
