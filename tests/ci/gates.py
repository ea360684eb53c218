"""Gates and reports for tests of comparisons, made in a line."""

from __future__ import annotations

from typing import Any

import msgspec

from analyzer.ci.known import Known
from analyzer.identity import identity
from analyzer.model import Gate, Report, Verdict
from tests.report.sample import REPORT

ARCHS = ("sm_90", "sm_100", "sm_120")


def verdict(*admitted: str) -> dict[str, Verdict]:
    """These architectures pass, the others do not."""
    return {arch: "admit" if arch in admitted else "reject" for arch in ARCHS}


def known(
    condition: str = "is_new()",
    *admitted: str,
    scope: str = "run",
    file: str = "p/a.py",
    order: int = 0,
    **more: Any,
) -> Known:
    """A gate of a baseline; without architectures it admits none, and its effect is an error."""
    fields: dict[str, Any] = {
        "layer": "runtime",
        "verdict": verdict(*admitted),
        "effect": "none" if "sm_120" in admitted else "raises",
        "severity": "none" if "sm_120" in admitted else "error",
    }
    fields |= more
    name = identity(fields["layer"], file, scope, condition, order)
    return Known(name, file=file, scope=scope, order=order, condition=condition, **fields)


def gate(known: Known, line: int = 1) -> Gate:
    """The gate of a report that is remembered like that."""
    return Gate(
        known.id,
        known.layer,
        known.file,
        line,
        line,
        1,
        known.scope,
        known.condition,
        known.verdict,
        effect=known.effect,
        severity=known.severity,
        order=known.order,
    )


def report(*some: Known, **more: Any) -> Report:
    """A report of these gates, without paths."""
    gates = tuple(gate(one, 10 * number) for number, one in enumerate(some, 1))
    fields: dict[str, Any] = {"gates": gates, "paths": (), "nodes": (), "edges": (), "matrix": ()}
    return msgspec.structs.replace(REPORT, **(fields | more))
