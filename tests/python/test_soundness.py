"""Random programs: the evaluator equals real execution, and is never certain of what a free input can change.

A program is one function ``ask`` of a few free inputs over the device's capability. With inputs given it must
come out as in the real interpreter; with free inputs its answer must leave room for every choice of them.
"""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Free, Raised, Value, lift
from tests.oracle.records import SITE, judge, machine, outcome

INPUTS = ("p", "q")
#: Booleans: ``free or True`` is told as True, though it may be another true value; that is deliberate.
CHOICES = (False, True)
ARCHS = ((8, 9), (9, 0), (12, 0))

numbers = st.sampled_from(["major", "minor", "sm", "9", "10", "90", "0", "x", "y"])
tests = st.deferred(
    lambda: st.one_of(
        st.builds("{} {} {}".format, numbers, st.sampled_from(["==", "!=", "<", ">="]), numbers),
        st.builds("{} <= {} < {}".format, numbers, numbers, numbers),
        st.builds("cap {} ({}, {})".format, st.sampled_from(["==", ">=", "<"]), numbers, numbers),
        st.builds("{} in ({}, {})".format, numbers, numbers, numbers),
        st.builds("{} not in xs".format, numbers),
        st.sampled_from(INPUTS),
        st.builds("not ({})".format, tests),
        st.builds("({}) {} ({})".format, tests, st.sampled_from(["and", "or"]), tests),
        st.sampled_from(["check(9)", "check(x)", "box.flag", "(z := x) > 3", "xs", "d.get(major)"]),
    )
)
values = st.one_of(
    numbers,
    tests,
    st.builds("({}) if ({}) else ({})".format, numbers, tests, numbers),
    st.builds("{} + {}".format, numbers, numbers),
    st.sampled_from(
        [
            "[x, y]",
            "(x, minor)",
            "list(xs)",
            "len(xs)",
            "sum(xs)",
            "f'sm_{x}'",
            "d[major]",
            "d.get(x, y)",
            "box.v",
        ]
    ),
    st.sampled_from(
        ["xs[0]", "xs[-1]", "bump(x)", "[n for n in xs if n > x]", "any(n == x for n in xs)", "10 // minor"]
    ),
)


@st.composite
def statements(draw: Callable[..., Any], depth: int, loop: bool) -> list[str]:  # noqa: C901
    kinds = ["set", "set", "append", "item", "attribute", "return", "call", "augment", "remove"]
    if depth:
        kinds += ["if", "if", "if", "for", "try", "while"]
    if loop:
        kinds += ["break", "continue"]
    kind = draw(st.sampled_from(kinds))
    if kind == "set":
        return [f"{draw(st.sampled_from(['x', 'y']))} = {draw(numbers)} + {draw(numbers)}"]
    if kind == "append":
        return [f"xs.append({draw(numbers)})"]
    if kind == "item":
        return [f"d[{draw(numbers)}] = {draw(numbers)}"]
    if kind == "attribute":
        return [f"box.{draw(st.sampled_from(['v', 'flag']))} = {draw(values)}"]
    if kind == "return":
        return [f"return {draw(values)}"]
    if kind == "call":
        return [
            draw(
                st.sampled_from(
                    ["bump(1)", "need(x)", "keep(x)", "xs.reverse()", "xs = list(xs)", "toggle()"]
                )
            )
        ]
    if kind == "augment":
        return [draw(st.sampled_from(["x += 1", "xs += [x]", "box.v += 1", "y -= minor"]))]
    if kind == "remove":
        return [draw(st.sampled_from(["d.pop(major, None)", "xs.pop()", "d.clear()", "del d[9]"]))]
    if kind in ("break", "continue"):
        return [kind]
    body = draw(blocks(depth - 1, loop or kind in ("for", "while")))
    indented = [f"    {line}" for line in body]
    if kind == "if":
        other = [f"    {line}" for line in draw(blocks(depth - 1, loop))]
        lines = [f"if {draw(tests)}:", *indented]
        return [*lines, "else:", *other] if draw(st.booleans()) else lines
    if kind == "for":
        over = draw(st.sampled_from(["(1, 2)", "list(xs)", "range(minor)", "d.copy()", "(x, y, major)"]))
        return [f"for {draw(st.sampled_from(['x', 'i']))} in {over}:", *indented]
    if kind == "while":
        turns = f"n{depth}"  # one for each depth: an inner loop must not set an outer one back
        return [f"{turns} = 0", f"while {turns} < 3 and ({draw(tests)}):", f"    {turns} += 1", *indented]
    handler = [f"    {line}" for line in draw(blocks(depth - 1, loop))]
    lines = [
        "try:",
        *indented,
        f"except {draw(st.sampled_from(['ValueError', 'Exception', 'KeyError']))}:",
        *handler,
    ]
    return [*lines, "finally:", "    y = x"] if draw(st.booleans()) else lines


@st.composite
def blocks(draw: Callable[..., Any], depth: int, loop: bool = False) -> list[str]:
    found = draw(st.lists(statements(depth, loop), min_size=1, max_size=3))
    return [line for lines in found for line in lines]


PRELUDE = """import torch
cap = torch.cuda.get_device_capability()
major, minor = cap
sm = major * 10 + minor
kept = []
class Box:
    flag = False
    def __init__(self):
        self.v = major
def check(n, /, at=90):
    if n < major:
        return sm >= at
    return False
"""


@st.composite
def programs(draw: Callable[..., Any]) -> str:
    body = draw(blocks(2))
    tail = draw(values)
    lines = [
        "def ask(p, q):",
        "    x, y, i, z = 1, minor, 0, 0",
        "    xs, d, box = [major, 3], {9: 1, major: 2}, Box()",
        "    def bump(by):",
        "        nonlocal y",
        "        y += by",
        "        return y",
        "    def need(at):",
        "        if at > major: raise ValueError('x')",
        "    def keep(it): kept.append(it)",
        "    def toggle(): box.flag = not box.flag",
        "    kept.clear()",
        *(f"    {line}" for line in body),
        f"    return {tail}, x, y, xs, d, box.v, box.flag, list(kept)",
    ]
    return PRELUDE + "\n".join(lines) + "\n"


def really(program: str, cap: tuple[int, int], inputs: tuple[Any, ...]) -> Any:
    """What the real interpreter answers, in the notation of the recorded executions."""
    torch = types.SimpleNamespace(cuda=types.SimpleNamespace(get_device_capability=lambda: cap))
    space: dict[str, Any] = {"__builtins__": {**vars(__import__("builtins")), "__import__": lambda *_: torch}}
    exec(compile(program, "case.py", "exec"), space)
    try:
        return written(space["ask"](*inputs))
    except Exception as error:
        return {"raises": {"type": type(error).__name__}}


def written(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [written(item) for item in value]
    if isinstance(value, dict):
        return {str(key): written(item) for key, item in value.items()}
    return value


def evaluator(program: str, cap: tuple[int, int]) -> Machine:
    index = ModuleIndex(["case.py"], lambda _: program.encode())
    return machine(index, f"{cap[0]}.{cap[1]}", "13.0")


def ask(m: Machine, inputs: list[Value]) -> Value | Raised:
    return outcome(m, lambda: m.call(m.named("case.ask"), inputs, {}, SITE))


SETTINGS = settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


@SETTINGS
@given(programs(), st.sampled_from(ARCHS), st.sampled_from(CHOICES), st.sampled_from(CHOICES))
def test_known_inputs(program: str, cap: tuple[int, int], p: Any, q: Any) -> None:
    want = really(program, cap, (p, q))
    got = ask(evaluator(program, cap), [lift(p), lift(q)])
    assert judge(got, want) == "equal", f"{program}\n{cap} p={p} q={q}: {shown(got)}, really {want}"


@SETTINGS
@given(programs(), st.sampled_from(ARCHS))
def test_free_inputs(program: str, cap: tuple[int, int]) -> None:
    m = evaluator(program, cap)
    got = ask(m, [Value(Free("p")), Value(Free("q"))])
    for inputs in itertools.product(CHOICES, repeat=2):
        want = really(program, cap, inputs)
        if m.may_raise and isinstance(want, dict) and "raises" in want:
            continue
        verdict = judge(got, want)
        assert verdict != "wrong", f"{program}\n{cap} {inputs}: {shown(got)}, really {want}"


def shown(value: Value | Raised) -> Any:
    """An answer for people."""
    if isinstance(value, Raised):
        return value
    data = value.data
    if isinstance(data, tuple):
        return tuple(shown(item) for item in data)
    if hasattr(data, "options"):
        return " | ".join(str(shown(option)) for option in data.options)
    if hasattr(data, "items"):
        items = data.items.values() if isinstance(data.items, dict) else data.items
        inner = [shown(item[1] if isinstance(item, tuple) else item) for item in items]
        return (
            f"{list(data.items) if isinstance(data.items, dict) else ''}{inner}{'...' if data.open else ''}"
        )
    return data


@pytest.mark.parametrize("cap", ARCHS)
def test_random_programs_are_not_trivial(cap: tuple[int, int]) -> None:
    """The tests can fail: an answer that hangs on a free input is left open, another is decided."""
    program = PRELUDE + "def ask(p, q):\n    return (1 if p and major == 9 else 2)\n"
    got = ask(evaluator(program, cap), [Value(Free("p")), Value(Free("q"))])
    assert judge(got, 2) == ("undecided" if cap[0] == 9 else "equal")
    assert judge(got, 3) == "wrong"
