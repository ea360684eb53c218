"""Raises at which every run of a function ends on the target, though nothing there asks for the device.

Such as of a list that came out empty for the target: that its emptiness hangs on the device is seen only by
holding one host against another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analyzer.model import Gate, Step, Verdict
from analyzer.python.findings import Findings, Outcome
from analyzer.python.values import Site


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str], made: Iterable[Gate]
) -> list[tuple[Gate, str, str]]:
    """The gates at such raises, with the module and scope of each.

    ``made``: the gates that are known. What one of them, or a decision on the target, raises with is told by
    that.
    """
    if target not in found:
        return []
    told = {gate.message for gate in made if gate.effect == "raises"}
    told |= {answer.raised for answer in found[target].answers.values()}
    refused = []
    for dotted, outcome in sorted(found[target].outcomes.items()):
        site = outcome.raised_site
        if outcome.raised is None or site is None or not outcome.refusal:
            continue
        inside = site.file == outcome.site.file and outcome.site.line <= site.line <= outcome.site.end_line
        if not inside or outcome.raised in told:
            continue
        verdict = {arch: _verdict(findings.outcomes.get(dotted)) for arch, findings in found.items()}
        if any(verdict.get(arch) == "admit" for arch in references):
            refused.append((_gate(outcome, site, verdict, target), outcome.module, outcome.scope))
    return refused


def _verdict(outcome: Outcome | None) -> Verdict:
    if outcome is None or (outcome.value is None and outcome.raised is None):
        return "unknown"
    return "admit" if outcome.raised is None else "reject"


def _gate(outcome: Outcome, site: Site, verdict: dict[str, Verdict], target: str) -> Gate:
    passing = ", ".join(arch for arch, value in verdict.items() if value == "admit")
    what = f"every run of {outcome.dotted} ends here on {target}, whatever it is given; not on {passing}"
    return Gate(
        id="",
        layer="runtime",
        **site.span,
        scope=outcome.scope,
        code=outcome.refusal,
        verdict=verdict,
        effect="raises",
        message=outcome.raised,
        because=(Step(site.file, site.line, what),),
    )
