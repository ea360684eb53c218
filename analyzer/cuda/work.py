"""Whether a function's body does anything, and whether all that it does is to stop or to complain."""

from __future__ import annotations

import tree_sitter

from analyzer.cuda import intrinsics
from analyzer.cuda.uses import parse_function

#: Statements and declarations that do nothing when the function runs (ISO C++ [stmt], [dcl]).
_INERT = frozenset(
    {
        "comment",
        "alias_declaration",
        "using_declaration",
        "namespace_alias_definition",
        "type_definition",
        "static_assert_declaration",
        "sizeof_expression",
        "alignof_expression",
        "decltype",
        "attribute_specifier",
    }
)
#: Expressions and statements that do something, or may.
_ACTIVE = frozenset(
    {
        "call_expression",
        "assignment_expression",
        "update_expression",
        "gnu_asm_expression",
        "throw_statement",
        "new_expression",
        "delete_expression",
        "co_await_expression",
        "co_yield_statement",
        "co_return_statement",
        "goto_statement",
        "ERROR",
    }
)


def has_work(text: str, parameters: int, end: int, hollow: frozenset[str] = frozenset()) -> bool:
    """Whether the body of the function whose parameters open at ``text[parameters]`` does anything.

    Declarations without calls, ``static_assert``, ``(void)x`` and empty statements are no work, and calls of
    functions that do nothing (``hollow``) are none beyond that of their arguments. Whatever could not be
    parsed counts as work, so that False is certain.
    """
    return any(_is_work(node, hollow) for node in _statements(text, parameters, end))


def only_stops(text: str, code: str, parameters: int, end: int) -> bool:
    """Whether all work of a function's body is to trap, to fail an assertion or to print."""
    statements = [node for node in _statements(text, parameters, end) if _is_work(node)]
    if not statements:
        return False
    start = code.index("{", parameters) if "{" in code[parameters:end] else parameters
    found = intrinsics.sites(text, code, start, end)
    stops = [site for site in found if site.intrinsic.kind in ("trap", "message")]
    return len(stops) == len(found) and len(stops) >= len(statements)


def _statements(text: str, parameters: int, end: int) -> list[tree_sitter.Node]:
    """The statements of the body, those inside blocks and branches in place of the blocks."""
    tree, _ = parse_function(text[parameters:end])
    body = next((n for n in tree.root_node.children if n.type == "function_definition"), None)
    block = body.child_by_field_name("body") if body is not None else None
    return _flat(block) if block is not None else [tree.root_node]


def _flat(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    if node.type != "compound_statement":
        return [node]
    return [inner for child in node.named_children for inner in _flat(child)]


def _is_work(node: tree_sitter.Node, hollow: frozenset[str] = frozenset()) -> bool:
    if node.type in _INERT:
        return False
    if node.type == "call_expression" and hollow and _called(node) in hollow:
        arguments = node.child_by_field_name("arguments")
        return arguments is not None and any(_is_work(child, hollow) for child in arguments.children)
    if node.type in _ACTIVE or node.is_missing:
        return True
    if node.type == "return_statement":
        return node.named_child_count > 0
    return any(_is_work(child, hollow) for child in node.children)


def _called(node: tree_sitter.Node) -> str:
    """The last name of the function that a call names; empty for a member of an object."""
    function = node.child_by_field_name("function")
    while function is not None and function.type in ("qualified_identifier", "template_function"):
        function = function.child_by_field_name("name")
    if function is None or function.type != "identifier" or function.text is None:
        return ""
    return function.text.decode("latin-1")
