"""What a data member can hold, by what constructors are given on each architecture."""

from __future__ import annotations

import pytest

from tests.cuda.host.test_search import admitted, host, one

CONFIG = """
    struct Config {
      int tile = 0;
      int version = 80;
      Config() = default;
      Config(int tile, int stages) : tile(tile), version(90) {}
      Config(int tile, int stages, int shape, int version = 100) : tile(tile), version(version) {}
    };
"""
CANDIDATES = """
    Config narrow(int flags, int version) { return Config{1, 2, 3, version}; }
    Config wide(int flags) { return Config{1, 2, 3}; }
    Config candidates(int flags, int version) {
      if (version == 90) { return Config(1, 2); }
      if (version == 110 && (flags & 4)) { return wide(flags); }
      if (version >= 100 && version < 120 && (flags & 4)) { return narrow(flags, version); }
      return {};
    }
"""
RUN = """
    struct Runner {
      int sm_;
      Runner() : sm_(getVersion()) {}
      Config pick(int flags) { return candidates(flags, sm_); }
      void check(Config const& config) {
        TORCH_CHECK(config.version / 10 == sm_ / 10, "of another GPU");
      }
    };
    void run(int flags) {
      Runner runner;
      runner.check(runner.pick(flags));
    }
"""


def test_a_check_of_a_member_that_no_constructor_makes_hold() -> None:
    (gate,) = [g for g in host(CONFIG + CANDIDATES + RUN, target="sm_110") if "config.version" in g.code]
    # 75 and 12x meet none of 80, 90, 100; 110 would, had it not left before its own number is passed on.
    assert admitted(gate) == {"sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103"}
    assert gate.effect == "raises"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (version == 110 && (flags & 4))", "if (version == 110 && (flags & 8))"),
        ("{ return wide(flags); }", "{ log(flags); }"),
        ("if (version == 110 &&", "flags = 3; if (version == 110 &&"),
        ("return narrow(flags, version)", "update(flags); return narrow(flags, version)"),
    ],
)
def test_what_a_free_condition_was_is_known_only_of_the_same_one(old: str, new: str) -> None:
    text = (CONFIG + CANDIDATES).replace(old, new)
    found = [g for g in host(text + RUN, target="sm_110") if "config.version" in g.code]
    kept = "sm_110" not in admitted(found[0]) if found else False
    assert kept is (old.startswith(("if (version == 110 &&", "return narrow")) and "8" not in new)


@pytest.mark.parametrize(
    "further",
    [
        "void set(Config& config) { config.version = 110; }",
        "int* at(Config& config) { return &config.version; }",
        "struct Other { int version = 1; };",
        "Config more(int version) { return Config{1, 2, 3, version}; } void go(int n) { more(n); }",
        "Config more() { return Config{1, 2, 3, unknown()}; }",
    ],
)
def test_a_member_that_may_hold_anything_decides_nothing(further: str) -> None:
    found = host(CONFIG + CANDIDATES + further + RUN, target="sm_110")
    assert not [gate for gate in found if "config.version" in gate.code]


def test_a_branch_that_is_left_settles_the_free_part_of_its_condition() -> None:
    gate = one("""
    void run(int flags) {
      int sm = getVersion();
      bool wide = flags & 4;
      TORCH_CHECK(sm != 90 || wide, "narrow");
    }
    """)
    assert admitted(gate) == admitted(gate) | {"sm_90"}
    found = host("""
    void run(int flags) {
      int sm = getVersion();
      bool wide = flags & 4;
      if (sm == 90 && wide) { return; }
      TORCH_CHECK(sm != 90 || wide, "narrow");
    }
    """)
    (check,) = [gate for gate in found if gate.code.startswith("sm != 90")]
    assert "sm_90" not in admitted(check)
