from __future__ import annotations

from textwrap import dedent

from analyzer.jit.places import flag_place
from analyzer.model import Build


def place(code: str, function: str = "package.gen_module") -> tuple[int, int, int, str]:
    build = Build("module", function, "package.py", 40, {})
    return flag_place(build, dedent(code).encode())


def test_the_argument_that_holds_the_flags() -> None:
    code = """
    def other():
        return gen_jit_spec("other", [], extra_cuda_cflags=["-x"])

    def gen_module():
        return gen_jit_spec(
            "module",
            sources,
            extra_cuda_cflags=flags
            + more,
        )
    """
    assert place(code) == (9, 10, 9, "extra_cuda_cflags=flags + more")


def test_a_build_without_flags_and_code_that_is_not_followed() -> None:
    assert place("def gen_module():\n    return core.gen_jit_spec('m',\n        sources)\n") == (
        2,
        3,
        12,
        "core.gen_jit_spec",
    )
    assert place("gen_module = partial(make)\n") == (40, 40, 1, "module")
    assert place("def gen_module(:\n") == (40, 40, 1, "module")
