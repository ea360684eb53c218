"""Every gate form of the fixtures is found with its verdicts and effect, and nothing else is."""

from __future__ import annotations

import fnmatch
import re
from functools import cache
from pathlib import Path

import pytest

from analyzer import archs
from analyzer.model import Gate
from analyzer.python import gates
from tests.python.surveys import REFERENCES, TARGET, surveyed

ROOT = Path(__file__).parent / "forms"
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))

_NOTE = re.compile(r"# gate: (.*)$")


def expected(file: str) -> dict[int, list[str]]:
    """The notes of a file by the line that they speak of, as parts."""
    lines = (ROOT / file).read_text().splitlines()
    found: dict[int, list[str]] = {}
    for number, line in enumerate(lines, 1):
        note = _NOTE.search(line)
        if note is not None:
            place = number + 1 if line.strip().startswith("#") else number
            found[place] = [part.strip() for part in note.group(1).split("|")]
    return found


@cache
def scanned() -> tuple[Gate, ...]:
    """All gates of the fixtures."""
    found = surveyed(FILES, lambda file: (ROOT / file).read_bytes())
    return tuple(draft.gate for draft in gates.gates(found, TARGET, REFERENCES).gates)


def admitted(text: str) -> set[str]:
    """The architectures whose capability one of the patterns fits."""
    patterns = text.split()
    return {
        arch.name
        for arch in archs.profiles()
        if any(fnmatch.fnmatch(arch.capability, pattern) for pattern in patterns)
    }


def described(gate: Gate) -> dict[str, object]:
    """What a note can say of a gate."""
    return {
        "is": " ".join(
            word
            for word in (
                gate.layer,
                gate.effect,
                "silent" if gate.silent else "",
                "specialised" if gate.specialised else "",
            )
            if word
        ),
        "admit": {arch for arch, verdict in gate.verdict.items() if verdict == "admit"},
        "instead": gate.falls_back_to,
        "gets": gate.admits,
        "says": gate.message,
    }


@pytest.mark.parametrize("file", FILES)
def test_gates_of(file: str) -> None:
    notes = expected(file)
    found = {gate.line: gate for gate in scanned() if gate.file == file}
    assert sorted(found) == sorted(notes), [(gate.line, gate.code) for gate in found.values()]
    for line, parts in notes.items():
        facts = described(found[line])
        assert (line, facts["is"]) == (line, parts[0])
        for part in parts[1:]:
            word, _, text = part.partition(" ")
            wanted: object = admitted(text) if word == "admit" else text
            assert (line, word, facts[word]) == (line, word, wanted)
        if facts["instead"] is not None:
            assert any(part.startswith("instead ") for part in parts), (line, facts["instead"])


def test_ids_are_unique_and_hold_no_lines() -> None:
    ids = [gate.id for gate in scanned()]
    assert len(ids) == len(set(ids))
    assert all(str(gate.line) not in gate.id.replace(gate.file, "").split(":") for gate in scanned())


def test_chains_share_a_dispatch() -> None:
    chain = [gate for gate in scanned() if gate.scope == "Options.adjust"]
    assert len(chain) == 2
    assert len({gate.dispatch for gate in chain}) == 1
    assert chain[0].dispatch is not None
