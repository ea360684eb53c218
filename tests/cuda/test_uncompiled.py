"""Files that no build compiles: what is lost in them, and which are looked at."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda import uncompiled, units
from analyzer.cuda.units import BuildUnits, CudaResult, analyse
from tests.cuda.test_units import SPECIFIC

WAITS = """
    #pragma once
    #include "enabled.h"
    __device__ inline void waits() {
    #if defined(LIBRARY_GDC)
      asm volatile("griddepcontrol.wait;");
    #endif
    }
"""
FILES = {
    "pack/unit.cu": "__global__ void kernel(int* p) { p[0] = 1; }\n",
    "pack/include/enabled.h": """
        #pragma once
        #if defined(CUTLASS_ENABLE_GDC_FOR_SM90) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
        #define LIBRARY_GDC
        #endif
    """,
    "pack/include/waits.cuh": WAITS,
    "other/include/waits.cuh": WAITS,
}


def build(**macros: str) -> BuildUnits:
    return BuildUnits(
        "build",
        ("pack/unit.cu",),
        ("pack/include",),
        dict.fromkeys(archs.names(), macros),
        {name: Spelling(archs.find(name).number) for name in archs.names()},
        (13, 0),
    )


def analysed(files: dict[str, str], *builds: BuildUnits) -> CudaResult:
    texts = {path: dedent(text).encode() for path, text in files.items()}
    others = uncompiled.beside(builds, files)
    names = archs.names()
    return analyse(
        builds,
        texts.__getitem__,
        texts.__contains__,
        names,
        "sm_120",
        ("sm_90", "sm_100"),
        uncompiled=others,
    )


def test_what_is_lost_in_a_header_that_no_build_includes_is_told() -> None:
    found = analysed(FILES, build())
    gate = next(guard.gate for guard in found.guards if guard.gate.file == "pack/include/waits.cuh")
    assert (gate.line, gate.effect, gate.silent) == (5, "lost_sync", True)
    assert [loss.what for loss in gate.loses] == ["griddepcontrol.wait"]
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {"sm_90"}
    assert not any(guard.builds for guard in found.guards if guard.gate.file == gate.file)
    assert {guard.gate.file.partition("/")[0] for guard in found.guards} == {"pack"}  # no build beside it


def test_what_a_build_includes_is_told_as_it_compiles_it() -> None:
    unit = '#include "waits.cuh"\n__global__ void kernel(int* p) { waits(); p[0] = 1; }\n'
    found = analysed(FILES | {"pack/unit.cu": unit}, build())
    assert found.guards == ()  # without the flag nobody waits


def test_it_does_not_matter_how_much_is_known_of_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asks = """
        #include "waits.cuh"
        void launches() {
          if (getSMVersion() == 90) { waits(); }
        }
    """
    files = FILES | {"pack/asks.cuh": asks, "pack/include/waits_as_well.cuh": WAITS}
    found = analysed(files, build())
    monkeypatch.setattr(units, "_KNOWN", 0)
    assert analysed(files, build()) == found
    assert len(found.guards) > 1


def test_files_are_compiled_as_all_builds_beside_them_agree() -> None:
    one, other = build(BOTH="1", FIRST="1"), build(BOTH="1", FIRST="2")
    (together,) = uncompiled.beside([one, other], FILES)
    assert together.sources == tuple(sorted(path for path in FILES if path.startswith("pack/")))
    assert together.include_dirs == ("pack/include",)
    assert together.spelling == SPECIFIC
    macros = together.macros["sm_120"]
    assert macros["BOTH"] == macros["CUTLASS_ENABLE_GDC_FOR_SM90"] == "1"
    assert "FIRST" not in macros
