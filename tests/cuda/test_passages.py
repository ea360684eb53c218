"""Passages that are repeated leave what walking again would leave."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cuda import preprocess
from analyzer.cuda.activity import Configuration, Unit
from analyzer.cuda.preprocess import Memory, walk
from tests.cuda.tree import Tree

ARCHS = [Configuration(arch, {"__CUDA_ARCH__": arch}) for arch in ("900", "1000", "1200")]
NAMES = ["a.h", "b.h", "c.h", "d.h"]

LINES = st.sampled_from(
    [
        *(f'#include "{name}"' for name in NAMES),
        "#include <gone.h>",
        "#include WHERE",
        '#define WHERE "b.h"',
        "#define ON",
        "#undef ON",
        "#define LEVEL __CUDA_ARCH__",
        '#if LEVEL >= 1000\n#define NEW\n#include "c.h"\n#endif',
        '#ifdef ON\n#include "d.h"\n#else\n#define OFF\n#endif',
        "#if defined(NEW) && !defined(OFF)\nint x;\n#elif defined(ELSEWHERE)\nint y;\n#endif",
        '#if __has_include("d.h")\nint z;\n#endif',
    ]
)
BODIES = st.lists(LINES, min_size=1, max_size=5).map("\n".join)
GUARDS = st.sampled_from(["", "#pragma once\n", "guard"])


def guarded(name: str, guard: str, body: str) -> str:
    """The body, in an include guard or after ``#pragma once``."""
    if guard != "guard":
        return f"{guard}{body}\n"
    macro = name.upper().replace(".", "_")
    return f"#ifndef {macro}\n#define {macro}\n{body}\n#endif\n"


def told(unit: Unit) -> object:
    """All that a walk tells."""
    rows = [
        (path, activity.runs, activity.branches, [branch.because for branch in activity.branches])
        for path, activity in unit.files.items()
    ]
    return rows, unit.missing


@pytest.fixture(scope="module", autouse=True)
def bounds() -> Iterator[None]:
    """Headers without a guard may include themselves: then the walk ends at its bounds, set low here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preprocess, "DEPTH", 6)
        patch.setattr(preprocess, "INCLUSIONS", 60)
        yield


@settings(max_examples=60)
@given(
    headers=st.tuples(*(st.tuples(GUARDS, BODIES) for _ in NAMES)),
    units=st.lists(BODIES, min_size=2, max_size=5),
)
def test_a_unit_is_walked_alike_whatever_was_walked_before(
    headers: tuple[tuple[str, str], ...], units: list[str]
) -> None:
    files = {name: guarded(name, *header) for name, header in zip(NAMES, headers, strict=True)}
    files |= {f"{index}.cu": text for index, text in enumerate(units)}
    sources, memory = Tree(files), Memory()
    for path in [f"{index}.cu" for index in range(len(units))] * 2:
        shared = walk(path, sources, (), ARCHS, implicit=(), memory=memory)
        assert told(shared) == told(walk(path, sources, (), ARCHS, implicit=()))


def test_a_header_is_walked_once_from_each_state() -> None:
    files = {
        "a.h": '#pragma once\n#include "b.h"\n#ifdef ON\nint x;\n#endif\n',
        "b.h": "#pragma once\n#define B\n",
        "first.cu": '#include "a.h"\n',
        "second.cu": '#include "a.h"\n',
        "third.cu": '#define ON\n#include "a.h"\n',
    }
    sources, memory = Tree(files), Memory()
    units = [
        walk(f"{name}.cu", sources, (), ARCHS, implicit=(), memory=memory) for name in ("first", "second")
    ]
    assert units[0].files["a.h"] is units[1].files["a.h"]
    third = walk("third.cu", sources, (), ARCHS, implicit=(), memory=memory)
    assert third.files["b.h"] is units[0].files["b.h"]
    assert (units[0].files["a.h"].active(4), third.files["a.h"].active(4)) == (0, third.full)
