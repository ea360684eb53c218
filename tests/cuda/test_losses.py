"""What the target loses at a guard: every effect, and the cases in which it loses nothing."""

from __future__ import annotations

import pytest

from analyzer.model import Loss
from tests.cuda.programs import guarded

KERNEL = "__global__ void kernel(int* p) {{\n{}\n}}\n"


def test_lost_wait_and_trigger() -> None:
    found = guarded(KERNEL.format("#if NEW\ncudaGridDependencySynchronize();\n#endif\np[0] = 1;"))
    assert found.effect == "lost_sync"
    assert found.losses == (Loss("cudaGridDependencySynchronize", "wait", "unit.cu", 3),)
    assert found.function is not None
    assert (found.function.name, found.kind) == ("kernel", "kernel")
    assert (found.falls_back_to, found.message) == (None, None)


def test_empty_kernel() -> None:
    body = "#if NEW\nint x = threadIdx.x;\np[x] = 1;\n__syncthreads();\n#endif"
    found = guarded(KERNEL.format(body))
    assert found.effect == "empty_kernel"
    assert [(loss.what, loss.kind) for loss in found.losses] == [
        ("kernel", "body"),
        ("__syncthreads", "barrier"),
    ]


@pytest.mark.parametrize(
    "rest", ["", "int x = 3;", "(void)p;", "using T = int;", "static_assert(true);", ";"]
)
def test_what_is_left_may_be_no_work(rest: str) -> None:
    assert guarded(KERNEL.format(f"#if NEW\np[0] = 1;\n#endif\n{rest}")).effect == "empty_kernel"


@pytest.mark.parametrize("rest", ["p[1] = 2;", "p[0]++;", "f(p);", 'asm("exit;");', "if (p) { f(p); }"])
def test_work_that_is_left(rest: str) -> None:
    assert guarded(KERNEL.format(f"#if NEW\np[0] = 1;\n#endif\n{rest}")).effect == "excluded"


def test_device_functions_are_no_empty_kernels() -> None:
    found = guarded("__device__ void help(int* p) {\n#if NEW\np[0] = 1;\n#endif\n}\n")
    assert (found.effect, found.kind) == ("excluded", "device")


def test_fallback() -> None:
    found = guarded(KERNEL.format("#if NEW\nfast(p);\n#else\n{\nslow(p);\n}\n#endif"))
    assert (found.effect, found.falls_back_to) == ("degraded", "slow(p);")


def test_a_synchronisation_in_its_place_is_a_fallback() -> None:
    body = '#if NEW\nasm("barrier.cluster.arrive;");\n#else\n__syncthreads();\n#endif\np[0] = 1;'
    assert guarded(KERNEL.format(body)).effect == "degraded"


def test_the_same_synchronisation_on_both_sides_is_not_lost() -> None:
    found = guarded(
        KERNEL.format("#if NEW\nfast(p);\n__syncthreads();\n#else\nslow(p);\n__syncthreads();\n#endif")
    )
    assert (found.effect, found.losses) == ("degraded", ())


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ("__trap();", "__trap()"),
        ('assert(false && "no");', 'assert(false && "no")'),
        ('asm volatile("trap;\\n");', 'asm volatile("trap;\\n");'),
        ('static_assert(false, "no");', 'static_assert(false, "no")'),
        ("#error not here", "#error not here"),
        ('printf("no\\n");', 'printf("no\\n")'),
        ('printf("no");\nreturn;', 'printf("no")'),
    ],
)
def test_raises(stop: str, message: str) -> None:
    found = guarded(KERNEL.format(f"#if NEW\np[0] = 1;\n#else\n{stop}\n#endif"))
    assert (found.effect, found.message) == ("raises", message)


def test_a_message_beside_other_work_stops_nothing() -> None:
    found = guarded(KERNEL.format('#if NEW\nfast(p);\n#else\nprintf("slow");\n#endif\nwork(p);'))
    assert found.effect == "degraded"


def test_a_macro_that_traps() -> None:
    macros = "#define STOP(x) do { printf(x); LEAVE(); } while (0)\n#define LEAVE() __trap()\n"
    found = guarded(macros + KERNEL.format('#if NEW\np[0] = 1;\n#else\nSTOP("no");\n#endif'))
    assert (found.effect, found.message) == ("raises", 'STOP("no")')


def test_macros_decide_where_they_are_used() -> None:
    found = guarded("#if NEW\n#define FAST 1\n#endif\n")
    assert found.effect == "none"
    assert found.losses == (Loss("FAST", "macro", "unit.cu", 2),)


def test_whole_functions_are_lost() -> None:
    text = "namespace n {\n#if NEW\nstruct Box {\nvoid in() {}\n};\n__global__ void kernel() {}\n#endif\n}\n"
    found = guarded(text)
    assert found.effect == "excluded"
    assert [(loss.what, loss.kind) for loss in found.losses] == [
        ("n::Box", "class"),
        ("n::kernel", "function"),
    ]


def test_branch_for_the_target_alone() -> None:
    better = KERNEL.format("#if OLD\nspecial(p);\n#else\nplain(p);\n#endif")
    assert guarded(better, line=2).effect == "none"
    worse = KERNEL.format("#if OLD\n__trap();\n#else\nplain(p);\n#endif")
    assert guarded(worse, line=2).effect == "raises"
    unsynchronised = KERNEL.format("#if OLD\nplain(p);\n#else\nplain(p);\n__syncthreads();\n#endif")
    assert guarded(unsynchronised, line=2).effect == "lost_sync"


def test_a_guard_inside_a_lost_branch_decides_nothing() -> None:
    text = KERNEL.format("#if NEW\n#if INNER\n__syncthreads();\n#endif\np[0] = 1;\n#endif\np[1] = 1;")
    assert guarded(text, {"INNER": True}, line=3).effect == "none"
    assert guarded(text, {"INNER": True}, line=2).effect == "lost_sync"


def test_a_trap_inside_is_told_at_the_guard_that_decides_it() -> None:
    trap = KERNEL.format("#if BOTH\n#if OLD\n__trap();\n#endif\np[0] = 1;\n#else\n__trap();\n#endif")
    assert guarded(trap, {"BOTH": True}, line=2).effect == "none"
    assert guarded(trap, {"BOTH": True}, line=3).effect == "raises"
    wait = KERNEL.format("#if BOTH\n#if NEW\n__syncthreads();\n#endif\np[0] = 1;\n#endif")
    assert guarded(wait, {"BOTH": True}, line=2).effect == "none"
    assert guarded(wait, {"BOTH": True}, line=3).effect == "lost_sync"


def test_a_reference_that_stops_there_loses_nothing() -> None:
    assert guarded(KERNEL.format("#if NEW\n__trap();\n#else\nwork(p);\n#endif")).effect == "none"
