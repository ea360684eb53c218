"""Layout of a path: nothing overlaps, chains run down, forks open columns, cycles do no harm."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.report import drawing
from analyzer.report.drawing import HEIGHT, WIDTH, Box, draw
from analyzer.report.gallery import bridged


def by_id(steps: list[str], edges: list[tuple[str, str]]) -> dict[str, Box]:
    return {box.id: box for box in draw(steps, edges).boxes}


def test_a_chain_is_one_column() -> None:
    boxes = by_id(["a", "b", "c"], [("a", "b"), ("b", "c")])
    assert len({box.x for box in boxes.values()}) == 1
    assert boxes["a"].y < boxes["b"].y < boxes["c"].y


def test_a_long_chain_goes_on_in_the_next_column() -> None:
    steps = [str(n) for n in range(20)]
    boxes = by_id(steps, list(pairwise(steps)))
    assert len({box.x for box in boxes.values()}) == 3


def test_a_fork_opens_a_column_beside_its_origin() -> None:
    boxes = by_id(["a", "b", "c"], [("a", "b"), ("a", "c")])
    assert boxes["b"].x == boxes["c"].x > boxes["a"].x
    assert boxes["b"].y < boxes["a"].y < boxes["c"].y


def test_a_wide_fan_goes_on_in_the_next_columns() -> None:
    leaves = [str(n) for n in range(20)]
    boxes = by_id(["a", *leaves], [("a", leaf) for leaf in leaves])
    columns = [boxes[leaf].x for leaf in leaves]
    assert [columns.count(x) for x in sorted(set(columns))] == [8, 8, 4]
    assert min(columns) > boxes["a"].x
    assert len({(box.x, box.y) for box in boxes.values()}) == 21


def test_two_chains_in_one_column_stand_apart() -> None:
    boxes = by_id(["a", "b", "c"], [("a", "b"), ("a", "c")])
    assert boxes["c"].y - boxes["b"].y > drawing.ROW


def test_steps_without_edges_are_a_chain() -> None:
    drawn = draw(["a", "b", "c"], [])
    assert drawn.links == ((0, 1), (1, 2))


def test_edges_to_strangers_are_left_out() -> None:
    assert draw(["a", "b"], [("a", "b"), ("a", "z"), ("z", "b")]).links == ((0, 1),)


def test_a_cycle_is_drawn() -> None:
    drawn = draw(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a")])
    assert len(drawn.boxes) == 3
    assert len(drawn.links) == 3


def test_nothing_is_nothing() -> None:
    assert draw([], []).boxes == ()


STEPS = [str(n) for n in range(12)]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(STEPS)), max_size=40))
def test_boxes_never_overlap_and_fit(edges: list[tuple[str, str]]) -> None:
    drawn = draw(STEPS, edges)
    assert [box.id for box in drawn.boxes] == STEPS
    assert drawn == draw(STEPS, edges)
    for a, b in combinations(drawn.boxes, 2):
        assert abs(a.x - b.x) >= WIDTH or abs(a.y - b.y) >= HEIGHT, (a, b)
    for box in drawn.boxes:
        assert 0 <= box.x <= drawn.width - WIDTH
        assert 0 <= box.y <= drawn.height - HEIGHT


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ({"a", "d"}, [("a", "d")]),
        ({"a", "c", "d"}, [("a", "c"), ("a", "d"), ("c", "d")]),
        ({"a", "b", "c", "d"}, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]),
    ],
)
def test_steps_left_out_are_bridged(kept: set[str], expected: list[tuple[str, str]]) -> None:
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    assert sorted(bridged(["a", "b", "c", "d"], edges, kept)) == expected
