"""Directives of one file: what is one, where it stands, what belongs together."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cuda import directives
from analyzer.cuda.directives import FileDirectives, facts


def kinds(text: str) -> list[str]:
    return [d.kind for d in facts(text.encode()).directives]


def only(text: str) -> tuple[str, int, int, int, str]:
    (directive,) = facts(text.encode()).directives
    return directive.kind, directive.line, directive.end_line, directive.column, directive.text


def test_places_and_text() -> None:
    assert only("int a;\n  #  pragma   unroll 4 // why\n") == ("pragma", 2, 2, 3, "unroll 4")


def test_a_continued_directive_spans_lines() -> None:
    text = "x\n#pragma a \\\n   b \\\r\n   c\ny\n"
    assert only(text) == ("pragma", 2, 4, 1, "a b c")


def test_lines_after_continuations_keep_their_numbers() -> None:
    directives = facts(b"#define A \\\n 1\nint x; \\\n int y;\n#undef A\n").directives
    assert [(d.kind, d.line, d.end_line) for d in directives] == [("define", 1, 2), ("undef", 5, 5)]


def test_the_column_of_a_directive_behind_a_joined_line_is_its_own() -> None:
    assert only("\\\n  #pragma a\n")[1:4] == (2, 2, 3)


def test_a_comment_that_spans_lines_belongs_to_its_directive() -> None:
    assert only("#pragma a /* one\n two */ b\n") == ("pragma", 1, 2, 1, "a b")


@pytest.mark.parametrize(
    "text",
    [
        "/*\n#if A\n*/\n",
        "// joined \\\n#if A\n",
        'const char* s = R"x(\n#if A\n)y")x";\n',
        'auto s = u8R"(\n#if A\n)";\n',
        'const char* s = "a \\\n#if A";\n',
        "int a; #if A\n",
        "int x; /* \n */ #if A\n",
    ],
)
def test_no_directive(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "/* x */ # /* y */ pragma a\n",
        "/* x\n y */ #pragma a\n",
        "%:pragma a\n",
        "\t#pragma a",
        "\ufeff#pragma a",
        "int n = 1'000'000; const char q = '\"';\n#pragma a\n",
        "int n = 0xAB'CDu; // \"\n#pragma a\n",
        "auto c = u8'a'; auto d = '\"';\n#pragma a\n",
        'const char* s = "/*";\n#pragma a\n',
        "char c = '\\''; // /*\n#pragma a\n",
        'VAR"(\n#pragma a\n)";\n',
        "// don't /*\n#pragma a\n",
    ],
)
def test_a_directive(text: str) -> None:
    assert kinds(text) == ["pragma"]


def test_groups_are_tied_together() -> None:
    directives = facts(b"#if A\n#ifdef B\n#endif\n#elif C\n#else\n#endif\n").directives
    assert [(d.kind, d.following) for d in directives] == [
        ("if", 3),
        ("ifdef", 2),
        ("endif", -1),
        ("elif", 4),
        ("else", 5),
        ("endif", -1),
    ]


def test_what_a_branch_defines_is_noted() -> None:
    directives = facts(b"#if A\n#define X\n#if B\n#undef Y\n#endif\n#else\n#define Z\n#endif\n").directives
    names = {d.line: d.names for d in directives if d.kind in ("if", "else")}
    assert names == {1: (("X", 2), ("Y", 4)), 3: (("Y", 4),), 6: (("Z", 7),)}


def test_unbalanced_directives_are_told() -> None:
    found = facts(b"#endif\n#if A\n#else\n")
    assert found.unbalanced == (1, 3)
    assert [d.kind for d in found.directives] == ["stray endif", "if", "else"]
    assert found.directives[2].following == 3


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("// (c)\n#ifndef A_H\n#define A_H\nint a;\n#endif // A_H\n", "A_H"),
        ("#pragma once\n#if !defined(A_H)\n#define A_H\n#endif\n", "A_H"),
        ("#if !defined A_H\n#define A_H\n#endif\n", "A_H"),
        ("#ifndef A_H\n#define A_H\n#else\n#endif\n", None),
        ("#ifndef A_H\n#define A_H\n#endif\n#define B\n", None),
        ("#define B\n#ifndef A_H\n#define A_H\n#endif\n", None),
        ("#if !defined(A_H) && B\n#define A_H\n#endif\n", None),
        ("#ifdef A_H\n#define A_H\n#endif\n", None),
    ],
)
def test_include_guard(text: str, guard: str | None) -> None:
    assert facts(text.encode()).guard == guard


def test_pragma_once() -> None:
    assert facts(b"#pragma once\n").once
    assert not facts(b"#pragma once_more\n").once


def test_macros() -> None:
    macros = [
        d.macro for d in facts(b"#define A\n#define B (x)\n#define C(x, ...) x ## __VA_ARGS__\n").directives
    ]
    shapes = [(m.name, m.parameters, m.body) for m in macros if m]
    assert shapes == [
        ("A", None, ()),
        ("B", None, ("(", "x", ")")),
        ("C", ("x", "..."), ("x", " ", "##", " ", "__VA_ARGS__")),
    ]


def test_includes() -> None:
    found = facts(b'#include <a/b.h>\n#include "c.h" // why\n#include HEADER(x)\n').directives
    assert [(d.header, d.quoted, d.condition) for d in found] == [
        ("a/b.h", False, ()),
        ("c.h", True, ()),
        (None, False, ("HEADER", "(", "x", ")")),
    ]


def test_ifdef_asks_for_one_name() -> None:
    found = facts(b"#ifdef A // b\n#elifndef C\n#endif\n").directives
    assert [d.condition for d in found[:2]] == [("defined", "(", "A", ")"), ("!", "defined", "(", "C", ")")]


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3)])
def test_line_count(text: str, lines: int) -> None:
    assert facts(text.encode()).lines == lines


def test_facts_survive_pickling() -> None:
    found = facts(b"#if A && B(1)\n#define X 1\n#endif\n")
    assert pickle.loads(pickle.dumps(found)) == found


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    assert isinstance(facts(data), FileDirectives)


@given(
    st.lists(
        st.sampled_from(
            ["#if A", "#else", "#elif B", "#endif", "x /*", "*/ y", 'R"(', ')"', "\\", "'", "#define Q"]
        )
    )
)
def test_following_is_always_ahead(lines: list[str]) -> None:
    directives = facts("\n".join(lines).encode()).directives
    for index, directive in enumerate(directives):
        if directive.kind in ("if", "elif", "else"):
            assert index < directive.following <= len(directives)


PIECES = st.sampled_from(
    [
        "\n",
        "#define A",
        "#if B",
        " ",
        "/*",
        "*/",
        "//",
        '"',
        "'",
        "\\\n",
        'R"(',
        ')"',
        "x",
        "%:endif",
        "/",
        "*",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_telling_directives_fast_tells_them_alike(text: str) -> None:
    joined = directives._Lines(f"\n{text}").joined
    slow = [match.span() for match in directives._lexed(joined)]
    assert [match.span() for match in directives._matches(joined)] == slow
