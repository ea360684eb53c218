"""Requests of dynamic shared memory: sizes that the file decides, and those that it does not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cuda import requests
from analyzer.cuda.limits import gates
from analyzer.cuda.requests import Request

ASK = "cudaFuncSetAttribute(kernel<{0}>, cudaFuncAttributeMaxDynamicSharedMemorySize, {1});"


def ask(size: str, template: str = "int, 3") -> str:
    return ASK.format(template, size)


def found(text: str) -> list[Request]:
    return list(requests.facts(text.encode()))


STAGED = f"""
namespace mine {{
void launch(float* out, bool overlap, cudaStream_t stream) {{
  static int const DEPTH = 64;
  static int const STAGES = 16;
  constexpr int ROWS = DEPTH / 4;
  int bytes = STAGES * 4 * (ROWS * DEPTH * sizeof(__nv_bfloat16) + 8 * DEPTH * sizeof(__nv_bfloat16));
  dim3 grid(1);
  if (overlap) {{
    auto status = {ask("bytes", "ROWS, true")}
  }} else {{
    auto status = {ask("bytes", "ROWS, false")}
  }}
}}
}}
"""


def test_a_product_of_constants() -> None:
    (request,) = found(STAGED)
    assert request.size == 16 * 4 * (16 * 64 * 2 + 8 * 64 * 2) == 196608
    assert request.function == "mine::launch"
    assert (request.decides.line, request.decides.text) == (5, "static int const STAGES = 16;")
    assert [step.line for step in request.steps] == [5, 4, 6, 7, 10]


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (ask("227 * 1024"), 232448),
        (ask("static_cast<int>(0x20000)"), 131072),
        (ask("LIMIT"), 196608),
        (ask("OTHER - 1024"), 130048),
        ("size_t n = 1 << 17; " + ask("n"), 131072),
        ("int const n{100 * 1024}; " + ask("n"), 102400),
        ("using T = float; int n = 64; " + ask("n * sizeof(float4) * 128"), 131072),
        (
            "int e = cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 112 * 1024);",
            114688,
        ),
    ],
)
def test_sizes(body: str, size: int) -> None:
    text = f"#define LIMIT (192 * 1024)\nconstexpr int OTHER = 128 * 1024;\nvoid f() {{ {body} }}\n"
    assert [request.size for request in found(text)] == [size]


@pytest.mark.parametrize(
    "text",
    [
        "template <int N> void f() {{ {} }}".format(ask("N * 1024")),
        "void f(int n) {{ {} }}".format(ask("n")),
        "void f() {{ int n = 200000; if (big) n = 1000; {} }}".format(ask("n")),
        "void f() {{ int n = 200000; n += 4; {} }}".format(ask("n")),
        "void f() {{ int n = 200000; change(&n); {} }}".format(ask("n")),
        "void f() {{ int n = query(); {} }}".format(ask("n")),
        "void f() {{ {} }}".format(ask("sizeof(Storage)")),
        "#ifdef A\n#define N 1024\n#else\n#define N 2048\n#endif\nvoid f() {{ {} }}".format(ask("N * 100")),
        "void f() {{ int most = optin(); if (most >= 200000) {{ {} }} }}".format(ask("200000")),
        "void f() {{ int most = optin(); if (most >= 200000) {} }}".format(ask("200000")),
        "void f(int n) {{ switch (n) {{ case 1: {{ {} }} }} }}".format(ask("200000")),
        "int n = 200000; void f() {{ {} }}".format(ask("n")),
        "void f() { cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 200000); }",
    ],
    ids=range(13),
)
def test_what_is_not_known_is_not_claimed(text: str) -> None:
    assert found(text) == []


def test_gates() -> None:
    archs = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")
    (made,) = gates({"a.cu": found(STAGED)}, "sm_120", ("sm_90", "sm_100"), archs)
    assert made.gate.effect == "over_resource"
    assert made.gate.verdict == {
        "sm_80": "reject", "sm_89": "reject", "sm_90": "admit", "sm_100": "admit", "sm_120": "reject",
    }  # fmt: skip
    assert (made.file, made.function, made.gate.line) == ("a.cu", "mine::launch", 5)
    assert "asks for 196608 bytes" in made.gate.because[-1].what
    small = found(f"void f() {{ {ask('64 * 1024')} }}")
    assert gates({"a.cu": small}, "sm_120", ("sm_90", "sm_100"), archs) == ()
    (large,) = gates({"a.cu": found(f"void f() {{ {ask('163 * 1024')} }}")}, "sm_80", ("sm_90",), archs)
    assert large.gate.effect == "none"


_NAMES = ["DEPTH", "ROWS", "STAGES"]
_TERMS = st.recursive(
    st.sampled_from([*_NAMES, "sizeof(float)", "sizeof(uint16_t)", "3u", "0x10", "7"]),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/%"), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} ({parts[2]} + 1))"
    ),
    max_leaves=8,
)


@given(st.lists(_TERMS, min_size=1, max_size=12))
def test_expressions_are_what_a_compiler_makes_of_them(
    tmp_path_factory: pytest.TempPathFactory, terms: list[str]
) -> None:
    """Signed 64-bit arithmetic; the compiler is asked by assertions that must hold."""
    constants = "const int DEPTH = 64; const int ROWS = DEPTH / 4; const int STAGES = 3;"
    lines = []
    for number, term in enumerate(terms):
        text = f"{constants} void f() {{ {ask(f'100000 + {term}')} }}"
        size = [request.size for request in found(text)]
        signed = term.replace("sizeof(float)", "4ll").replace("sizeof(uint16_t)", "2ll").replace("3u", "3ll")
        if size:
            lines.append(f'static_assert(100000ll + {signed} == {size[0]}, "{number}");')
    if not lines:
        return
    source = Path(tmp_path_factory.mktemp("c")) / "a.cpp"
    source.write_text(constants + "\n" + "\n".join(lines))
    subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-w", str(source)], check=True, capture_output=True)
