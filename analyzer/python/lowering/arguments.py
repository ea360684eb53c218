"""Parameters of functions and lambdas, and arguments of calls."""

from __future__ import annotations

import ast

from tree_sitter import Node

from analyzer.python.lowering.nodes import (
    Source,
    UnreadableError,
    at,
    child,
    expression,
    field,
    inner,
    kinds,
)

_NAME = field("name")
_VALUE = field("value")
_TYPE = field("type")
_IDENTIFIER = kinds("identifier")
_SPLAT = kinds("list_splat_pattern")
_DOUBLE_SPLAT = kinds("dictionary_splat_pattern")
_TYPED = kinds("typed_parameter")
_DEFAULT = kinds("default_parameter", "typed_default_parameter")
_SLASH = kinds("positional_separator")
_STAR = kinds("keyword_separator")
_KEYWORD = kinds("keyword_argument")
_KEYWORDS = kinds("dictionary_splat")


def parameters(source: Source, node: Node | None) -> ast.arguments:
    """The parameter list of a function or lambda (``None``: it has no parameters)."""
    result = ast.arguments([], [], None, [], [], None, [])
    keyword_only = False
    for part in () if node is None else inner(node):
        kind = part.kind_id
        if kind in _SLASH:
            result.posonlyargs, result.args = result.args, []
        elif kind in _STAR:
            keyword_only = True
        else:
            keyword_only = _parameter(source, part, result, keyword_only)
    return result


def _parameter(source: Source, node: Node, result: ast.arguments, keyword_only: bool) -> bool:
    """Add one parameter; answers whether those after it are keyword-only."""
    kind = node.kind_id
    default = expression(source, child(node, _VALUE)) if kind in _DEFAULT else None
    name = node
    if kind in _DEFAULT:
        name = child(node, _NAME)
    elif kind in _TYPED:
        name = inner(node)[0]
    argument = _argument(source, node, name)
    if name.kind_id in _SPLAT:
        result.vararg = argument
        return True
    if name.kind_id in _DOUBLE_SPLAT:
        result.kwarg = argument
        return True
    if keyword_only:
        result.kwonlyargs.append(argument)
        result.kw_defaults.append(default)
        return True
    if default is not None:
        result.defaults.append(default)
    elif result.defaults:
        raise UnreadableError("parameter without a default follows one with a default")
    result.args.append(argument)
    return False


def _argument(source: Source, node: Node, name: Node) -> ast.arg:
    """The name of a parameter with its annotation; the position leaves out stars and the default."""
    starred = name.kind_id in _SPLAT or name.kind_id in _DOUBLE_SPLAT
    word = inner(name)[0] if starred else name
    if word.kind_id not in _IDENTIFIER:
        raise UnreadableError("parameter that is not a name")
    annotation_node = node.child_by_field_id(_TYPE)
    annotation = None if annotation_node is None else expression(source, annotation_node)
    span = at(word)
    if annotation_node is not None:
        end_row, span["end_col_offset"] = annotation_node.end_point
        span["end_lineno"] = end_row + 1
    return ast.arg(source.name(word), annotation, None, **span)


def arguments(source: Source, node: Node | None) -> tuple[list[ast.expr], list[ast.keyword]]:
    """The positional and keyword arguments of a call, or the bases and keywords of a class."""
    positional: list[ast.expr] = []
    named: list[ast.keyword] = []
    unpacked = False
    for part in () if node is None else inner(node):
        if part.kind_id in _KEYWORD:
            value = expression(source, child(part, _VALUE))
            named.append(ast.keyword(source.name(child(part, _NAME)), value, **at(part)))
        elif part.kind_id in _KEYWORDS:
            unpacked = True
            named.append(ast.keyword(None, expression(source, inner(part)[0]), **at(part)))
        else:
            value = expression(source, part)
            if named and (unpacked or not isinstance(value, ast.Starred)):
                raise UnreadableError("positional argument follows a keyword argument")
            positional.append(value)
    return positional, named
