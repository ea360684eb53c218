"""Highlighted lines: the text stays what it was, the deciding part is marked."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.report.highlight import LINE_LIMIT, Mark, lines, marked_part
from analyzer.report.source import visible
from tests.report import hostile, sample


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("file", sorted(sample.SOURCES))
def test_no_character_changes(file: str) -> None:
    source = sample.SOURCES[file].splitlines()
    shown = lines(file, source, range(1, len(source) + 1), {})
    assert [text_of(line.html) for line in shown] == source


def test_tokens_are_coloured() -> None:
    source = ["def f(): return 1  # why", "#if __CUDA_ARCH__ >= 900", "__global__ void k() {}"]
    python = lines("a.py", source, [1], {})[0].html
    assert "<i class=k>def</i>" in python
    assert "<i class=c># why</i>" in python
    cuda = lines("a.cuh", source, [2, 3], {})
    assert cuda[0].html.startswith("<i class=p>#if")
    assert "<i class=k>__global__</i>" in cuda[1].html


def test_mark_is_set_inside_tokens() -> None:
    source = ["  return (_hopper or x) and y"]
    start, end = marked_part(source[0], 10, "(_hopper or x) and y")
    line = lines("a.txt", source, [1], {1: [Mark(start, end, "g-1")]})[0]
    assert line.html == "  return <mark data-g=g-1>(_hopper or x) and y</mark>"


@pytest.mark.parametrize(
    ("line", "column", "code", "expected"),
    [
        ("if a and b:", 4, "a and b", "a and b"),
        ("if é and b:", 99, "é and b", "é and b"),  # a column past the end: found by its text
        ("if a  and b:", 4, "a and b", "a  and b:"),  # the code was normalised: to the end of the line
        ("foo(a,", 5, "", "a,"),
    ],
)
def test_marked_part(line: str, column: int, code: str, expected: str) -> None:
    start, end = marked_part(line, column, code)
    assert line[start:end] == expected


def test_lines_out_of_range_are_left_out() -> None:
    assert [line.number for line in lines("a.py", ["x", "y"], [0, 1, 2, 3, -1], {})] == [1, 2]


def test_long_line_is_cut_around_its_mark_and_says_so() -> None:
    source = ["x" * 5000 + "NEEDLE" + "y" * 5000]
    line = lines("a.py", source, [1], {1: [Mark(5000, 5006, "g-1")]})[0]
    assert ">NEEDLE</mark>" in line.html
    assert "characters …" in line.html
    assert len(text_of(line.html)) < LINE_LIMIT + 80


def test_hostile_lines_are_text() -> None:
    source = hostile.source(hostile.FILE)
    assert source is not None
    for file in (hostile.FILE, "a.cu", "a.txt"):
        for line in lines(file, source, range(1, 6), {2: [Mark(3, 40, "g-1")]}):
            assert not re.search(r"<(?!/?(i|mark)\b)", line.html)
            assert visible(text_of(line.html), keep="\t") == text_of(line.html)


@settings(max_examples=60)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=40), max_size=6))
def test_any_text_survives(source: list[str]) -> None:
    for file in ("a.py", "a.cu", "a"):
        shown = lines(file, source, range(1, len(source) + 1), {})
        assert [text_of(line.html) for line in shown] == [visible(line, keep="\t") for line in source]
