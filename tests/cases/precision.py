"""Draw reported Python gates of one release at random, to be judged by reading the code.

``python -m tests.cases.precision`` prints the rows of the table in ``docs/precision.md``, without judgement.
"""

from __future__ import annotations

import random

from analyzer.model import Gate
from tests.cases import measure
from tests.cases.records import Release

RELEASE = Release("sglang", "0.5.9")
TARGET = "sm_120"
SEED = 21
SIZE = 60


def gates() -> tuple[Gate, ...]:
    """All gates that the scan of the release tells, in order."""
    return measure.told([RELEASE], [TARGET])[TARGET].gates


def drawn() -> list[Gate]:
    """The gates to judge, in order of their places."""
    every = gates()
    return [every[place] for place in sorted(random.Random(SEED).sample(range(len(every)), SIZE))]


def row(gate: Gate) -> str:
    """A gate as a row of the table: place, what it asks, who passes, what becomes of the target."""
    code = " ".join(gate.code.split()).replace("|", "\\|")
    code = code if len(code) <= 60 else code[:59] + "…"
    passes = " ".join(arch.removeprefix("sm_") for arch, found in gate.verdict.items() if found == "admit")
    effect = f"{gate.effect}, silent" if gate.silent else gate.effect
    return f"| {gate.file.removeprefix('sglang/')}:{gate.line} | `{code}` | {passes or 'none'} | {effect} |"


def main() -> None:
    """Print the drawn gates."""
    for gate in drawn():
        print(row(gate))


if __name__ == "__main__":
    main()
