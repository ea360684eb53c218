"""Compiler command lines: macros, include folders inside the tree, architectures."""

from __future__ import annotations

import pytest

from analyzer.archs import Spelling
from analyzer.jit.commands import parse
from analyzer.python.library import HOLE
from analyzer.python.modules import ROOT


def test_macros_with_and_without_values() -> None:
    command = parse(["-DA", "-DB=2", "-D", "C=x", "-DA=3"])
    assert dict(command.defines) == {"A": "3", "B": "2", "C": "x"}


def test_quoted_folders_come_before_system_folders() -> None:
    command = parse(
        [f"nvcc -isystem {ROOT}pkg/sys -I{ROOT}pkg/include/ -I /usr/include -isystem {HOLE} -c a.cu"]
    )
    assert command.include_dirs == ("pkg/include", "pkg/sys")


@pytest.mark.parametrize(
    ("flag", "spellings"),
    [
        ("-gencode=arch=compute_90a,code=sm_90a", ["9.0a"]),
        ("-gencode arch=compute_100f,code=sm_100f", ["10.0f"]),
        ("--generate-code=arch=compute_80,code=[sm_80,compute_80]", ["8.0"]),
        ("-arch=sm_120a", ["12.0a"]),
        ("-O3", []),
    ],
)
def test_architectures(flag: str, spellings: list[str]) -> None:
    assert [str(spelling) for spelling in parse([flag]).spellings] == spellings


def test_flags_may_come_one_by_one_or_as_one_text() -> None:
    flags = ["-DX=1", "-gencode=arch=compute_120a,code=sm_120a"]
    assert parse(flags) == parse([" ".join(flags)])
    assert parse(flags).spellings == (Spelling(120, "a"),)
