"""Values: provenance, joining, truth, and what may be a key."""

from __future__ import annotations

import pytest

from analyzer.python.values import (
    Choice,
    Dict,
    External,
    Free,
    List,
    Origin,
    Provenance,
    Set,
    Site,
    Truth,
    Unknown,
    Value,
    combine,
    hashable,
    join,
    lift,
    plain,
    same,
    truth,
)

SITE = Site("a.py", 1, 1, 1)
DOOR = Provenance(Origin.DOOR, (), SITE, "capability")


@pytest.mark.parametrize("data", [3, "x", None, (1, ("a", 2)), [1, [2]], {"a": [1]}, {1, 2}, 1.5, b"x", True])
def test_lift_and_plain_are_inverse(data: object) -> None:
    assert plain(lift(data)) == data


@pytest.mark.parametrize("data", [Free(), Unknown("x"), External("torch.x"), List([], open=True)])
def test_what_is_not_known_has_no_plain_value(data: object) -> None:
    with pytest.raises(ValueError, match="constant"):
        plain(Value((Value(1), Value(data))))


def test_join() -> None:
    assert join([Value(1), Value(1)]).data == 1
    found = join([Value(1), Value(True), Value(2)])
    assert [option.data for option in found.data.options] == [1, True, 2], "1 and True are told apart"
    assert isinstance(join([Value(n) for n in range(20)]).data, Free)
    assert isinstance(join([Value(1), Value(Unknown("x"))]).data, Unknown), "unknown is never hidden"
    nested = join([found, Value(3)])
    assert len(nested.data.options) == 4


def test_join_keeps_all_sources() -> None:
    other = Provenance(Origin.TOOLKIT, (), SITE, "cuda")
    found = join([Value(1, DOOR), Value(1, other)])
    assert found.source is not None
    assert found.tainted
    assert {node.what for node in found.source.walk()} >= {"capability", "cuda"}


def test_a_gate_still_leads_to_its_door() -> None:
    gate = Provenance(Origin.GATE, (DOOR,), SITE)
    assert gate.door
    assert list(gate.walk()) == [gate, DOOR]
    assert list(gate.walk(through_gates=False)) == [gate]
    assert combine(None, DOOR, DOOR) is DOOR


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Value(0), Truth.FALSE),
        (Value("a"), Truth.TRUE),
        (Value(List([])), Truth.FALSE),
        (Value(List([], open=True)), Truth.FREE),
        (Value(Dict({})), Truth.FALSE),
        (Value(Set({}, open=True)), Truth.FREE),
        (Value(Free()), Truth.FREE),
        (Value(Unknown("x")), Truth.UNKNOWN),
        (Value(Choice((Value(1), Value("a")))), Truth.TRUE),
        (Value(Choice((Value(0), Value("a")))), Truth.FREE),
        (Value(External("x.y")), Truth.FREE),
    ],
)
def test_truth(value: Value, expected: Truth) -> None:
    assert truth(value) is expected
    assert ~~truth(value) is expected


def test_keys() -> None:
    half, same_half = Value(External("torch.half")), Value(External("torch.float16"))
    assert hashable(half) == hashable(same_half)
    assert hashable(half) != hashable(Value(External("torch.bfloat16")))
    with pytest.raises(ValueError, match="constant"):
        hashable(Value(External("torch.something")))
    with pytest.raises(TypeError):
        hashable(lift([1]))


def test_same_is_certain() -> None:
    assert same(lift((1, "a")), lift((1, "a")))
    assert not same(Value(1), Value(True))
    assert not same(lift([1]), lift([1])), "two lists may be changed apart"
