"""Statements; the bodies of functions are left for later, damaged ones become ``Broken``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tree_sitter import Node

from analyzer.python.lowering import strings as _strings  # noqa: F401  # registers its kinds
from analyzer.python.lowering.arguments import arguments, parameters
from analyzer.python.lowering.expressions import BINARY, has_comma, one_or_tuple, stored_name
from analyzer.python.lowering.nodes import (
    DEL,
    LANGUAGE,
    MAX_DEPTH,
    Broken,
    Source,
    Span,
    UnreadableError,
    at,
    between,
    child,
    expression,
    field,
    inner,
    kinds,
    target,
    tokens,
    with_context,
)
from analyzer.python.lowering.patterns import case
from analyzer.python.lowering.second import reread

_LEFT, _RIGHT, _TYPE, _OPERATOR = field("left"), field("right"), field("type"), field("operator")
_NAME, _ALIAS, _MODULE = field("name"), field("alias"), field("module_name")
_BODY, _CONSEQUENCE, _ALTERNATIVE = field("body"), field("consequence"), field("alternative")
_CONDITION, _GUARD, _CAUSE, _VALUE = field("condition"), field("guard"), field("cause"), field("value")
_PARAMETERS, _RETURNS, _SUPERCLASSES = field("parameters"), field("return_type"), field("superclasses")
_DEFINITION = field("definition")

_ASSIGNMENT, _AUGMENTED = kinds("assignment"), kinds("augmented_assignment")
_GENERIC = kinds("generic_type")
_IDENTIFIER, _TUPLE = kinds("identifier"), kinds("tuple")
_ALIASED, _WILDCARD, _PREFIX = kinds("aliased_import"), kinds("wildcard_import"), kinds("import_prefix")
_RELATIVE = kinds("relative_import")
_EXPRESSION_LIST = kinds("expression_list")
_PARENTHESIZED = kinds("parenthesized_expression")
_BLOCK, _CLASS, _CASE_CLAUSE = kinds("block"), kinds("class_definition"), kinds("case_clause")
_ELIF, _ELSE, _EXCEPT = kinds("elif_clause"), kinds("else_clause"), kinds("except_clause")
_FINALLY, _DECORATOR, _IF_CLAUSE = kinds("finally_clause"), kinds("decorator"), kinds("if_clause")
_AS_PATTERN, _WITH_ITEM = kinds("as_pattern"), kinds("with_item")
_COLON, _STAR, _ASYNC = kinds(":"), kinds("*"), kinds("async")
_EXTENDING = kinds("elif_clause", "else_clause", "except_clause", "finally_clause", "case_clause", "block")
_NESTING = _EXTENDING | kinds("function_definition", "class_definition")
_COMPOUND = kinds(
    "if_statement",
    "for_statement",
    "while_statement",
    "try_statement",
    "with_statement",
    "match_statement",
    "function_definition",
    "class_definition",
    "decorated_definition",
)


def block(source: Source, node: Node) -> list[ast.stmt]:
    """The statements of a module or an indented block."""
    parts = inner(node)
    if not source.damaged or not node.has_error:
        return [statement(source, part) for part in parts]
    rows = _damaged_rows(parts)
    column = parts[0].start_point[1] if parts and node.parent is not None else 0
    row = -1
    result: list[ast.stmt] = []
    for part in parts:
        previous, row = row, part.end_point[0]
        if part.is_error or part.is_missing or _TABLE[part.kind_id] is None:
            broken(result, at(part), "cannot be parsed")
        elif part.start_point[1] != column and part.start_point[0] != previous:
            broken(result, at(part), "indented otherwise than its block")
        elif part.start_point[0] in rows or (part.kind_id not in _COMPOUND and part.end_point[0] in rows):
            broken(result, at(part), "shares a line with code that cannot be parsed")
        else:
            result.append(statement(source, part))
    return result


def _damaged_rows(parts: list[Node]) -> set[int]:
    """The rows (from 0) on which an error node starts or ends: what stands beside it cannot be trusted."""
    rows: set[int] = set()
    for part in parts:
        if part.is_error:
            end_row, end_column = part.end_point
            rows |= {part.start_point[0], end_row if end_column else end_row - 1}
    return rows


def _body(source: Source, node: Node) -> list[ast.stmt]:
    """The statements of a suite, at least one."""
    body = block(source, node)
    if not body:
        raise UnreadableError("block without statements")
    return body


def statement(source: Source, node: Node) -> ast.stmt:
    """Lower one statement; one that is damaged, of Python 2 or too deep becomes :class:`Broken`."""
    depth = source.depth
    try:
        if source.damaged and node.has_error:
            _check_header(node)
        source.depth += 1
        if source.depth > MAX_DEPTH:
            raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels")
        lowering = _TABLE[node.kind_id]
        if lowering is None:
            raise UnreadableError(f"not a statement of Python 3: {node.type.replace('_', ' ')}")
        return lowering(source, node)
    except (UnreadableError, LookupError, StopIteration, ValueError) as error:
        # The others: beside damage, a node can lack parts that the grammar promises.
        source.depth = depth
        second = None if node.kind_id in _COMPOUND else reread(source.data, node, MAX_DEPTH - depth)
        return marker(at(node), _reason(error, node)) if second is None else second
    finally:
        source.depth = depth


def _reason(error: Exception, node: Node) -> str:
    if isinstance(error, UnreadableError):
        return str(error)
    return f"{node.type.replace('_', ' ')} of an unknown form"


def marker(span: Span, reason: str) -> Broken:
    """The stand-in for what could not be read."""
    result = Broken(**span)
    result.reason = reason
    return result


def broken(statements: list[ast.stmt], span: Span, reason: str) -> None:
    """Add a marker, or stretch the one before it if it says the same."""
    last = statements[-1] if statements else None
    if isinstance(last, Broken) and last.reason == reason:
        last.end_lineno, last.end_col_offset = span["end_lineno"], span["end_col_offset"]
    else:
        statements.append(marker(span, reason))


def _check_header(node: Node) -> None:
    """Refuse a statement that is damaged outside of its blocks.

    Raises:
        UnreadableError: it is.
    """
    if node.kind_id not in _COMPOUND or _header_damaged(node):
        raise UnreadableError("cannot be parsed")


def _header_damaged(node: Node) -> bool:
    in_match = node.type == "match_statement"
    for part in node.children:
        if part.is_error or part.is_missing:
            return True
        if not part.has_error:
            continue
        if part.kind_id in _BLOCK:
            if in_match and _header_damaged(part):
                return True
        elif part.kind_id not in _NESTING or _header_damaged(part):
            return True
    return False


def _until(node: Node) -> Span:
    """The position of a compound statement: it ends with its last statement."""
    span = at(node)
    last = node
    while last is node or last.kind_id in _NESTING or last.kind_id in _COMPOUND:
        last = tokens(last)[-1]
    end_row, span["end_col_offset"] = last.end_point
    span["end_lineno"] = end_row + 1
    return span


def _expression_statement(source: Source, node: Node) -> ast.stmt:
    parts = tokens(node)
    first = parts[0]
    if len(parts) == 1:
        if first.kind_id in _ASSIGNMENT:
            return _assignment(source, first)
        if first.kind_id in _AUGMENTED:
            return _augmented(source, first)
    return ast.Expr(one_or_tuple(source, parts), **at(node))


def _assignment(source: Source, node: Node) -> ast.stmt:
    annotation = node.child_by_field_id(_TYPE)
    if annotation is not None:
        return _annotated(source, node, annotation)
    targets: list[ast.expr] = []
    value = node
    while value.kind_id in _ASSIGNMENT:
        if value.child_by_field_id(_TYPE) is not None:
            raise UnreadableError("annotation inside a chain of assignments")
        targets.append(target(source, child(value, _LEFT)))
        value = child(value, _RIGHT)
    return ast.Assign(targets, expression(source, value), None, **at(node))


def _annotated(source: Source, node: Node, annotation: Node) -> ast.stmt:
    left = child(node, _LEFT)
    name = target(source, left)
    if not isinstance(name, (ast.Name, ast.Attribute, ast.Subscript)):
        raise UnreadableError("annotation of something other than a name, attribute or subscript")
    right = node.child_by_field_id(_RIGHT)
    value = None if right is None else expression(source, right)
    simple = int(left.kind_id in _IDENTIFIER)
    return ast.AnnAssign(name, expression(source, annotation), value, simple, **at(node))


def _augmented(source: Source, node: Node) -> ast.stmt:
    name = target(source, child(node, _LEFT))
    if not isinstance(name, (ast.Name, ast.Attribute, ast.Subscript)):
        raise UnreadableError("augmented assignment to something other than a name, attribute or subscript")
    operator = BINARY[child(node, _OPERATOR).type[:-1]]()
    return ast.AugAssign(name, operator, expression(source, child(node, _RIGHT)), **at(node))


def _return(source: Source, node: Node) -> ast.stmt:
    parts = inner(node)
    return ast.Return(expression(source, parts[0]) if parts else None, **at(node))


def _delete(source: Source, node: Node) -> ast.stmt:
    part = inner(node)[0]
    parts = inner(part) if part.kind_id in _EXPRESSION_LIST else [part]
    return ast.Delete([with_context(expression(source, part), DEL) for part in parts], **at(node))


def _raise(source: Source, node: Node) -> ast.stmt:
    cause = node.child_by_field_id(_CAUSE)
    parts = [part for part in inner(node) if part != cause]
    if parts and parts[0].kind_id in _EXPRESSION_LIST:
        raise UnreadableError("raise with a comma, as in Python 2")
    lowered = expression(source, parts[0]) if parts else None
    return ast.Raise(lowered, None if cause is None else expression(source, cause), **at(node))


def _assert(source: Source, node: Node) -> ast.stmt:
    parts = inner(node)
    if len(parts) > 2:
        raise UnreadableError("assert with more than two parts")
    message = expression(source, parts[1]) if len(parts) == 2 else None
    return ast.Assert(expression(source, parts[0]), message, **at(node))


def _pass(source: Source, node: Node) -> ast.stmt:
    return ast.Pass(**at(node))


def _break(source: Source, node: Node) -> ast.stmt:
    return ast.Break(**at(node))


def _continue(source: Source, node: Node) -> ast.stmt:
    return ast.Continue(**at(node))


def _global(source: Source, node: Node) -> ast.stmt:
    return ast.Global([source.name(part) for part in inner(node)], **at(node))


def _nonlocal(source: Source, node: Node) -> ast.stmt:
    return ast.Nonlocal([source.name(part) for part in inner(node)], **at(node))


def _type_alias(source: Source, node: Node) -> ast.stmt:
    """``type X = value`` (PEP 695) as the assignment ``X = value``: Python 3.11 has no node for it."""
    left = inner(child(node, _LEFT))[0]
    if left.kind_id not in _IDENTIFIER and left.kind_id not in _GENERIC:
        raise UnreadableError("not a type alias")  # type(x).y = z
    name = left if left.kind_id in _IDENTIFIER else tokens(left)[0]
    return ast.Assign([stored_name(source, name)], expression(source, child(node, _RIGHT)), None, **at(node))


def _dotted(source: Source, node: Node) -> str:
    return ".".join(source.name(part) for part in inner(node))


def _aliases(source: Source, node: Node) -> list[ast.alias]:
    result: list[ast.alias] = []
    for part in node.children_by_field_id(_NAME):
        if part.kind_id in _ALIASED:
            name = _dotted(source, child(part, _NAME))
            result.append(ast.alias(name, source.name(child(part, _ALIAS)), **at(part)))
        else:
            result.append(ast.alias(_dotted(source, part), None, **at(part)))
    return result


def _import(source: Source, node: Node) -> ast.stmt:
    return ast.Import(_aliases(source, node), **at(node))


def _import_from(source: Source, node: Node) -> ast.stmt:
    origin = child(node, _MODULE)
    level = 0
    module: str | None = None
    parts = inner(origin) if origin.kind_id in _RELATIVE else [origin]
    for part in parts:
        if part.kind_id in _PREFIX:
            level = source.text(part).count(".")
        else:
            module = _dotted(source, part)
    names = _aliases(source, node)
    names += [ast.alias("*", None, **at(part)) for part in inner(node) if part.kind_id in _WILDCARD]
    return ast.ImportFrom(module, names, level, **at(node))


def _import_future(source: Source, node: Node) -> ast.stmt:
    return ast.ImportFrom("__future__", _aliases(source, node), 0, **at(node))


def _if(source: Source, node: Node) -> ast.stmt:
    clauses = [part for part in node.children if part.kind_id in _ELIF or part.kind_id in _ELSE]
    span = _until(node)
    test = expression(source, child(node, _CONDITION))
    body = _body(source, child(node, _CONSEQUENCE))
    return ast.If(test, body, _otherwise(source, clauses, span), **span)


def _otherwise(source: Source, clauses: list[Node], whole: Span) -> list[ast.stmt]:
    """``elif`` and ``else``: an ``elif`` is an ``if`` inside the ``else`` of the one before it."""
    if not clauses:
        return []
    first = clauses[0]
    if first.kind_id in _ELSE:
        return _body(source, child(first, _BODY))
    span = at(first)
    span["end_lineno"], span["end_col_offset"] = whole["end_lineno"], whole["end_col_offset"]
    source.depth += 1
    try:
        test = expression(source, child(first, _CONDITION))
        body = _body(source, child(first, _CONSEQUENCE))
    except UnreadableError as error:  # the branches before it stand
        return [marker(span, str(error))]
    return [ast.If(test, body, _otherwise(source, clauses[1:], whole), **span)]


def _else(source: Source, node: Node) -> list[ast.stmt]:
    clause = next((part for part in node.children if part.kind_id in _ELSE), None)
    return [] if clause is None else _body(source, child(clause, _BODY))


def _is_async(node: Node) -> bool:
    return node.children[0].kind_id in _ASYNC


def _for(source: Source, node: Node) -> ast.stmt:
    make = ast.AsyncFor if _is_async(node) else ast.For
    variable = target(source, child(node, _LEFT))
    iterated = expression(source, child(node, _RIGHT))
    body = _body(source, child(node, _BODY))
    return make(variable, iterated, body, _else(source, node), None, **_until(node))


def _while(source: Source, node: Node) -> ast.stmt:
    test = expression(source, child(node, _CONDITION))
    body = _body(source, child(node, _BODY))
    return ast.While(test, body, _else(source, node), **_until(node))


def _clause_body(source: Source, node: Node) -> list[ast.stmt]:
    suite = next((part for part in node.children if part.kind_id in _BLOCK), None)
    if suite is None:
        raise UnreadableError("block without statements")
    return _body(source, suite)


def _try(source: Source, node: Node) -> ast.stmt:
    body = _body(source, child(node, _BODY))
    handlers: list[ast.ExceptHandler] = []
    final: list[ast.stmt] = []
    make: type[ast.Try] | type[ast.TryStar] = ast.Try
    for part in node.children:
        if part.kind_id in _EXCEPT:
            handlers.append(_handler(source, part))
            if any(token.kind_id in _STAR for token in part.children):
                make = ast.TryStar
        elif part.kind_id in _FINALLY:
            final = _clause_body(source, part)
    return make(body, handlers, _else(source, node), final, **_until(node))


def _handler(source: Source, node: Node) -> ast.ExceptHandler:
    value = node.child_by_field_id(_VALUE)
    if has_comma(node):
        raise UnreadableError("except with a comma, as in Python 2")
    caught, name = None, None
    if value is not None:
        caught, alias = _renamed(source, value)
        if alias is not None:
            if alias.kind_id not in _IDENTIFIER:
                raise UnreadableError("exception bound to something other than a name")
            name = source.name(alias)
    return ast.ExceptHandler(caught, name, _clause_body(source, node), **_until(node))


def _renamed(source: Source, node: Node) -> tuple[ast.expr, Node | None]:
    """``value as alias``, or a value alone."""
    if node.kind_id not in _AS_PATTERN:
        return expression(source, node), None
    return expression(source, inner(node)[0]), inner(child(node, _ALIAS))[0]


def _with(source: Source, node: Node) -> ast.stmt:
    make = ast.AsyncWith if _is_async(node) else ast.With
    clause = next(part for part in inner(node) if part.kind_id not in _BLOCK)
    values = [child(part, _VALUE) for part in inner(clause) if part.kind_id in _WITH_ITEM]
    if _is_tuple(clause, values):
        whole = ast.Tuple([expression(source, value) for value in values], ast.Load(), **_around(clause))
        return make([ast.withitem(whole, None)], _body(source, child(node, _BODY)), None, **_until(node))
    if len(values) == 1:
        values = _unwrap(values[0])
    items = [_with_item(source, value) for value in values]
    return make(items, _body(source, child(node, _BODY)), None, **_until(node))


def _is_tuple(clause: Node, values: list[Node]) -> bool:
    """Whether parentheses around the items hold a tuple: a star or a named expression cannot be an item."""
    return has_comma(clause) and clause.children[0].type == "(" and any(map(_no_item, values))


def _no_item(node: Node) -> bool:
    return "splat" in node.type or node.type == "named_expression"


def _around(clause: Node) -> Span:
    """The position from a clause's opening to its closing parenthesis."""
    closing = next(part for part in reversed(clause.children) if part.type == ")")
    return between(clause.children[0], closing)


def _unwrap(node: Node) -> list[Node]:
    """The items in ``with (a, b as c):``, which the grammar may take for a tuple."""
    if node.kind_id in _TUPLE and inner(node) and not any(map(_no_item, inner(node))):
        return inner(node)
    if node.kind_id in _PARENTHESIZED and inner(node)[0].kind_id in _AS_PATTERN:
        return [inner(node)[0]]
    return [node]


def _with_item(source: Source, node: Node) -> ast.withitem:
    value, alias = _renamed(source, node)
    return ast.withitem(value, None if alias is None else target(source, alias))


def _match(source: Source, node: Node) -> ast.stmt:
    parts = tokens(node)
    colon = next(index for index, part in enumerate(parts) if part.kind_id in _COLON)
    subject = one_or_tuple(source, parts[1:colon])
    clauses = [part for part in inner(child(node, _BODY)) if part.kind_id in _CASE_CLAUSE]
    if not clauses:
        raise UnreadableError("match without cases")
    return ast.Match(subject, [_case(source, clause) for clause in clauses], **_until(node))


def _case(source: Source, node: Node) -> ast.match_case:
    guard_node = node.child_by_field_id(_GUARD)
    parts = tokens(node)
    stop = next(
        index for index, part in enumerate(parts) if part.kind_id in _COLON or part.kind_id in _IF_CLAUSE
    )
    pattern = case(source, parts[1:stop])
    guard = None if guard_node is None else expression(source, inner(guard_node)[0])
    return ast.match_case(pattern, guard, _body(source, child(node, _CONSEQUENCE)))


def _decorated(source: Source, node: Node) -> ast.stmt:
    decorators = [expression(source, inner(part)[0]) for part in node.children if part.kind_id in _DECORATOR]
    definition = child(node, _DEFINITION)
    make = _class if definition.kind_id in _CLASS else _function
    result = make(source, definition)
    result.decorator_list = decorators
    return result


def _function(source: Source, node: Node) -> ast.FunctionDef | ast.AsyncFunctionDef:
    make = ast.AsyncFunctionDef if _is_async(node) else ast.FunctionDef
    suite = child(node, _BODY)
    if not inner(suite):
        raise UnreadableError("block without statements")
    returns_node = node.child_by_field_id(_RETURNS)
    name = source.name(child(node, _NAME))
    given = parameters(source, child(node, _PARAMETERS))
    returns = None if returns_node is None else expression(source, returns_node)
    result = make(name, given, [], [], returns, None, **_until(node))
    source.pending[result] = node.start_byte
    return result


def suite_at(source: Source, root: Node, offset: int) -> list[ast.stmt]:
    """The statements of the function whose definition starts at a byte of the text."""
    keyword = root.descendant_for_byte_range(offset, offset + 1)
    assert keyword is not None
    definition = keyword.parent
    assert definition is not None
    return block(source, child(definition, _BODY))


def _class(source: Source, node: Node) -> ast.ClassDef:
    bases, keywords = arguments(source, node.child_by_field_id(_SUPERCLASSES))
    body = _body(source, child(node, _BODY))
    return ast.ClassDef(source.name(child(node, _NAME)), bases, keywords, body, [], **_until(node))


def _build_table() -> list[Callable[[Source, Node], ast.stmt] | None]:
    lowerings: dict[str, Callable[[Source, Node], ast.stmt]] = {
        "expression_statement": _expression_statement,
        "return_statement": _return,
        "delete_statement": _delete,
        "raise_statement": _raise,
        "assert_statement": _assert,
        "pass_statement": _pass,
        "break_statement": _break,
        "continue_statement": _continue,
        "global_statement": _global,
        "nonlocal_statement": _nonlocal,
        "type_alias_statement": _type_alias,
        "import_statement": _import,
        "import_from_statement": _import_from,
        "future_import_statement": _import_future,
        "if_statement": _if,
        "for_statement": _for,
        "while_statement": _while,
        "try_statement": _try,
        "with_statement": _with,
        "match_statement": _match,
        "decorated_definition": _decorated,
        "function_definition": _function,
        "class_definition": _class,
    }
    table: list[Callable[[Source, Node], ast.stmt] | None] = [None] * LANGUAGE.node_kind_count
    for name, lowering in lowerings.items():
        for index in kinds(name):
            table[index] = lowering
    return table


_TABLE = _build_table()
