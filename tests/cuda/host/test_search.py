"""Decisions of host code by the GPU: where they stand, whom they admit, what the target meets."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer.model import Gate
from tests.cuda.test_units import analysed

VERSION = """
    inline int getVersion() {
      int device{-1};
      CALL(cudaGetDevice(&device));
      int major = 0;
      int minor = 0;
      CALL(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
      CALL(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
      return major * 10 + minor;
    }
"""


def host(code: str, **options: object) -> list[Gate]:
    """The host gates of a unit whose export is ``run``."""
    text = dedent(VERSION) + dedent(code) + "\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"
    result = analysed({"unit.cu": text}, **options)  # type: ignore[arg-type]
    return [guard.gate for guard in result.guards if guard.gate.layer == "host"]


def one(code: str, **options: object) -> Gate:
    (found,) = host(code, **options)
    return found


def admitted(gate: Gate) -> set[str]:
    return {name for name, verdict in gate.verdict.items() if verdict == "admit"}


def test_a_check_of_a_small_function() -> None:
    gate = one("""
    void run() {
      int sm = getVersion();
      TORCH_CHECK(sm == 100 || sm == 103, "only for 100");
    }
    """)
    assert gate.code == "sm == 100 || sm == 103"
    assert (gate.scope, gate.line, gate.column) == ("run", 14, 15)
    assert admitted(gate) == {"sm_100", "sm_103"}
    assert (gate.effect, gate.silent) == ("raises", False)
    assert gate.message == 'TORCH_CHECK(sm == 100 || sm == 103, "only for 100")'
    assert [(step.line, step.what) for step in gate.because] == [(2, "getVersion asks for the device")]


@pytest.mark.parametrize(
    ("check", "legal"),
    [
        ("TVM_FFI_ICHECK_EQ(getVersion() / 10, 10)", {"sm_100", "sm_103"}),
        ("TVM_FFI_ICHECK_LT(getVersion(), 100)", {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"}),
        ("TVM_FFI_ICHECK(getVersion() / 10 % 10 == 0) << text", {"sm_100", "sm_103"}),
        ("FLASHINFER_CHECK(!(getVersion() > 100), text)", None),
    ],
)
def test_checks_and_comparisons(check: str, legal: set[str] | None) -> None:
    gate = one(f"void run() {{ {check}; }}")
    assert gate.effect == "raises"
    if legal is not None:
        assert admitted(gate) == legal
    else:
        assert "sm_100" in admitted(gate)


def test_members_set_in_a_constructor_and_constants() -> None:
    gate = one("""
    constexpr int kVersion = 100;
    enum Kinds { Newer = 103, Other };
    class Runner {
     public:
      Runner(int size) : size_(size), version_(getVersion()) {
        CHECK(version_ == kVersion || version_ == Newer);
      }
      int version_;
    };
    void run() { Runner runner(3); }
    """)
    assert admitted(gate) == {"sm_100", "sm_103"}
    assert (gate.scope, gate.effect) == ("Runner::Runner", "raises")
    assert any("sets version_" in step.what for step in gate.because)


def test_members_assigned_in_a_body_and_read_in_another_method() -> None:
    gate = one("""
    class Runner {
      Runner() { version_ = getVersion(); }
      void go() {
        if (version_ >= 120) { throw std::runtime_error("too new"); }
        launch();
      }
      int version_;
    };
    void run() { Runner runner; runner.go(); }
    """)
    assert gate.code == "version_ >= 120"
    assert admitted(gate) == {name for name in gate.verdict if name not in ("sm_120", "sm_121")}
    assert gate.effect == "raises"
    assert gate.message == 'throw std::runtime_error("too new");'


def test_properties_pairs_and_bindings() -> None:
    gates = host("""
    std::pair<int, int> capability() {
      cudaDeviceProp prop;
      cudaGetDeviceProperties(&prop, 0);
      return {prop.major, prop.minor};
    }
    void run() {
      auto [major, minor] = capability();
      CHECK(major == 10);
      auto both = capability();
      CHECK(both.first < 11);
      CHECK(std::get<0>(both) == 10 && std::get<1>(both) == 0);
    }
    """)
    # After the first check only 10.x goes on, so that the second decides nothing.
    assert [gate.effect for gate in gates] == ["raises", "none"]
    assert admitted(gates[0]) == {"sm_100", "sm_103"}
    assert admitted(gates[1]) == {"sm_100"}


def test_a_parameter_of_the_properties_type() -> None:
    gate = one("""
    void launch(cudaDeviceProp const& prop) { CHECK(prop.major != 12); }
    void run() {
      cudaDeviceProp prop;
      cudaGetDeviceProperties(&prop, 0);
      launch(prop);
    }
    """)
    assert gate.effect == "raises"


def test_arguments_are_followed_into_functions() -> None:
    gate = one("""
    void tiles(int sm, bool grouped) {
      if (grouped) {
        if (sm == 90 || sm == 100) { add(1); } else { throw 1; }
      }
    }
    void run() { int sm = getVersion(); tiles(sm, flag()); }
    """)
    assert gate.scope == "tiles"
    assert gate.effect == "raises"
    assert admitted(gate) == {"sm_90", "sm_100"}


def test_what_takes_the_place() -> None:
    gate = one("""
    void run() {
      if (getVersion() / 10 == 10) { fast(); } else { slow(); }
    }
    """)
    assert (gate.effect, gate.falls_back_to, gate.silent) == ("degraded", "slow();", True)
    nothing = one("""
    void run() {
      if (getVersion() / 10 == 10) { extra(); }
    }
    """)
    assert nothing.effect == "excluded"
    returned = one("""
    int run() {
      if (getVersion() / 10 == 10) { return 1; }
      return 2;
    }
    """)
    assert (returned.effect, returned.falls_back_to) == ("degraded", "return 2;")


def test_what_is_skipped() -> None:
    # How ``fits`` decides is a gate of its own, at its place.
    _, gate = host("""
    bool fits(int sm, Arch arch) {
      if (sm == 100) { return arch == Arch::Sm100 || arch == Arch::Family; }
      return false;
    }
    void run(Config const* configs) {
      int sm = getVersion();
      for (int i = 0; i < 9; ++i) {
        if (!fits(sm, configs[i].arch)) continue;
        add(i);
      }
    }
    """)
    assert gate.code == "!fits(sm, configs[i].arch)"
    assert (gate.effect, admitted(gate)) == ("excluded", {"sm_100"})
    left = one("""
    void run() {
      if (getVersion() / 10 != 10) { return; }
      launch();
    }
    """)
    assert (left.effect, admitted(left)) == ("excluded", {"sm_100", "sm_103"})
    found = one("int run() { if (getVersion() == 120) { return 12; } return 1; }")
    assert found.effect == "none"


def test_a_check_that_leaves_one_of_a_generation_out() -> None:
    code = "void run() { cudaDeviceProp p; CHECK(p.major == 12 && p.minor == 0); }"
    assert one(code, target="sm_121").effect == "raises"
    assert one(code).effect == "none"


def test_the_target_is_treated_as_the_reference_next_to_it() -> None:
    gate = one("void run() { if (getVersion() == 90) { fast(); } else { slow(); } }")
    assert admitted(gate) == {"sm_90"}
    assert gate.effect == "none"


def test_a_branch_of_its_own_further_on_is_no_loss() -> None:
    gates = host("""
    void run() {
      int sm = getVersion();
      if (sm == 90) { hopper(); }
      else if (sm >= 100 && sm < 120) { blackwell(); }
      else if (sm >= 120) { own(); }
      else { throw 1; }
    }
    """)
    assert [gate.effect for gate in gates] == ["none", "none", "none"]


@pytest.mark.parametrize(
    ("later", "effects"),
    [
        ("sm >= 120 && flag", ["none", "none"]),
        ("(sm == 120 || sm == 121) && other", ["none", "none"]),
        ("sm >= 80 && flag", ["degraded", "none"]),  # for all, not in the place of the first
        ("sm == 121", ["degraded", "none"]),
    ],
)
def test_a_branch_of_its_own_behind_one_that_leaves_is_no_loss(later: str, effects: list[str]) -> None:
    gates = host(f"""
    int run(bool flag, bool other) {{
      int sm = getVersion();
      if (sm >= 100 && sm < 120 && flag) {{
        return 1;
      }}
      // A comment stands between them.
      if ({later}) return 2;
      return 3;
    }}
    """)
    assert [gate.effect for gate in gates][: len(effects)] == effects


def test_who_has_returned_does_not_come_further() -> None:
    gates = host("""
    int run() {
      int sm = getVersion();
      if (sm == 120 || sm == 121) return 12;
      if (sm >= 100) return 10;
      CHECK(sm == 90);
      return 9;
    }
    """)
    assert [gate.effect for gate in gates] == ["none", "none", "none"]


def test_a_switch() -> None:
    gates = host("""
    int run() {
      switch (getVersion()) {
        case 90: return 1;
        case 100:
        case 103: return 2;
        default: TVM_FFI_THROW(ValueError) << "no";
      }
      return 0;
    }
    """)
    assert [(gate.code, gate.effect) for gate in gates] == [("90", "raises"), ("103", "raises")]
    own = host("""
    int run() {
      switch (getVersion()) {
        case 90: return 1;
        case 120: return 2;
        default: throw 1;
      }
    }
    """)
    assert [gate.effect for gate in own] == ["none", "none"]


def test_status_codes_refuse() -> None:
    gate = one("""
    cutlass::Status run() {
      if (getVersion() / 10 != 10) { return cutlass::Status::kErrorNotSupported; }
      return launch();
    }
    """)
    assert gate.effect == "raises"


def test_lambdas_run_where_they_stand() -> None:
    gate = one("""
    void run() {
      DISPATCH(dtype, T, [&] {
        cudaDeviceProp prop;
        cudaGetDeviceProperties(&prop, 0);
        if (prop.major == 9) { go(); return true; } else { FLASHINFER_ERROR("no"); return false; }
      });
      CHECK(ready);
    }
    """)
    assert (gate.effect, gate.code) == ("raises", "prop.major == 9")


def test_what_something_else_decides_is_free() -> None:
    assert (
        host("""
    void run(int wanted) {
      CHECK(wanted == 100);
      int sm = getVersion();
      for (int i = 0; i < 3; ++i) { sm = next(sm); }
      CHECK(sm == 100);
    }
    """)
        == []
    )
    gate = one("void run(bool b) { CHECK(b || getVersion() == 100); }")
    assert gate.effect == "none"
    assert admitted(gate) == set(gate.verdict)


def test_code_that_no_export_runs_has_no_effect() -> None:
    gate = one("""
    void other() { CHECK(getVersion() == 100); }
    void run() {}
    """)
    assert gate.effect == "none"


def test_functions_that_call_themselves_end() -> None:
    assert (
        host("""
    int again(int n) { return n ? again(n - 1) : getVersion(); }
    void run() { again(3); }
    """)
        == []
    )
