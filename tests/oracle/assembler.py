"""Asks ptxas which PTX instructions assemble for which target."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.cuda import ptx

ROOT = Path(__file__).resolve().parents[2]
#: The spellings of every architecture, as ptxas 13.0 knows them.
TARGETS = tuple(Spelling(arch.number, suffix) for arch in archs.profiles() for suffix in ("", *arch.suffixes))
#: Registers of each size that a snippet may use; ``r0`` is a shared, ``rd0`` a global address.
_REGISTERS = """.reg .pred p<16>; .reg .b16 h<16>; .reg .b32 r<160>; .reg .f32 f<160>;
.reg .f64 d<32>; .reg .b64 rd<160>;{wide}"""
_WIDE = " .reg .b128 q<4>;"
_BYTES = " .reg .b8 c<8>;"
_KERNEL = """.visible .entry k{index}(.param .u64 p_in) {directive}
{{
{registers}
.shared .align 1024 .b8 smem{index}[4096];
ld.param.u64 rd0,[p_in]; mov.u32 r0,smem{index};
{{
{body}
}}
ret;
}}
"""
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*:\s*(.*)")
_LETTERS = {"r": "r", "l": "rd", "f": "f", "d": "d", "h": "h", "q": "q", "b": "p"}


def ptxas() -> str | None:
    """The assembler: of the toolkit in ``.cache``, else of the machine."""
    own = ROOT / ".cache" / "cuda" / "nvidia" / "cu13" / "bin" / "ptxas"
    return str(own) if own.exists() else shutil.which("ptxas")


@dataclass(frozen=True)
class Snippet:
    """Statements of PTX, one instruction each, and a directive of the kernel around them."""

    statements: tuple[str, ...]
    directive: str = ""

    def kernel(self, index: int) -> tuple[str, int]:
        """The kernel's text, and the line in it on which the first statement stands (from 0)."""
        body = "\n".join(
            statement + ("" if statement.endswith("; }") else ";") for statement in self.statements
        )
        extra = (_WIDE if re.search(r"\bq\d", body) else "") + (_BYTES if re.search(r"\bc\d", body) else "")
        registers = _REGISTERS.format(wide=extra)
        text = _KERNEL.format(index=index, directive=self.directive, registers=registers, body=body)
        return text, text[: text.index(body)].count("\n")


def snippet(instruction: str, directive: str = "") -> Snippet:
    """One instruction."""
    return Snippet((instruction.rstrip(";"),), directive)


def assemble(snippets: Sequence[Snippet], target: Spelling, chunk: int = 400) -> list[dict[int, str]]:
    """The first complaint about each statement of each snippet, by the statement's index.

    Snippets share a file as long as the assembler names the line of each error.
    """
    found: list[dict[int, str]] = [{} for _ in snippets]
    for first in range(0, len(snippets), chunk):
        _assemble({i: snippets[i] for i in range(first, min(first + chunk, len(snippets)))}, target, found)
    return found


def _assemble(chosen: Mapping[int, Snippet], target: Spelling, found: list[dict[int, str]]) -> None:
    pending = dict(chosen)
    while pending:
        places: dict[int, tuple[int, int]] = {}
        text = [".version 9.0", f".target {target.target}", ".address_size 64"]
        for index, item in pending.items():
            kernel, first = item.kernel(index)
            start = len(text)
            text += kernel.splitlines()
            for line in range(start, len(text)):
                places[line + 1] = index, line - start - first
        blamed = _run("\n".join(text) + "\n", target)
        if blamed is None:
            return
        told = {places[line][0]: (places[line][1], message) for line, message in blamed if line in places}
        if not told:
            if len(pending) == 1:
                found[next(iter(pending))][0] = blamed[0][1] if blamed else "does not assemble"
                return
            half = list(pending)[: len(pending) // 2]
            _assemble({i: pending[i] for i in half}, target, found)
            _assemble({i: item for i, item in pending.items() if i not in half}, target, found)
            return
        for line, message in blamed:
            if line in places:
                index, statement = places[line]
                size = len(pending[index].statements)
                found[index].setdefault(min(max(statement, 0), size - 1), message)
        for index in told:
            del pending[index]


def _run(text: str, target: Spelling) -> list[tuple[int, str]] | None:
    """The errors by line; None if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "a.ptx")
        source.write_text(text)
        command = [str(ptxas()), f"-arch={target.target}", "-O0", str(source), "-o", os.devnull]
        ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode == 0:
        return None
    told = [(int(m[1]), m[2].strip()) for m in _ERROR.finditer(ran.stderr + ran.stdout)]
    return told or [(-1, (ran.stderr + ran.stdout).strip()[:200])]


def instantiated(text: str, start: int, end: int, immediate: int = 16) -> Snippet | None:
    """An asm statement (``text[start:end]``: its arguments) as PTX, its operands replaced by registers.

    None where a part of it comes from a macro, or an operand is of no kind that PTX has registers for.
    """
    found = ptx.template(text, start, end)
    if ptx.HOLE in found.text:
        return None
    after = text[start:end]
    colon = re.search(r":(?!:)|::", re.sub(r'"(?:\\.|[^"\\])*"', lambda m: "x" * len(m[0]), after))
    names = _operands(after[colon.start() :], immediate) if colon else []
    if names is None:
        return None
    body = re.sub(r"//[^\n]*|/\*.*?\*/", " ", found.text, flags=re.DOTALL)
    body = body.replace("%%", "\0").replace("%=", "7")
    try:
        body = re.sub(r"%(\d+)", lambda m: names[int(m[1])], body)
    except IndexError:
        return None
    statements = [" ".join(part.split()) for part in body.replace("\0", "%").split(";")]
    while statements and not statements[-1].strip("{} "):
        last = statements.pop()
        if last.strip() and statements:
            statements[-1] += f"; {last}"
    return Snippet(tuple(statements))


def _operands(text: str, immediate: int) -> list[str] | None:
    names: list[str] = []
    counts: dict[str, int] = {}
    code = re.sub(r'"((?:\\.|[^"\\])*)"', lambda m: " " * len(m[0]), text)
    depth = 0
    sections = 0
    at = 0
    while at < len(text) and sections < 3:
        if code.startswith("::", at) and depth == 0:
            sections += 2
            at += 2
            continue
        if code[at] == ":" and depth == 0:
            sections += 1
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if text[at] == '"' and depth == 0 and sections < 3:
            close = text.index('"', at + 1)
            constraint = text[at + 1 : close].lstrip("=+&")
            kind = constraint[:1]
            if kind in ("n", "i"):
                names.append(str(immediate))
            elif kind in _LETTERS:
                letter = _LETTERS[kind]
                counts[letter] = counts.get(letter, 0) + 1
                names.append(f"{letter}{counts[letter]}")
            else:
                return None
            at = close
        at += 1
    return names
