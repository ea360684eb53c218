"""The plain sentence of every effect, and the order of findings."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from analyzer import model
from analyzer.judge.comments import QUOTES
from analyzer.judge.severity import EFFECT_ORDER
from analyzer.model import LAYERS, Effect, Layer, Severity, When
from analyzer.report import tally, words
from tests.report import sample


def say(gate: sample.Gate) -> str:
    return words.plain(words.sentence(gate, "sm_120"))


@pytest.mark.parametrize("effect", get_args(Effect))
def test_every_effect_has_words(effect: Effect) -> None:
    gate = msgspec.structs.replace(sample.EMPTY, effect=effect)
    assert say(gate).rstrip("”").endswith((".", "]"))
    assert "sm_120" in say(gate)
    assert words.EFFECTS[effect]
    assert words.MEANING[effect]
    assert effect in EFFECT_ORDER


def test_terms_are_complete() -> None:
    assert set(words.LAYERS) == set(get_args(Layer)) == set(LAYERS)
    assert set(words.WHEN) == set(get_args(When))


def test_who_does_not_pass_and_loses_nothing_is_not_said_to_be_treated_alike() -> None:
    verdict = {arch: "admit" if arch == "sm_90" else "reject" for arch in sample.ARCHS}
    gate = msgspec.structs.replace(sample.FUSE_GATE, effect="none", verdict=verdict)
    assert (
        say(gate) == "sm_120 does not pass in `use_fused_reduce`, and loses nothing by it: only sm_90 passes."
    )


def test_who_passes_into_an_error_is_not_said_to_be_refused() -> None:
    gate = msgspec.structs.replace(sample.JIT_GATE, verdict=dict.fromkeys(sample.ARCHS, "admit"))
    assert say(gate).startswith("sm_120 is let in and stopped in `reduce_module`: “")


def test_sentences_name_what_the_gate_knows() -> None:
    assert say(sample.JIT_GATE) == f"sm_120 is refused in `reduce_module`: “RuntimeError: {sample.MESSAGE}”"
    assert say(sample.FUSE_GATE) == (
        "sm_120 gets `three separate kernels` instead of `Norm.forward_fused` in `use_fused_reduce`, "
        "and nothing says so."
    )
    announced = msgspec.structs.replace(sample.FUSE_GATE, silent=False)
    assert say(announced).endswith("; a message says so.")


def test_a_gate_that_names_nothing_still_reads_well() -> None:
    bare = msgspec.structs.replace(
        sample.FUSE_GATE, admits=None, falls_back_to=None, scope="", effect="excluded", silent=True
    )
    assert say(bare) == (
        "sm_120 never gets the code behind `(_hopper or _blackwell) and batch > 0` in `fuse.py`, "
        "nor anything in its place, and nothing says so."
    )


def test_losing_a_wait_is_graver_than_losing_overlap() -> None:
    assert "it may read what the kernel before it is still writing" in say(sample.WAIT)
    assert "only overlap is lost" in say(sample.TRIGGER)
    both = msgspec.structs.replace(sample.TRIGGER, loses=sample.TRIGGER.loses + sample.WAIT.loses)
    assert "it may read" in say(both)


@pytest.mark.parametrize(("number", "text"), [(0, "0 gates"), (1, "1 gate"), (1200, "1,200 gates")])
def test_counted(number: int, text: str) -> None:
    assert words.counted(number, "gate") == text


def test_headline_counts_one_in_the_singular() -> None:
    one = msgspec.structs.replace(sample.REPORT, gates=(sample.EMPTY,))
    assert words.headline(one) == (
        "sm_120 loses something at 1 place: 1 of them stops or breaks it, 1 gives no sign of it."
    )


def test_worst_first_does_not_depend_on_the_order_given() -> None:
    forwards = tally.worst_first(sample.GATES)
    assert forwards == tally.worst_first(reversed(sample.GATES))
    ranks = [("error", "warning", "note", "none").index(gate.severity) for gate in forwards]
    assert ranks == sorted(ranks)


def test_sums() -> None:
    expected: dict[Severity, int] = {"error": 3, "warning": 3, "note": 1}
    assert tally.by_severity(sample.REPORT) == expected
    assert tally.by_layer(sample.REPORT)["guard"] == {"error": 2, "warning": 0, "note": 1}
    assert "env" not in tally.by_layer(sample.REPORT)


def test_an_architecture_without_profile_has_no_products() -> None:
    assert words.products("sm_120") == ("RTX PRO 6000 Blackwell", "GeForce RTX 5090")
    assert words.products("sm_777") == ()


def test_reasons_count_places_and_begin_with_what_blocks_most() -> None:
    def place(line: int, why: str, blocks: int) -> sample.Unresolved:
        return sample.Unresolved("a.py", line, "f()", why, blocks)

    places = (place(1, "loop", 0), place(2, "loop", 0), place(3, "door", 4), place(4, "file", 1))
    coverage = msgspec.structs.replace(sample.REPORT.coverage, unresolved=places)
    report = msgspec.structs.replace(sample.REPORT, coverage=coverage)
    assert tally.unresolved_reasons(report) == [("door", 1), ("file", 1), ("loop", 2)]


@pytest.mark.parametrize(
    ("kind", "steps", "told"),
    [
        ("unknown", (), "unknown"),
        ("unknown", (f"{QUOTES}no", "`f` is not here", "g too"), "unknown: f is not here, and 2 more"),
        (
            "liftable",
            (f"{QUOTES}slow", "followed from here", "12 functions read"),
            "liftable: 12 functions read",
        ),
        ("hardware", ("needs `wgmma`",), "hardware: needs wgmma"),
        ("unknown", (f"{QUOTES}do not",), f"unknown: {QUOTES}do not"),
    ],
)
def test_a_justification_in_a_few_words(kind: str, steps: tuple[str, ...], told: str) -> None:
    evidence = tuple(model.Step("a.py", 1, step) for step in steps)
    assert words.followed(model.Justification(kind, evidence)) == told  # type: ignore[arg-type]


def test_what_keeps_the_family_away_is_named() -> None:
    verdict = {"sm_90": "admit", "sm_120": "reject", "sm_121": "admit"}
    gate = msgspec.structs.replace(sample.FUSE_GATE, effect="wrongly_admitted", verdict=verdict)
    told = words.plain(words.sentence(gate, "sm_121"))
    assert told.startswith("sm_121 passes ")
    assert told.endswith(" here, and sm_120, whose code it runs, does not.")


@pytest.mark.parametrize(
    ("steps", "later"),
    [
        ((), "a later gate"),
        ((model.Step("a.py", 3, f"{QUOTES}slow"),), "a later gate"),
        ((model.Step("a.py", 3, f"{QUOTES}slow"), model.Step("kit/runner.h", 37, "raises")), "`runner.h:37`"),
    ],
)
def test_what_stops_the_target_later_is_named(steps: tuple[model.Step, ...], later: str) -> None:
    gate = msgspec.structs.replace(
        sample.FUSE_GATE,
        effect="wrongly_admitted",
        verdict={"sm_90": "reject", "sm_100": "admit", "sm_120": "admit"},
        justification=model.Justification("unknown", steps),
    )
    told = words.plain(words.sentence(gate, "sm_120"))
    assert told.endswith(f" here, and {later} on the same way stops or damages it.")
