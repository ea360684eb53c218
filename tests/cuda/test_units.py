"""From builds to guard gates: verdicts, effects, builds that disagree, alike guards, exports."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda.gates import GuardGate
from analyzer.cuda.guards import bare
from analyzer.cuda.units import BuildUnits, CudaResult, ExportReach, analyse
from analyzer.model import Place

PLAIN = {name: Spelling(archs.find(name).number) for name in archs.names()}
SPECIFIC = {arch.name: arch.richest for arch in archs.profiles()}

KERNELS = """
    #pragma once
    namespace lib {
    __global__ void waits(int* p) {
    #if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
      cudaGridDependencySynchronize();
    #endif
      p[0] = 1;
    #if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
      cudaTriggerProgrammaticLaunchCompletion();
    #endif
    }
    __global__ void empties(int* p) {
    #if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
      p[0] = 2;
    #endif
    }
    __global__ void plain(int* p) { p[0] = 3; }
    }
"""
BINDING = """
    #include "kernels.cuh"
    void run(int* p) {
      lib::waits<<<1, 1>>>(p);
      lib::empties<<<1, 1>>>(p);
    }
    void start(int* p) { lib::plain<<<1, 1>>>(p); }
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
    TVM_FFI_DLL_EXPORT_TYPED_FUNC(start, start);
"""


def build(
    *sources: str,
    name: str = "build",
    spelling: Mapping[str, Spelling] = SPECIFIC,
    macros: Mapping[str, Mapping[str, str]] | None = None,
) -> BuildUnits:
    return BuildUnits(name, sources, ("include",), macros or {}, spelling, (12, 8))


def load(files: Mapping[str, bytes], path: str) -> bytes:
    if files[path] == b"unreadable":
        raise PermissionError(path)
    return files[path]


def reading(files: Mapping[str, str]) -> tuple[Callable[[str], bytes], Callable[[str], bool]]:
    """Functions that read these texts; they can be pickled."""
    data = {path: dedent(text).encode() for path, text in files.items()}
    return functools.partial(load, data), data.__contains__


def analysed(
    files: Mapping[str, str],
    *builds: BuildUnits,
    target: str = "sm_120",
    references: tuple[str, ...] = ("sm_90", "sm_100"),
    jobs: int = 1,
) -> CudaResult:
    read, exists = reading(files)
    return analyse(builds or [build("unit.cu")], read, exists, archs.names(), target, references, jobs)


def one(text: str, *builds: BuildUnits) -> GuardGate:
    """The only guard of a one-file unit."""
    (found,) = analysed({"unit.cu": text}, *builds).guards
    return found


def admitted(gate: GuardGate) -> set[str]:
    return {name for name, verdict in gate.gate.verdict.items() if verdict == "admit"}


def export(result: CudaResult, name: str) -> ExportReach:
    (found,) = [e for e in result.exports if e.name == name]
    return found


FILES = {"unit.cu": BINDING, "include/kernels.cuh": KERNELS}


def test_guards_of_kernels_are_gates_of_their_own() -> None:
    result = analysed(FILES)
    assert [(g.gate.line, g.gate.scope, g.gate.effect) for g in result.guards] == [
        (5, "lib::waits", "lost_sync"),
        (9, "lib::waits", "lost_sync"),
        (14, "lib::empties", "empty_kernel"),
    ]
    first, second, third = (g.gate for g in result.guards)
    assert first.code == "defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200)"
    assert [loss.what for loss in first.loses] == ["cudaGridDependencySynchronize"]
    assert [loss.what for loss in second.loses] == ["cudaTriggerProgrammaticLaunchCompletion"]
    assert {loss.kind for loss in third.loses} == {"body"}
    assert admitted(result.guards[0]) == {"sm_90", "sm_100", "sm_103", "sm_110"}
    assert all(gate.silent and gate.layer == "guard" and gate.severity == "none" for gate in (first, third))
    assert {g.builds for g in result.guards} == {("build",)}


def test_ids_survive_what_does_not_matter() -> None:
    before = [g.gate.id for g in analysed(FILES).guards]
    assert all(
        re.fullmatch(r"guard:include/kernels\.cuh:lib::\w+:[0-9a-f]{8}(\.2)?", found) for found in before
    )
    assert len(set(before)) == 3
    moved = "\n\n// a comment\n" + dedent(KERNELS).replace(" >= ", "  >= /* here */ ")
    after = analysed({"unit.cu": BINDING, "include/kernels.cuh": moved}).guards
    assert [g.gate.id for g in after] == before
    assert [g.gate.line for g in after] == [8, 12, 17]
    other = analysed(FILES, target="sm_90", references=("sm_80",)).guards
    assert [g.gate.id for g in other] == before
    changed = dedent(KERNELS).replace("< 1200", "< 1210")
    assert before[0] != analysed({"unit.cu": BINDING, "include/kernels.cuh": changed}).guards[0].gate.id


def test_exports_hold_the_guards_that_they_can_run() -> None:
    result = analysed(FILES)
    run, start = export(result, "run"), export(result, "start")
    assert [kernel.name for kernel in run.kernels] == ["lib::waits", "lib::empties"]
    assert run.guards == tuple(g.gate.id for g in result.guards)
    assert [run.held_by[g].name for g in run.guards] == ["lib::waits", "lib::waits", "lib::empties"]
    assert [(w.source and w.source.name, w.target.name, w.kind) for w in run.ways] == [
        (None, "run", "calls"),
        ("run", "lib::waits", "launches"),
        ("run", "lib::empties", "launches"),
    ]
    assert [kernel.name for kernel in start.kernels] == ["lib::plain"]
    assert start.guards == ()


def test_what_no_export_reaches_has_no_effect() -> None:
    only_start = dedent(BINDING).replace("TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);", "")
    guards = analysed({"unit.cu": only_start, "include/kernels.cuh": KERNELS}).guards
    assert [(g.gate.effect, g.gate.loses, g.reached_by) for g in guards] == [("none", (), ())] * 3
    no_exports = "#include <kernels.cuh>\n"
    guards = analysed({"unit.cu": no_exports, "include/kernels.cuh": KERNELS}).guards
    assert [g.gate.effect for g in guards] == ["lost_sync", "lost_sync", "empty_kernel"]


def test_a_function_is_reached_in_another_unit_of_the_build() -> None:
    binding = "void run(int* p);\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"
    kernels = dedent(KERNELS).replace("#pragma once", "") + "void run(int* p) { lib::waits<<<1, 1>>>(p); }\n"
    result = analysed({"a.cu": binding, "b.cu": kernels}, build("a.cu", "b.cu"))
    assert [g.gate.line for g in result.guards if g.gate.id in export(result, "run").guards] == [5, 9]


def test_builds_may_disagree() -> None:
    text = """
        __global__ void kernel(int* p) {
        #if __CUDA_ARCH__ >= 900 || defined(EVERYWHERE)
          p[0] = 1;
          __syncthreads();
        #endif
          p[1] = 1;
        #ifdef __CUDA_ARCH_FEAT_SM120_ALL
          p[2] = 1;
        #endif
        }
    """
    everywhere = {name: {"EVERYWHERE": "1"} for name in archs.names()}
    builds = [
        build("unit.cu", name="everywhere", macros=everywhere),
        build("unit.cu", name="plain", spelling=PLAIN),
    ]
    result = analysed({"unit.cu": text}, *builds, target="sm_80", references=("sm_90",))
    first, second = (g.gate for g in result.guards)
    assert first.effect == "lost_sync"
    assert first.verdict["sm_80"] == "reject"
    assert {row.build: set(row.verdict.values()) for row in first.verdict_by_build} == {
        "plain": {"admit", "reject"},
        "everywhere": {"admit"},  # alike for all there: alone it would be no guard
    }
    assert second.verdict["sm_120"] == "admit"


def test_verdict_by_build() -> None:
    text = "__global__ void kernel(int* p) {\n#if __CUDA_ARCH__ >= LEAST\np[0] = 1;\n#endif\np[1] = 1;\n}\n"
    builds = [
        build("unit.cu", name=str(least), macros={name: {"LEAST": str(least)} for name in archs.names()})
        for least in (800, 1210)
    ]
    gate = one(text, *builds).gate
    assert gate.effect == "none"  # neither takes from sm_120 what it gives to sm_90 or sm_100
    found = {row.build: row.verdict["sm_120"] for row in gate.verdict_by_build}
    assert found == {"800": "admit", "1210": "reject"}
    grave = analysed({"unit.cu": text}, *builds, target="sm_120", references=("sm_121",)).guards[0].gate
    assert grave.effect == "excluded"
    assert grave.verdict["sm_120"] == "reject"


def test_spelling_decides() -> None:
    text = "__global__ void f(int* p) {\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\np[0] = 1;\n#endif\np[1] = 1;\n}\n"
    assert admitted(one(text, build("unit.cu"))) == {"sm_90"}
    assert analysed({"unit.cu": text}, build("unit.cu", spelling=PLAIN)).guards == ()
    assert analysed({"unit.cu": text}, build("unit.cu", spelling={})).guards == ()


WRAPPERS = """
    struct A { __device__ static void fma(int* p) {
    #if defined(HAS)
      p[0] = 1;
    #else
      __trap();
    #endif
    } };
    struct B { __device__ static void fma(int* p) {
    #if defined(HAS)
      p[0] = 2;
    #else
      __trap();
    #endif
    } };
    struct C { __device__ static void fma(int* p) {
    #if defined(HAS)
      p[0] = 3;
    #else
      __trap();
    #endif
    } };
"""


def test_alike_wrappers_are_one_gate() -> None:
    text = "#if __CUDA_ARCH__ < 1200\n#define HAS\n#endif\n" + dedent(WRAPPERS)
    text += "__global__ void kernel(int* p) { B::fma(p); C::fma(p); }\n"
    text += "void run(int* p) { kernel<<<1, 1>>>(p); }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"
    result = analysed({"unit.cu": text})
    wrappers = [g.gate for g in result.guards if g.gate.code == "defined(HAS)"]
    met, unmet = sorted(wrappers, key=lambda gate: -gate.count)
    assert (met.count, met.line, met.uses, met.effect) == (2, 13, (Place("unit.cu", 20),), "raises")
    assert met.message == "__trap()"
    assert met.scope == ""  # what B::fma and C::fma share
    assert (unmet.count, unmet.line, unmet.effect, unmet.message) == (1, 6, "none", None)
    run = export(result, "run")
    assert met.id in run.guards
    assert unmet.id not in run.guards
    assert run.held_by[met.id].name == "B::fma"
    assert (met.because[0].line, met.because[0].what) == (2, "defines HAS")


def test_a_branch_for_the_target_alone() -> None:
    text = "__global__ void f(int* p) {\n#if __CUDA_ARCH__ >= 1200\np[0] = 1;\n#else\np[0] = 2;\n#endif\n}\n"
    gate = one(text).gate
    assert (gate.specialised, gate.effect) == (True, "none")


def test_chains_share_a_dispatch() -> None:
    text = """
        __global__ void kernel(int* p) {
        #if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200
          p[0] = 1;
        #elif __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000
          p[0] = 2;
        #else
          p[0] = 3;
        #endif
        #if __CUDA_ARCH__ >= 900
          p[1] = 1;
        #endif
        }
    """
    first, second, alone = (g.gate for g in analysed({"unit.cu": text}).guards)
    assert first.dispatch is not None
    assert first.dispatch == second.dispatch
    assert alone.dispatch is None
    assert admitted(analysed({"unit.cu": text}).guards[1]) == {"sm_90"}


def test_what_is_not_known_is_unknown() -> None:
    text = (
        "#include <nobody_knows.h>\n__global__ void kernel(int* p) {\n"
        "#if __CUDA_ARCH__ >= 900 && NOBODY_KNOWS\np[0] = 1;\n#endif\np[1] = 1;\n}\n"
    )
    result = analysed({"unit.cu": text})
    (found,) = result.guards
    assert found.gate.effect == "none"
    assert found.gate.verdict["sm_120"] == "unknown"
    assert found.gate.verdict["sm_80"] == "reject"
    rows = [(row.line, row.what) for row in result.unresolved]
    assert rows == [(1, "nobody_knows.h"), (3, "__CUDA_ARCH__ >= 900 && NOBODY_KNOWS")]
    assert all(row.why for row in result.unresolved)


def test_host_sources_have_no_device_pass() -> None:
    text = "#if __CUDA_ARCH__ >= 900\nint x = 1;\n#endif\n"
    assert len(analysed({"unit.cu": text}).guards) == 1
    assert analysed({"unit.cpp": text}, build("unit.cpp")).guards == ()


def test_directives_files_and_absent_sources() -> None:
    result = analysed({**FILES, "bad.cu": "unreadable"}, build("unit.cu", "gone.cu", "bad.cu"))
    assert result.files == {"build": ("unit.cu", "include/kernels.cuh")}
    assert result.directives == {"include/kernels.cuh": 3, "unit.cu": 0}
    assert [row.file for row in result.unresolved] == ["bad.cu", "gone.cu"]
    assert analysed({}, build("gone.cu")).guards == ()


def test_the_result_does_not_depend_on_the_processes() -> None:
    files = {f"unit{n}.cu": BINDING for n in range(20)} | {"include/kernels.cuh": KERNELS}
    builds = [build(f"unit{n}.cu", name=f"build{n}") for n in range(20)]
    alone = analysed(files, *builds)
    assert len(alone.exports) == 40
    assert alone.guards[0].builds == tuple(f"build{n}" for n in range(20))
    assert analysed(files, *builds, jobs=2) == alone


def test_progress(tmp_path: Path) -> None:
    read, exists = reading(FILES)
    told: list[tuple[int, int]] = []
    builds = [build("unit.cu", name=str(n)) for n in range(10)]
    analyse(
        builds, read, exists, archs.names(), "sm_120", ("sm_90",), progress=lambda *step: told.append(step)
    )
    assert told[-1] == (10, 10)
    assert told == sorted(told)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("(A)", "A"),
        ("((A) && (B))", "(A) && (B)"),
        ("(A) && (B)", "(A) && (B)"),
        ("( ( A ) )", "A"),
        ("", ""),
    ],
)
def test_parentheses_around_a_condition(condition: str, expected: str) -> None:
    assert bare(condition) == expected


def test_a_branch_that_was_written_for_the_target_takes_nothing_from_it() -> None:
    text = """
        __device__ int parts() {
        #if __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
          return 64;
        #elif __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == {number}
          return 32;
        #else
          return 16;
        #endif
        }
    """
    effects = {
        number: [
            guard.gate.effect for guard in analysed({"unit.cu": text.replace("{number}", number)}).guards
        ]
        for number in ("1200", "1210")
    }
    assert effects == {"1200": ["none", "none"], "1210": ["degraded", "none"]}


@pytest.mark.parametrize(
    "stop", ['#error "only for some"', "static_assert(false);", 'static_assert(0, "only for some");']
)
def test_no_export_of_a_build_that_does_not_compile_can_be_run(stop: str) -> None:
    text = f"""
        #if !defined(__CUDA_ARCH_FEAT_SM100_ALL) && defined(__CUDA_ARCH__)
        {stop}
        #endif
        __global__ void kernel(int* p) {{ p[0] = 1; }}
        void run(int* p) {{ kernel<<<1, 1>>>(p); }}
        void idle() {{}}
        TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
        TVM_FFI_DLL_EXPORT_TYPED_FUNC(idle, idle);
    """
    result = analysed({"unit.cu": text})
    (found,) = result.guards
    assert (found.gate.effect, found.gate.message) == ("raises", stop.rstrip(";"))
    assert [one.guards for one in result.exports] == [(found.gate.id,)] * 2
    assert [one.held_by[found.gate.id].name for one in result.exports] == ["run", "idle"]


LIBRARY = """
    #pragma once
    struct Atom {
      static __device__ void fma(int* p) {
    #if __CUDA_ARCH__ < 1200
        p[0] = 1;
    #else
        __trap();
    #endif
      }
    };
    template <class T>
    struct Chosen {
      __device__ void run(int* p) { Atom::fma(p); }
    };
"""


@pytest.mark.parametrize(("call", "stops"), [("Chosen<int>().run(p)", False), ("Atom::fma(p)", True)])
def test_a_trap_in_a_library_stops_an_export_only_if_its_own_code_names_it(call: str, stops: bool) -> None:
    unit = f"""
        #include <cute/atom.hpp>
        __global__ void k(int* p) {{ {call}; }}
        void run(int* p) {{ k<<<1, 1>>>(p); }}
        TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
    """
    result = analysed({"unit.cu": unit, "include/cute/atom.hpp": LIBRARY})
    (found,) = result.guards
    assert found.gate.effect == ("raises" if stops else "none")
    assert export(result, "run").guards == ((found.gate.id,) if stops else ())
