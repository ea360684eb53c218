"""Exports: the names under which Python calls the functions of a compiled module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from analyzer import data
from analyzer.cuda.functions import Definition, Invocation, outline, split_arguments
from analyzer.cuda.program import ReadFile, expanded
from analyzer.cuda.source import ActiveText, Macro, closing, read

Macros = Mapping[str, Sequence[tuple[str, Macro]]]
"""The macros of a unit by name, each with its file (``Program.macros``)."""

_STRING = re.compile(r'^(?:std::string\(|u8|L)?\s*"((?:\\.|[^"\\])*)"')
_NESTED = 4
"""How many macros deep an export macro is looked for."""


@dataclass(frozen=True, slots=True)
class Export:
    """A function under the name that Python uses; ``function`` is an expression (``ns::fn``, a lambda).

    ``module`` is what the registering macro calls its module or namespace, where it names one.
    """

    name: str
    function: str
    file: str
    line: int
    module: str | None = None


def exports(file: ReadFile, macros: Macros | None = None) -> tuple[Export, ...]:
    """The functions that a file exports, in the order of its lines.

    ``macros``: those of the whole unit, so that an export macro wrapped in another one is seen through.
    Which macros and methods export is data (``queries/bindings.toml``).
    """
    known: Macros = macros if macros is not None else {m.name: [(file.path, m)] for m in file.facts.macros}
    found = [*_from_facts(file, known, _NESTED)]
    return tuple(sorted(found, key=lambda export: (export.line, export.name)))


def written(text: str, file: str, line: int) -> tuple[Export, ...]:
    """The exports in a piece of generated source text; all stand at ``file:line``, where it is made."""
    active = read(text.encode("utf-8")).active()
    found = exports(ReadFile(file, active, outline(active)))
    return tuple(replace(export, line=line) for export in found)


def _from_facts(file: ReadFile, macros: Macros, depth: int) -> Iterator[Export]:
    for invocation in file.facts.invocations:
        yield from _from_invocation(file.path, invocation, macros, depth)
    blocks = file.table.blocks
    for name in [name for name in blocks if name in macros or name in _rows("block")]:
        if _is_block(name, macros, _NESTED):
            for definition in blocks[name]:
                yield from _from_block(file.path, file.text, definition)


def _from_invocation(path: str, invocation: Invocation, macros: Macros, depth: int) -> Iterator[Export]:
    row = _rows("macro").get(invocation.name)
    if row is not None:
        if len(invocation.arguments) > max(row["name"], row["function"]):
            name, function = (invocation.arguments[row[key]] for key in ("name", "function"))
            yield Export(_unquoted(name), plain_function(function), path, invocation.line)
        return
    for _, macro in macros.get(invocation.name, ()) if depth else ():
        if macro.parameters is None:
            continue
        text, facts = expanded(macro, invocation.arguments)
        for export in _from_facts(ReadFile(path, text, facts), macros, depth - 1):
            yield replace(export, line=invocation.line)


def _from_block(path: str, text: ActiveText, block: Definition) -> Iterator[Export]:
    start, end = block.body
    arguments = tuple(
        split_arguments(text.text[block.parameters + 1 : text.code.find(")", block.parameters)])
    )
    module = next((row.get("module") for name, row in _rows("block").items() if name == block.name), 0)
    owner = arguments[module] if module is not None and module < len(arguments) else None
    for match in _methods().finditer(text.code, start, end):
        row = _rows("method")[match[1]]
        call = text.text[match.end() : closing(text.code, match.end(), end)]
        parts = tuple(split_arguments(call))
        name = _STRING.match(parts[row["name"]]) if len(parts) > 1 else None
        if name is not None:
            function = plain_function(parts[row["function"]])
            line = text.source.line(match.start())
            yield Export(name[1].split("(")[0].strip(), function, path, line, owner)


def _is_block(name: str, macros: Macros, depth: int) -> bool:
    """Whether a macro opens a block of registrations, itself or through its definition."""
    if name in _rows("block"):
        return True
    if depth == 0:
        return False
    bodies = (macro.body for _, macro in macros.get(name, ()))
    return any(_is_block(word, macros, depth - 1) for body in bodies for word in re.findall(r"\w+", body))


def plain_function(text: str) -> str:
    """The function in an expression: without ``&``, surrounding parentheses and known wrappers."""
    text = " ".join(text.split())
    while True:
        before = text
        text = text.removeprefix("&").strip()
        if text.startswith("(") and text.endswith(")"):
            text = text[1:-1].strip()
        for wrapper in data.table("bindings")["wrappers"]["names"]:
            if text.startswith(f"{wrapper}(") and text.endswith(")"):
                text = text[len(wrapper) + 1 : -1].strip()
        if text == before:
            return text


def _unquoted(text: str) -> str:
    match = _STRING.match(text)
    return match[1] if match else text


@cache
def _rows(kind: str) -> dict[str, dict[str, Any]]:
    return {row[kind]: row for row in data.table("bindings")[kind]}


@cache
def _methods() -> re.Pattern[str]:
    names = "|".join(sorted(_rows("method")))
    return re.compile(rf"\.\s*({names})\s*(?:<[^<>()]*>\s*)?\(")
