"""Expressions: names, operators, displays, comprehensions, calls, subscripts, annotations."""

from __future__ import annotations

import ast

from tree_sitter import Node

from analyzer.python.lowering.arguments import arguments, parameters
from analyzer.python.lowering.literals import number
from analyzer.python.lowering.nodes import (
    COMMA,
    LOAD,
    MAX_DEPTH,
    STORE,
    Source,
    UnreadableError,
    at,
    between,
    child,
    expression,
    field,
    inner,
    kinds,
    lowers,
    target,
    tokens,
)

_LEFT, _RIGHT, _OPERATOR = field("left"), field("right"), field("operator")
_OBJECT, _ATTRIBUTE = field("object"), field("attribute")
_FUNCTION, _ARGUMENTS, _ARGUMENT = field("function"), field("arguments"), field("argument")
_VALUE, _NAME, _KEY = field("value"), field("name"), field("key")
_BODY, _PARAMETERS = field("body"), field("parameters")

_LIST_SPLAT = kinds("list_splat")
_BOOLEAN = kinds("boolean_operator")
_BINARY = kinds("binary_operator")
_BITWISE, _BAR = kinds("&", "^"), kinds("|")
_PAIR = kinds("pair")
_TYPE, _UNION = kinds("type"), kinds("union_type")
_FOR, _IF = kinds("for_in_clause"), kinds("if_clause")
_GENERATOR = kinds("generator_expression")
_COLON = kinds(":")
_OPENING = kinds("[")
_IN = kinds("in")
_ASYNC = kinds("async")
_FROM = kinds("from")

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "@": ast.MatMult,
    "/": ast.Div,
    "%": ast.Mod,
    "//": ast.FloorDiv,
    "**": ast.Pow,
    "|": ast.BitOr,
    "&": ast.BitAnd,
    "^": ast.BitXor,
    "<<": ast.LShift,
    ">>": ast.RShift,
}
_UNARY: dict[str, type[ast.unaryop]] = {"+": ast.UAdd, "-": ast.USub, "~": ast.Invert}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
    ">=": ast.GtE,
    ">": ast.Gt,
    "in": ast.In,
    "not in": ast.NotIn,
    "is": ast.Is,
    "is not": ast.IsNot,
}


@lowers("identifier")
def identifier(source: Source, node: Node) -> ast.expr:
    """A name."""
    return ast.Name(source.name(node), LOAD, **at(node))


@lowers("true")
def true(source: Source, node: Node) -> ast.expr:
    """``True``."""
    return ast.Constant(True, None, **at(node))


@lowers("false")
def false(source: Source, node: Node) -> ast.expr:
    """``False``."""
    return ast.Constant(False, None, **at(node))


@lowers("none")
def none(source: Source, node: Node) -> ast.expr:
    """``None``."""
    return ast.Constant(None, None, **at(node))


@lowers("ellipsis")
def ellipsis(source: Source, node: Node) -> ast.expr:
    """``...``."""
    return ast.Constant(..., None, **at(node))


@lowers("integer", "float")
def numeral(source: Source, node: Node) -> ast.expr:
    """A number."""
    return ast.Constant(number(source.text(node)), None, **at(node))


@lowers("attribute")
def attribute(source: Source, node: Node) -> ast.expr:
    """``value.name``."""
    value = expression(source, child(node, _OBJECT))
    result = ast.Attribute(value, source.name(child(node, _ATTRIBUTE)), LOAD, **at(node))
    return result if type(value) is not ast.Starred else _outward(value, result)


@lowers("call")
def call(source: Source, node: Node) -> ast.expr:
    """``function(arguments)``."""
    function = expression(source, child(node, _FUNCTION))
    given = child(node, _ARGUMENTS)
    named: list[ast.keyword] = []
    if given.kind_id in _GENERATOR:
        positional = [expression(source, given)]
    else:
        positional, named = arguments(source, given)
    result = ast.Call(function, positional, named, **at(node))
    return result if type(function) is not ast.Starred else _outward(function, result)


def _outward(star: ast.Starred, operation: ast.expr) -> ast.Starred:
    """``*(a.b)`` where the grammar has ``(*a).b``: the star applies last.

    ``operation`` holds ``star`` as its first operand.
    """
    first = star.value
    operation.lineno, operation.col_offset = first.lineno, first.col_offset
    for name, value in ast.iter_fields(operation):
        if value is star:
            setattr(operation, name, first)
    star.value = operation
    star.end_lineno, star.end_col_offset = operation.end_lineno, operation.end_col_offset
    return star


@lowers("parenthesized_expression")
def parenthesized(source: Source, node: Node) -> ast.expr:
    """An expression in parentheses: the parentheses leave no trace."""
    part = inner(node)[0]
    if part.kind_id in _LIST_SPLAT:
        raise UnreadableError("starred expression in parentheses")
    return expression(source, part)


@lowers("binary_operator")
def binary(source: Source, node: Node) -> ast.expr:
    """``left + right`` and its kin."""
    symbol = child(node, _OPERATOR).type
    if symbol == "&":
        operands, symbols = _bitwise(node)
        if "^" in symbols:
            return _regroup(source, operands, symbols)
    operator = BINARY[symbol]()
    left = expression(source, child(node, _LEFT))
    result = ast.BinOp(left, operator, expression(source, child(node, _RIGHT)), **at(node))
    return result if type(left) is not ast.Starred else _outward(left, result)


def _bitwise(node: Node) -> tuple[list[Node], list[str]]:
    """The operands of a chain of ``&`` and ``^``, and the operators between them."""
    operands: list[Node] = []
    symbols: list[str] = []
    waiting = [node]
    while waiting:  # a loop: a chain can be longer than the stack is deep
        part = waiting.pop()
        if part.kind_id in _BITWISE:
            symbols.append(part.type)
        elif part.kind_id in _BINARY and child(part, _OPERATOR).kind_id in _BITWISE:
            waiting += [child(part, _RIGHT), child(part, _OPERATOR), child(part, _LEFT)]
        else:
            operands.append(part)
    return operands, symbols


def _regroup(source: Source, operands: list[Node], symbols: list[str]) -> ast.expr:
    """A chain of ``&`` and ``^`` as the language groups it: the grammar lets ``^`` bind closer than ``&``."""
    if len(operands) > MAX_DEPTH:
        raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
    groups = [[operands[0]]]
    for symbol, operand in zip(symbols, operands[1:], strict=True):
        if symbol == "^":
            groups.append([operand])
        else:
            groups[-1].append(operand)
    result: ast.expr | None = None
    for group in groups:
        term = expression(source, group[0])
        for operand in group[1:]:
            right = expression(source, operand)
            term = ast.BinOp(term, ast.BitAnd(), right, **between(group[0], operand))
        if result is not None:
            term = ast.BinOp(result, ast.BitXor(), term, **between(operands[0], group[-1]))
        result = term
    assert result is not None
    return result


@lowers("boolean_operator")
def boolean(source: Source, node: Node) -> ast.expr:
    """``a and b and c``: one node for a chain, as the compiler has it."""
    operator = child(node, _OPERATOR).type
    values = [child(node, _RIGHT)]
    left = child(node, _LEFT)
    while left.kind_id in _BOOLEAN and child(left, _OPERATOR).type == operator:
        values.append(child(left, _RIGHT))
        left = child(left, _LEFT)
    values.append(left)
    lowered = [expression(source, value) for value in reversed(values)]
    return ast.BoolOp(ast.And() if operator == "and" else ast.Or(), lowered, **at(node))


@lowers("unary_operator")
def unary(source: Source, node: Node) -> ast.expr:
    """``-value`` and its kin."""
    operator = _UNARY[child(node, _OPERATOR).type]()
    return ast.UnaryOp(operator, expression(source, child(node, _ARGUMENT)), **at(node))


@lowers("not_operator")
def negation(source: Source, node: Node) -> ast.expr:
    """``not value``."""
    return ast.UnaryOp(ast.Not(), expression(source, child(node, _ARGUMENT)), **at(node))


@lowers("comparison_operator")
def comparison(source: Source, node: Node) -> ast.expr:
    """``a < b <= c``."""
    operands: list[ast.expr] = []
    operators: list[ast.cmpop] = []
    for part in tokens(node):
        if part.is_named:
            operands.append(expression(source, part))
        elif part.type in _COMPARE:
            operators.append(_COMPARE[part.type]())
        else:
            raise UnreadableError(f"not an operator of Python 3: {part.type}")
    return ast.Compare(operands[0], operators, operands[1:], **at(node))


@lowers("conditional_expression")
def conditional(source: Source, node: Node) -> ast.expr:
    """``body if test else other``; ``name := body if …`` names the whole, in the grammar the body."""
    body, test, other = (expression(source, part) for part in inner(node))
    if inner(node)[0].type == "named_expression":
        assert isinstance(body, ast.NamedExpr)
        chosen = ast.IfExp(test, body.value, other, **between(child(inner(node)[0], _VALUE), node))
        return ast.NamedExpr(body.target, chosen, **at(node))
    return ast.IfExp(test, body, other, **at(node))


@lowers("named_expression")
def named(source: Source, node: Node) -> ast.expr:
    """``name := value``."""
    name = stored_name(source, child(node, _NAME))
    return ast.NamedExpr(name, expression(source, child(node, _VALUE)), **at(node))


@lowers("lambda")
def function(source: Source, node: Node) -> ast.expr:
    """``lambda parameters: body``."""
    given = parameters(source, node.child_by_field_id(_PARAMETERS))
    return ast.Lambda(given, expression(source, child(node, _BODY)), **at(node))


@lowers("await")
def awaiting(source: Source, node: Node) -> ast.expr:
    """``await value``; binds closer than ``**``, where the grammar has it the other way round."""
    operand = inner(node)[0]
    powers: list[Node] = []
    while operand.kind_id in _BINARY:
        powers.append(operand)
        operand = child(operand, _LEFT)
    result: ast.expr = ast.Await(expression(source, operand), **between(node, operand))
    for power in reversed(powers):
        operator = BINARY[child(power, _OPERATOR).type]()
        right = expression(source, child(power, _RIGHT))
        result = ast.BinOp(result, operator, right, **between(node, power))
    return result


@lowers("yield")
def yielding(source: Source, node: Node) -> ast.expr:
    """``yield value`` and ``yield from value``."""
    values = [expression(source, part) for part in inner(node)]
    if any(part.kind_id in _FROM for part in node.children):
        return ast.YieldFrom(values[0], **at(node))
    return ast.Yield(values[0] if values else None, **at(node))


@lowers("list_splat", "list_splat_pattern", "splat_type")
def starred(source: Source, node: Node) -> ast.expr:
    """``*value``."""
    if node.children[0].type != "*":
        raise UnreadableError("double star outside of a call or a dictionary")
    return ast.Starred(expression(source, inner(node)[0]), LOAD, **at(node))


def _elements(source: Source, node: Node) -> list[ast.expr]:
    return [expression(source, part) for part in inner(node)]


@lowers("list", "list_pattern")
def array(source: Source, node: Node) -> ast.expr:
    """``[a, b]``."""
    return ast.List(_elements(source, node), LOAD, **at(node))


@lowers("set")
def collection(source: Source, node: Node) -> ast.expr:
    """``{a, b}``."""
    return ast.Set(_elements(source, node), **at(node))


@lowers("tuple", "tuple_pattern")
def bracketed(source: Source, node: Node) -> ast.expr:
    """``(a, b)``; as a pattern also ``(a)``, which is a plain expression in parentheses."""
    elements = _elements(source, node)
    if len(elements) == 1 and not has_comma(node):
        if isinstance(elements[0], ast.Starred):
            raise UnreadableError("starred expression in parentheses")
        return elements[0]
    return ast.Tuple(elements, LOAD, **at(node))


def has_comma(node: Node) -> bool:
    """Whether a comma stands between (or after) the children of a node."""
    return any(part.kind_id in COMMA for part in node.children)


@lowers("expression_list", "pattern_list")
def listed(source: Source, node: Node) -> ast.expr:
    """``a, b`` without parentheses."""
    return ast.Tuple(_elements(source, node), LOAD, **at(node))


def one_or_tuple(source: Source, parts: list[Node]) -> ast.expr:
    """A single value, or a tuple if a comma is among these nodes (punctuation included)."""
    values = [expression(source, part) for part in parts if part.kind_id not in COMMA]
    if len(values) == len(parts) and not isinstance(values[0], ast.Starred):
        return values[0]
    return ast.Tuple(values, LOAD, **between(parts[0], parts[-1]))


@lowers("dictionary")
def dictionary(source: Source, node: Node) -> ast.expr:
    """``{key: value, **more}``."""
    keys: list[ast.expr | None] = []
    values: list[ast.expr] = []
    for part in inner(node):
        if part.kind_id in _PAIR:
            keys.append(expression(source, child(part, _KEY)))
            values.append(expression(source, child(part, _VALUE)))
        else:
            keys.append(None)
            values.append(expression(source, inner(part)[0]))
    return ast.Dict(keys, values, **at(node))


def _comprehensions(source: Source, node: Node) -> list[ast.comprehension]:
    """The ``for`` and ``if`` clauses of a comprehension."""
    result: list[ast.comprehension] = []
    for part in node.children:
        if part.kind_id in _FOR:
            variable = target(source, child(part, _LEFT))
            is_async = part.children[0].kind_id in _ASYNC
            parts = tokens(part)
            start = next(index for index, token in enumerate(parts) if token.kind_id in _IN) + 1
            iterated = one_or_tuple(source, parts[start:])
            result.append(ast.comprehension(variable, iterated, [], int(is_async)))
        elif part.kind_id in _IF:
            result[-1].ifs.append(expression(source, inner(part)[0]))
    return result


@lowers("list_comprehension")
def list_comprehension(source: Source, node: Node) -> ast.expr:
    """``[body for x in y]``."""
    return ast.ListComp(expression(source, child(node, _BODY)), _comprehensions(source, node), **at(node))


@lowers("set_comprehension")
def set_comprehension(source: Source, node: Node) -> ast.expr:
    """``{body for x in y}``."""
    return ast.SetComp(expression(source, child(node, _BODY)), _comprehensions(source, node), **at(node))


@lowers("generator_expression")
def generator(source: Source, node: Node) -> ast.expr:
    """``(body for x in y)``."""
    return ast.GeneratorExp(expression(source, child(node, _BODY)), _comprehensions(source, node), **at(node))


@lowers("dictionary_comprehension")
def dictionary_comprehension(source: Source, node: Node) -> ast.expr:
    """``{key: value for x in y}``."""
    pair = child(node, _BODY)
    key = expression(source, child(pair, _KEY))
    value = expression(source, child(pair, _VALUE))
    return ast.DictComp(key, value, _comprehensions(source, node), **at(node))


@lowers("subscript")
def subscript(source: Source, node: Node) -> ast.expr:
    """``value[index]``."""
    parts = tokens(node)
    start = next(index for index, part in enumerate(parts) if part.kind_id in _OPENING and index) + 1
    value = expression(source, child(node, _VALUE))
    result = ast.Subscript(value, one_or_tuple(source, parts[start:-1]), LOAD, **at(node))
    return result if type(value) is not ast.Starred else _outward(value, result)


@lowers("slice")
def slicing(source: Source, node: Node) -> ast.expr:
    """``lower:upper:step``."""
    bounds: list[ast.expr | None] = [None, None, None]
    position = 0
    for part in tokens(node):
        if part.kind_id in _COLON:
            position += 1
        else:
            bounds[position] = expression(source, part)
    return ast.Slice(bounds[0], bounds[1], bounds[2], **at(node))


@lowers("type")
def annotation(source: Source, node: Node) -> ast.expr:
    """An annotation: the grammar has its own kinds of node for some of them."""
    return expression(source, inner(node)[0])


@lowers("generic_type")
def generic(source: Source, node: Node) -> ast.expr:
    """``Name[arguments]`` in an annotation."""
    parts = tokens(node)
    name, given = parts[0], parts[-1]
    value = ast.Name(source.name(name), LOAD, **at(name))
    return ast.Subscript(value, one_or_tuple(source, tokens(given)[1:-1]), LOAD, **at(node))


@lowers("union_type")
def union(source: Source, node: Node) -> ast.expr:
    """``A[b] | C | D`` in an annotation, which the grammar may group from the right."""
    operands = _alternatives(node)
    result = expression(source, operands[0])
    for operand in operands[1:]:
        result = ast.BinOp(result, ast.BitOr(), expression(source, operand), **between(operands[0], operand))
    return result


def _alternatives(node: Node) -> list[Node]:
    """The operands of a chain of ``|`` in an annotation."""
    operands: list[Node] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        kind = part.kind_id
        if kind in _TYPE or kind in _UNION or (kind in _BINARY and child(part, _OPERATOR).kind_id in _BAR):
            waiting += reversed(inner(part))
        else:
            operands.append(part)
    if len(operands) > MAX_DEPTH:
        raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
    return operands


@lowers("member_type")
def member(source: Source, node: Node) -> ast.expr:
    """``A[b].c`` in an annotation."""
    value, name = inner(node)
    return ast.Attribute(expression(source, value), source.name(name), LOAD, **at(node))


@lowers("constrained_type")
def constrained(source: Source, node: Node) -> ast.expr:
    """``a: b`` inside the brackets of an annotation is a slice."""
    lower, upper = (expression(source, part) for part in inner(node))
    return ast.Slice(lower, upper, None, **at(node))


def stored_name(source: Source, node: Node) -> ast.Name:
    """A name that is bound."""
    return ast.Name(source.name(node), STORE, **at(node))
