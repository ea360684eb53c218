"""The patterns of ``match`` statements."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tree_sitter import Node

from analyzer.python.lowering.expressions import BINARY, has_comma
from analyzer.python.lowering.nodes import (
    COMMA,
    LOAD,
    MAX_DEPTH,
    Source,
    UnreadableError,
    at,
    between,
    expression,
    inner,
    kinds,
    tokens,
)

_MINUS = kinds("-")
_BAR = kinds("|")
_COLON = kinds(":")
_UNDERSCORE = kinds("_")
_KEYWORD = kinds("keyword_pattern")
_AS = kinds("as_pattern")
_SPLAT = kinds("splat_pattern")
_DOTTED = kinds("dotted_name")
_CASE = kinds("case_pattern")
_PUNCTUATION = kinds("(", ")", "[", "]", "{", "}", ",")


def case(source: Source, parts: list[Node]) -> ast.pattern:
    """The pattern of a case: these nodes, punctuation included, stand between ``case`` and the guard."""
    patterns = [pattern(source, [part]) for part in parts if part.kind_id not in COMMA]
    if len(parts) == 1 and not isinstance(patterns[0], ast.MatchStar):
        return patterns[0]
    return ast.MatchSequence(patterns, **between(parts[0], parts[-1]))


def pattern(source: Source, parts: list[Node]) -> ast.pattern:
    """One pattern from its nodes: several only for a sign before a number."""
    source.depth += 1
    if source.depth > MAX_DEPTH:
        raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
    result = _pattern(source, parts)
    source.depth -= 1
    return result


def _pattern(source: Source, parts: list[Node]) -> ast.pattern:
    node = parts[0]
    if node.kind_id in _MINUS:
        operand = expression(source, parts[1])
        span = between(node, parts[1])
        return ast.MatchValue(ast.UnaryOp(ast.USub(), operand, **span), **span)
    if node.kind_id in _CASE:
        return _pattern(source, tokens(node))
    if node.kind_id in _UNDERSCORE:
        return ast.MatchAs(None, None, **at(node))
    lowering = _TABLE.get(node.type)
    if lowering is None:
        raise UnreadableError(f"not a pattern: {node.type.replace('_', ' ')}")
    return lowering(source, node)


def _literal(source: Source, node: Node) -> ast.pattern:
    return ast.MatchValue(expression(source, node), **at(node))


def _singleton(source: Source, node: Node) -> ast.pattern:
    return ast.MatchSingleton({"true": True, "false": False}.get(node.type), **at(node))


def _complex(source: Source, node: Node) -> ast.pattern:
    """``-1 + 2j``."""
    parts = tokens(node)
    left: ast.expr
    if parts[0].kind_id in _MINUS:
        left = ast.UnaryOp(ast.USub(), expression(source, parts[1]), **between(parts[0], parts[1]))
    else:
        left = expression(source, parts[0])
    operator = BINARY[parts[-2].type]()
    return ast.MatchValue(ast.BinOp(left, operator, expression(source, parts[-1]), **at(node)), **at(node))


def dotted(source: Source, node: Node) -> ast.expr:
    """``a.b.c`` as names and attributes."""
    words = inner(node)
    value: ast.expr = ast.Name(source.name(words[0]), LOAD, **at(words[0]))
    for word in words[1:]:
        value = ast.Attribute(value, source.name(word), LOAD, **between(words[0], word))
    return value


def _name(source: Source, node: Node) -> ast.pattern:
    """A capture (``x``), the wildcard (``_``) or a value (``a.b``)."""
    value = dotted(source, node)
    if isinstance(value, ast.Name):
        return ast.MatchAs(None, None if value.id == "_" else value.id, **at(node))
    return ast.MatchValue(value, **at(node))


def _as(source: Source, node: Node) -> ast.pattern:
    inside, name = inner(node)
    return ast.MatchAs(pattern(source, [inside]), source.name(name), **at(node))


def _or(source: Source, node: Node) -> ast.pattern:
    """``a | b``: one node for a chain."""
    return ast.MatchOr([pattern(source, group) for group in _groups(node, _BAR)], **at(node))


def _groups(node: Node, separators: frozenset[int]) -> list[list[Node]]:
    groups: list[list[Node]] = [[]]
    for part in tokens(node):
        if part.kind_id in separators:
            groups.append([])
        else:
            groups[-1].append(part)
    return [group for group in groups if group]


def _sequence(source: Source, node: Node) -> ast.pattern:
    """``[a, *b]`` and ``(a, b)``; ``(a)`` is ``a``."""
    groups = _groups(node, _PUNCTUATION)
    patterns = [pattern(source, group) for group in groups]
    if node.type == "tuple_pattern" and len(patterns) == 1 and not has_comma(node):
        return patterns[0]
    return ast.MatchSequence(patterns, **at(node))


def _star_name(source: Source, node: Node) -> str | None:
    name = source.name(tokens(node)[-1])
    return None if name == "_" else name


def _star(source: Source, node: Node) -> ast.pattern:
    if node.children[0].type != "*":
        raise UnreadableError("double star outside of a mapping pattern")
    return ast.MatchStar(_star_name(source, node), **at(node))


def _mapping(source: Source, node: Node) -> ast.pattern:
    """``{"a": x, **rest}``."""
    keys: list[ast.expr] = []
    patterns: list[ast.pattern] = []
    rest: str | None = None
    for group in _groups(node, _PUNCTUATION):
        if group[0].kind_id in _SPLAT:
            rest = _star_name(source, group[0])
            continue
        colon = next((index for index, part in enumerate(group) if part.kind_id in _COLON), None)
        if colon is None:
            raise UnreadableError("mapping pattern without a colon")
        keys.append(_key(pattern(source, group[:colon])))
        patterns.append(pattern(source, group[colon + 1 :]))
    return ast.MatchMapping(keys, patterns, rest, **at(node))


def _key(key: ast.pattern) -> ast.expr:
    if isinstance(key, ast.MatchValue):
        return key.value
    if isinstance(key, ast.MatchSingleton):
        return ast.Constant(
            key.value,
            None,
            lineno=key.lineno,
            col_offset=key.col_offset,
            end_lineno=key.end_lineno,
            end_col_offset=key.end_col_offset,
        )
    raise UnreadableError("key of a mapping pattern is not a literal or a dotted name")


def _class(source: Source, node: Node) -> ast.pattern:
    """``Name(pattern, key=pattern)``."""
    parts = tokens(node)
    positional: list[ast.pattern] = []
    names: list[str] = []
    named: list[ast.pattern] = []
    for group in _groups(node, _PUNCTUATION):
        if group[0].kind_id in _DOTTED:
            continue
        keyword = _keyword(source, group[0])
        if keyword is None:
            positional.append(pattern(source, group))
        else:
            names.append(keyword[0])
            named.append(keyword[1])
    return ast.MatchClass(dotted(source, parts[0]), positional, names, named, **at(node))


def _keyword(source: Source, node: Node) -> tuple[str, ast.pattern] | None:
    """``key=pattern``, or nothing if the node is a plain pattern."""
    inside = inner(node)
    if node.kind_id not in _CASE or not inside:
        return None
    if inside[0].kind_id in _KEYWORD:
        parts = tokens(inside[0])
        return source.name(parts[0]), pattern(source, parts[2:])
    if inside[0].kind_id in _AS:  # key=pattern as name: the grammar takes "key=pattern" as one
        wrapped, name = inner(inside[0])
        keyword = _keyword(source, wrapped)
        if keyword is not None:
            value = tokens(inner(wrapped)[0])[2]
            return keyword[0], ast.MatchAs(keyword[1], source.name(name), **between(value, name))
    return None


_TABLE: dict[str, Callable[[Source, Node], ast.pattern]] = {
    "string": _literal,
    "concatenated_string": _literal,
    "integer": _literal,
    "float": _literal,
    "true": _singleton,
    "false": _singleton,
    "none": _singleton,
    "complex_pattern": _complex,
    "dotted_name": _name,
    "as_pattern": _as,
    "union_pattern": _or,
    "list_pattern": _sequence,
    "tuple_pattern": _sequence,
    "splat_pattern": _star,
    "dict_pattern": _mapping,
    "class_pattern": _class,
}
