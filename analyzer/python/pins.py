"""Compilations of kernels written in Python that are pinned to one architecture, and whom that leaves out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from analyzer import archs
from analyzer.archs import Spelling
from analyzer.model import Effect, Gate, Step, Verdict
from analyzer.python import contracts
from analyzer.python.findings import Findings
from analyzer.python.lists import ArchList


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at options that the target gives, with the module and scope of each.

    Where the target is not seen to be led to the function, nothing is lost: the effect is ``none``.
    """
    here = {
        item.site: item for item in found[target].lists if item.variable in contracts.pins() and item.scope
    }
    given: dict[str, dict[object, ArchList]] = {
        arch: {item.site: item for item in told.lists} for arch, told in found.items()
    }
    made = []
    for site in sorted(here, key=lambda site: site.start):
        own = here[site]
        verdict = {arch: _verdict(items.get(site, own).text, arch) for arch, items in given.items()}
        if len(set(verdict.values()) - {"unknown"}) < 2:
            continue
        loses = verdict[target] == "reject" and any(verdict.get(arch) == "admit" for arch in references)
        effect: Effect = "raises" if loses and _met(found, target, f"{own.module}.{own.scope}") else "none"
        made.append((_gate(own, verdict, effect, target), own.module, own.scope))
    return made


def _verdict(text: str, arch: str) -> Verdict:
    try:
        pinned = Spelling.parse(text)
    except ValueError:
        return "unknown"
    return "admit" if pinned.runs_on(archs.find(arch)) else "reject"


def _met(found: Mapping[str, Findings], target: str, function: str) -> bool:
    """Whether the target is seen to be led to a function, from one that nobody is seen to call."""
    every, own = _callers(found.values()), _callers([found[target]])
    pending = sorted(_of(own, function))
    seen = {function, *pending}
    for name in pending:
        if not _of(every, name):
            return True
        further = _of(own, name) - seen
        seen |= further
        pending += sorted(further)
    return False


_Callers = Mapping[str, frozenset[str]]


def _callers(told: Iterable[Findings]) -> _Callers:
    callers: dict[str, set[str]] = defaultdict(set)
    for findings in told:
        given = {call.caller for call in findings.calls if call.given}
        for call in findings.calls:
            if call.caller in given and not call.given:
                continue  # it was called with device answers: seen as it ran on these
            if call.kind in ("calls", "makes", "method"):
                callers[call.callee].add(call.caller)
    return {name: frozenset(names) for name, names in callers.items()}


def _of(callers: _Callers, name: str) -> frozenset[str]:
    """Who calls a function: by its dotted name, as a method by its last name, or by making its class."""
    owner, _, last = name.rpartition(".")
    found = callers.get(name, frozenset()) | callers.get(last, frozenset())
    return (found | callers.get(owner, frozenset())) - {name}


def _gate(item: ArchList, verdict: dict[str, Verdict], effect: Effect, target: str) -> Gate:
    site = item.site
    can = "can run it" if verdict[target] == "admit" else "cannot load it"
    return Gate(
        id="",
        layer="jit",
        **site.span,
        scope=item.scope,
        code=f"{item.variable.rpartition('.')[2]}({item.text!r})",
        verdict=verdict,
        effect=effect,
        message=f"compiled for {item.text} alone" if effect == "raises" else None,
        because=(Step(site.file, site.line, f"compiles for {item.text} alone: {target} {can}"),),
    )
