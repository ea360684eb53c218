"""Pairs of gates: the same, moved, rewritten, decided otherwise, gone, new."""

from __future__ import annotations

from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.ci.compare import Change, compare
from analyzer.ci.known import Known
from tests.ci.gates import known, verdict


def kinds(old: list[Known], new: list[Known]) -> Counter[str]:
    return Counter(change.kind for change in compare(old, new))


def only(old: Known, new: Known) -> Change:
    (change,) = compare([old], [new])
    return change


def test_nothing_changed() -> None:
    gates = [known("a()"), known("a()", order=1), known("b()", "sm_90")]
    assert kinds(gates, list(reversed(gates))) == {"same": 3}
    assert compare([], []) == ()


def test_came_and_went() -> None:
    assert kinds([], [known()]) == {"added": 1}
    assert kinds([known()], []) == {"gone": 1}


@pytest.mark.parametrize(
    "new",
    [
        known("platform().is_new()"),
        known("facts().new"),
        known("is_new() and batch > 0"),
        known("not is_new() or x"),
    ],
)
def test_rewritten_in_its_place(new: Known) -> None:
    change = only(known(), new)
    assert (change.kind, change.rewritten, change.moved) == ("rewritten", True, False)


def test_moved_to_another_scope_or_file() -> None:
    for new in (known(scope="other"), known(scope="A.run"), known(file="p/b.py"), known(file="q/c.py")):
        change = only(known(), new)
        assert (change.kind, change.moved, change.rewritten) == ("moved", True, False)


def test_a_method_that_became_a_function() -> None:
    old = known("is_new() and self.batch > 0", scope="Options._choose")
    change = only(old, known("is_new() and options.batch > 0", scope="choose", file="q/hooks.py"))
    assert (change.kind, change.moved, change.rewritten) == ("rewritten", True, True)


def test_moved_and_rewritten() -> None:
    change = only(known("is_new() and batch > 0"), known("platform().is_new() and batch > 0", file="p/b.py"))
    assert (change.kind, change.moved, change.rewritten) == ("rewritten", True, True)


def test_unrelated_gates_are_no_pair() -> None:
    assert kinds([known("a() and b")], [known("x() or y", scope="other", file="q/z.py")]) == {
        "gone": 1,
        "added": 1,
    }
    module = known("is_new()", scope="<module>")
    elsewhere = known("is_new()", scope="<module>", file="q/z.py")
    keeps = [known("keep()"), known("keep()", file="q/z.py")]
    assert kinds([module, *keeps], [elsewhere, *keeps]) == {"gone": 1, "added": 1, "same": 2}


def test_decided_otherwise() -> None:
    change = only(known(), known("is_new()", "sm_120"))
    assert (change.kind, change.rewritten) == ("changed", False)
    listed = only(known("majors=[9, 10]"), known("majors=[9, 10, 12]", "sm_120"))
    assert (listed.kind, listed.rewritten) == ("changed", True)
    graver = only(known(effect="excluded", severity="warning"), known())
    assert graver.kind == "changed"


def test_an_architecture_that_one_side_does_not_know_changes_nothing() -> None:
    more = msgspec.structs.replace(known(), verdict={**verdict(), "sm_130": "admit"})
    assert only(known(), more).kind == "same"


def test_a_renamed_file_keeps_its_gates() -> None:
    old = [known(c, scope=s, file="p/old.py") for c in ("a()", "b()") for s in ("f", "<module>")]
    new = [known(c, scope=s, file="p/new.py") for c in ("a()", "b()") for s in ("f", "<module>")]
    assert kinds(old, new) == {"moved": 4}
    assert kinds(old, [*new[:3], known("b() or c", scope="<module>", file="p/new.py")]) == {
        "moved": 3,
        "rewritten": 1,
    }


def test_one_more_among_equal_conditions() -> None:
    """Ids count equal conditions; the one that came is told by what it decides."""
    old = [known(order=0), known(order=1)]
    new = [known("is_new()", "sm_120", order=0), known(order=1), known(order=2)]
    changes = compare(old, new)
    assert [change.new and change.new.order for change in changes if change.kind == "added"] == [0]
    assert kinds(old, new) == {"added": 1, "moved": 2}
    assert kinds(new, old) == {"gone": 1, "moved": 2}


def test_a_condition_that_moved_is_preferred_to_one_that_reads_alike() -> None:
    """A function was split: its condition went into a new one, and another condition stands in its place."""
    old = known("'fast' if major >= 10 else 'slow'", "sm_100", "sm_120")
    moved = known("'fast' if major >= 10 else 'slow'", "sm_100", "sm_120", scope="default")
    other = known("model == 'Big' and is_new()", "sm_100", "sm_120")
    changes = {change.kind: change for change in compare([old], [other, moved])}
    assert changes["moved"].new == moved
    assert changes["added"].new == other


SOME = st.lists(
    st.builds(
        known,
        st.sampled_from(["a()", "b()", "a() and x", "not a()", "c.b()"]),
        st.sampled_from(["sm_90", "sm_100", "sm_120"]),
        scope=st.sampled_from(["f", "g", "A.f", "<module>", ""]),
        file=st.sampled_from(["p/a.py", "p/b.py", "q/a.py"]),
    ),
    max_size=12,
)


def numbered(gates: list[Known]) -> list[Known]:
    """Equal conditions of a scope get their order."""
    counts: Counter[tuple[object, ...]] = Counter()
    result = []
    for one in gates:
        key = (one.place, one.condition)
        admitted = [arch for arch, v in one.verdict.items() if v == "admit"]
        result.append(known(one.condition, *admitted, scope=one.scope, file=one.file, order=counts[key]))
        counts[key] += 1
    return result


@given(SOME, SOME, st.randoms())
def test_every_gate_once_whatever_the_order(old: list[Known], new: list[Known], random: Random) -> None:
    before, after = numbered(old), numbered(new)
    changes = compare(before, after)
    assert sorted(c.old.id for c in changes if c.old) == sorted(k.id for k in before)
    assert sorted(c.new.id for c in changes if c.new) == sorted(k.id for k in after)
    random.shuffle(before)
    random.shuffle(after)
    assert compare(before, after) == changes


@given(SOME, SOME)
def test_both_directions_find_the_same_pairs_of_ids(old: list[Known], new: list[Known]) -> None:
    """What keeps its id and its outcome is never paired with anything else."""
    before, after = numbered(old), numbered(new)
    if len({(k.place, k.condition) for k in (*before, *after)}) != len({k.id for k in (*before, *after)}):
        return  # equal conditions in one scope are aligned, not matched by id
    common = {k.id for k in before} & {k.id for k in after}
    paired = {c.old.id for c in compare(before, after) if c.old and c.new and c.old.id == c.new.id}
    assert common <= paired
