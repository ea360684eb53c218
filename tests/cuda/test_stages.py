"""Pipelines with a number of stages on one architecture, and as many as fit on another."""

from __future__ import annotations

import pytest

from analyzer.cuda.limits import gates
from analyzer.cuda.stages import facts

TEMPLATE = """\
#pragma once
#define MAKE_GEMM(T, M)                                          \\
  struct GemmSmARCH_##T##_##M {                                  \\
    using Arch = cutlass::arch::SmARCH; /* the tag */            \\
    using Tile = cute::Shape<cute::Int<M>, cute::Int<128>>;      \\
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder< \\
        Arch, OpClass, Tile,                                     \\
        STAGES,                                                  \\
        KernelScheduleAuto>::CollectiveOp;                       \\
  };
"""
FUNCTION = """\
template <int M>
int RunGemmSMARCH(int n) {
  using Stages = cutlass::gemm::collective::STAGES;
  using Mainloop = typename CollectiveBuilder<cutlass::arch::SmARCH, OpClass, Stages>::CollectiveOp;
  return n;
}
"""
COUNTED = "cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(Storage))>"
NAMES = ("sm_80", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121")


def written(text: str, arch: int, stages: str) -> bytes:
    filled = text.replace("ARCH", str(arch)).replace("STAGES", stages)
    return (f"// StageCount\n{filled}").encode()


UNTAGGED = written(TEMPLATE, 120, "StageCount<2>").replace(b"arch::Sm120", b"Other")


def told(target: str, **files: bytes) -> list[tuple[str, int, str, bool]]:
    found = {name: facts(text) for name, text in files.items()}
    made = gates(found, target, ("sm_90", "sm_100"), NAMES)
    return [(one.gate.file, one.gate.line, one.gate.effect, one.gate.silent) for one in made]


def test_a_number_where_namesakes_count() -> None:
    files = {
        "own": written(TEMPLATE, 120, "cutlass::gemm::collective::StageCount<2>"),
        "other": written(TEMPLATE, 100, COUNTED),
    }
    assert told("sm_120", **files) == [("own", 9, "degraded", True)]
    assert told("sm_121", **files) == [("own", 9, "degraded", True)]


def test_it_is_no_loss_of_another_target() -> None:
    files = {"own": written(TEMPLATE, 120, "StageCount<2>"), "other": written(TEMPLATE, 100, COUNTED)}
    assert told("sm_103", **files) == [("own", 9, "none", False)]


def test_verdicts() -> None:
    files = {"own": written(TEMPLATE, 120, "StageCount<2>"), "other": written(TEMPLATE, 100, COUNTED)}
    found = {name: facts(text) for name, text in files.items()}
    (made,) = gates(found, "sm_120", ("sm_90", "sm_100"), NAMES)
    assert [name for name, verdict in made.gate.verdict.items() if verdict == "admit"] == ["sm_100", "sm_103"]
    assert made.gate.code == "StageCount<2>"
    assert not made.always


def test_names_that_tell_the_architecture_and_an_alias() -> None:
    files = {"own": written(FUNCTION, 120, "StageCount<4>"), "other": written(FUNCTION, 90, "StageCountAuto")}
    assert told("sm_120", **files) == [("own", 4, "degraded", True)]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (written(TEMPLATE, 120, COUNTED), written(TEMPLATE, 100, COUNTED)),
        (written(TEMPLATE, 120, "StageCount<2>"), written(TEMPLATE, 100, "StageCount<3>")),
        (written(TEMPLATE, 120, "StageCount<2>"), written(FUNCTION, 100, COUNTED)),
        (written(TEMPLATE, 120, "StageCount<kStages>"), written(TEMPLATE, 100, COUNTED)),
        (UNTAGGED, written(TEMPLATE, 100, COUNTED)),
    ],
)  # fmt: skip
def test_nothing_to_tell(own: bytes, other: bytes) -> None:
    assert told("sm_120", own=own, other=other) == []
