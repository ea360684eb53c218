"""Host code that asks for programmatic dependent launch: a kernel may start before the one before it ends."""

from __future__ import annotations

import re
from functools import cache

from analyzer import data
from analyzer.cuda.functions import split_arguments
from analyzer.cuda.needs import in_library
from analyzer.cuda.program import Symbol
from analyzer.cuda.source import closing

#: What is given for a parameter and asks for nothing.
_NO = frozenset(["false", "nullptr", "NULL"])
_NUMBER = re.compile(r"\d")


def dependent(symbol: Symbol) -> bool:
    """Whether a definition asks for it, or may: the launchers of a library do as their callers say."""
    if in_library(symbol.file) or symbol.kind not in ("host", "host_device", "macro"):
        return False
    if symbol.words & _names():
        return True
    own = symbol.definition
    return bool(symbol.words & _calls().keys()) and any(
        _asks(symbol.code, match.end(), _calls()[match[1]], own.end)
        for match in _pattern().finditer(symbol.code, own.start, own.end)
    )


def _asks(code: str, at: int, counts: frozenset[int], end: int) -> bool:
    """Whether the last argument of a call asks for it; ``at`` is behind its opening parenthesis."""
    arguments = [part.strip() for part in split_arguments(code[at : closing(code, at, end)])]
    last = arguments[-1] if arguments else ""
    return len(arguments) in counts and last not in _NO and not _NUMBER.match(last)


@cache
def _names() -> frozenset[str]:
    return frozenset(data.table("intrinsics")["dependent_launch"]["names"])


@cache
def _calls() -> dict[str, frozenset[int]]:
    rows = data.table("intrinsics")["dependent_launch"]["call"]
    return {row["name"]: frozenset(row["arguments"]) for row in rows}


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(map(re.escape, _calls())) + r")\s*\(")
