"""The table of instructions against ptxas: its own forms, those of the demo packages, recorded answers."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from analyzer import data
from analyzer.archs import Spelling
from analyzer.cuda import ptx
from analyzer.cuda.instructions import requirement, targets
from analyzer.cuda.source import read
from tests.oracle.assembler import TARGETS, Snippet, assemble, instantiated, ptxas, snippet
from tests.oracle.lines import nvcc

RECORDS = Path(__file__).resolve().parents[3] / "shared" / "oracle" / "cuda"
CPP = (".cu", ".cuh", ".h", ".hpp", ".inl", ".cpp", ".cc", ".jinja", ".inc")
#: Numbers for operands that only a template knows.
IMMEDIATES = (1, 0, 16, 40, 128)
#: Complaints about the operands that a snippet was given, not about the target.
OPERANDS = re.compile(r"[Aa]rgument|expected|Parsing|Illegal expression|32-Bit|instruction types")

needs_ptxas = pytest.mark.skipif(ptxas() is None, reason="needs ptxas (make toolkit)")
pytestmark = pytest.mark.slow


def parsed(text: str) -> list[ptx.Instruction]:
    return list(ptx.parse(ptx.Template(text.replace("%%", "%") + ";", ((0, 0),))))


def predicted(instruction: ptx.Instruction) -> set[str]:
    found = requirement(instruction)
    return {target.target for target in TARGETS if found.admits(target)}


def examples() -> list[tuple[str, str]]:
    rows = data.table("instructions")["instruction"]
    forms = [(text, row.get("directive", "")) for row in rows for text in row["example"]]
    special = data.table("instructions")["special"]
    return [*forms, *((_read(name), "") for name in special)]


def _read(register: str) -> str:
    """An instruction that reads the special register, which may be a predicate or have components."""
    if register.startswith("is_"):
        return f"mov.pred p1,%{register}"
    return f"mov.u32 r1,%{register}" + (".x" if register.endswith(("clusterid", "ctaid")) else "")


@needs_ptxas
def test_every_form_of_the_table_assembles_just_where_it_says() -> None:
    forms = examples()
    assert len(forms) >= 150
    unknown = [text for text, _ in forms for one in parsed(text) if not requirement(one).known]
    assert unknown == []
    real: list[set[str]] = [set() for _ in forms]
    for target in TARGETS:
        complaints = assemble([snippet(text, directive) for text, directive in forms], target)
        for accepted, complaint in zip(real, complaints, strict=True):
            if not complaint:
                accepted.add(target.target)
    wrong = [
        (text, sorted(predicted(parsed(text)[0]) ^ accepted))
        for (text, _), accepted in zip(forms, real, strict=True)
        if predicted(parsed(text)[0]) != accepted
    ]
    assert wrong == []


PROBE = """
#include <{header}>
extern "C" __global__ void k(float* p, int i) {{ {body} }}
"""


@pytest.mark.skipif(nvcc() is None, reason="needs nvcc (make toolkit)")
@pytest.mark.parametrize("name", ["80", "89", "90", "90a", "100a", "120a"])
def test_every_call_of_the_table_compiles_just_where_it_says(name: str, tmp_path: Path) -> None:
    wrong = []
    for row in data.table("instructions")["intrinsic"]:
        for body in row["example"]:
            source = tmp_path / "k.cu"
            source.write_text(PROBE.format(header=row["header"], body=body))
            command = [
                str(nvcc()),
                f"-arch=sm_{name}",
                "-cubin",
                str(source),
                "-o",
                str(tmp_path / "k.cubin"),
            ]
            ran = subprocess.run(command, capture_output=True, text=True)
            if (ran.returncode == 0) is not (Spelling.parse(name) in targets(row["targets"])):
                wrong.append((body, ran.stderr[:300]))
    assert wrong == []


@pytest.mark.skipif(not RECORDS.exists(), reason="the recorded answers of ptxas are not at hand")
def test_the_recorded_answers_of_ptxas() -> None:
    recorded = json.loads((RECORDS / "ptxas-13.0.json").read_text())
    wrong = []
    count = 0
    for form in recorded["forms"]:
        name = re.sub(r"[^A-Za-z0-9._-]", "_", form["id"])
        text = (RECORDS / "ptx" / f"{name}.ptx").read_text()
        body = text.split("mov.u32 r0,smem;\n")[1].split("\n ret;")[0]
        if body.strip() == "ret;":
            continue  # directives of kernels are no instructions
        count += 1
        found = requirement(parsed(body)[0])
        legal = {name for name, yes in form["legal"].items() if yes}
        if not found.known or {t for t in recorded["targets"] if found.admits(Spelling.parse(t))} != legal:
            wrong.append((form["form"], found.reason))
    assert wrong == []
    assert count >= 300


def statements(demo: Path) -> Iterator[tuple[str, str, str]]:
    """Every asm statement of the C++ files: where, and the text and code of its arguments."""
    for path in sorted(demo.rglob("*")):
        if not path.name.endswith(CPP) or not path.is_file() or b"asm" not in (raw := path.read_bytes()):
            continue
        source = read(raw)
        active = source.active()
        pieces = [(active.text, active.code)]
        for keyword, start, end in source.directives:
            if keyword == "define" and "asm" in source.code[start:end]:
                join = [piece[start:end].replace("\\\n", " \n") for piece in (source.text, source.code)]
                pieces.append((join[0], join[1]))
        for text, code in pieces:
            for match in ptx.ASM.finditer(code):
                end = ptx.closing(code, match.end())
                yield path.relative_to(demo).as_posix(), text[match.end() : end], code[match.end() : end]


def python_assembly(demo: Path) -> Iterator[tuple[str, str]]:
    """The assembly text in Python: constant strings passed to a function named after inline assembly."""
    for path in sorted(demo.rglob("*.py")):
        raw = path.read_bytes()
        if b"inline_asm" not in raw:
            continue
        for node in ast.walk(ast.parse(raw)):
            if not isinstance(node, ast.Call) or "inline_asm" not in ast.unparse(node.func):
                continue
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and ";" in value.value:
                    yield path.relative_to(demo).as_posix(), value.value


def test_the_table_holds_every_form_of_the_demo_packages(demo: Path) -> None:
    forms: set[str] = set()
    lacking: set[tuple[str, str, str]] = set()
    for file, text, _ in statements(demo):
        for one in ptx.parse(ptx.template(text, 0, len(text))):
            forms.add(one.opcode)
            if one.complete and not requirement(one).known:
                lacking.add((file, one.opcode, requirement(one).reason))
    for file, text in python_assembly(demo):
        for one in parsed(text):
            forms.add(one.opcode)
            if not requirement(one).known:
                lacking.add((file, one.opcode, requirement(one).reason))
    assert lacking == set()
    assert len(forms) > 1500


@needs_ptxas
def test_ptxas_agrees_on_the_asm_statements_of_the_demo_packages(demo: Path) -> None:
    """One statement for each form (the widths of warpgroup matrices count as one), with registers put in."""
    chosen: dict[str, str] = {}
    for _, text, _ in statements(demo):
        for one in ptx.parse(ptx.template(text, 0, len(text))):
            if one.complete:
                form = re.sub(r"\bm64n\d+k", "m64n*k", one.opcode) + one.operands[0]
                chosen.setdefault(form, text)
    blocks = list(dict.fromkeys(chosen.values()))
    real: dict[tuple[str, str], set[str]] = {}
    doubtful: set[tuple[str, str]] = set()
    for immediate in IMMEDIATES:
        snippets = {
            block: made
            for block in blocks
            if (made := instantiated(block, 0, len(block), immediate)) is not None
        }
        for target in TARGETS:
            for (block, made), complaints in zip(
                snippets.items(), assemble(list(snippets.values()), target), strict=True
            ):
                _collect(block, made, complaints, target, real, doubtful)
        blocks = [block for block in blocks if any((block, s) in doubtful for s in _texts(block, immediate))]
    wrong = []
    for (_, text), accepted in real.items():
        if not accepted and (_, text) in doubtful:
            continue  # no operands were found that any target takes
        instruction = parsed(text)[0]
        if requirement(instruction).known and predicted(instruction) != accepted:
            wrong.append((text, sorted(predicted(instruction) ^ accepted)))
    assert wrong == []
    assert sum(bool(accepted) for accepted in real.values()) > 1000


def _texts(block: str, immediate: int) -> tuple[str, ...]:
    made = instantiated(block, 0, len(block), immediate)
    return made.statements if made is not None else ()


def _collect(
    block: str,
    made: Snippet,
    complaints: dict[int, str],
    target: Spelling,
    real: dict[tuple[str, str], set[str]],
    doubtful: set[tuple[str, str]],
) -> None:
    for index, text in enumerate(made.statements):
        if not parsed(text):
            continue
        accepted = real.setdefault((block, text), set())
        complaint = complaints.get(index)
        if complaint is None:
            accepted.add(target.target)
        elif OPERANDS.search(complaint):
            doubtful.add((block, text))
