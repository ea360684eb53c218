"""Inline PTX: the instructions in the ``asm`` statements of a piece of CUDA code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.cuda.source import closing

#: What stands in an instruction for text that only a macro knows.
HOLE = "\0"

ASM = re.compile(r"\b(?:asm|__asm__|__asm)\b\s*(?:(?:volatile|__volatile__|__volatile|inline)\b\s*)*\(")
# The pieces of an asm statement's arguments ([dcl.asm] with GCC's extension, which nvcc follows: template,
# outputs, inputs, clobbers, parted by colons).
_PIECE = re.compile(
    r'R"([^()\\\s]{0,16})\((?P<raw>.*?)\)\1"'
    r'|"(?P<string>(?:\\.|[^"\\])*)"'
    r"|(?P<scope>::)|(?P<colon>:)|(?P<word>\#?[A-Za-z_]\w*)|(?P<open>\()",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "v": "\v", "f": "\f", "a": "\a", "b": "\b"}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# What may stand before an opcode: scopes, labels, a predicate (PTX ISA, "Statements").
_BEFORE = re.compile(r"\s+|[{}]|[\w$%.=]+\s*:(?!:)|@!?\s*%?[\w%]+(?=\s)")
_OPCODE = re.compile(r"[A-Za-z\0][\w\0]*(?:(?:\.|::)[\w\0]+)*")
_SPECIAL = re.compile(r"%(?=[a-z])([a-z]\w*)")
_NUMBER = re.compile(r"-?\d\w*|%\d+")
_VECTOR = re.compile(r"[{\[][^{}\[\]]*[}\]]")


class Instruction(NamedTuple):
    """One instruction; ``words`` are the opcode's (``cp``, ``async``, ``commit_group``).

    ``operands`` are marks of what follows: ``#3`` for three operands (a vector or an address is one), ``#n``
    if the last is a number or an operand of the statement, and ``%name`` for each special register. ``at`` is
    the offset in the source of the string in which it begins.
    """

    opcode: str
    words: tuple[str, ...]
    operands: tuple[str, ...]
    at: int

    @property
    def complete(self) -> bool:
        """Whether no part of the opcode comes from a macro."""
        return HOLE not in self.opcode


class Template(NamedTuple):
    """The text of an asm statement, and where its pieces stand: offset in the text, offset in the source."""

    text: str
    pieces: tuple[tuple[int, int], ...]

    def source(self, at: int) -> int:
        """The offset in the source of the piece that holds an offset of the text."""
        return max((s for t, s in self.pieces if t <= at), default=self.pieces[0][1] if self.pieces else 0)


def instructions(text: str, code: str, start: int, end: int) -> Iterator[Instruction]:
    """The instructions of all asm statements in ``text[start:end]``, in order.

    ``text`` holds no comments, ``code`` no string contents either (``source.ActiveText``).
    """
    if code.find("asm", start, end) < 0:
        return
    for statement in ASM.finditer(code, start, end):
        found = template(text, statement.end(), closing(code, statement.end()))
        yield from parse(found)


def template(text: str, start: int, end: int) -> Template:
    """The template string of the asm statement whose arguments are ``text[start:end]``.

    Words between the strings are macros: each leaves a hole.
    """
    parts: list[str] = []
    pieces: list[tuple[int, int]] = []
    length = 0
    for match in _PIECE.finditer(text, start, end):
        if match["scope"] or match["colon"] or match["open"]:
            break
        if match["raw"] is not None:
            part, at = match["raw"], match.start("raw")
        elif match["string"] is not None:
            part, at = unescaped(match["string"]), match.start("string")
        else:
            part, at = HOLE, match.start()
        pieces.append((length, at))
        parts.append(part)
        length += len(part)
    return Template("".join(parts), tuple(pieces))


def unescaped(text: str) -> str:
    """The value of a string literal's contents."""

    def value(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] == "x" and len(body) > 1:
            return chr(int(body[1:], 16) & 0xFF)
        if body[0] in "01234567":
            return chr(int(body, 8) & 0xFF)
        return _ESCAPED.get(body, body)

    return _ESCAPE.sub(value, text) if "\\" in text else text


def parse(found: Template) -> Iterator[Instruction]:
    """The instructions of an asm template; directives (``.reg``) and labels are none."""
    text = _COMMENT.sub(lambda match: " " * len(match[0]), found.text)
    text = text.replace("%%", " %")
    at = 0
    for statement in text.split(";"):
        first = 0
        while (before := _BEFORE.match(statement, first)) is not None:
            first = before.end()
        opcode = _OPCODE.match(statement, first)
        if opcode is not None:
            yield _instruction(opcode[0], statement[opcode.end() :], found.source(at + first))
        at += len(statement) + 1


def _instruction(opcode: str, rest: str, at: int) -> Instruction:
    plain = rest
    while (shorter := _VECTOR.sub("x", plain)) != plain:
        plain = shorter
    parts = [part.strip() for part in plain.split(",")] if plain.strip() else []
    marks = [f"#{len(parts)}"]
    if parts and _NUMBER.fullmatch(parts[-1]):
        marks.append("#n")
    special = (f"%{name}" for name in dict.fromkeys(_SPECIAL.findall(rest)))
    return Instruction(opcode, tuple(opcode.split(".")), (*marks, *special), at)
