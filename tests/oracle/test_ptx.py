"""What instructions each kernel of real sources has on each architecture, against the PTX that nvcc makes."""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import passes, ptx
from analyzer.cuda.preprocess import walk
from analyzer.cuda.program import Program, Reader, Symbol
from analyzer.cuda.reach import Mentions, reach
from tests.cuda.tree import Disk
from tests.oracle.lines import nvcc
from tests.oracle.test_branches import COMMON, INCLUDE_DIRS

TOOLKIT = Path(__file__).resolve().parents[2] / ".cache" / "cuda"
FFI = TOOLKIT / "tvm_ffi" / "include"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(nvcc() is None or not FFI.is_dir(), reason="needs nvcc and tvm-ffi (make toolkit)"),
]

CSRC = "flashinfer/data/csrc"
XQA = (
    "-DNDEBUG=1",
    "-DBEAM_WIDTH=1",
    "-DUSE_INPUT_KV=0",
    "-DUSE_CUSTOM_BARRIER=1",
    "-DTOKENS_PER_PAGE=64",
    "-DHEAD_ELEMS=128",
    "-DINPUT_FP16=0",
    "-DDTYPE=__nv_bfloat16",
    "-DCACHE_ELEM_ENUM=0",
    "-DHEAD_GRP_SIZE=8",
    "-DSLIDING_WINDOW=0",
    "-DLOW_PREC_OUTPUT=0",
    "-DSPEC_DEC=0",
    "-DMLA_WRAPPER=0",
)
SOURCES: dict[str, tuple[str, ...]] = {
    "page.cu": (),
    "concat_mla.cu": (),
    "cascade.cu": (),
    "rope.cu": (),
    "quantization.cu": (),
    "dsv3_router_gemm.cu": (),
    "vllm_custom_all_reduce.cu": (),
    "trtllm_mnnvl_allreduce.cu": (),
    "trtllm_moe_allreduce_fusion.cu": (),
    "trtllm_allreduce_fusion.cu": (),
    "trtllm_allreduce.cu": (),
    "xqa/mha_sm90.cu": XQA,
}
SPELLINGS = ("90a", "100a", "120a")
FAMILIES = ("griddepcontrol", "wgmma", "tcgen05", "cp.async.bulk", "mbarrier")
#: Calls of the device runtime that stand for an instruction of a family.
CALLS = {
    "cudaGridDependencySynchronize": "griddepcontrol",
    "cudaTriggerProgrammaticLaunchCompletion": "griddepcontrol",
}
#: Names of the toolkit's C++ library, whose templates may hold any of the last two.
LIBRARY = re.compile(r"\bcuda::(?:ptx|barrier|pipeline|memcpy_async|device)\b")


def predicted(demo: Path, source: str, flags: Sequence[str], spelling: Spelling) -> Mapping[str, set[str]]:
    """The families each kernel may have, by qualified name; ``+x`` for those that stand in its body."""
    unit = walk(
        f"{CSRC}/{source}", Disk(demo), INCLUDE_DIRS, [passes.device_pass(spelling, (*COMMON, *flags))]
    )
    reader = Reader(lambda path: (demo / path).read_bytes())
    program = Program(reader.file(path, activity.inactive(1)) for path, activity in unit.files.items())
    mentions = Mentions(program)
    found: dict[str, set[str]] = defaultdict(set)
    for file in program.files:
        for definition in file.facts.functions:
            symbol = file.table.symbol(definition, definition.kind)
            if "__global__" not in file.text.code[definition.start : definition.parameters]:
                continue
            own = _families(symbol)
            body = symbol.code[definition.parameters : definition.end]
            if not re.search(r"\bif\s+constexpr\b|\breturn\b", body):
                found[definition.qualified].update(f"+{family}" for family in own)
            found[definition.qualified] |= own
            for reached in reach(program, definition.qualified, mentions).functions:
                found[definition.qualified] |= _families(reached)
    return found


def _families(symbol: Symbol) -> set[str]:
    own = symbol.definition
    code = symbol.code[own.start : own.end]
    found = {family for name, family in CALLS.items() if name in code}
    if LIBRARY.search(code):
        found |= {"cp.async.bulk", "mbarrier"}
    for one in ptx.instructions(symbol.text, symbol.code, own.start, own.end):
        found |= {family for family in FAMILIES if one.opcode.replace("\0", "").startswith(family)}
    return found


def compiled(
    demo: Path, source: str, flags: Sequence[str], spelling: Spelling, folder: Path
) -> Mapping[str, list[set[str]]]:
    """The families in the PTX of each instance of each kernel, by the kernel's qualified name."""
    output = folder / f"{spelling.target}.ptx"
    home = Path(str(nvcc())).resolve().parents[1]
    folders = [f"-I{demo / name}" for name in INCLUDE_DIRS if name != "stubs"]
    command = [str(nvcc()), "-std=c++17", "-ptx", f"-arch=compute_{spelling.target[3:]}", "-w", *COMMON]
    command += ["-static-global-template-stub=false", *flags, *folders, f"-I{FFI}"]
    command += [str(demo / CSRC / source), "-o", str(output)]
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "CUDA_HOME": str(home)}, cwd=folder
    )
    assert ran.returncode == 0, ran.stderr[:2000]
    text = re.sub(r"//[^\n]*", "", output.read_text())
    parts = re.split(r"(?=^(?:\.visible |\.weak )?\.(?:entry|func)\b)", text, flags=re.MULTILINE)
    bodies = {
        match[1]: part for part in parts if (match := re.search(r"\.(?:entry|func)\b[^\n]*?(\w+)\s*\(", part))
    }
    shown = subprocess.run(["c++filt"], input="\n".join(bodies), capture_output=True, text=True, check=True)
    found: dict[str, list[set[str]]] = defaultdict(list)
    for (name, body), plain in zip(bodies.items(), shown.stdout.splitlines(), strict=True):
        if ".entry" in body.split("(")[0]:
            called = [other for other in bodies if other != name and other in body]
            whole = "\n".join([body, *(bodies[other] for other in called)])
            present = {
                one for one in FAMILIES if re.search(rf"^\s*(?:@!?%\w+\s+)?{re.escape(one)}", whole, re.M)
            }
            found[_qualified(plain)].append(present)
    return found


def _qualified(demangled: str) -> str:
    """``ns::kernel`` of ``void ns::kernel<int, 3>(int*)``."""
    plain, depth = [], 0
    for character in demangled.replace("(anonymous namespace)::", ""):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if depth == 0 and character == "(":
            break
        if depth == 0 and character != ">":
            plain.append(character)
    return "".join(plain).split()[-1]


@pytest.mark.parametrize("source", SOURCES)
def test_no_prediction_is_contradicted(demo: Path, tmp_path: Path, source: str) -> None:
    wrong = []
    kernels = 0
    for text in SPELLINGS:
        spelling = Spelling.parse(text)
        may = predicted(demo, source, SOURCES[source], spelling)
        real = compiled(demo, source, SOURCES[source], spelling, tmp_path)
        for name, instances in real.items():
            known = [
                families for kernel, families in may.items() if kernel.split("::")[-1] == name.split("::")[-1]
            ]
            if not known:
                continue  # instances of the toolkit's own kernels
            kernels += 1
            allowed = set().union(*known)
            for present in instances:
                wrong += [(text, name, f"{family} was not foreseen") for family in present - allowed]
            sure = {family[1:] for family in set.intersection(*known) if family.startswith("+")}
            missing = [family for family in sure if not any(family in present for present in instances)]
            wrong += [(text, name, f"{family} was foreseen") for family in missing]
    assert wrong == []
    assert kernels
