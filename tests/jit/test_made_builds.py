"""Builds that copy and render their sources: gates are told where the files stand that these are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.model import Gate, Report, encode
from tests.judge.opened import scanned, write
from tests.judge.test_justification import CORE

MAKES = """
def make():
    folder = OUT / "ops"
    with open(SOURCES / "inst.jinja") as f:
        template = jinja2.Template(f.read())
    sources = []
    for kind in ("half", "float"):
        for tile in (64, 128):
            path = folder / f"inst_{kind}_{tile}.cu"
            path.write_text(template.render(kind=kind, tile=tile, stages=[1, 2]))
            sources.append(path)
    shutil.copy(SOURCES / "ops.cu", folder / "ops.cu")
    return gen_jit_spec("ops", [*sources, folder / "ops.cu"])
"""
OPS = f"""\
import pathlib, shutil
import jinja2

from flashinfer.jit.core import SOURCES, gen_jit_spec

OUT = pathlib.Path("/made")

{MAKES}

def run(x):
    return make().build_and_load().run(x)
"""
INST = """\
#include "deep.cuh"
{% for stage in stages %}
template void launch<{{ kind }}, {{ tile }}, {{ stage }}>(int* p);
{% endfor %}
__global__ void kernel_{{ kind }}(int* p) {
#if __CUDA_ARCH__ < 1200
  cudaGridDependencySynchronize();
#endif
  p[0] = {{ tile }};
}
void used_{{ kind }}(int* p) {
  launch<{{ kind }}, {{ tile }}, 1>(p);
  kernel_{{ kind }}<<<1, 1>>>(p);
}
"""
UNIT = """\
void used_half(int* p);
void run(int* p) { used_half(p); }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""
DEEP = """\
#pragma once
__global__ void deep(int* p) {
#if __CUDA_ARCH__ < 1200
  p[0] = 1;
#endif
}
template <class T, int Tile, int Stage>
void launch(int* p) { deep<<<1, 1>>>(p); }
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    files = {
        "flashinfer/__init__.py": "",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE.replace('"-c"', '"-I" + str(SOURCES), "-c"'),
        "flashinfer/ops.py": OPS,
        "flashinfer/data/inst.jinja": INST,
        "flashinfer/data/ops.cu": UNIT,
        "flashinfer/data/deep.cuh": DEEP,
    }
    return scanned(write(tmp_path_factory.mktemp("made"), files))


def gates(report: Report, file: str) -> list[Gate]:
    return [gate for gate in report.gates if gate.file == f"flashinfer/data/{file}"]


def test_the_build_names_the_files_that_its_sources_are_made_of(report: Report) -> None:
    (build,) = report.builds
    assert build.sources == ("flashinfer/data/inst.jinja", "flashinfer/data/ops.cu")
    assert not [found for found in report.coverage.unresolved if "sources" in found.what]


def test_a_gate_stands_at_the_line_of_the_template(report: Report) -> None:
    (found,) = gates(report, "inst.jinja")
    assert (found.line, found.end_line, found.code) == (6, 6, "__CUDA_ARCH__ < 1200")
    assert [(loss.file, loss.line) for loss in found.loses] == [("flashinfer/data/inst.jinja", 7)]


def test_what_made_sources_include_is_reached_through_them(report: Report) -> None:
    (found,) = gates(report, "deep.cuh")
    assert (found.line, found.effect) == (3, "empty_kernel")


def test_nothing_is_told_of_where_sources_are_put(report: Report) -> None:
    assert b"/made" not in encode(report)


OWN = """\
import pathlib
import jinja2

from flashinfer.jit.core import SOURCES, gen_jit_spec

SIZES = {"half": 2, "float": 4}
TEXT = '''
#include <deep.cuh>
{% set name = kind ~ '_run' %}
void {{ name }}(int* p) {
#if {{ size }} == 2
  launch<{{ kind }}, 64, 1>(p);
#endif
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC({{ name }}, {{ name }});
'''


def text(kind, size):
    template = jinja2.Template(TEXT)
    return template.render(kind=kind, size=size)


def put(path, content):
    with open(path, "w") as file:
        file.write(content)


def make(kind: str):
    path = pathlib.Path("/made") / f"{kind}.cu"
    put(path, text(kind, SIZES[kind]))
    return gen_jit_spec(kind, [path], [f"-I{SOURCES}"])


def run(x):
    return make("half").build_and_load().half_run(x)
"""


def test_a_template_that_stands_in_python_is_rendered_too(tmp_path: Path) -> None:
    """What is said of it is said where the build is made; what it includes is reached through it."""
    files = {
        "flashinfer/__init__.py": "from .ops import run\n",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": CORE,
        "flashinfer/ops.py": OWN,
        "flashinfer/data/deep.cuh": DEEP,
    }
    report = scanned(write(tmp_path, files))
    (build,) = report.builds
    assert build.sources == ("flashinfer/ops.py",)
    (found,) = gates(report, "deep.cuh")
    assert (found.line, found.effect) == (3, "empty_kernel")
    assert not [found for found in report.coverage.unresolved if "sources" in found.what]


SCRIPT = """\\
    def write_ninja(self):
        flags = ["-DWIDE=2", f"-isystem {SOURCES}", f"-I{unknown()}/include", *self.extra_cuda_cflags]
        text = "cuda_cflags = " + " $\\\\n    ".join(flags) + "\\\\nbuild ops.o: cuda_compile ops.cu\\\\n"
        pathlib.Path("/made/build.ninja").write_text(text)
"""


def test_flags_stand_in_the_script_where_a_release_has_nothing_else(tmp_path: Path) -> None:
    start, end = CORE.index("    def get_compile_commands"), CORE.index("    def build_and_load")
    program = "from flashinfer.jit.core import gen_jit_spec\n"
    program += 'FLAGS = ["-gencode=arch=compute_90a,code=sm_90a"]\n'
    program += 'def make():\n    return gen_jit_spec("ops", ["ops.cu"], FLAGS)\n'
    core = "from elsewhere import unknown\n" + CORE[:start] + SCRIPT + "\n" + CORE[end:]
    body = "#if WIDE == 2\n  p[0] = 1;\n#endif\n"
    files = {
        "flashinfer/__init__.py": "",
        "flashinfer/jit/__init__.py": "",
        "flashinfer/jit/core.py": core,
        "flashinfer/ops.py": program,
        "flashinfer/data/ops.cu": "#include <deep.cuh>\n__global__ void k(int* p) { deep(p); }\n",
        "flashinfer/data/deep.cuh": f"inline __device__ void deep(int* p) {{\n{body}}}\n",
    }
    report = scanned(write(tmp_path, files))
    (build,) = report.builds
    assert "-DWIDE=2" in build.flags["sm_120"]
    assert build.spelling["sm_120"] == ("9.0a",)
    assert not [found for found in report.coverage.unresolved if "deep.cuh" in found.what]
