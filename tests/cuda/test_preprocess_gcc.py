"""Generated programs: which lines survive, against the preprocessor of gcc."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, event, example, given, settings
from hypothesis import strategies as st

from analyzer.cuda.preprocess import Configuration, walk
from tests.cuda.tree import Tree

GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(GCC is None, reason="needs gcc, whose preprocessor is the judge")

ARCHS = (800, 900, 1200)
OBJECTS = ("A", "B", "C")
FUNCTIONS = ("F", "G")
HEADERS = ("h0.h", "h1.h", "sub/h2.h")

numbers = st.sampled_from(["0", "1", "2", "800", "900", "1200", "0x10", "010", "3u", "7L", "'a'", "1'000"])
names = st.sampled_from([*OBJECTS, "__CUDA_ARCH__", "UNDEFINED", "true", "false"])
operators = ("+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "&&", "||")
binary = st.sampled_from(operators)


defined = st.builds(
    str.format,
    st.sampled_from(["defined({})", "defined {}", "!defined({})"]),
    st.sampled_from([*OBJECTS, *FUNCTIONS]),
)
arch = st.builds("__CUDA_ARCH__ {} {}".format, st.sampled_from([">=", "<", "=="]), st.sampled_from(ARCHS))
atoms = st.one_of(numbers, names, defined, arch)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(atoms)
    part = expressions(depth - 1)
    match draw(st.integers(0, 5)):
        case 0:
            return f"{draw(part)} {draw(binary)} {draw(part)}"
        case 1:
            return f"({draw(part)} {draw(binary)} {draw(part)})"
        case 2:
            return f"({draw(part)} ? {draw(part)} : {draw(part)})"
        case 3:
            return f"{draw(st.sampled_from(FUNCTIONS))}({draw(part)})"
        case _:
            return draw(st.sampled_from(["!", "-", "~", "! "])) + draw(part)


conditions = expressions()

tricky_bodies = st.sampled_from(["", "A", "F", "F(1)", "G(A)", "defined(B)", "A ## B"])
bodies = st.one_of(numbers, names, conditions, tricky_bodies)
function_bodies = st.sampled_from(
    ["x", "(x)", "x + 1", "A x", "F(x)", "G(x)", "x##0", "A##x", "defined(x)", "(x) >= A", "#x", ""]
)
definitions = st.one_of(
    st.builds("#define {} {}".format, st.sampled_from(OBJECTS), bodies),
    st.builds("#define {}(x) {}".format, st.sampled_from(FUNCTIONS), function_bodies),
    st.builds("#undef {}".format, st.sampled_from([*OBJECTS, *FUNCTIONS])),
    st.builds("# define {} \\\n {} /* c */ // d".format, st.sampled_from(OBJECTS), numbers),
)
includes = st.builds('#include "{}"'.format, st.sampled_from(HEADERS)) | st.just("#include NAME")
texts = st.sampled_from(
    [
        "MARK",
        "MARK 'x'",
        "MARK /* #if 0 */",
        "MARK // \\\n#endif",
        'MARK R"(\n#else\n)"',
        "/*\n#endif\n*/ MARK",
    ]
)


plain = st.lists(st.one_of(texts, definitions, includes), max_size=3)
heads = st.one_of(
    st.builds("#if {}".format, conditions),
    st.builds("#{} {}".format, st.sampled_from(["ifdef", "ifndef"]), st.sampled_from(OBJECTS)),
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 3) -> list[str]:
    lines = draw(plain)
    if depth == 0 or not draw(st.booleans()):
        return lines
    inner = blocks(depth - 1)
    lines += [draw(heads), *draw(inner)]
    for _ in range(draw(st.integers(0, 2))):
        lines += [f"#elif {draw(conditions)}", *draw(inner)]
    if draw(st.booleans()):
        lines += ["# else", *draw(inner)]
    return [*lines, "#endif // done", *draw(plain)]


@st.composite
def headers(draw: st.DrawFn, index: int) -> list[str]:
    lines = draw(blocks(2))
    match draw(st.sampled_from(["once", "ifndef", "defined"])):
        case "once":
            return ["#pragma once", *lines]
        case "ifndef":
            return [f"#ifndef H{index}", f"#define H{index}", *lines, "#endif"]
        case _:
            return [f"#if !defined(H{index})", f"#define H{index} 1", *lines, "#endif"]


@st.composite
def programs(draw: st.DrawFn) -> dict[str, str]:
    files = {path: draw(headers(index)) for index, path in enumerate(HEADERS)}
    name = draw(st.sampled_from(['"h0.h"', "<h1.h>", "<sub/h2.h>"]))
    files["main.cu"] = [f"#define NAME {name}", *draw(blocks()), *draw(blocks())]
    counter = iter(range(10_000))
    return {
        path: re.sub("MARK", lambda _: f"m{next(counter)}_", "\n".join(lines)) + "\n"
        for path, lines in files.items()
    }


def survivors(folder: Path, arch: int) -> tuple[set[str], set[int]]:
    """The marks that gcc keeps, and the lines of main.cu (0: of any other file) that it refuses."""
    assert GCC is not None
    # Without tracking, an error stands at the line that uses the macro, not at its definition.
    options = ["-E", "-P", "-x", "c++", "-std=c++17", "-w", "-ftrack-macro-expansion=0", "-I."]
    command = [GCC, *options, f"-D__CUDA_ARCH__={arch}", "main.cu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    errors = re.findall(r"^(.*?):(\d+):\d+: error", done.stderr, re.MULTILINE)
    refused = {int(line) if file == "main.cu" else 0 for file, line in errors}
    assert bool(refused) == bool(done.returncode), done.stderr
    return set(re.findall(r"\bm\d+_", done.stdout)), refused


thorough = settings(
    max_examples=60,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # each run of gcc makes shrinking dear
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,  # each example overwrites the files of the last
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
    ],
)


@thorough
@given(program=programs())
def test_the_same_lines_survive(tmp_path: Path, program: dict[str, str]) -> None:
    for path, text in program.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    configurations = [Configuration(str(a), {"__CUDA_ARCH__": str(a)}) for a in ARCHS]
    unit = walk("main.cu", Tree(program), (".",), configurations, implicit=())
    judged = [survivors(tmp_path, arch) for arch in ARCHS]
    assume(any(not refused for _, refused in judged))
    for index, (kept, refused) in enumerate(judged):
        if refused:  # a malformed condition: gcc goes on with a guess, so there is no truth
            event("gcc complains")
            continue
        event("judged")
        found = set()
        for path, activity in unit.files.items():
            for number, line in enumerate(program[path].splitlines(), 1):
                for mark in re.findall(r"\bm\d+_", line):
                    assert not activity.unknown(number) >> index & 1, (mark, program)
                    if activity.active(number) >> index & 1:
                        found.add(mark)
        assert found == kept, program


@thorough
@example(
    defined=["#define B C", "#define G(x) (x)"],
    asked=["G(defined B)", "-G(defined(B))", "!G(defined C)", "G(defined D || B)"],
)
@given(defined=st.lists(definitions, max_size=6), asked=st.lists(conditions, min_size=20, max_size=20))
def test_conditions_have_the_same_value(tmp_path: Path, defined: list[str], asked: list[str]) -> None:
    groups = [f"#if {condition}\nm{index}_\n#endif" for index, condition in enumerate(asked)]
    text = "\n".join([*defined, *groups, ""])
    (tmp_path / "main.cu").write_text(text)
    kept, refused = survivors(tmp_path, 900)
    only = [Configuration("900", {"__CUDA_ARCH__": "900"})]
    unit = walk("main.cu", Tree({"main.cu": text}), (), only, implicit=())
    for index, (condition, branch) in enumerate(zip(asked, unit.files["main.cu"].branches, strict=True)):
        if branch.line not in refused:
            assert not branch.unknown, (condition, branch.reason, text)
            assert bool(branch.active) == (f"m{index}_" in kept), (condition, text)
