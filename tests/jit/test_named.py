"""Sources that code names on the side that a value takes."""

from __future__ import annotations

import ast

import pytest

from analyzer.jit.named import by_name, sources
from analyzer.model import Gate, Place

FILES = [
    "pkg/csrc/plain.cu",
    "pkg/csrc/fast.jinja",
    "pkg/csrc/fast_binding.cu",
    "pkg/a/both.cu",
    "pkg/b/both.cu",
]
CHAIN = """\
def make(backend):
    if backend == "plain":
        return build(["plain.cu"])
    elif backend == "fast":
        name = "fast.jinja"
        return build([name, "fast_binding.cu", "both.cu", "absent.cu"])
    raise ValueError(backend)
"""
ELSE = """\
def make(backend):
    if backend == "plain":
        return build(["plain.cu"])
    else:
        return build(["fast.jinja"])
"""


def gate(admits: str | None, falls_back_to: str | None, *lines: int) -> Gate:
    return Gate(
        id="runtime:pkg/choose.py:choose:0",
        layer="runtime",
        file="pkg/choose.py",
        line=1,
        end_line=1,
        column=1,
        scope="choose",
        code="x",
        verdict={"sm_90": "admit", "sm_120": "reject"},
        uses=tuple(Place("pkg/make.py", line) for line in lines),
        admits=admits,
        falls_back_to=falls_back_to,
    )


@pytest.mark.parametrize(
    ("text", "chooser", "expected"),
    [
        (CHAIN, gate("'fast'", "'plain'", 2, 4), ("pkg/csrc/fast.jinja", "pkg/csrc/fast_binding.cu")),
        (CHAIN, gate("'plain'", None, 2, 4), ("pkg/csrc/plain.cu",)),
        (CHAIN, gate("'fast'", "'plain'", 2), ()),
        (CHAIN, gate("compute()", "'plain'", 2, 4), ()),
        (CHAIN, gate(None, None, 2, 4), ()),
        (ELSE, gate("'fast'", "'plain'", 2), ("pkg/csrc/fast.jinja",)),
        (ELSE, gate("'other'", None, 2), ()),
    ],
)
def test_sources(text: str, chooser: Gate, expected: tuple[str, ...]) -> None:
    def parsed(file: str) -> ast.Module | None:
        return ast.parse(text) if file == "pkg/make.py" else None

    assert sources(chooser, parsed, by_name(FILES)) == expected


def test_a_name_that_two_files_bear_names_neither() -> None:
    assert "both.cu" not in by_name(FILES)
    assert by_name(FILES)["plain.cu"] == "pkg/csrc/plain.cu"
