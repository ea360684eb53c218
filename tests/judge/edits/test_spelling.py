"""How lists spell architectures, and the target beside them."""

from __future__ import annotations

import pytest

from analyzer.judge.edits.spelling import another


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([9, 10], 12),
        ([100, 103], 120),
        ([90], 120),
        (["100", "103"], "120"),
        (["100a", "103a"], "120a"),
        (["90", "90a"], "120"),
        (["9.0"], "12.0"),
        (["sm_90a"], "sm_120a"),
        (["sm90"], "sm120"),
        (["compute_100"], "compute_120"),
        ([(9, 0), (10, 0)], (12, 0)),
        ([], None),
        ([9, 64], None),
        ([True], None),
        (["fa3"], None),
        ([1024], None),
        ([None], None),
        ([9, "10"], None),
    ],
)
def test_another(values: list[object], expected: object) -> None:
    assert another(values, "sm_120") == expected
