"""A package of damaged, huge, deep, endless and circular files is scanned as far as it can be."""

from __future__ import annotations

import pytest

from analyzer import scan
from analyzer.model import Report

DOOR = "import torch\ndef is_sm100(): return torch.cuda.get_device_capability()[0] == 10\n"
GATE = "def {name}(x):\n    if is_sm100(): return x.fast()\n    return x.slow()\n"
FILES = {
    "__init__.py": b"",
    "hw.py": DOOR.encode(),
    "broken.py": (
        "from .hw import is_sm100\n" + GATE.format(name="whole") + "def torn(:\n    if (\n"
    ).encode(),
    "latin.py": b"# caf\xe9\nfrom .hw import is_sm100\n" + GATE.format(name="whole").encode(),
    "line.py": b"from .hw import is_sm100\nX = '"
    + b"a" * 5_000_000
    + b"'\n"
    + GATE.format(name="whole").encode(),
    "brackets.py": b"from .hw import is_sm100\nX = "
    + b"[" * 5000
    + b"]" * 5000
    + b"\n"
    + GATE.format(name="whole").encode(),
    "endless.py": b"""
from .hw import is_sm100
def even(n): return is_sm100() if n == 0 else odd(n - 1)
def odd(n): return even(n - 1) or odd(n + 1)
def asked(x):
    if even(x.size): return x.fast()
    return x.slow()
def long(x):
    n = 0
    for a in range(50):
        for b in range(50):
            for c in range(50):
                for d in range(50): n += 1
    if is_sm100(): return x.fast()
    return x.slow()
"""
    + GATE.format(name="whole").encode(),
    "left.py": b"from .right import is_fast\nfrom .hw import is_sm100\n" + GATE.format(name="whole").encode(),
    "right.py": b"from . import left\ndef is_fast(): return left.is_sm100()\n"
    b"def whole(x):\n    if is_fast(): return x.fast()\n    return x.slow()\n",
    "itself.py": b"from .itself import is_sm100\nfrom .hw import is_sm100\n"
    + GATE.format(name="whole").encode(),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root = tmp_path_factory.mktemp("bad")
    (root / "bad").mkdir()
    for name, data in FILES.items():
        (root / "bad" / name).write_bytes(data)
    options = scan.ScanOptions(root, "sm_120", ("sm_90", "sm_100"), "13.0", {}, (), 1, False)
    return scan.scan(options)


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("__init__.py", "hw.py")])
def test_what_is_whole_is_read(report: Report, name: str) -> None:
    (gate,) = [gate for gate in report.gates if gate.file == f"bad/{name}" and gate.scope == "whole"]
    assert (gate.effect, gate.verdict["sm_100"], gate.verdict["sm_120"]) == ("degraded", "admit", "reject")


def test_damage_and_what_was_given_up_are_listed(report: Report) -> None:
    assert report.coverage.files.partly_parsed == 2
    assert report.coverage.files.read == len(FILES)
    listed = {(place.file, place.what) for place in report.coverage.unresolved}
    assert listed == {("bad/endless.py", "bad.endless.long"), ("bad/endless.py", "even(x.size)")}


def test_recursion_is_not_guessed(report: Report) -> None:
    (gate,) = [gate for gate in report.gates if gate.scope == "asked"]
    assert set(gate.verdict.values()) == {"unknown"}
