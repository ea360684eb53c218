"""Which gates or file a user means."""

from __future__ import annotations

import msgspec
import pytest

from analyzer.model import Coverage, FileFacts
from analyzer.report.lookup import find
from tests.report.sample import REPORT

GATE = REPORT.gates[0]


def test_by_id_and_its_beginning() -> None:
    assert find(REPORT, GATE.id).gates == (GATE,)
    unique = next(
        GATE.id[:size]
        for size in range(4, len(GATE.id) + 1)
        if sum(gate.id.startswith(GATE.id[:size]) for gate in REPORT.gates) == 1
    )
    assert find(REPORT, unique).gates == (GATE,)


def test_an_ambiguous_beginning_is_refused() -> None:
    twins = tuple(msgspec.structs.replace(GATE, id=f"twin-{letter}") for letter in "ab")
    with pytest.raises(LookupError, match="beginning of 2 gate ids"):
        find(msgspec.structs.replace(REPORT, gates=twins), "twin-")


def test_by_place() -> None:
    expected = tuple(g for g in REPORT.gates if g.file == GATE.file and g.line <= GATE.line <= g.end_line)
    assert GATE in find(REPORT, f"{GATE.file}:{GATE.line}").gates
    assert all(gate in find(REPORT, f"./{GATE.file}:{GATE.line}").gates for gate in expected)
    nothing = find(REPORT, f"{GATE.file}:100000")
    assert (nothing.gates, nothing.file) == ((), GATE.file)


def test_by_file() -> None:
    assert find(REPORT, GATE.file).file == GATE.file
    assert find(REPORT, f"/some/where/{GATE.file}").file == GATE.file
    assert find(REPORT, "not/mentioned.py", ["not/mentioned.py"]).file == "not/mentioned.py"
    facts = tuple(FileFacts(f"{folder}/same.py", 0, 0) for folder in ("a", "b"))
    both = msgspec.structs.replace(REPORT, coverage=Coverage(REPORT.coverage.files, (), facts))
    with pytest.raises(LookupError, match=r"fits 2 files, among them a/same\.py and b/same\.py"):
        find(both, "same.py")
    assert find(both, "a/same.py").file == "a/same.py"
    with pytest.raises(LookupError, match=r"no scanned file is called 'absent\.py'"):
        find(REPORT, "absent.py")
