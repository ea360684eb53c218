"""What is deep, endless or circular is given up in bounded time, and never taken for known."""

from __future__ import annotations

import time

import pytest

from analyzer.python.machine import Budget, Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Free, Raised, Value, plain
from tests.oracle.records import SITE, machine
from tests.python.differential import answer


def _machine(text: str) -> Machine:
    return machine(ModuleIndex(["case.py"], lambda _: text.encode()), "12.0", "13.0")


ENDLESS = {
    "recursion": "def ask(n=0): return ask(n + 1)\n",
    "mutual recursion": "def ask(): return other()\ndef other(): return ask()\n",
    "growing recursion": "def ask(xs=()): return ask(xs + (1,)) or ask(xs + (2,))\n",
    "own default": "def ask(): return X\nX = ask()\n",
    "while": "def ask():\n    n = 0\n    while True: n += 1\n    return n\n",
    "while on a test": "def ask():\n    n = 0\n    while n >= 0: n += 1\n    return n\n",
    "for over what grows": "def ask():\n    xs = [1]\n    for x in xs: xs.append(x)\n    return len(xs)\n",
    "nested loops": "def ask():\n    n = 0\n"
    + "".join("    " * (d + 1) + f"for v{d} in range(50):\n" for d in range(6))
    + "    " * 7
    + "n += 1\n    return n\n",
    "many branches": "def ask(p):\n"
    + "".join(f"    if p[{n}]: x{n} = {n}\n    else: x{n} = -{n}\n" for n in range(300))
    + "    return x1\n",
    "calls in branches": "def ask(p, n=0):\n    if p: return ask(p, n + 1)\n    return ask(p, n + 2)\n",
    "own base": "class A(A): pass\ndef ask(): return A().x\n",
    "attribute hook": "class A:\n    def __getattr__(self, n): return getattr(self, n + '_')\n"
    "def ask(): return A().x\n",
    "equal to itself": "class A:\n    def __eq__(self, o): return o == self\ndef ask(): return A() == A()\n",
    "holds itself": "def ask():\n    x = []\n    x.append(x)\n    return str(x)\n",
}


@pytest.mark.parametrize("form", ENDLESS)
def test_endless_programs_end(form: str) -> None:
    m = _machine(ENDLESS[form])
    begun = time.process_time()
    try:
        found: Value | Raised = answer(m, "ask")
    except Budget:
        found = Raised("Budget", "", None)  # type: ignore[arg-type]
    assert time.process_time() - begun < 20
    if not isinstance(found, Raised):
        with pytest.raises((ValueError, RecursionError)):
            plain(found)


def test_deep_expressions() -> None:
    text = (
        "X = "
        + "(" * 60
        + "1"
        + ")" * 60
        + "\nY = "
        + " + ".join(["1"] * 30)
        + "\nZ = "
        + "not " * 20
        + "True\n"
    )
    m = _machine(text + "DEEP = " + " + ".join(["1"] * 3000) + "\n")
    assert m.named("case.X").data == 1
    assert m.named("case.Y").data == 30
    assert m.named("case.Z").data is True
    assert isinstance(m.named("case.DEEP").data, Free), "given up, not missing"


def test_a_walk_that_takes_too_long_leaves_the_machine_usable() -> None:
    m = _machine(ENDLESS["nested loops"] + "def small(): return 3\n")
    with pytest.raises(Budget):
        answer(m, "ask")
    m.steps = 0
    assert plain(m.call(m.named("case.small"), [], {}, SITE)) == 3
    assert m.heap.marks == 0
    assert not m.heap.pending
    assert not m.stack


def test_a_module_is_loaded_whole_whoever_comes_to_it_first() -> None:
    texts = {
        "case.py": "def ask():\n    import late\n    return late.LAST\n",
        "late.py": "X = [" + "0, " * 2000 + "0]\nLAST = 1\n",
    }
    m = machine(ModuleIndex(list(texts), lambda file: texts[file].encode()), "12.0", "13.0")
    m.state("case")
    m.limit = m.steps + 100
    assert plain(m.call(m.named("case.ask"), [], {}, SITE)) == 1
    assert plain(m.state("late").names["LAST"]) == 1
