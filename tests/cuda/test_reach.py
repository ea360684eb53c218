"""From an export to what it can run: everything that its code names, and nothing else."""

from __future__ import annotations

from analyzer.cuda.reach import reach
from tests.cuda.programs import names, program, reached


def test_calls_and_launches() -> None:
    found = reached(
        "entry",
        """
        __global__ void used(int* p) {}
        __global__ void unused(int* p) {}
        template <int N> __global__ void passed(int* p) {}
        void launcher(int* p) { used<<<1, 32>>>(p); }
        void entry(int* p) {
          launcher(p);
          cudaLaunchKernelEx(&config, passed<3>, p);
        }
        void other() { unused<<<1, 1>>>(nullptr); }
        """,
    )
    assert [k.name for k in found.kernels] == ["passed", "used"]
    launch = found.hops[found.kernels[1]]
    assert (launch.way, launch.line, [h.target.name for h in found.way(found.kernels[1])]) == (
        "launches",
        5,
        ["entry", "launcher", "used"],
    )


def test_strings_comments_and_locals_name_nothing() -> None:
    assert names(
        reached(
            "entry",
            """
            void a() {} void b() {} void c() {} void d() {} void e() {}
            void entry(int a) {
              // b();
              log("c()");
              int d = a + 1;
              for (auto [e, f] : pairs) use(a, d, e);
            }
            """,
        )
    ) == {"entry"}


def test_overloads_are_all_reached_and_qualifiers_narrow() -> None:
    assert names(
        reached(
            "entry",
            """
            namespace a { void f(int) {} void f(float) {} void g() {} }
            namespace b { void f(int) {} void g() {} }
            namespace c { using namespace a; void entry() { f(1); b::g(); } }
            """,
        )
    ) == {"c::entry", "a::f", "b::g"}


def test_namespace_alias_and_nested_qualifier() -> None:
    assert names(
        reached(
            "x::entry",
            """
            namespace x { namespace detail { void go() {} } }
            namespace y { namespace detail { void go() {} } }
            namespace short_name = y::detail;
            namespace x { void entry() { detail::go(); short_name::go(); } }
            """,
        )
    ) == {"x::entry", "x::detail::go", "y::detail::go"}


def test_a_macro_may_spell_a_namespace() -> None:
    assert names(
        reached(
            "entry",
            """
            #define INNER lib::v2
            #define NUMBER 3
            namespace lib { namespace v1 { void go() {} } namespace v2 { void go() {} void far() {} } }
            namespace alias = INNER;
            void entry() { alias::go(); INNER::far(); }
            """,
        )
    ) == {"entry", "lib::v2::go", "lib::v2::far"}


def test_macros_are_followed_through_their_definitions() -> None:
    found = reached(
        "entry",
        """
        #define LAUNCH(N) \\
          start<N><<<1, N>>>(p)
        #define DISPATCH(x, ...) [&] { __VA_ARGS__ }()
        template <int N> __global__ void start(int* p) { deep(); }
        __device__ void deep() {}
        void inside() {}
        void entry(int* p) { DISPATCH(p, { inside(); }); LAUNCH(64); }
        """,
    )
    assert names(found) == {"entry", "inside", "start", "deep"}


def test_members_need_both_their_name_and_their_class() -> None:
    assert names(
        reached(
            "entry",
            """
            struct Used { Used() { made(); } void run() { ran(); } void idle() {} };
            struct Unused { void run() { never(); } };
            void made() {} void ran() {} void never() {}
            void entry() { Used u; u.run(); }
            """,
        )
    ) == {"entry", "Used::Used", "made", "Used::run", "ran"}


def test_static_members_bases_and_functors() -> None:
    assert names(
        reached(
            "entry",
            """
            struct Base { void inherited() {} };
            template <typename T> struct Op : Base {
              static void launch() { T()(1); }
              void operator()(int x) { this->inherited(); }
            };
            template <typename F> void apply(F f) { f(1); }
            void entry() { Op<int>::launch(); apply(Op<float>{}); }
            """,
        )
    ) == {"entry", "Op::launch", "apply", "Op::operator()", "Base::inherited"}


def test_template_parameters_stand_for_the_classes_in_reach() -> None:
    assert names(
        reached(
            "entry",
            """
            struct Good { static void run() {} };
            struct Bad { static void run() {} };
            template <typename K> void start() { K::run(); }
            using Chosen = Good;
            void entry() { start<Chosen>(); }
            """,
        )
    ) == {"entry", "start", "Good::run"}


def test_out_of_class_definitions_and_own_members() -> None:
    assert names(
        reached(
            "entry",
            """
            struct Runner { void go(); void step(); };
            void Runner::go() { step(); }
            void Runner::step() {}
            void step() {}
            void entry() { Runner r; r.go(); }
            """,
        )
    ) == {"entry", "Runner::go", "Runner::step"}


def test_overrides_of_a_foreign_base_are_called_from_outside() -> None:
    assert names(
        reached(
            "init",
            """
            struct Module : foreign::Object {
              Function GetFunction(const String& name) final { return wrap([this] { work(); }); }
              void work() {}
              void unused() {}
            };
            auto init() { return make_object<Module>(); }
            """,
        )
    ) == {"init", "Module::GetFunction", "Module::work"}


def test_function_tables_and_variables() -> None:
    assert names(
        reached(
            "entry",
            """
            void one() {} void two() {} void three() {}
            static constexpr Fn table[] = {&one, two};
            void entry(int i) { table[i](); }
            """,
        )
    ) == {"entry", "one", "two"}


def test_more_files_and_where_a_line_is_held() -> None:
    unit = program(
        "void entry() { helper(); }",
        header="""\
        void helper() {
          work();
        }
        void other() {
        }
        #define UNUSED 1
        """,
    )
    found = reach(unit, "&entry")
    held = found.holds("header.cuh", 2)
    assert held is not None
    assert held.name == "helper"
    assert found.holds("header.cuh", 4, 6) is None
    assert reach(unit, "nothing_here").hops == {}
    assert not found.doubtful
