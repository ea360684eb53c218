"""Gates: ids that survive edits, sides that a target takes, unknown that stays unknown, uses."""

from __future__ import annotations

import textwrap

import pytest

from analyzer.model import Gate
from analyzer.python import gates
from tests.python.surveys import gates_of, surveyed

HEAD = """
import torch

def is_sm100():
    return torch.cuda.get_device_capability()[0] == 10

def is_sm90():
    return torch.cuda.get_device_capability()[0] == 9
"""
BODY = """
def run(x):
    if is_sm100():
        return x.fast()
    if is_sm100():
        return x.again()
    elif is_sm90():
        x.middle()
    return x.slow()
"""


def program(body: str, head: str = HEAD) -> list[Gate]:
    """The gates of one module ``p/a.py``."""
    return gates_of({"p/__init__.py": "", "p/a.py": head + textwrap.dedent(body)})


def only(body: str, head: str = HEAD) -> Gate:
    """The single gate of a module."""
    (gate,) = program(body, head)
    return gate


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "\n\n\n" + text,
        lambda text: text.replace("    ", "  "),
        lambda text: text.replace("is_sm100():", "is_sm100():  # the datacenter parts"),
        lambda text: text.replace("is_sm100()", "is_sm100( )"),
        lambda text: text.replace("x.fast()", "x.fast( 1 )"),
        lambda text: text.replace("    return x.slow()", "    y = 1\n    return x.slow(y)"),
    ],
)
def test_ids_survive_edits_that_mean_nothing(edit: object) -> None:
    assert callable(edit)
    before = [(gate.id, gate.dispatch) for gate in program(BODY)]
    after = [(gate.id, gate.dispatch) for gate in program(edit(BODY), edit(HEAD))]
    assert len(before) == 3
    assert before == after


def test_ids_change_with_condition_and_scope() -> None:
    before = {gate.id for gate in program(BODY)}
    assert not before & {gate.id for gate in program(BODY.replace("def run", "def other"))}
    changed = {gate.id for gate in program(BODY.replace("elif is_sm90()", "elif not is_sm90()"))}
    assert len(before - changed) == 1


def test_equal_conditions_are_told_apart() -> None:
    gates = [gate for gate in program(BODY) if gate.code == "is_sm100()"]
    assert [gate.order for gate in gates] == [0, 1]
    assert len({gate.id for gate in gates}) == 2


@pytest.mark.parametrize(
    ("condition", "effect"),
    [
        ("size > 256 and not is_new()", None),  # sm_90 alone passes over some: the target is served
        ("is_sm90()", "none"),
        ("not is_sm90()", "degraded"),
    ],
)
def test_what_passes_over_a_turn_of_a_loop_is_not_gated(condition: str, effect: str | None) -> None:
    head = """
import torch

def is_new(): return torch.cuda.get_device_capability()[0] >= 10
def is_sm90(): return torch.cuda.get_device_capability()[0] == 9
"""
    told = program(
        f"""
        def make(sizes):
            for size in sizes:
                if {condition}:
                    continue
                build(size)
        """,
        head,
    )
    assert [gate.effect for gate in told] == ([] if effect is None else [effect])


def test_the_branch_that_the_target_takes_is_named() -> None:
    gate = program(
        """
        import sys
        def pick(o):
            if is_sm100():
                o.way = "a"
            elif sys.platform == "win32":
                o.way = "b"
            elif is_sm90():
                o.way = "c"
            elif o.wish:
                o.way = "d"
            else:
                o.way = "e"
        """
    )[0]
    assert gate.falls_back_to == "o.way = 'd' or o.way = 'e'"


def test_a_side_that_calls_what_always_raises_raises() -> None:
    gate = only(
        """
        def refuse(name):
            raise NotImplementedError(f"no {name} here")
        def run(x):
            if is_sm100():
                return x.fast()
            else:
                refuse("tcgen05")
        """
    )
    assert (gate.effect, gate.message, gate.silent) == ("raises", "no tcgen05 here", False)


def test_a_raise_that_is_caught_is_a_fall_back() -> None:
    gate = only(
        """
        def run(x):
            try:
                if not is_sm100():
                    raise ValueError("no")
                return x.fast()
            except (TypeError, ValueError):
                return x.slow()
        """
    )
    assert (gate.effect, gate.falls_back_to) == ("degraded", "x.slow()")


def test_a_handler_of_another_exception_catches_nothing() -> None:
    gate = only(
        """
        def run(x):
            try:
                if not is_sm100():
                    raise ValueError("no")
                return x.fast()
            except KeyError:
                return x.slow()
        """
    )
    assert (gate.effect, gate.message) == ("raises", "no")


def test_an_answer_that_is_lost_stays_unknown() -> None:
    gate = only(
        """
        import elsewhere
        def run(x):
            if elsewhere.judge(torch.cuda.get_device_capability()):
                return x.fast()
            return x.slow()
        """
    )
    assert set(gate.verdict.values()) == {"unknown"}
    assert gate.effect == "none"


def test_what_only_forwards_an_answer_is_listed_in_uses() -> None:
    gate = only(
        """
        def usable(size):
            return is_sm100() and size < 64
        def run(x):
            if usable(x.size):
                return x.fast()
            return x.slow()
        """
    )
    assert gate.scope == "usable"
    assert [(use.file, use.line) for use in gate.uses] == [("p/a.py", 13)]
    assert (gate.effect, gate.falls_back_to) == ("degraded", "x.slow()")


def test_a_predicate_with_early_returns_is_no_gate() -> None:
    gate = only(
        """
        def usable():
            if not torch.cuda.is_available():
                return False
            major, minor = torch.cuda.get_device_capability()
            if major == 10:
                return True
            if (major, minor) == (9, 0):
                return True
            return False
        def run(x):
            if usable():
                x.fast()
        """
    )
    assert gate.scope == "run"
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {
        "sm_90",
        "sm_100",
        "sm_103",
    }


def test_a_check_inside_a_taken_branch_only_counts_where_it_is_reached() -> None:
    outer, inner = program(
        """
        def run(x):
            if is_sm100() or is_sm90():
                x.wide()
                if not is_sm90():
                    raise RuntimeError("only nine")
                x.nine()
        """
    )
    assert outer.effect == "excluded"
    assert (inner.effect, inner.verdict["sm_90"], inner.verdict["sm_100"]) == ("none", "admit", "reject")
    assert inner.verdict["sm_120"] == "reject"


def test_what_a_setter_fills_is_not_taken_to_be_empty() -> None:
    gate = only(
        """
        _options = None
        def set_options(options):
            global _options
            _options = options

        def get_options():
            if _options is None:
                raise ValueError("not set yet")
            return _options
        def run(x):
            if get_options().plain:
                return x
            if is_sm100():
                return x.fast()
            return x.slow()
        """
    )
    assert (gate.scope, gate.effect) == ("run", "degraded")


CAPABLE = """
import torch

def capable(majors):
    def decorate(f):
        def g(*args):
            if torch.cuda.get_device_capability()[0] not in majors:
                raise RuntimeError("no")
            return f(*args)
        return g
    return decorate
"""


def test_a_decorators_list_belongs_to_what_it_decorates() -> None:
    """So that one more decorated function in a file leaves the ids of the others alone."""
    gates = program(
        """
        class Norm:
            @capable([9, 10])
            def forward(self, x):
                return x
        if True:
            @capable([9])
            def last(x):
                return x
        """,
        CAPABLE,
    )
    assert [(gate.scope, gate.code, gate.layer) for gate in gates] == [
        ("Norm.forward", "[9, 10]", "api"),
        ("last", "[9]", "api"),
    ]


def test_a_local_name_for_an_answer_is_a_predicate() -> None:
    text = HEAD + textwrap.dedent(
        """
        def run(x, size):
            supports = torch.cuda.get_device_capability()[0] in (9, 10)
            mixed = is_sm100() and size > 4
            if size > 8 and supports:
                x.fast(mixed)
        """
    )
    files = {"p/__init__.py": "", "p/a.py": text}
    told = surveyed(files, lambda file: files[file].encode(), names=("sm_100", "sm_120"))
    named = {arch: {name: value for (name, _), value in item.locals.items()} for arch, item in told.items()}
    assert named == {
        "sm_100": {"p.a.run.supports": "true", "p.a.run.mixed": "free"},
        "sm_120": {"p.a.run.supports": "false", "p.a.run.mixed": "false"},
    }


def test_a_method_of_an_enumeration_runs_for_any_member() -> None:
    files = {
        "kit.py": """from enum import Enum
import torch

class Kind(Enum):
    OLD = "old"
    NEW = "new"

    def check(self):
        if torch.cuda.get_device_capability()[0] == 12:
            raise RuntimeError(f"{self} is not for this device")
        return f"{self}"
"""
    }
    (gate,) = gates_of(files)
    assert (gate.line, gate.effect) == (9, "raises")


def test_a_record_of_an_answer_is_held_against_a_tuple() -> None:
    gates = gates_of(
        {
            "kit.py": """
            from typing import NamedTuple
            import torch

            class Version(NamedTuple):
                major: int
                minor: int

            class Kernel:
                required = (10, 0)

                @classmethod
                def resolve(cls):
                    if version() != cls.required:
                        raise ValueError("needs 10.0")
                    return 1

            def version():
                major, minor = torch.cuda.get_device_capability()
                return Version(major, minor)

            def newer():
                if version() >= (9, 0):
                    return fast()
                raise ValueError("too old")

            def listed():
                assert version() in [(9, 0), (10, 0)]
            """
        }
    )
    assert [(gate.line, gate.effect, gate.verdict["sm_120"]) for gate in gates] == [
        (10, "raises", "reject"),  # where the version is written, and where it is asked for
        (14, "raises", "reject"),
        (23, "none", "admit"),
        (28, "raises", "reject"),
    ]


MODULES = """
import torch

def make(name):
    return name

def modules():
    number = torch.cuda.get_device_capability()
    found = []
    if number == (10, 0):
        found.append(make("gemm_100"))
        found.append(make("attention_100"))
        found.append(make("cluster_100"))
    if number == (12, 0):
        found.append(make("gemm_120"))
        found.append(make("attention_120"))
    if number == (12, 1):
        found.append(make("{own}"))
    return found
"""


@pytest.mark.parametrize(
    ("own", "effect"),
    [
        ("gemm_121", "degraded"),
        ("sparse_121", "none"),
        ('gemm_121"))\n        found.append(make("attention_121', "none"),
    ],
)
def test_a_branch_of_its_own_that_does_less_than_that_of_its_family(own: str, effect: str) -> None:
    texts = {"p/__init__.py": MODULES.replace("{own}", own).encode()}
    found = gates.gates(surveyed(texts, texts.__getitem__), "sm_121", ("sm_90", "sm_100"))
    (gate,) = [draft.gate for draft in found.gates if draft.gate.code == "number == (12, 1)"]
    assert gate.effect == effect
    told = [step.what for step in gate.because if step.what.startswith("sm_120, whose code sm_121 runs")]
    assert bool(told) is (effect == "degraded")
