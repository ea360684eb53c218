"""What was judged by reading is still told so, and enough of it was found true."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from tests.cases import precision

DOCS = Path(__file__).resolve().parents[2] / "docs" / "precision.md"


def judged() -> dict[str, str]:
    """Rows of the table, without their judgement, and the judgement of each."""
    lines = DOCS.read_text().splitlines()
    start = lines.index("| place | condition | passes | effect on sm_120 | judgement |")
    rows = takewhile(lambda line: line.startswith("| "), lines[start + 2 :])
    found = [line.rsplit(" | ", 1) for line in rows]
    return {row + " |": judgement.removesuffix(" |").strip() for row, judgement in found}


def test_enough_of_the_draw_is_true() -> None:
    judgements = list(judged().values())
    assert len(judgements) == precision.SIZE
    assert sum(judgement.startswith("true") for judgement in judgements) >= 57


@pytest.mark.slow
def test_what_is_true_is_still_told() -> None:
    told = {precision.row(gate) for gate in precision.gates()}
    lost = [row for row, judgement in judged().items() if judgement.startswith("true") and row not in told]
    assert not lost
