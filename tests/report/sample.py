"""A small report of an invented tree, with its sources: one story through every layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.model import (
    Barrier,
    Build,
    BuildVerdict,
    Cell,
    Coverage,
    Edge,
    Entry,
    FileFacts,
    Files,
    Gate,
    Input,
    Justification,
    Loss,
    Node,
    Notice,
    Part,
    Path,
    Place,
    Predicate,
    Report,
    Skipped,
    Step,
    Target,
    Tool,
    Unresolved,
    Verdict,
)

ARCHS = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121")
SERVER = "servekit/runtime/server.py"
DEVICE = "servekit/device.py"
FUSE = "servekit/layers/fuse.py"
JIT = "turbine/jit/comm.py"
API = "turbine/comm/reduce.py"
HEADER = "turbine/data/include/reduce.cuh"
BINDING = "turbine/data/csrc/reduce.cu"
PREBUILT = "turbine/prebuilt.py"

SOURCES: dict[str, str] = {
    DEVICE: '''\
"""Which device do we run on?"""
import functools
import torch


def _capable(majors, toolkit=None):
    major, _ = torch.cuda.get_device_capability()
    return major in majors


is_hopper = functools.lru_cache(functools.partial(_capable, majors=[9]))
is_datacenter_blackwell = functools.partial(_capable, majors=[10])
''',
    FUSE: '''\
"""Fused all-reduce."""
from servekit.device import is_datacenter_blackwell, is_hopper

_hopper = is_hopper()
_blackwell = is_datacenter_blackwell()


def use_fused_reduce(batch):
    # One kernel instead of three.
    return (_hopper or _blackwell) and batch > 0


class Norm:
    def forward_fused(self, x):
        from turbine.comm import fused_reduce

        return fused_reduce(x)
''',
    SERVER: '''\
"""Server options."""
import argparse

from servekit.device import is_datacenter_blackwell


def add_options(parser: argparse.ArgumentParser):
    parser.add_argument("--enable-fused-reduce", action="store_true")
    parser.add_argument("--attention", default=None)


def choose_attention(options):
    if options.attention is None:
        if is_datacenter_blackwell():
            options.attention = "tiled"
        else:
            options.attention = "plain"
    return options
''',
    JIT: '''\
"""Builds of the communication module."""
from turbine.jit.core import build, flags_for


def reduce_module():
    flags = flags_for(supported=[9, 10])
    return build("reduce", ["csrc/reduce.cu"], flags=flags)
''',
    API: '''\
"""Public all-reduce."""
from turbine.jit.comm import reduce_module


def fused_reduce(x):
    return reduce_module().fused(x)


def custom_reduce(x):
    return reduce_module().custom(x)
''',
    BINDING: """\
#include "reduce.cuh"

void fused(Tensor x) { launch_fused(x); }
void custom(Tensor x) { launch_custom(x); }

EXPORT(fused, fused);
EXPORT(custom, custom);
""",
    HEADER: """\
#pragma once

template <typename T>
__global__ void one_shot(T* out, const T* in, int n) {
#if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
  cudaGridDependencySynchronize();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + out[i];
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <typename T>
__global__ void two_shot(T* out, const T* in, int n) {
#if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
  cudaGridDependencySynchronize();
#endif
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 2;
#if (defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

#if __CUDA_ARCH__ >= 900
// newer than Ampere
#endif
""",
    PREBUILT: '''\
"""What is built ahead of time."""


def modules(capability):
    if capability in (90, 100):
        yield "reduce"
''',
}

GUARD = "(defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900) && (__CUDA_ARCH__ < 1200))"
MESSAGE = "no supported architecture among major versions [9, 10]"


def source(file: str) -> Sequence[str] | None:
    """Lines of the invented tree."""
    text = SOURCES.get(file)
    return None if text is None else text.splitlines()


def verdicts(*admitted: str, unknown: tuple[str, ...] = ()) -> dict[str, Verdict]:
    """Admit these architectures, reject all others."""

    def one(arch: str) -> Verdict:
        if arch in unknown:
            return "unknown"
        return "admit" if arch in admitted else "reject"

    return {arch: one(arch) for arch in ARCHS}


def values(true: Callable[[str], bool]) -> dict[str, str]:
    """``true`` or ``false`` for each architecture."""
    return {arch: str(true(arch)).lower() for arch in ARCHS}


DOOR = Step(DEVICE, 7, "`torch.cuda.get_device_capability()` gives (12, 0) on sm_120")
CHAIN = (
    Step(FUSE, 4, "`_hopper` is `is_hopper()`"),
    Step(DEVICE, 11, "`is_hopper` is `_capable` with majors=[9]"),
    Step(FUSE, 5, "`_blackwell` is `is_datacenter_blackwell()`"),
    Step(DEVICE, 12, "`is_datacenter_blackwell` is `_capable` with majors=[10]"),
    Step(DEVICE, 8, "`major in majors` is False on sm_120"),
    DOOR,
)
HOPPER_TO_THOR = ("sm_90", "sm_100", "sm_103", "sm_110")

FUSE_GATE = Gate(
    id=f"runtime {FUSE} use_fused_reduce (_hopper or _blackwell) and batch > 0 0",
    layer="runtime",
    file=FUSE,
    line=10,
    end_line=10,
    column=12,
    scope="use_fused_reduce",
    code="(_hopper or _blackwell) and batch > 0",
    verdict=verdicts("sm_90", "sm_100", "sm_103"),
    effect="degraded",
    severity="warning",
    silent=True,
    falls_back_to="three separate kernels",
    admits="Norm.forward_fused",
    because=CHAIN,
    uses=(Place(FUSE, 14), Place(SERVER, 13)),
    justification=Justification(
        "liftable",
        (
            Step(JIT, 6, "the build lists no architecture of major version 12"),
            Step(HEADER, 4, "no instruction of `one_shot` is illegal on sm_120"),
        ),
    ),
    parts=(
        Part("_hopper", values(lambda a: a == "sm_90")),
        Part("_blackwell", values(lambda a: a in ("sm_100", "sm_103"))),
        Part("batch > 0", dict.fromkeys(ARCHS, "free")),
    ),
    verified_by=("run under a faked device",),
)
CHOICE_GATE = Gate(
    id=f"runtime {SERVER} choose_attention is_datacenter_blackwell() 0",
    layer="runtime",
    file=SERVER,
    line=14,
    end_line=14,
    column=12,
    scope="choose_attention",
    code="is_datacenter_blackwell()",
    verdict=verdicts("sm_100", "sm_103"),
    effect="degraded",
    severity="warning",
    silent=True,
    falls_back_to="plain",
    admits="tiled",
    because=(*CHAIN[3:],),
    dispatch=f"{SERVER} choose_attention 0",
)
JIT_GATE = Gate(
    id=f"jit {JIT} reduce_module supported=[9, 10] 0",
    layer="jit",
    file=JIT,
    line=6,
    end_line=6,
    column=31,
    scope="reduce_module",
    code="[9, 10]",
    verdict=verdicts("sm_90", "sm_100", "sm_103"),
    effect="raises",
    severity="error",
    message=f"RuntimeError: {MESSAGE}",
    because=(DOOR,),
    justification=Justification("unknown", (Step(HEADER, 5, "not followed into `vec_t`"),)),
)
PREBUILT_GATE = Gate(
    id=f"jit {PREBUILT} modules capability in (90, 100) 0",
    layer="jit",
    file=PREBUILT,
    line=5,
    end_line=5,
    column=8,
    scope="modules",
    code="capability in (90, 100)",
    verdict=verdicts("sm_90", "sm_100"),
    effect="excluded",
    severity="warning",
    silent=True,
    admits="reduce",
)


def guard(line: int, scope: str, order: int, **more: object) -> Gate:
    """One of the header's directives."""
    fields: dict[str, object] = {
        "id": f"guard {HEADER} {scope} {GUARD} {order}",
        "layer": "guard",
        "file": HEADER,
        "line": line,
        "end_line": line,
        "column": 5,
        "scope": scope,
        "code": GUARD,
        "verdict": verdicts(*HOPPER_TO_THOR),
        "severity": "error",
        "silent": True,
        "order": order,
        "because": (Step(HEADER, line, "`__CUDA_ARCH__` is 1200 in the device pass for sm_120"),),
        "verdict_by_build": (BuildVerdict("reduce", verdicts(*HOPPER_TO_THOR)),),
        "parts": (
            Part("__CUDA_ARCH__ >= 900", values(lambda a: int(a[3:]) >= 90)),
            Part("__CUDA_ARCH__ < 1200", values(lambda a: int(a[3:]) < 120)),
        ),
    }
    return Gate(**{**fields, **more})  # type: ignore[arg-type]


EMPTY = guard(
    5,
    "one_shot",
    0,
    effect="empty_kernel",
    loses=(
        Loss("cudaGridDependencySynchronize", "wait", HEADER, 6),
        Loss("one_shot", "body", HEADER, 4),
    ),
)
WAIT = guard(
    15,
    "two_shot",
    0,
    effect="lost_sync",
    loses=(Loss("cudaGridDependencySynchronize", "wait", HEADER, 16),),
)
TRIGGER = guard(
    20,
    "two_shot",
    1,
    effect="lost_sync",
    severity="note",
    loses=(Loss("cudaTriggerProgrammaticLaunchCompletion", "trigger", HEADER, 21),),
)
HARMLESS = guard(
    25,
    "",
    0,
    id=f"guard {HEADER}  __CUDA_ARCH__ >= 900 0",
    code="__CUDA_ARCH__ >= 900",
    verdict=verdicts(*HOPPER_TO_THOR, "sm_120", "sm_121"),
    effect="none",
    severity="none",
    silent=False,
    parts=(),
    verdict_by_build=(),
)
UNDECIDED = Gate(
    id=f'env {SERVER} add_options os.environ["X"] == "(a)" 0',
    layer="env",
    file=SERVER,
    line=9,
    end_line=9,
    column=1,
    scope="add_options",
    code='os.environ["X"] == "(a)"',
    verdict=verdicts("sm_90", "sm_100", unknown=("sm_120", "sm_121")),
)
IN_TESTS = Gate(
    id="runtime turbine/tests/test_reduce.py test_reduce is_hopper() 0",
    layer="runtime",
    file="turbine/tests/test_reduce.py",
    line=3,
    end_line=4,
    column=4,
    scope="test_reduce",
    code="is_hopper()",
    verdict=verdicts("sm_90"),
    effect="excluded",
    severity="warning",
    in_tests=True,
)
GATES = (
    CHOICE_GATE,
    FUSE_GATE,
    UNDECIDED,
    JIT_GATE,
    EMPTY,
    HARMLESS,
    TRIGGER,
    WAIT,
    PREBUILT_GATE,
    IN_TESTS,
)

NODES = (
    Node("entry option --enable-fused-reduce", "entry", "servekit --enable-fused-reduce", SERVER, 8),
    Node("entry api custom", "entry", "turbine.comm.custom_reduce", API, 9),
    Node(f"function {FUSE} Norm.forward_fused", "function", "Norm.forward_fused", FUSE, 14),
    Node(f"function {API} fused_reduce", "function", "fused_reduce", API, 5),
    Node(f"function {API} custom_reduce", "function", "custom_reduce", API, 9),
    Node("build reduce", "build", "reduce", JIT, 7),
    Node(f"source {BINDING}", "source", "reduce.cu", BINDING, 1),
    Node("export fused", "export", "fused", BINDING, 6),
    Node("export custom", "export", "custom", BINDING, 7),
    Node(f"kernel {HEADER} one_shot", "kernel", "one_shot", HEADER, 4),
    Node(f"kernel {HEADER} two_shot", "kernel", "two_shot", HEADER, 14),
)
EDGES = (
    Edge(NODES[0].id, FUSE_GATE.id, "calls"),
    Edge(FUSE_GATE.id, NODES[2].id, "by_name"),
    Edge(NODES[2].id, NODES[3].id, "calls"),
    Edge(NODES[3].id, JIT_GATE.id, "calls"),
    Edge(NODES[1].id, NODES[4].id, "exports"),
    Edge(NODES[4].id, JIT_GATE.id, "calls"),
    Edge(JIT_GATE.id, NODES[5].id, "builds"),
    Edge(PREBUILT_GATE.id, NODES[5].id, "builds"),
    Edge(NODES[5].id, NODES[6].id, "compiles"),
    Edge(NODES[6].id, NODES[7].id, "exports"),
    Edge(NODES[6].id, NODES[8].id, "exports"),
    Edge(NODES[7].id, NODES[10].id, "launches"),
    Edge(NODES[8].id, NODES[9].id, "launches"),
    Edge(NODES[8].id, NODES[10].id, "launches"),
    Edge(NODES[9].id, EMPTY.id, "guards"),
    Edge(NODES[10].id, WAIT.id, "guards"),
    Edge(NODES[10].id, TRIGGER.id, "guards"),
)
PATHS = (
    Path(
        "path option fused",
        Entry("servekit --enable-fused-reduce", "option", SERVER, 8),
        (
            NODES[0].id,
            FUSE_GATE.id,
            NODES[2].id,
            NODES[3].id,
            PREBUILT_GATE.id,
            JIT_GATE.id,
            NODES[5].id,
            NODES[6].id,
            NODES[7].id,
            NODES[10].id,
            WAIT.id,
            TRIGGER.id,
        ),
        (
            Barrier(FUSE_GATE.id, "always"),
            Barrier(JIT_GATE.id, "always"),
            Barrier(PREBUILT_GATE.id, "ahead_of_time"),
            Barrier(WAIT.id, "always"),
            Barrier(TRIGGER.id, "always"),
        ),
        "raises",
        "error",
    ),
    Path(
        "path api custom",
        Entry("turbine.comm.custom_reduce", "api", API, 9),
        (
            NODES[1].id,
            NODES[4].id,
            JIT_GATE.id,
            NODES[5].id,
            NODES[6].id,
            NODES[8].id,
            NODES[9].id,
            EMPTY.id,
            NODES[10].id,
            WAIT.id,
            TRIGGER.id,
        ),
        (
            Barrier(JIT_GATE.id, "always"),
            Barrier(EMPTY.id, "always"),
            Barrier(WAIT.id, "always"),
            Barrier(TRIGGER.id, "always"),
        ),
        "empty_kernel",
        "error",
    ),
)
MATRIX = (
    Cell(
        "turbine.comm.all_reduce",
        "one_shot",
        API,
        9,
        {a: "supported" if a in HOPPER_TO_THOR else "unsupported" for a in ARCHS},  # type: ignore[misc]
        dict.fromkeys(HOPPER_TO_THOR, "one_shot"),
        {a: (JIT_GATE.id,) for a in ARCHS if a not in HOPPER_TO_THOR},
    ),
    Cell(
        "turbine.comm.all_reduce",
        "two_shot",
        API,
        9,
        {a: "degraded" if a == "sm_120" else "supported" for a in ARCHS},  # type: ignore[misc]
        dict.fromkeys(HOPPER_TO_THOR, "one_shot"),
        {"sm_120": (WAIT.id, TRIGGER.id)},
    ),
    Cell(
        "turbine.attention.prefill",
        "tiled",
        "turbine/attention.py",
        3,
        {a: "unknown" if a == "sm_120" else "supported" for a in ARCHS},  # type: ignore[misc]
        why={"sm_120": "its run is too long to be followed"},
    ),
    *(
        Cell(
            "servekit --kernels",
            kernels,
            SERVER,
            9,
            dict.fromkeys(ARCHS, "unknown"),
            area="server options",
            why=dict.fromkeys(ARCHS, "what lies behind it was not followed"),
        )
        for kernels in ("wide", "narrow")
    ),
)

REPORT = Report(
    schema_version="1",
    tool=Tool("smgate", "0.1.0"),
    target=Target("sm_120", "12.0", "12.8"),
    references=("sm_90", "sm_100"),
    archs=ARCHS,
    inputs=(Input("servekit", "0.5.8.post1", "servekit"), Input("turbine-python", "0.6.3", "turbine")),
    notices=(
        Notice("servekit pins turbine-python 0.6.1, the scan has 0.6.3", ("servekit", "turbine-python")),
    ),
    predicates=(
        Predicate(
            "servekit.device.is_hopper", DEVICE, 11, values(lambda a: a == "sm_90"), uses=(FUSE_GATE.id,)
        ),
        Predicate(
            "servekit.device.is_datacenter_blackwell",
            DEVICE,
            12,
            values(lambda a: a in ("sm_100", "sm_103")),
            uses=(FUSE_GATE.id, CHOICE_GATE.id),
        ),
    ),
    gates=GATES,
    builds=(
        Build(
            "reduce",
            "reduce_module",
            JIT,
            7,
            {a: "ok" if a in ("sm_90", "sm_100", "sm_103") else "raises" for a in ARCHS},  # type: ignore[misc]
            {"sm_120": MESSAGE, "sm_121": MESSAGE},
            (BINDING,),
            {"sm_90": ("9.0a",), "sm_100": ("10.0a",)},
            {"sm_90": ("-gencode=arch=compute_90a,code=sm_90a",)},
        ),
    ),
    nodes=NODES,
    edges=EDGES,
    paths=PATHS,
    matrix=MATRIX,
    coverage=Coverage(
        Files(12, 11, 10, 1, (Skipped("turbine/data/blob.cu", "not UTF-8 and no declared encoding"),)),
        (
            Unresolved(SERVER, 9, UNDECIDED.code, "environment variable is compared with a computed value"),
            Unresolved(API, 6, "reduce_module().fused", "attribute of a value that is not followed"),
            Unresolved(API, 10, "reduce_module().custom", "attribute of a value that is not followed"),
        ),
        (
            FileFacts(API, 2, 0),
            FileFacts(DEVICE, 3, 0),
            FileFacts(FUSE, 3, 1),
            FileFacts(HEADER, 5, 4),
            FileFacts(JIT, 1, 1),
            FileFacts(PREBUILT, 1, 1),
            FileFacts(SERVER, 3, 2),
        ),
    ),
)
