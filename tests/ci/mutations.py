"""Edits of real files that mean nothing to any gate: shifts, indentation, comments, formatting, more code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from random import Random


def shifted_python(text: str, random: Random) -> str:
    """Blank lines and comments between statements."""
    starts = {
        node.lineno: node.col_offset for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)
    }
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if number in starts and random.random() < 0.2:
            comment = f"{' ' * starts[number]}# is_sm100_supported() or not\n"
            lines += random.choice((["\n"], [comment], ["\n", comment, comment, "\n"]))
        lines.append(line)
    return "".join(lines)


def reindented_python(text: str, width: int) -> str:
    """Every level of indentation as wide as that; lines inside brackets move along, those of strings stay."""
    lines = text.splitlines(keepends=True)
    inside, starts = set[int](), dict[int, int]()
    depth, fresh = 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, end = token.start[0] - 1, token.end[0] - 1
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            fresh = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if fresh:
                starts[row] = width * depth - token.start[1]
            inside |= set(range(row + 1, end + 1))  # of a string over several lines
            fresh = False
    shift = 0
    for row, line in enumerate(lines):
        if row in inside or not line.strip():
            continue
        old = len(line) - len(line.lstrip())
        comment = line.lstrip().startswith("#")
        shift = starts.get(row, old * width // 4 - old if comment else shift)
        lines[row] = " " * max(0, old + shift) + line.lstrip()
    return "".join(lines)


def formatted_python(text: str) -> str:
    """As the severest formatter would leave it: no comment, no blank line, every expression on one line."""
    return ast.unparse(ast.parse(text)) + "\n"


def more_statements_python(text: str, random: Random) -> str:
    """Statements that do nothing, in functions, before statements that start a line of their own."""
    places: dict[int, int] = {}
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for statement in function.body[1:]:
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            places[first] = statement.col_offset
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if number in places and random.random() < 0.2:
            lines.append(f"{' ' * places[number]}unrelated_{number} = len('more')\n")
        lines.append(line)
    return "".join(lines)


def _free_lines(text: str) -> list[tuple[str, bool]]:
    """The lines of a C++ file, and whether something may stand before each: it continues no other line."""
    lines = text.splitlines(keepends=True)
    before = ["", *lines[:-1]]
    return [(line, not last.rstrip().endswith("\\")) for last, line in zip(before, lines, strict=True)]


def shifted_cuda(text: str, random: Random) -> str:
    """Blank lines and comments between lines."""
    lines: list[str] = []
    for line, free in _free_lines(text):
        if free and random.random() < 0.2:
            lines += random.choice((["\n"], ["// __CUDA_ARCH__ >= 900\n"], ["\n", "  // #endif\n"]))
        lines.append(line)
    return "".join(lines)


def reindented_cuda(text: str, width: int) -> str:
    """Code that starts a line moved to the right; directives as ``#  if``."""
    lines: list[str] = []
    for line, free in _free_lines(text):
        directive = re.match(r"\s*#\s*(?=[a-z])", line)
        if free and directive:
            line = f"#{' ' * width}{line[directive.end() :]}"
        elif free and line.strip():
            line = " " * width + line
        lines.append(line)
    return "".join(lines)


def commented_cuda(text: str) -> str:
    """A comment at the end of every conditional directive, and wider blanks inside its condition."""
    lines: list[str] = []
    for line, free in _free_lines(text):
        if free and re.match(r"\s*#\s*(el)?if(n?def)?\b", line) and not line.rstrip().endswith("\\"):
            body = line.rstrip("\r\n")
            if "//" not in body and "/*" not in body:
                body = re.sub(r"(&&|\|\||>=)", r"  \1  ", body)
                line = f"{body}  // only there\n"
        lines.append(line)
    return "".join(lines)


def more_statements_cuda(text: str, random: Random) -> str:
    """Empty statements after statements of function bodies."""
    lines: list[str] = []
    for line, free in _free_lines(text):
        lines.append(line)
        plain = re.fullmatch(r"    +[\w.\[\]]+ (\+|-|\*)?= [^;{}]*;\n", line)
        if free and plain and random.random() < 0.3:
            lines.append("    ;\n")
    return "".join(lines)
