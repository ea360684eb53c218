"""Gates of small trees: hardware, liftable or unknown, with evidence; gates that admit wrongly."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from analyzer.judge.verdict import unfollowed
from analyzer.model import Effect, Gate, Layer, Report, Step
from tests.judge.opened import scanned, write

CORE = '''\
"""Builds, in the form that the table of habits knows."""
import pathlib

SOURCES = pathlib.Path(__file__).parent.parent / "data"


class JitSpec:
    def __init__(self, name, sources, flags):
        self.name = name
        self.sources = sources
        self.extra_cuda_cflags = flags

    def get_compile_commands(self):
        return [["nvcc", *self.extra_cuda_cflags, "-c", str(source)] for source in self.sources]

    def build_and_load(self):
        import tvm_ffi

        return tvm_ffi.load_module(self.name)


def gen_jit_spec(name, sources, flags=()):
    return JitSpec(name, [SOURCES / source for source in sources], list(flags))
'''
OPS = """\
import torch

from flashinfer.jit.core import gen_jit_spec


def make():
    return gen_jit_spec("ops", ["ops.cu"])


def run(x):
    if torch.cuda.get_device_capability()[0] in {majors}:
        return make().build_and_load().run(x)
    return x.slow()
"""
UNIT = """\
{body}
__global__ void kernel(int* p) {{ deep(p); }}
void run(int* p) {{ kernel<<<1, 1>>>(p); }}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""
PLAIN = "__device__ void deep(int* p) { p[0] = __ldg(p + 1); }"
WGMMA = '__device__ void deep(int* p) { asm volatile("wgmma.fence.sync.aligned;"); }'
MYSTERY = "__device__ void deep(int* p) { mystery(p); }"
GUARDED = """\
__device__ void deep(int* p) {
#if __CUDA_ARCH__ < 1200
  cudaGridDependencySynchronize();
#endif
  p[0] = 1;
}"""


def report(root: Path, body: str, majors: str = "[9, 10]", **files: str) -> Report:
    """The report of a tree with one build behind one gate."""
    program = {
        "flashinfer/__init__.py": "",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": OPS.replace("{majors}", majors),
        "flashinfer/data/ops.cu": UNIT.format(body=body),
    }
    return scanned(write(root, {**program, **files}))


def gate(found: Report, file: str = "flashinfer/ops.py", layer: str = "runtime") -> Gate:
    (one,) = [gate for gate in found.gates if gate.file == file and gate.layer == layer]
    return one


def test_all_read_and_nothing_lacking_is_liftable(tmp_path: Path) -> None:
    one = gate(report(tmp_path, PLAIN))
    assert one.justification is not None
    assert one.justification.kind == "liftable"
    assert any("ops: 1 of its exports" in step.what for step in one.justification.evidence)
    assert one.severity == "warning"


def test_what_every_reference_needs_is_hardware(tmp_path: Path) -> None:
    one = gate(report(tmp_path, WGMMA))
    assert one.justification is not None
    assert one.justification.kind == "hardware"
    (step,) = one.justification.evidence
    assert (step.file, step.line) == ("flashinfer/data/ops.cu", 1)
    assert "wgmma" in step.what
    assert one.severity == "note"


def test_one_reference_that_needs_nothing_special_is_enough(tmp_path: Path) -> None:
    body = (
        "__device__ void deep(int* p) {\n#if __CUDA_ARCH__ == 900\n"
        '  asm volatile("wgmma.fence.sync.aligned;");\n#endif\n  p[0] = 1;\n}'
    )
    one = gate(report(tmp_path, body))
    assert one.justification is not None
    assert one.justification.kind == "liftable"


MMA = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
MIXED = f"""{WGMMA}
__global__ void other(int* p) {{ asm("{MMA}"); }}
void more(int* p) {{ other<<<1, 1>>>(p); deep(p); }}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(more, more);"""
MORE = """

def more(x):
    if torch.cuda.get_device_capability()[0] in [9, 10]:
        make().build_and_load().more(x)
"""
#: A gate before a package that is not in the tree.
BEYOND = """\
import torch
import deep_things


def run(x):
    if torch.cuda.get_device_capability()[0] {test}:
        return deep_things.gemm(x)
    return x.slow()
"""
FLAGS = """

def flags(majors):
    major, minor = torch.cuda.get_device_capability()
    found = [(major, minor)] if major in majors else []
    if not found:
        raise RuntimeError("no architecture")
    return [f"-gencode=arch=compute_{a}{b}a,code=sm_{a}{b}a" for a, b in found]
"""


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (MYSTERY, "mystery"),
        (MIXED, "wgmma"),
    ],
)
def test_what_was_not_followed_or_is_mixed_is_unknown(body: str, what: str, tmp_path: Path) -> None:
    text = OPS.replace("{majors}", "[9, 10]") + MORE
    found = report(tmp_path, body, **{"flashinfer/ops.py": text})
    judged = [one.justification for one in found.gates if one.file == "flashinfer/ops.py"]
    told = [j for j in judged if j is not None and any(what in step.what for step in j.evidence)]
    assert told
    assert any(j.kind == "unknown" for j in told)


def test_a_package_that_was_not_scanned_is_named(tmp_path: Path) -> None:
    text = BEYOND.format(test="== 9")
    one = gate(scanned(write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": text})), "kit/ops.py")
    assert one.justification is not None
    assert one.justification.kind == "unknown"
    assert any("deep_things was not scanned" in step.what for step in one.justification.evidence)


def test_a_gate_that_admits_to_such_a_package_says_so(tmp_path: Path) -> None:
    text = BEYOND.format(test=">= 9")
    one = gate(scanned(write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": text})), "kit/ops.py")
    assert (one.verdict["sm_120"], one.effect) == ("admit", "none")
    assert one.justification is not None
    assert one.justification.kind == "unknown"


def test_what_is_imported_for_the_gate_comes_first(tmp_path: Path) -> None:
    """A flag says that a package is there: its kernels stand behind the gate, whatever else is called."""
    text = """\
import torch
import more_things


def available():
    if torch.cuda.get_device_capability()[0] < 9:
        return False
    try:
        import deep_things
    except ImportError:
        return False
    return True


def run(x):
    if available():
        return more_things.gemm(x)
    return x.slow()
"""
    found = scanned(write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": text}))
    (one,) = [gate for gate in found.gates if gate.file == "kit/ops.py"]
    assert (one.line, one.verdict["sm_80"], one.verdict["sm_120"]) == (6, "reject", "admit")
    assert one.justification is not None
    assert one.justification.kind == "unknown"
    first = one.justification.evidence[0]
    assert (first.line, first.what) == (9, "imports deep_things: the package deep_things was not scanned")


def test_python_that_leads_to_no_kernel_is_unknown(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\ndef note(x):\n    return x + 1\n\n\ndef run(x):\n"
        "    if torch.cuda.get_device_capability()[0] == 9:\n        return note(x)\n    return x.slow()\n"
    )
    one = gate(scanned(write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": text})), "kit/ops.py")
    assert one.justification is not None
    assert one.justification.kind == "unknown"


def test_guards_are_judged_by_what_they_hold(tmp_path: Path) -> None:
    one = gate(report(tmp_path, GUARDED), "flashinfer/data/ops.cu", "guard")
    assert one.effect == "lost_sync"
    assert one.justification is not None
    assert one.justification.kind == "liftable"


def test_an_instruction_that_the_chip_lacks_is_hardware(tmp_path: Path) -> None:
    one = gate(report(tmp_path, WGMMA, majors="[9, 12]"), "flashinfer/data/ops.cu", "isa")
    assert (one.effect, one.severity) == ("illegal_instruction", "error")
    assert one.justification is not None
    assert one.justification.kind == "hardware"
    assert "wgmma needs sm_90a" in one.justification.evidence[0].what


def test_the_comment_beside_the_gate_is_quoted(tmp_path: Path) -> None:
    text = OPS.replace("{majors}", "[9, 10]").replace(
        "    if torch", "    # regressed on sm_120, see issue 4711\n    if torch"
    )
    one = gate(report(tmp_path, PLAIN, **{"flashinfer/ops.py": text}))
    assert one.justification is not None
    assert one.justification.kind == "liftable"
    assert one.justification.evidence[0].what == "a comment here says: regressed on sm_120, see issue 4711"
    other = gate(
        report(
            tmp_path,
            PLAIN,
            **{"flashinfer/ops.py": text.replace("regressed on sm_120, see issue 4711", "go")},
        )
    )
    assert other.justification is not None
    assert "comment" not in other.justification.evidence[0].what


def test_an_export_that_is_handed_to_an_object_is_what_is_used_of_a_build(tmp_path: Path) -> None:
    text = OPS.replace("{majors}", "[9, 10]").replace("make().build_and_load().run(x)", "helper(x)")
    text += (
        "\n\ndef helper(x):\n    return Runner(make().build_and_load().plain)(x)\n"
        "\n\nclass Runner:\n    def __init__(self, native):\n        self.native = native\n\n"
        "    def __call__(self, x):\n        return self.native(x)\n"
    )
    further = (
        "\n__global__ void other(int* p) { p[0] = 1; }\n"
        "void plain(int* p) { other<<<1, 1>>>(p); }\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(plain, plain);\n"
    )
    unit = {"flashinfer/data/ops.cu": UNIT.format(body=WGMMA) + further}
    one = gate(report(tmp_path, WGMMA, **{"flashinfer/ops.py": text}, **unit))
    assert one.justification is not None
    assert one.justification.kind == "liftable"


# Wrongly admitted.


def test_admitted_to_what_the_target_lacks(tmp_path: Path) -> None:
    one = gate(report(tmp_path, WGMMA, majors="[9, 12]"))
    assert (one.verdict["sm_120"], one.effect, one.severity) == ("admit", "wrongly_admitted", "error")
    assert one.justification is not None
    assert "wgmma" in one.justification.evidence[0].what


def test_admitted_to_a_kernel_that_loses_its_wait(tmp_path: Path) -> None:
    assert gate(report(tmp_path, GUARDED, majors="[9, 12]")).effect == "wrongly_admitted"


def test_what_only_the_target_is_let_into_is_its_own_however_damaged(tmp_path: Path) -> None:
    assert gate(report(tmp_path, GUARDED, majors="[12]")).effect == "none"


def test_admitted_through_a_function_that_tells_nothing(tmp_path: Path) -> None:
    text = OPS.replace("{majors}", "[9, 12]").replace("make().build_and_load().run(x)", "helper(x)")
    text += "\n\ndef helper(x):\n    return make().build_and_load().run(x)\n"
    one = gate(report(tmp_path, WGMMA, **{"flashinfer/ops.py": text}))
    assert (one.verdict["sm_120"], one.effect) == ("admit", "wrongly_admitted")


def test_admitted_to_a_build_that_raises(tmp_path: Path) -> None:
    text = OPS.replace("{majors}", "[9, 12]").replace(
        '    return gen_jit_spec("ops", ["ops.cu"])',
        '    return gen_jit_spec("ops", ["ops.cu"], flags(majors=[9, 10]))',
    )
    text += FLAGS
    found = report(tmp_path, PLAIN, **{"flashinfer/ops.py": text})
    one = gate(found)
    assert one.effect == "wrongly_admitted"
    assert one.justification is not None
    assert any("stopped here" in step.what for step in one.justification.evidence)


def test_rightly_admitted(tmp_path: Path) -> None:
    one = gate(report(tmp_path, PLAIN, majors="[9, 12]"))
    assert (one.verdict["sm_120"], one.effect) == ("admit", "none")


CHOICE = """\
import torch

from flashinfer.jit.core import gen_jit_spec


def choose(device):
    if torch.cuda.get_device_capability(device)[0] == 9:
        return "fast"
    return "plain"


def make(backend):
    if backend == "plain":
        return gen_jit_spec("plain", ["plain.cu"])
    elif backend == "fast":
        return gen_jit_spec("fast", ["rendered/" + "fast.jinja"])
    raise ValueError(backend)


def run(x, device):
    return make(choose(device)).build_and_load().run(x)
"""


def test_a_value_leads_to_the_sources_that_are_named_for_it(tmp_path: Path) -> None:
    templates = {"flashinfer/data/fast.jinja": UNIT.format(body=WGMMA), "flashinfer/data/plain.cu": ""}
    text = CHOICE.replace('"rendered/" + "fast.jinja"', 'render("fast.jinja")')
    found = report(tmp_path, PLAIN, **{"flashinfer/ops.py": text}, **templates)
    one = next(gate for gate in found.gates if gate.file == "flashinfer/ops.py" and gate.scope == "choose")
    assert one.justification is not None
    assert one.justification.kind == "hardware"
    assert any("wgmma" in step.what for step in one.justification.evidence)


@pytest.mark.parametrize(
    ("layer", "effect", "what"),
    [("binary", "no_image", "no code of this library"), ("resource", "over_resource", "232448 bytes")],
)
def test_what_lies_outside_the_tree_is_unknown(layer: Layer, effect: Effect, what: str) -> None:
    one = Gate(
        id="x",
        layer=layer,
        file="lib.so",
        line=1,
        end_line=1,
        column=1,
        scope="",
        code="x",
        verdict={"sm_90": "admit", "sm_120": "reject"},
        effect=effect,
        because=(Step("lib.so", 1, "asks for 232448 bytes of dynamic shared memory"),),
    )
    judged = unfollowed(one, "sm_120")
    assert judged.justification is not None
    assert judged.justification.kind == "unknown"
    assert any(what in step.what for step in judged.justification.evidence)
    assert judged.severity == "error"
    assert unfollowed(msgspec.structs.replace(one, effect="none"), "sm_120").justification is None


DECLARED = """\
import functools

import torch

from .jit.core import gen_jit_spec


def supported(numbers):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            major, minor = torch.cuda.get_device_capability()
            if major * 10 + minor not in numbers:
                raise ValueError("declared for others")
            return function(*args, **kwargs)

        return wrapper

    return decorate


def backend_requirement(backend_checks):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(x, backend="slow"):
            if not backend_checks[backend](x):
                raise ValueError("not here")
            return function(x, backend)

        wrapper.backend_checks = backend_checks
        return wrapper

    return decorate


def make():
    return gen_jit_spec("ops", ["ops.cu"])


@supported([90, 100])
def fast_is_there(x):
    return True


def slow_is_there(x):
    return True


def deep(x):
    MORE
    return make().build_and_load().run(x)


@backend_requirement({"fast": fast_is_there, "slow": slow_is_there})
def gemm(x, backend="slow"):
    if backend == "fast":
        return deep(x)
    return elsewhere.gemm(x)
"""


@pytest.mark.parametrize(
    ("body", "more", "kind", "said"),
    [
        (PLAIN, "pass", "liftable", "ops: 1 of its exports"),
        (WGMMA, "pass", "hardware", "wgmma.fence"),
        (PLAIN, "elsewhere.note(x)", "unknown", "package elsewhere was not scanned"),
    ],
)
def test_behind_a_declaration_is_what_its_back_end_runs(
    body: str, more: str, kind: str, said: str, tmp_path: Path
) -> None:
    text = DECLARED.replace("MORE", more).replace("import torch\n", "import torch\nimport elsewhere\n", 1)
    files = {"flashinfer/__init__.py": "from .utils import gemm\n", "flashinfer/utils.py": text}
    found = report(tmp_path, body, **files, **{"flashinfer/ops.py": ""})
    (one,) = [gate for gate in found.gates if gate.layer == "api"]
    assert (one.scope, one.effect) == ("fast_is_there", "raises")
    assert one.justification is not None
    assert one.justification.kind == kind
    assert any(said in step.what for step in one.justification.evidence)


def test_behind_a_declaration_is_the_build_that_its_back_end_loads(tmp_path: Path) -> None:
    """Who calls what is in it is chosen elsewhere: all of its exports count."""
    flags = '["-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_120a,code=sm_120a"]'
    text = DECLARED.replace('["ops.cu"])', f'["ops.cu"], {flags})').replace("MORE", "pass")
    text = text.replace("make().build_and_load().run(x)", "tuner.choose([make().build_and_load()])(x)")
    text = text.replace("import torch\n", "import torch\nimport tuner\n", 1)
    files = {"flashinfer/__init__.py": "from .utils import gemm\n", "flashinfer/utils.py": text}
    found = report(tmp_path, WGMMA, **files, **{"flashinfer/ops.py": ""})
    one = next(gate for gate in found.gates if gate.layer == "api")
    assert one.justification is not None
    assert one.justification.kind == "hardware"


def test_what_comes_after_a_check_in_a_function_of_its_own(tmp_path: Path) -> None:
    text = """\
import torch

from .jit.core import gen_jit_spec


def check():
    if torch.cuda.get_device_capability()[0] not in (9, 10):
        raise RuntimeError("not here")


def make():
    return gen_jit_spec("ops", ["ops.cu"])


def run(x):
    check()
    return make().build_and_load().run(x)
"""
    files = {"flashinfer/__init__.py": "from .ops import run\n", "flashinfer/ops.py": text}
    one = gate(report(tmp_path, WGMMA, **files))
    assert (one.scope, one.effect) == ("check", "raises")
    assert one.justification is not None
    assert one.justification.kind == "hardware"
