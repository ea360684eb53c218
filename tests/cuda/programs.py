"""Small programs for tests: files given as text, linked as one translation unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import dedent

from analyzer.cuda.losses import Guarded, Guards, Stoppers
from analyzer.cuda.program import Program, Reader, ReadFile
from analyzer.cuda.reach import Reach, reach
from analyzer.cuda.source import Lines


def file(text: str, inactive: Sequence[Lines] = (), path: str = "unit.cu") -> ReadFile:
    """One file as a pass sees it that does not compile these runs of lines."""
    return Reader(lambda _: dedent(text).encode()).file(path, inactive)


def program(text: str, **more: str) -> Program:
    """The text as ``unit.cu``, and further files (``name=text`` is ``name.cuh``)."""
    files = {"unit.cu": text} | {f"{name}.cuh": body for name, body in more.items()}
    reader = Reader(lambda path: dedent(files[path]).encode())
    return Program(reader.file(path) for path in files)


def reached(start: str, text: str, **more: str) -> Reach:
    """What an expression leads to in that program."""
    return reach(program(text, **more), start)


def names(found: Reach) -> set[str]:
    """The qualified names of the functions reached."""
    return {symbol.definition.qualified for symbol in found.functions}


def guarded(text: str, kept: Mapping[str, bool] | None = None, line: int | None = None) -> Guarded:
    """What the target loses at the first ``#if NEW`` (or the branch at ``line``) of a program.

    ``NEW`` holds on the reference only, ``OLD`` on the target only; ``kept`` names further words.
    """
    text = dedent(text)
    known = dict(kept or {})
    reference = _pass(text, {"NEW": True, "OLD": False} | known)
    target = _pass(text, {"NEW": False, "OLD": True} | known)
    at = line or next(n for n, row in enumerate(text.splitlines(), 1) if row.startswith("#if NEW"))
    return Guards([reference], target, Stoppers(Program([target]).macros)).at(at)


def _pass(text: str, words: Mapping[str, bool]) -> ReadFile:
    """The text with ``#if WORD``, ``#elif WORD``, ``#else`` decided by the words; nesting is followed."""
    runs: list[Lines] = []
    stack: list[tuple[bool, bool]] = []  # whether the branch is on, whether one of the chain was
    for number, row in enumerate(text.splitlines(), 1):
        word = row.split()[1] if row.startswith(("#if ", "#elif ")) else ""
        if row.startswith("#if "):
            stack.append((words[word], words[word]))
        elif row.startswith(("#elif ", "#else")):
            taken = stack[-1][1]
            now = not taken and (words[word] if word else True)
            stack[-1] = (now, taken or now)
        elif row.startswith("#endif"):
            stack.pop()
        if not all(on for on, _ in (stack[:-1] if row.startswith(("#if", "#el")) else stack)):
            runs.append((number, number))
    return file(text, runs)
