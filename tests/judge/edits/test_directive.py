"""Edits of ``#if`` lines, held against gcc's own preprocessor."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from analyzer.judge.edits import directive
from analyzer.judge.edits.text import NoEditError, apply
from analyzer.model import Gate, Place

BOUND = "(defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))"


def gate(text: str, line: int = 1, uses: tuple[int, ...] = ()) -> Gate:
    return Gate(
        id="guard:a.cuh:k:0",
        layer="guard",
        file="a.cuh",
        line=line,
        end_line=line,
        column=1,
        scope="k",
        code=text,
        verdict={"sm_90": "admit", "sm_120": "reject"},
        uses=tuple(Place("a.cuh", other) for other in uses),
    )


def edited(text: str, line: int = 1, uses: tuple[int, ...] = ()) -> str:
    planned = directive.edit(gate(text, line, uses), "sm_120", lambda file: text)
    return apply(text, planned.splices)


def active(text: str, arch: int) -> bool:
    command = ["gcc", "-E", "-P", "-xc++", f"-D__CUDA_ARCH__={arch}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return "body" in done.stdout


CONDITIONS = {
    BOUND: "(defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900))",
    "__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200": "__CUDA_ARCH__ >= 900",
    "__CUDA_ARCH__ < 1200 && __CUDA_ARCH__ >= 900": "__CUDA_ARCH__ >= 900",
    "1200 > __CUDA_ARCH__ && 900 <= __CUDA_ARCH__": "900 <= __CUDA_ARCH__",
    "defined(__CUDA_ARCH__) && __CUDA_ARCH__ <= 1100": "defined(__CUDA_ARCH__)",
    "__CUDA_ARCH__ == 900": "(__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1200)",
    "__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000": (
        "(__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1200)"
    ),
    "__CUDA_ARCH__ >= 900 && \\\n    (__CUDA_ARCH__ / 100 == 9)": (
        "__CUDA_ARCH__ >= 900 && \\\n    ((__CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ == 1200))"
    ),
}


@pytest.mark.parametrize("condition", sorted(CONDITIONS))
def test_the_target_joins_and_nobody_leaves(condition: str) -> None:
    text = f"#if {condition}  // newer\nbody\n#endif\n"
    after = edited(text)
    assert after == text.replace(condition, CONDITIONS[condition])
    if shutil.which("gcc") is None:
        pytest.skip("no gcc to ask")
    assert active(after, 1200)
    assert not active(text, 1200)
    for arch in (750, 800, 890, 900, 1000, 1030, 1100):
        assert active(after, arch) == active(text, arch)


def test_every_place_of_a_gate_is_edited() -> None:
    text = f"#if {BOUND}\n#endif\n#if 1\n#elif {BOUND}\n#endif\n"
    assert "1200" not in edited(text, 1, (4,))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("#ifdef FEATURE_SM90\n#endif\n", "whether a macro is defined"),
        ("#if defined(FEATURE_SM90)\n#endif\n", "macros decide"),
        ("#if __CUDA_ARCH__ >= 900 && FEATURE\n#endif\n", "macros decide"),
        ("#if __CUDA_ARCH__ >= 900\n#endif\n", "as it stands"),
    ],
)
def test_no_edit_is_better_than_a_wrong_one(text: str, why: str) -> None:
    with pytest.raises(NoEditError, match=why):
        edited(text)
