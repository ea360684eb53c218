"""Lists of architectures in build files that a tree carries."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.jit import listed
from analyzer.model import Gate
from analyzer.tree.files import open_tree
from tests.judge.test_justification import write

NAMES = ("sm_80", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")


def told(root: Path, text: str, name: str = "CMakeLists.txt") -> list[Gate]:
    tree = open_tree(write(root, {"kit/__init__.py": "", f"kit/csrc/{name}": text}))
    return list(listed.gates(tree, "sm_120", ("sm_90", "sm_100"), NAMES))


def served(gate: Gate) -> set[str]:
    return {arch for arch, verdict in gate.verdict.items() if verdict == "admit"}


@pytest.mark.parametrize(
    ("text", "line", "archs"),
    [
        ('set(CMAKE_CUDA_ARCHITECTURES "90a;100a")\n', 1, {"sm_90", "sm_100"}),
        ('#\nset(CMAKE_CUDA_ARCHITECTURES 80-real 90-real CACHE STRING "(x")\n', 2, {"sm_80", "sm_90"}),
        ("set_target_properties(ops PROPERTIES\n  LANGUAGE C\n  CUDA_ARCHITECTURES \"90a\")\n", 1, {"sm_90"}),
        ("set_property(TARGET ops PROPERTY CUDA_ARCHITECTURES 100f 90a)\n", 1, {"sm_90", "sm_100", "sm_103"}),
        ("set(OURS 90a 100a)\nset(CMAKE_CUDA_ARCHITECTURES ${OURS})\n", 2, {"sm_90", "sm_100"}),
        (
            'set(FLAGS "-O3" "-gencode=arch=compute_90a,code=sm_90a")\nif(WIDE)\n'
            '  list(APPEND FLAGS "-gencode=arch=compute_100a,code=sm_100a")\nendif()\n',
            1,
            {"sm_90", "sm_100"},
        ),
        (
            "target_compile_options(ops PRIVATE\n"
            '  "SHELL:-gencode arch=compute_90,code=[sm_90] -gencode arch=compute_80,code=sm_80")\n',
            1,
            {"sm_80", "sm_90"},
        ),
    ],
)  # fmt: skip
def test_lists_that_leave_the_target_out(text: str, line: int, archs: set[str], tmp_path: Path) -> None:
    (gate,) = told(tmp_path, text)
    assert (gate.layer, gate.effect, gate.line) == ("env", "no_image", line)
    assert served(gate) == archs


@pytest.mark.parametrize(
    "text",
    [
        "set(CMAKE_CUDA_ARCHITECTURES native)\n",
        "set(CMAKE_CUDA_ARCHITECTURES ${THEIRS})\n",
        "set(CMAKE_CUDA_ARCHITECTURES 90a)\nif(A)\nset(CMAKE_CUDA_ARCHITECTURES ${THEIRS})\nendif()\n",
        "#[[ set(CMAKE_CUDA_ARCHITECTURES 90a)\n]]\n# set(CMAKE_CUDA_ARCHITECTURES 90a)\n",
        'message("set(CMAKE_CUDA_ARCHITECTURES 90a)")\n',
        "set(CMAKE_CUDA_ARCHITECTURES 80)\n",
        "",
    ],
)
def test_what_is_not_known_or_serves_all_is_no_gate(text: str, tmp_path: Path) -> None:
    assert told(tmp_path, text) == []


def test_what_an_option_adds_counts(tmp_path: Path) -> None:
    text = (
        "set(CMAKE_CUDA_ARCHITECTURES 90a)\nif(NEW)\n  list(APPEND CMAKE_CUDA_ARCHITECTURES 120a)\nendif()\n"
    )
    (gate,) = told(tmp_path, text)
    assert (gate.effect, served(gate)) == ("none", {"sm_90", "sm_120"})


SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

flags = ["-O3"]
flags.append("-gencode")
flags.append("arch=compute_90a,code=sm_90a")


def newer():
    return ["-gencode", "arch=compute_100a,code=sm_100a", "-gencode", "arch=compute_120,code=compute_120"]


setup(ext_modules=[CUDAExtension("ops", ["ops.cu"], extra_compile_args={"nvcc": flags + newer()})])
"""


def test_flags_of_a_setup_script(tmp_path: Path) -> None:
    first, second = told(tmp_path, SETUP, "setup.py")
    assert (first.scope, second.scope) == ("<module>", "newer")
    assert (first.line, first.effect, first.code) == (6, "no_image", "-gencode=90a-real")
    assert (second.line, second.effect, served(second)) == (10, "none", {"sm_100", "sm_120", "sm_121"})


@given(st.text('set(CMAKE_U)"\\#[]=\n ${};90a', max_size=60))
def test_any_text_is_read(text: str) -> None:
    """Never an error, whatever stands there."""
    listed._cmake(text)
    listed._cmake(f"set(CMAKE_CUDA_ARCHITECTURES {text}")
