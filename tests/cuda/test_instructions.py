from __future__ import annotations

import pytest

from analyzer.archs import Spelling
from analyzer.cuda import ptx
from analyzer.cuda.instructions import Requirement, needs, requirement, targets
from analyzer.cuda.source import read


def of(text: str) -> Requirement:
    (instruction,) = ptx.parse(ptx.Template(text + ";", ((0, 0),)))
    return requirement(instruction)


@pytest.mark.parametrize(
    ("text", "legal", "illegal"),
    [
        ("wgmma.fence.sync.aligned", ["90a"], ["90", "100a", "120a"]),
        ("tcgen05.wait::ld.sync.aligned", ["100a", "103f", "110a"], ["90a", "100", "120a", "120f"]),
        ("griddepcontrol.wait", ["90", "100", "120"], ["80", "89"]),
        ("redux.sync.max.f32 %0, %1, 0xffffffff", ["100a", "103a"], ["90a", "120a"]),
        ("redux.sync.max.u32 %0, %1, 0xffffffff", ["80", "120"], ["75"]),
        ("cvt.rn.satfinite.e2m1x2.f32 b, %1, %2", ["100a", "120a", "121f"], ["90a", "120"]),
        ("max.f32 %0, %1, %2, %3", ["100", "120"], ["90"]),
        ("max.f32 %0, %1, %2", ["75"], []),
        ("mov.u32 %0, %cluster_ctarank", ["90"], ["89"]),
        ("mov.u32 %0, %laneid", ["75"], []),
        ("setctarank.shared.u32 a, b, c", [], ["75", "90a", "120a"]),
    ],
)
def test_where_an_instruction_assembles(text: str, legal: list[str], illegal: list[str]) -> None:
    found = of(text)
    assert found.known
    assert [name for name in legal if not found.admits(Spelling.parse(name))] == []
    assert [name for name in illegal if found.admits(Spelling.parse(name))] == []


def test_a_word_that_the_row_lacks_makes_the_instruction_unknown() -> None:
    found = of("tcgen05.mma.cta_group::3.kind::f16 a, b, c, d, p")
    assert not found.known
    assert found.admits(Spelling(100, "a")) is None
    assert ".cta_group::3" in found.reason


def test_an_instruction_without_a_row_is_unknown() -> None:
    assert "frobnicate" in of("frobnicate.sync a").reason


def test_a_macro_in_the_instruction_makes_it_unknown() -> None:
    assert of("ld.relaxed.\0.global.u32 a, [b]").admits(Spelling(120, "a")) is None


def test_the_lacking_part_is_named() -> None:
    found = of(
        "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [a], [b, {c, d}], [e]"
    )
    lacking = found.lacking(Spelling(120, "a"))
    assert lacking is not None
    assert "cta_group::2" in lacking.words
    assert Spelling(100, "a") in lacking.targets


def test_targets_of_a_family_and_from_an_architecture_on() -> None:
    assert {spelling.target for spelling in targets("sm_100f")} == {
        "sm_100a",
        "sm_100f",
        "sm_103a",
        "sm_103f",
    }
    assert {spelling.target for spelling in targets("sm_90a")} == {"sm_90a"}
    assert {spelling.target for spelling in targets("sm_120+")} == {
        f"sm_12{minor}{suffix}" for minor in "01" for suffix in ("", "a", "f")
    }
    assert targets("") == frozenset()


def test_needs_of_a_piece_of_code() -> None:
    code = """
    __device__ void f() {
      asm volatile("griddepcontrol.wait;" ::: "memory");
      float2 r = __ffma2_rn(a, b, c);
    }
    __device__ void g() { asm volatile("wgmma.fence.sync.aligned;"); }
    """
    active = read(code.encode()).active()
    end = active.code.index("void g")
    found = list(needs(active.text, active.code, 0, end))
    assert [instruction.opcode for instruction, _ in found] == ["griddepcontrol.wait", "__ffma2_rn"]
    assert [required.admits(Spelling(90, "a")) for _, required in found] == [True, False]
