"""What a file defines: names, scopes, kinds, ranges; what hides in macros, comments and split braces."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cuda.declarations import template_parameters
from analyzer.cuda.functions import facts
from analyzer.cuda.source import read
from analyzer.cuda.uses import declared, plain_cpp, uses
from tests.cuda.programs import file, program


def _functions(text: str) -> dict[str, str]:
    return {d.qualified: d.kind for d in file(text).facts.functions}


def test_kinds_and_scopes() -> None:
    found = _functions("""
        namespace a::b {
        namespace {
        template <typename T, int N = (3 > 2)>
        __global__ void __launch_bounds__(256, 1) kernel(T* out) { out[0] = N; }
        }
        struct Box : Base<decltype(1)> {
          __host__ __device__ explicit Box(int n) : size{n}, rest(n) { init(); }
          __device__ float operator()(int i) const { return i; }
          ~Box() {}
          operator bool() const { return true; }
        };
        }  // namespace a::b
        template <typename T> void a::b::Box::late(T t) noexcept { use(t); }
        extern "C" __device__ int plain(int (*callback)(int), int a[3]) { return a[0]; }
        static auto trailing() -> decltype(f(1)) { return 1; }
    """)
    assert found == {
        "a::b::kernel": "kernel",
        "a::b::Box::Box": "host_device",
        "a::b::Box::operator()": "device",
        "a::b::Box::~Box": "host",
        "a::b::Box::operator bool": "host",
        "a::b::Box::late": "host",
        "plain": "device",
        "trailing": "host",
    }


def test_what_is_no_function() -> None:
    found = file("""
        enum class Color : int { RED = 1, GREEN };
        constexpr int table[] = {f(1), g(2)};
        using Alias = Box<int>;
        typedef struct Old Older;
        auto lambda = [](int x) { return h(x); };
        void declared_only(int x);
        const char* text = "void fake() { }"; // void comment() { }
        /* void comment() { } */
        auto raw = R"(void raw() { )";
        int last() { return '{' + '"'; }
    """).facts
    assert [d.name for d in found.functions] == ["last"]
    assert {d.name: d.kind for d in found.definitions if not d.is_function} == {
        "table": "variable",
        "Alias": "alias",
        "Older": "alias",
        "lambda": "variable",
        "text": "variable",
        "raw": "variable",
    }
    assert found.balanced


def test_lines_and_enclosing() -> None:
    found = file("""\
        template <typename T>
        __global__ void one(
            T* out) {
          out[0] = 1;
        }

        void two() {
        }
    """).facts
    one, two = found.functions
    assert (one.header_line, one.line, one.end_line) == (1, 2, 5)
    assert [found.enclosing(line) for line in range(1, 9)] == [one] * 5 + [None] + [two] * 2


SPLIT = """\
#if NEW
__global__ void kernel(int a) {
#else
__global__ void kernel(long a) {
#endif
  work(a);
}
void after() {}
"""


@pytest.mark.parametrize(("inactive", "line"), [((4, 4), 2), ((2, 2), 4)])
def test_branches_that_split_a_brace(inactive: tuple[int, int], line: int) -> None:
    found = facts(SPLIT.encode(), [inactive])
    assert found.balanced
    assert [(d.name, d.line, d.end_line) for d in found.functions] == [("kernel", line, 7), ("after", 8, 8)]


def test_unbalanced_braces_carry_doubt() -> None:
    found = facts(SPLIT.encode())
    assert not found.balanced
    assert found.functions[-1].doubtful


def test_kinds_spelled_by_macros() -> None:
    found = program(
        """
        #include "spell.cuh"
        DEVICE_INLINE int helper() { return 1; }
        KERNEL(128) void launched() {}
        """,
        spell="""
        #define INNER __device__
        #define DEVICE_INLINE static INNER __forceinline__
        #define KERNEL(n) __global__ __launch_bounds__(n)
        """,
    )
    assert [s.kind for s in found.by_name["helper"]] == ["device"]
    assert [s.kind for s in found.by_name["launched"] if s.is_function] == ["kernel"]


def test_functions_defined_by_macros() -> None:
    found = program("""
        #define MAKE(name, T) __global__ void name##_kernel(T* x) { helper(x); }
        #define MAKE_ALL(T) MAKE(first, T) MAKE(second, T)
        namespace n {
        MAKE_ALL(float)
        }
        MAKE(third, int);
    """)
    made = {s.definition.qualified: s.definition.line for s in found.by_name["first_kernel"]}
    assert made == {"n::first_kernel": 5}
    assert found.by_name["third_kernel"][0].kind == "kernel"
    assert found.by_name["third_kernel"][0].uses[-2].name == "helper"


def test_macro_calls_before_a_function_are_told_from_it() -> None:
    found = file("""
        struct Variant {
          REGISTER(params, {
            return params;
          })
          __device__ void run() { go(); }
        };
    """).facts
    assert [d.qualified for d in found.functions] == ["Variant::run"]
    assert [(i.name, i.scope) for i in found.invocations] == [("REGISTER", ("Variant",))]


def test_facts_are_picklable_and_pure() -> None:
    assert pickle.loads(pickle.dumps(facts(SPLIT.encode(), [(4, 4)]))) == facts(SPLIT.encode(), [(4, 4)])


@given(st.text(alphabet="ab{}()<>;:=,~*&#\"'/\\ \nR[]", max_size=120))
def test_any_text_is_read(text: str) -> None:
    source = read(text.encode())
    assert len(source.text) == len(source.code) == len(source.raw)
    assert [len(line) for line in source.text.split("\n")] == [len(line) for line in source.raw.split("\n")]
    for definition in facts(text.encode()).definitions:
        assert 0 <= definition.start <= definition.end <= len(source.text)


def test_chains_nest() -> None:
    source = read(b"#if A\n#ifdef B\nx\n#endif\n#elif C\ny\n#else\n#endif\n")
    chain, index = source.chain(5) or pytest.fail("no chain")
    assert (index, chain.end, chain.lines(0), chain.lines(1), chain.lines(2)) == (
        1,
        8,
        (2, 4),
        (6, 6),
        (8, 7),
    )
    assert source.chain(2) is not None
    assert source.chain(3) is None


def test_uses_know_their_surroundings() -> None:
    found = {
        u.name: u for u in uses("x.run<int>(a); this->go(); n::Box<A<1>>::make(3); k<T><<<g, b>>>(p); T t;")
    }
    assert (found["run"].role, found["run"].called) == ("member", True)
    assert found["go"].role == "own"
    assert (found["make"].qualifiers, found["make"].called) == (("n", "Box"), True)
    assert found["k"].launched
    assert not found["T"].called


def test_locals_are_declared_names() -> None:
    text = "(int a, T const* b) { auto [p, q] = f(a); for (auto& [k, v] : m) {} "
    text += "auto g = [&](int z) { return z; }; }"
    found = declared(text)
    assert found.names == {"a", "b", "p", "q", "k", "v", "g", "z"}
    assert found.lambdas == {"g"}
    assert not found.doubtful


def test_launches_become_calls_of_equal_length() -> None:
    text = "kernel<A<int>><<<grid, dim3(1, 2), sizeof(B<C<int>>)>>>(__restrict__ x);"
    assert len(plain_cpp(text)) == len(text)
    assert "<<<" not in plain_cpp(text)
    assert "__restrict__" not in plain_cpp(text)


def test_template_parameters() -> None:
    header = "template <typename T, int N = (1 > 0), template <class> class C, class... Ts, class = void>"
    assert template_parameters(header) == {"T", "N", "C", "Ts"}


def test_demo_corpus_balances(demo: Path) -> None:
    """Read as they stand (all branches at once), few files of the real packages fail to balance."""
    files = sorted(path for path in demo.rglob("*") if path.suffix in (".cu", ".cuh"))
    unbalanced = [path.name for path in files if not facts(path.read_bytes()).balanced]
    assert len(files) > 200
    assert len(unbalanced) <= 3, unbalanced
