"""Templates rendered line for line, held against Jinja; sources that stand for one another."""

from __future__ import annotations

import jinja2
import pytest

from analyzer.jit.made import NotRenderedError, made_sources, rendered
from analyzer.python.contents import Content
from analyzer.tree.files import UnreadableFileError

LOOPS = """\
#include "kernel.cuh"
{% set kind = "float" %}
{# a note #}
{% for tile in [64, 128] %}
template void launch<
    {{ tile }}, {{ type }}>(
        {{ kind }}* p);  // one of several
{% for stage in stages %}
template void pipe<{{ tile }}, {{ stage }}>();
{% endfor %}
{% endfor %}
{% if wide == "true" %}
void wide() {}
{% else %}
void narrow() {}
{% endif %}
#if __CUDA_ARCH__ >= 900
int last;
#endif"""
VALUES = {"type": "half", "stages": [2, 3], "wide": "false"}


def test_every_line_stays_where_the_template_has_it() -> None:
    lines = rendered(LOOPS, VALUES).split("\n")
    assert len(lines) == LOOPS.count("\n") + 1
    assert lines[0] == '#include "kernel.cuh"'
    assert lines[4:7] == ["template void launch<", "    64, half>(", "        float* p);  // one of several"]
    assert lines[8] == "template void pipe<64, 2>();"
    assert lines[14] == "void narrow() {}"
    assert lines[16:] == ["#if __CUDA_ARCH__ >= 900", "int last;", "#endif"]


def test_a_value_of_several_lines_in_a_macro_is_one_line_of_it() -> None:
    template = "#define SET {{ setter }}\n#define TAIL(x) { \\\n  {{ call }}; \\\n}\nint last;"
    values = {"setter": "a = 1; \\\n b = 2;\\\nc = 3;", "call": "f(x)"}
    lines = rendered(template, values).split("\n")
    assert lines[0].split() == ["#define", "SET", "a", "=", "1;", "b", "=", "2;", "c", "=", "3;"]
    assert lines[1:] == ["#define TAIL(x) { \\", "  f(x); \\", "}", "int last;"]


@pytest.mark.parametrize("wide", ["true", "false"])
@pytest.mark.parametrize("stages", [[], [1], [2, 3, 4]])
def test_the_text_is_that_of_jinja(wide: str, stages: list[int]) -> None:
    template = LOOPS.replace("  // one of several", "")
    values = {**VALUES, "wide": wide, "stages": stages}
    assert rendered(template, values).split() == jinja2.Template(template).render(**values).split()


def test_a_value_of_several_lines_stands_on_one() -> None:
    template = "{{ head }}\nint f();\n"
    assert rendered(template, {"head": "struct A {\n  int x;  // of it\n};"}) == (
        "struct A { int x; };\nint f();\n"
    )


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("{% for i in range(10) %}x{% endfor %}", {}),
        ("{% macro f() %}x{% endmacro %}{{ f() }}", {}),
        ("{% include 'other' %}", {}),
        ("{{ ''.__class__ }}", {}),
        ("{{ 9 ** 9 }}", {}),
        ("{{ a | attr('b') }}", {"a": 1}),
        ("{% if %}", {}),
        ("{{ a < b }}", {"a": 1, "b": "x"}),
        ("{% for i in a %}{% for j in a %}x{% endfor %}{% endfor %}", {"a": list(range(100))}),
        ("{% for i in [1, 2] %}\n#define X{{ i }}\n{% endfor %}\n", {}),
        ('{% for i in [1, 2] %}\nf("http://x");\n{% endfor %}\n', {}),
        ("{{ head }}\n", {"head": "#define X 1\n#define Y 2"}),
    ],
)
def test_what_cannot_be_rendered_so_is_not(template: str, values: dict[str, object]) -> None:
    with pytest.raises(NotRenderedError):
        rendered(template, values)


TREE = {
    "csrc/inst.jinja": "#include <gemm.cuh>\ntemplate void gemm<{{ type }}, {{ tile }}>();\n",
    "csrc/flag.jinja": "#define TILE {{ tile }}\n",
    "csrc/run.cu": "void run() {}\n",
}


def read(path: str) -> str:
    if path not in TREE:
        raise UnreadableFileError(path, "no such file")
    return TREE[path]


def inst(kind: str, tile: int, template: str = "inst") -> Content:
    return Content(f"csrc/{template}.jinja", (("tile", tile), ("type", kind)))


def test_of_sources_that_differ_in_numbers_alone_the_first_is_given() -> None:
    contents = {"/gen/a.cu": inst("half", 64), "/gen/b.cu": inst("half", 128), "/gen/c.cu": inst("float", 64)}
    made, failed = made_sources(list(contents), contents, read)
    assert [one.path for one in made] == ["/gen/a.cu", "/gen/c.cu"]
    assert {one.origin for one in made} == {"csrc/inst.jinja"}
    assert not failed


def test_a_directive_and_a_header_beside_it_tell_sources_apart() -> None:
    contents = {"/gen/a.cu": inst("half", 64, "flag"), "/gen/b.cu": inst("half", 128, "flag")}
    assert len(made_sources(list(contents), contents, read)[0]) == 2
    beside = {
        "/one/a.cu": inst("half", 64),
        "/two/a.cu": inst("half", 64),
        "/one/config.inc": inst("half", 64, "flag"),
        "/two/config.inc": inst("half", 128, "flag"),
    }
    made, _ = made_sources(["/one/a.cu", "/two/a.cu"], beside, read)
    assert [one.path for one in made] == ["/one/a.cu", "/two/a.cu", "/one/config.inc", "/two/config.inc"]


def test_a_copy_is_the_text_itself_and_what_cannot_be_read_is_told() -> None:
    contents = {"/gen/run.cu": Content("csrc/run.cu"), "/gen/gone.cu": Content("csrc/gone.cu")}
    made, failed = made_sources(list(contents), contents, read)
    assert [(one.path, one.origin, one.text) for one in made] == [
        ("/gen/run.cu", "csrc/run.cu", TREE["csrc/run.cu"])
    ]
    assert "no such file" in failed["/gen/gone.cu"]
