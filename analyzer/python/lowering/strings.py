"""String, bytes and formatted string literals, and their concatenation."""

from __future__ import annotations

import ast

from tree_sitter import Node

from analyzer.python.lowering.literals import split, unescape, unescape_bytes
from analyzer.python.lowering.nodes import (
    Source,
    Span,
    UnreadableError,
    at,
    expression,
    field,
    inner,
    kinds,
    lowers,
)

_EXPRESSION = field("expression")
_CONVERSION = field("type_conversion")
_SPECIFIER = field("format_specifier")
_INTERPOLATION = kinds("interpolation", "format_expression")
_STRING = kinds("string")
_EQUALS = kinds("=")
_REPR = ord("r")


class _Pieces:
    """The parts of a formatted string: literal text that touches is joined, as the compiler does."""

    def __init__(self, span: Span, kind: str | None = None) -> None:
        self.span = span
        self.kind = kind
        self.values: list[ast.expr] = []
        self.literal = ""

    def text(self, text: str) -> None:
        self.literal += text

    def flush(self) -> None:
        if self.literal:
            self.values.append(ast.Constant(self.literal, self.kind, **self.span))
            self.literal = ""

    def value(self, value: ast.expr) -> None:
        self.flush()
        self.values.append(value)

    def joined(self) -> ast.JoinedStr:
        self.flush()
        return ast.JoinedStr(self.values, **self.span)


def _literal_text(source: Source, start: int, end: int, raw: bool, braces: bool) -> str:
    """The text between two interpolations."""
    text = source.data[start:end].decode()
    if braces and ("{" in text or "}" in text):
        return "".join(_unbrace(text, raw))
    return text if raw else unescape(text)


def _unbrace(text: str, raw: bool) -> list[str]:
    """Undo doubled braces, but for those of a named character."""
    parts: list[str] = []
    start = index = 0
    while index < len(text):
        if not raw and text.startswith("\\N{", index):
            index = text.find("}", index) + 1 or len(text)
        elif not raw and text[index] == "\\":
            index += 2
        elif text[index] in "{}":
            if text[index + 1 : index + 2] != text[index]:
                raise UnreadableError("single brace in a formatted string")
            parts.append(text[start : index + 1] if raw else unescape(text[start : index + 1]))
            index += 2
            start = index
        else:
            index += 1
    parts.append(text[start:] if raw else unescape(text[start:]))
    return parts


def _interpolate(source: Source, node: Node, pieces: _Pieces, raw: bool) -> None:
    """Add one ``{value!r:spec}``."""
    child = node.child_by_field_id(_EXPRESSION)
    if child is None:
        raise UnreadableError("empty expression in a formatted string")
    conversion_node = node.child_by_field_id(_CONVERSION)
    specifier = node.child_by_field_id(_SPECIFIER)
    conversion = -1
    if conversion_node is not None:
        conversion = source.data[conversion_node.start_byte + 1]
        if conversion not in b"rsa":
            raise UnreadableError("unknown conversion in a formatted string")
    if any(part.kind_id in _EQUALS for part in node.children):  # {value=}: its own text comes first
        stop = conversion_node or specifier or node.children[-1]
        pieces.text(source.data[node.start_byte + 1 : stop.start_byte].decode())
        if conversion_node is None and specifier is None:
            conversion = _REPR
    value = expression(source, child)
    form = None if specifier is None else _specifier(source, specifier, pieces.span, raw)
    pieces.value(ast.FormattedValue(value, conversion, form, **at(node)))


def _specifier(source: Source, node: Node, span: Span, raw: bool) -> ast.JoinedStr:
    """The part after the colon, itself with interpolations."""
    pieces = _Pieces(span)
    start = node.start_byte + 1
    for part in inner(node):
        pieces.text(_literal_text(source, start, part.start_byte, raw, False))
        _interpolate(source, part, pieces, raw)
        start = part.end_byte
    pieces.text(_literal_text(source, start, node.end_byte, raw, False))
    return pieces.joined()


def _formatted(source: Source, node: Node, prefix: str, begin: int, end: int, pieces: _Pieces) -> None:
    """Add one formatted string literal."""
    raw = "r" in prefix
    start = node.start_byte + begin
    for part in node.children:
        if part.kind_id in _INTERPOLATION:
            pieces.text(_literal_text(source, start, part.start_byte, raw, True))
            _interpolate(source, part, pieces, raw)
            start = part.end_byte
    pieces.text(_literal_text(source, start, node.start_byte + end, raw, True))


def _concatenate(source: Source, nodes: list[Node], span: Span) -> ast.expr:
    """One value from adjacent literals."""
    literals = [source.data[node.start_byte : node.end_byte] for node in nodes]
    shapes = [split(literal) for literal in literals]
    if any("b" in prefix for prefix, _, _ in shapes):
        if not all("b" in prefix for prefix, _, _ in shapes):
            raise UnreadableError("cannot mix bytes and text literals")
        content = b""
        for literal, (prefix, begin, end) in zip(literals, shapes, strict=True):
            body = literal[begin:end]
            if not body.isascii():
                raise UnreadableError("bytes literal with other than ASCII characters")
            content += body if "r" in prefix else unescape_bytes(body)
        return ast.Constant(content, None, **span)
    kind = "u" if literals[0][:1] == b"u" else None
    pieces = _Pieces(span, kind)
    formatted = False
    for node, literal, (prefix, begin, end) in zip(nodes, literals, shapes, strict=True):
        if "f" in prefix:
            formatted = True
            _formatted(source, node, prefix, begin, end, pieces)
        else:
            text = literal[begin:end].decode()
            pieces.text(text if "r" in prefix else unescape(text))
    return pieces.joined() if formatted else ast.Constant(pieces.literal, kind, **span)


@lowers("string")
def string(source: Source, node: Node) -> ast.expr:
    """One literal."""
    return _concatenate(source, [node], at(node))


@lowers("concatenated_string")
def concatenated_string(source: Source, node: Node) -> ast.expr:
    """Literals side by side."""
    return _concatenate(source, [part for part in node.children if part.kind_id in _STRING], at(node))
