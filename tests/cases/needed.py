"""Hold justifications against what later releases showed: did only the gate move, or did new code come?

``python -m tests.cases.needed REPORT.json …``: of releases in which recorded gates are still closed, for
sm_120 or sm_121. Each report is held against the changes that admitted its own target. No gate that needed
no new code may be called ``hardware``; of those that are decided, most must be ``liftable``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer import model
from analyzer.model import Report
from tests.cases.records import rows

#: Of the decided gates that needed no new code, so many must be liftable.
LIFTABLE = 0.8


@dataclass(frozen=True, slots=True)
class Held:
    """A recorded change, and how the gate is justified in the release before it."""

    id: str
    needed: str
    kind: str
    evidence: str


def held(report: Report, recorded: Sequence[dict[str, Any]]) -> Iterator[Held]:
    """The recorded changes that admitted the target of a report in the release that it is of."""
    versions = {one.package: one.version for one in report.inputs}
    for row in recorded:
        if "needed" not in row or row["source"] != "wheel" or row["line_before"] is None:
            continue
        if versions.get(row["package"]) != row["before"]:
            continue
        if report.target.arch.removeprefix("sm_") not in row["archs_changed"]:
            continue
        here = [
            gate
            for gate in report.gates
            if gate.file == row["file"]
            and gate.line <= row["line_before"] <= gate.end_line
            and gate.justification is not None
        ]
        for gate in here:
            assert gate.justification is not None
            steps = gate.justification.evidence
            yield Held(row["id"], row["needed"], gate.justification.kind, steps[0].what if steps else "")
        if not here:
            yield Held(row["id"], row["needed"], "no gate", "")


def main(files: Sequence[str]) -> int:
    """Print what was held, and whether it is good enough."""
    recorded = list(rows("dev-fixes.jsonl"))
    found = [one for file in files for one in held(model.decode(Path(file).read_bytes()), recorded)]
    for one in found:
        print(f"{one.id:<10} {one.needed:<10} {one.kind:<10} {one.evidence[:100]}")
    counts = Counter((one.needed, one.kind) for one in found)
    wrong = counts["gate_only", "hardware"]
    decided = counts["gate_only", "liftable"] + wrong
    share = counts["gate_only", "liftable"] / decided if decided else 0.0
    print(f"gate_only: {wrong} called hardware; {share:.0%} of {decided} decided are liftable")
    print(", ".join(f"{needed}: {count} {kind}" for (needed, kind), count in sorted(counts.items())))
    return int(wrong > 0 or share < LIFTABLE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
