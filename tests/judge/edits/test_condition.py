"""Edits of Python gates: the text that they give, and that a scan of the edited tree finds the gate open."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.judge.edits import gate as edits
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import NoEditError
from tests.judge.opened import opened, reader, scanned, write

DEVICE = """\
from functools import lru_cache, partial

import torch


def _has(majors):
    return torch.cuda.get_device_capability()[0] in majors


on_hopper = lru_cache(partial(_has, majors=[9]))
on_ten = lru_cache(partial(_has, majors=[10]))
on_twelve = lru_cache(partial(_has, majors=[12]))


def capability():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor


def is_ninety(device):
    return torch.cuda.get_device_capability(device) == (9, 0)


def is_one_twenty(device):
    return torch.cuda.get_device_capability(device) == (12, 0)
"""

TORCH = "import torch\n"
MAJOR = "torch.cuda.get_device_capability()[0]"


def branch(condition: str, head: str = TORCH) -> str:
    """A function that takes the fast way under a condition."""
    return (
        f"{head}\n\ndef f(x, n, device):\n    if {condition}:\n        return x.fast()\n    return x.slow()\n"
    )


def refusal(condition: str, head: str = TORCH) -> str:
    """A function that raises under a condition."""
    return (
        f"{head}\n\ndef f(x):\n    if {condition}:\n        raise RuntimeError('no')\n    return x.fast()\n"
    )


def using(*names: str) -> str:
    """An import from the module of predicates."""
    return f"from kit.device import {', '.join(names)}\n"


VARIABLES = """\
from kit.device import (
    on_hopper,
    on_ten,
)

_on_hopper = on_hopper()
_on_ten = on_ten()


def f(x, n):
    return (_on_hopper or _on_ten) and n > 4


def g(x, n):
    if f(x, n):
        return x.fast()
    return x.slow()
"""

FORMS = {
    "a list of majors": (branch(f"{MAJOR} in [9, 10]"), "[9, 10] → [9, 10, 12]"),
    "one major": (branch(f"{MAJOR} == 9"), f"{MAJOR} == 9 → {MAJOR} in (9, 12)"),
    "a refusal": (refusal(f"{MAJOR} not in (9, 10)"), "(9, 10) → (9, 10, 12)"),
    "a refusal of all but one": (refusal(f"{MAJOR} != 9"), f"{MAJOR} != 9 → {MAJOR} not in (9, 12)"),
    "pairs by name": (
        branch("torch.cuda.get_device_capability() in KNOWN", f"{TORCH}\nKNOWN = {{(9, 0), (10, 0)}}\n"),
        "(12, 0)",
    ),
    "a chain of comparisons": (
        branch("n > 4 and 90 <= capability() < 120", using("capability")),
        "90 <= capability() < 120 → 90 <= capability()",
    ),
    "a bound above": (
        branch("n > 4 and capability() >= 90 and capability() < 120", using("capability")),
        "capability() < 120 → (capability() < 120 or capability() == 120)",
    ),
    "a predicate": (branch("on_ten()", using("on_ten")), "on_ten() → on_ten() or on_twelve()"),
    "a predicate among others": (
        branch("n > 4 and on_ten()", using("on_ten")),
        "on_ten() → (on_ten() or on_twelve())",
    ),
    "a negated predicate": (
        refusal("not on_ten()", using("on_ten")),
        "on_ten() → (on_ten() or on_twelve())",
    ),
    "an assertion": (
        using("on_hopper", "on_ten")
        + "\n\ndef f(x):\n    assert on_ten() or on_hopper()\n    return x.fast()\n",
        "on_ten() or on_hopper() → on_ten() or on_hopper() or on_twelve()",
    ),
    "variables of the module": (
        VARIABLES,
        "(_on_hopper or _on_ten) → (_on_hopper or _on_ten or _on_twelve)",
    ),
    "a predicate with an argument": (
        f"{using('is_ninety')}\n\ndef f(x, device):\n    return 'three' if is_ninety(device) else 'two'\n",
        "is_ninety(device) → (is_ninety(device) or is_one_twenty(device))",
    ),
    "an exclusion by name": (
        branch("n > 4 and not on_twelve()", using("on_twelve")),
        "n > 4 and not on_twelve() → n > 4",
    ),
}


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_edited_tree_lets_the_target_pass(form: str, tmp_path: Path) -> None:
    code, expected = FORMS[form]
    root = write(tmp_path, {"kit/__init__.py": "", "kit/device.py": DEVICE, "kit/ops.py": code})
    told, after = opened(root, lambda gate: gate.file == "kit/ops.py")
    assert [edit for edit in told if expected in edit.what], told
    assert not [gate for gate in after.findings if gate.file == "kit/ops.py"]
    compile((root / "kit/ops.py").read_text(), "ops.py", "exec")


def test_variable_and_import_come_with_the_name(tmp_path: Path) -> None:
    code, _ = FORMS["variables of the module"]
    root = write(tmp_path, {"kit/__init__.py": "", "kit/device.py": DEVICE, "kit/ops.py": code})
    opened(root, lambda gate: gate.file == "kit/ops.py")
    text = (root / "kit/ops.py").read_text()
    assert "    on_ten,\n    on_twelve,\n)" in text
    assert "_on_ten = on_ten()\n_on_twelve = on_twelve()\n" in text
    assert text.count("on_twelve()") == 1


def test_a_name_that_is_there_is_used(tmp_path: Path) -> None:
    head = f"{using('on_ten', 'on_twelve')}\n_ten = on_ten()\n_twelve = on_twelve()\n"
    code = f"{branch('_ten', head)}\n\ndef g(x):\n    if _twelve:\n        x.narrow()\n"
    root = write(tmp_path, {"kit/__init__.py": "", "kit/device.py": DEVICE, "kit/ops.py": code})
    told, _ = opened(root, lambda gate: gate.file == "kit/ops.py")
    assert [edit.what for edit in told] == ["_ten → _ten or _twelve"]
    assert [len(edit.changes) for edit in told] == [1]


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_ends_stay(ends: str, tmp_path: Path) -> None:
    code = FORMS["variables of the module"][0].replace("\n", ends)
    root = write(tmp_path, {"kit/__init__.py": "", "kit/device.py": DEVICE, "kit/ops.py": code})
    opened(root, lambda gate: gate.file == "kit/ops.py")
    data = (root / "kit/ops.py").read_bytes()
    assert data.count(b"\n") == data.count(ends.encode())
    assert b"_on_twelve = on_twelve()" in data


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (f"{TORCH}\nSIZES = {{9: 1, 10: 2}}\n\n\ndef f(x):\n    return SIZES[{MAJOR}]\n", "apart"),
        (branch(f"n > 3 and {MAJOR} * 7 == 63"), "names no architecture that"),
    ],
)
def test_no_edit_is_better_than_a_wrong_one(code: str, why: str, tmp_path: Path) -> None:
    root = write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": code})
    report = scanned(root)
    (gate,) = report.findings
    with pytest.raises(NoEditError, match=why):
        edits.edit(gate, Predicates(report), reader(root))


def test_a_tree_that_changed_since_the_report_gets_no_edit(tmp_path: Path) -> None:
    root = write(tmp_path, {"kit/__init__.py": "", "kit/ops.py": FORMS["a list of majors"][0]})
    report = scanned(root)
    (root / "kit/ops.py").write_text("x = 1\n\n\n\ny = 2\n")
    with pytest.raises(NoEditError, match="not what the report says"):
        edits.edit(report.findings[0], Predicates(report), reader(root))
