"""Architectures that build files of a tree compile for: lists in CMake, ``-gencode`` flags in setup scripts.

What the options of a build choose is free: the lists that one variable or target of a file is given count
together. A list of which a part is not known (``native``, a variable of the user's) is no gate.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from analyzer import data
from analyzer.identity import Numbering
from analyzer.model import Gate
from analyzer.python import lists
from analyzer.python.lists import ArchList
from analyzer.python.syntax import parse
from analyzer.python.values import Site
from analyzer.tree.files import Tree, UnreadableFileError, decode

#: Source: CUDA Compiler Driver, ``--generate-code``: ``arch=compute_90a,code=[sm_90a,compute_90a]``.
_GENCODE = re.compile(r"arch=compute_\d{2,3}[af]?,\\?\"?code=(\\?\[?[\w,]+\]?)")
_MADE = re.compile(r"(sm|lto|compute)_(\d{2,3}[af]?)")
_COMMAND = re.compile(r"(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*\(")
_COMMENT = re.compile(r"#\[(=*)\[.*?\]\1\]|\"(?:\\.|[^\"\\])*\"|#[^\n]*", re.S)
_ARGUMENT = re.compile(r"\"((?:\\.|[^\"\\])*)\"|([^\s()\"]+)")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
#: What ends the values of ``set``. Source: CMake documentation, command ``set``.
_ENDS = frozenset(["CACHE", "PARENT_SCOPE"])
_PROPERTY = "CUDA_ARCHITECTURES"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class _Listed:
    """The architectures that one name is given in a file; ``known`` is false if some are not told.

    ``scope``: the function of a script, the variable or target of a CMake file.
    """

    name: str
    scope: str
    line: int
    end_line: int
    items: dict[str, None] = field(default_factory=dict)
    known: bool = True

    def add(self, items: Sequence[str], end_line: int) -> None:
        self.items.update(dict.fromkeys(items))
        self.end_line = max(self.end_line, end_line)


def gates(tree: Tree, target: str, references: Sequence[str], names: Sequence[str]) -> tuple[Gate, ...]:
    """The gates at lists of the tree's build files that some architectures are served by and others not."""
    table = data.table("contracts")["build_files"]
    paths = [*tree.others, *(file.path for file in tree.of("python"))]
    made: list[Gate] = []
    for path in sorted(path for path in paths if path.rpartition("/")[2] in table["names"]):
        try:
            text = decode(tree.read(path))
        except UnreadableFileError:
            continue
        found = _python(text) if path.endswith(".py") else _cmake(text)
        made += _gates(path, [one for one in found if one.known and one.items], target, references, names)
    return tuple(made)


def _gates(
    path: str, found: Sequence[_Listed], target: str, references: Sequence[str], names: Sequence[str]
) -> Iterator[Gate]:
    listed = [
        ArchList(Site(path, one.line, one.end_line, 1), one.name, ";".join(one.items), "", one.scope)
        for one in found
    ]
    numbering = Numbering()
    for gate, _, _ in lists.gates(dict.fromkeys(names, listed), target, references):
        name, order = numbering.next("env", path, gate.scope, gate.code)
        yield msgspec.structs.replace(gate, id=name, order=order)


def _made(text: str) -> list[str]:
    """What ``-gencode`` flags in a text make, as CMake writes it: ``90a-real``, ``90-virtual``."""
    return [
        f"{number}-{'virtual' if kind == 'compute' else 'real'}"
        for code in _GENCODE.findall(text)
        for kind, number in _MADE.findall(code)
    ]


def _python(text: str) -> Iterator[_Listed]:
    """The flags in each function of a script, and outside of all."""
    pending: list[tuple[str, Sequence[ast.stmt]]] = [("<module>", parse(text.encode()).complete().body)]
    while pending:
        scope, body = pending.pop()
        found: _Listed | None = None
        nodes: list[ast.AST] = list(body)
        while nodes:
            node = nodes.pop()
            if isinstance(node, Function):
                pending.append((node.name, node.body))
                nodes += node.decorator_list
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and (made := _made(node.value)):
                last = node.end_lineno or node.lineno
                found = found or _Listed("-gencode", scope, node.lineno, last)
                found.line = min(found.line, node.lineno)
                found.add(made, last)
            nodes += ast.iter_child_nodes(node)
        if found is not None:
            found.items = dict.fromkeys(sorted(found.items))
            yield found


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    arguments: tuple[str, ...]
    line: int
    end_line: int


def _commands(text: str) -> Iterator[_Command]:
    """The commands of a CMake file. Source: CMake documentation, cmake-language(7)."""

    def blank(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == '"' else re.sub(r"[^\n]", " ", match[0])

    text = _COMMENT.sub(blank, text)
    at = 0
    while (match := _COMMAND.search(text, at)) is not None:
        end, depth, quoted = match.end(), 1, False
        while end < len(text) and depth:
            letter = text[end]
            if letter == "\\":
                end += 1
            elif letter == '"':
                quoted = not quoted
            elif not quoted:
                depth += (letter == "(") - (letter == ")")
            end += 1
        arguments = tuple(
            quote if quote or not plain else plain
            for quote, plain in _ARGUMENT.findall(text[match.end() : end - 1])
        )
        line = text.count("\n", 0, match.start(1)) + 1
        yield _Command(match[1].lower(), arguments, line, text.count("\n", 0, end) + 1)
        at = end


def _cmake(text: str) -> list[_Listed]:
    """The lists of a CMake file, by variable or target."""
    found: dict[tuple[str, str], _Listed] = {}
    values: dict[str, list[str]] = {}
    for command in _commands(text):
        name, given = _given(command)
        if not name:
            continue
        if command.name in ("set", "list", "string"):
            values.setdefault(name, []).extend(given)
        is_list = name in lists.variables() or name == _PROPERTY
        items, known = _items(given, values) if is_list else (_made(" ".join(given)), True)
        if items or not known:
            kind = name if is_list else "-gencode"
            one = found.setdefault((name, kind), _Listed(kind, name, command.line, command.end_line))
            one.add(items, command.end_line)
            one.known = one.known and known
    return list(found.values())


def _given(command: _Command) -> tuple[str, list[str]]:
    """The variable, property or target that a command gives values, and these; an empty name if none."""
    words = list(command.arguments)
    if command.name == "set" and len(words) > 1:
        ends = [at for at, word in enumerate(words) if word in _ENDS]
        return words[0], words[1 : ends[0] if ends else None]
    if command.name in ("list", "string") and len(words) > 2 and words[0] in ("APPEND", "PREPEND"):
        return words[1], words[2:]
    if command.name in ("set_target_properties", "set_property") and _PROPERTY in words:
        at = words.index(_PROPERTY) + 1
        return _PROPERTY, words[at:] if command.name == "set_property" else words[at : at + 1]
    options = (
        "target_compile_options",
        "add_compile_options",
        "cuda_add_library",
        "target_compile_definitions",
    )
    if command.name in options and words:
        return words[0], words[1:] if command.name != "add_compile_options" else words
    return "", []


def _items(given: Sequence[str], values: Mapping[str, Sequence[str]]) -> tuple[list[str], bool]:
    """The architectures in values, with variables of the file in place; and whether all of them are known."""
    items: list[str] = []
    known = True
    for word in re.split(r"[;\s]+", ";".join(given)):
        variable = _VARIABLE.fullmatch(word)
        if variable is not None and variable[1] in values and variable[1] not in lists.variables():
            items += [item for item in re.split(r"[;\s]+", ";".join(values[variable[1]])) if item]
        elif variable is not None and variable[1] in lists.variables():
            continue  # what it had before, with more
        elif word:
            items.append(word)
    known = lists.parse(";".join(items)) is not None if items else True
    return (items, True) if known else ([], False)
