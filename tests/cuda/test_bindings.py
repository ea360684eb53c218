"""Exports: every way in which a function gets the name that Python calls."""

from __future__ import annotations

import pytest

from analyzer.cuda.bindings import Export, exports, plain_function, written
from tests.cuda.programs import file, program


def _pairs(text: str) -> dict[str, str]:
    return {export.name: export.function for export in exports(file(text))}


def test_tvm_ffi() -> None:
    found = exports(file("\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run,\n    (&space::Runner<int, 3>::run));\n"))
    assert found == (Export("run", "space::Runner<int, 3>::run", "unit.cu", 2),)


def test_torch_library() -> None:
    found = exports(
        file("""
        TORCH_LIBRARY_FRAGMENT(kernels, m) {
          m.def("reduce(Tensor! out, int rank) -> ()");
          m.impl("reduce", torch::kCUDA, &reduce);
          m.def("sum(Tensor a) -> Tensor", TORCH_FN(sum));
        }
        """)
    )
    assert [(e.name, e.function, e.module) for e in found] == [
        ("reduce", "reduce", "kernels"),
        ("sum", "sum", "kernels"),
    ]


def test_pybind() -> None:
    assert _pairs("""
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
          m.def("add", &add, "adds (two) numbers");
          // m.def("gone", &gone);
          py::class_<Tree>(m, "Tree").def(py::init<int>()).def("evict", &Tree::evict);
          m.def("twice", [](int x) { return add(x, x); });
        }
    """) == {"add": "add", "evict": "Tree::evict", "twice": "[](int x) { return add(x, x); }"}


def test_only_blocks_that_register_count() -> None:
    assert _pairs('void f(M m) { m.def("x", &x); }') == {}


def test_macros_around_exports_are_seen_through() -> None:
    unit = program(
        """
        EXPORT(one)
        MODULE(m) { m.def("two", &two); }
        """,
        common="""
        #define EXPORT(name) TVM_FFI_DLL_EXPORT_TYPED_FUNC(name##_op, run_##name);
        #define MODULE(m) PYBIND11_MODULE(extension, m)
        """,
    )
    found = exports(unit.files[0], unit.macros)
    assert {(e.name, e.function, e.line) for e in found} == {("one_op", "run_one", 2), ("two", "two", 3)}


def test_generated_text_stands_where_it_is_made() -> None:
    text = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, (Kernel<64, true>::run));"
    assert written(text, "make.py", 7) == (Export("run", "Kernel<64, true>::run", "make.py", 7),)


@pytest.mark.parametrize(
    ("text", "plain"),
    [("&f", "f"), ("( &a::f )", "a::f"), ("TORCH_FN(TORCH_BOX(&f))", "f"), ("F<(1)>::f", "F<(1)>::f")],
)
def test_plain_function(text: str, plain: str) -> None:
    assert plain_function(text) == plain
