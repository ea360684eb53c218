"""Sources that code names where a value decides which of them are built.

``if backend == "plain": … "attend.cu" … elif backend == "fast": … "attend_fast.cu"``: whoever gives an
architecture ``"fast"`` gives it the second file. Builds of this kind render templates: what they compile lies
nowhere in the tree, but what the templates include does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from analyzer.model import Gate

#: What sources, and the templates of sources, are called.
SUFFIXES = (".cu", ".cpp", ".cc", ".jinja")


def by_name(files: Sequence[str]) -> dict[str, str]:
    """The files that a build may compile, by their base name; of names that several bear, none."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for file in files:
        name = file.rpartition("/")[2]
        if name.endswith(SUFFIXES):
            twice.update([name] if name in found else [])
            found[name] = file
    return {name: file for name, file in found.items() if name not in twice}


def sources(
    gate: Gate, parsed: Callable[[str], ast.Module | None], known: Mapping[str, str]
) -> tuple[str, ...]:
    """The sources that are named where the value is met that a gate gives to those who pass.

    Args:
        gate: one that gives a string (``admits``) to those who pass, and forwards it to its ``uses``.
        parsed: the syntax of a scanned Python file; None where it cannot be read.
        known: scanned sources by base name.
    """
    given, instead = _literal(gate.admits), _literal(gate.falls_back_to)
    if given is None:
        return ()
    found: dict[str, None] = {}
    for use in gate.uses:
        module = parsed(use.file)
        if module is None:
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.If) and node.test.lineno <= use.line <= (node.test.end_lineno or 0):
                for statements in _taken(node, given, instead):
                    found.update(dict.fromkeys(_named(statements, known)))
    return tuple(found)


def _literal(code: str | None) -> str | None:
    if code is None:
        return None
    try:
        value = ast.literal_eval(code)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


def _taken(node: ast.If, given: str, instead: str | None) -> Iterator[Sequence[ast.stmt]]:
    """The sides of an ``if`` that a value takes: that of its name, or what is left for it."""
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    constants = [part.value for part in (test.left, *test.comparators) if isinstance(part, ast.Constant)]
    equal = isinstance(test.ops[0], ast.Eq)
    if equal and given in constants:
        yield node.body
    elif (
        equal and instead in constants and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If))
    ):
        yield node.orelse


def _named(statements: Sequence[ast.stmt], known: Mapping[str, str]) -> Iterator[str]:
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in known:
                yield known[node.value]
