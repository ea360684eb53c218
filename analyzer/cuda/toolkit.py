"""Names of the toolkit and of binding layers, which no tree of packages defines (``toolkit.toml``)."""

from __future__ import annotations

import re
from functools import cache

from analyzer import data


def is_known(name: str, qualifiers: tuple[str, ...]) -> bool:
    """Whether a name that the tree does not define is one of theirs."""
    if any(qualifier in _namespaces() for qualifier in qualifiers):
        return True
    return _function(name)


@cache
def _namespaces() -> frozenset[str]:
    return frozenset(name for row in data.table("toolkit")["namespace"] for name in row["names"])


@cache
def _function(name: str) -> bool:
    return _functions().fullmatch(name) is not None


@cache
def _functions() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{row['name']})" for row in data.table("toolkit")["function"]))


def loads(name: str) -> bool:
    """Whether a function runs kernels that come from a file or a download."""
    return name in data.table("toolkit")["loading"]["names"]


@cache
def on_host(file: str) -> bool:
    """Whether a file belongs to a library that runs on the host alone."""
    parts = file.split("/")
    return any(folder in parts for folder in data.table("toolkit")["host"]["folders"])
