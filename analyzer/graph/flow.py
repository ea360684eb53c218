"""The call graph of the scanned Python as the leading architectures' surveys saw it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import networkx as nx

from analyzer.python.findings import Findings
from analyzer.python.natives import Natives
from analyzer.python.observe import Call, Key, Led
from analyzer.python.values import Site

#: A method name with more definitions than this is not resolved by name.
FEW = 3


@dataclass(slots=True)
class Way:
    """An edge: how one function leads to another, on which architectures, under which decisions.

    ``under``: the decisions of each place at which the call stands. ``choices``: the back ends that are asked
    for by name, empty for a call of which that is not known. ``led``: by architecture, the sides of decisions
    that give a value which is asked for around one of these places, with the back ends that are asked for
    there; ``barred``: those that give one which leads to none of them.
    """

    kind: str
    site: Site
    archs: set[str] = field(default_factory=set)
    under: list[frozenset[Key]] = field(default_factory=list)
    choices: set[str] = field(default_factory=set)
    led: dict[str, dict[Led, set[str]]] = field(default_factory=dict)
    barred: dict[str, frozenset[Led]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flow:
    """Functions and exports as nodes, calls as edges (attribute ``way``), and where functions stand."""

    graph: nx.DiGraph[str]
    sites: Mapping[str, Site]


def flow(found: Mapping[str, Findings], leading: Iterable[str], natives: Natives) -> Flow:
    """Merge the calls of the leading architectures; calls into compiled libraries only where these are lost.

    A call of a method on a receiver that is not known leads to the functions of that name, if they are few.
    A function that was called with device answers is seen as it ran on these, not as it might on others.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    sites: dict[str, Site] = {}
    methods = _methods(found, leading)
    for arch in leading:
        findings = found[arch]
        sites.update(findings.functions)
        for outcome in findings.outcomes.values():
            sites.setdefault(outcome.dotted, outcome.site)
        given = {call.caller for call in findings.calls if call.given}
        for call in findings.calls:
            if call.caller in given and not call.given:
                continue
            for callee, kind in _targets(call, methods, natives):
                if callee != call.caller:
                    _add(graph, call, callee, kind, arch)
    return Flow(graph, sites)


def _targets(call: Call, methods: Mapping[str, tuple[str, ...]], natives: Natives) -> list[tuple[str, str]]:
    """The nodes that a call leads to, and in which way."""
    if call.kind in ("calls", "exports"):
        return [(call.callee, call.kind)]
    if call.kind == "method":
        named = methods.get(call.callee, ())
        return [(name, "by_name") for name in named] if len(named) <= FEW else []
    if call.kind == "outside":
        return [(f"{native.file}\0{what}", "calls") for native, what in natives.lost(call.callee)]
    return [(f"{call.callee}\0", "loads")] if call.kind == "loads" else []


def _add(graph: nx.DiGraph[str], call: Call, callee: str, kind: str, arch: str) -> None:
    if not graph.has_edge(call.caller, callee):
        graph.add_edge(call.caller, callee, way=Way(kind, call.site))
    way: Way = graph.edges[call.caller, callee]["way"]
    way.archs.add(arch)
    way.choices.add(call.choice)
    if call.under not in way.under:
        way.under.append(call.under)
    led = way.led.setdefault(arch, {})
    for side in call.led:
        led.setdefault(side, set()).add(call.choice)
    way.barred[arch] = way.barred.get(arch, call.barred) & call.barred


def _methods(found: Mapping[str, Findings], leading: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Methods that were walked, by their simple name."""
    named: dict[str, set[str]] = defaultdict(set)
    for arch in leading:
        for dotted in found[arch].outcomes:
            owner, _, name = dotted.rpartition(".")
            if owner.rpartition(".")[2][:1].isupper():
                named[name].add(dotted)
    return {name: tuple(sorted(names)) for name, names in named.items()}
