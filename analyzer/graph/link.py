"""The whole graph: entries, paths and their nodes, from what the layers found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analyzer.cuda.units import ExportReach
from analyzer.graph.entries import apis, callers
from analyzer.graph.flow import Flow, Way
from analyzer.graph.paths import Linker, numbered
from analyzer.jit.builds import BuildPlan
from analyzer.model import Edge, Entry, Gate, Node, Path
from analyzer.python import contracts
from analyzer.python.findings import Findings
from analyzer.python.gates import PythonGate
from analyzer.python.modules import ModuleIndex
from analyzer.python.natives import Natives, imports
from analyzer.python.options import Option
from analyzer.python.values import Site


@dataclass(frozen=True, slots=True)
class Linked:
    """The graph of a report."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    paths: tuple[Path, ...]


def link(
    index: ModuleIndex,
    words: Mapping[str, frozenset[str]],
    public: Mapping[str, tuple[str, ...]],
    options: Sequence[Option],
    calls: Flow,
    told: Findings,
    gates: Sequence[PythonGate],
    guards: Mapping[str, Gate],
    plans: Sequence[BuildPlan],
    reaches: Sequence[ExportReach],
    target: str,
    natives: Natives,
    lacking: Mapping[str, Sequence[Gate]],
    asking: Mapping[tuple[str, str], Sequence[Gate]],
) -> Linked:
    """Connect entry points, gates, builds, sources and kernels.

    ``words`` maps each file to the identifiers in it, ``public`` definitions to their public names,
    ``guards`` ids to guard gates, ``lacking`` libraries of which the target runs nothing to their gates,
    ``asking`` functions (file and qualified name) to their requests of shared memory; ``told`` is what the
    survey for the target told.
    """
    linker = Linker(
        calls, gates, guards, plans, reaches, told, target, contracts.collectors(), lacking, asking
    )
    paths: list[Path] = []
    for module, native, line in imports(index, words, natives):
        site = Site(index.path(module), line, line, 1)
        calls.graph.add_edge(module, f"{native.file}\0", way=Way("loads", site, set(), []))
    ends = [node for node in calls.graph if node.partition("\0")[0] in lacking]
    entries = {**callers(calls.graph, ends, calls.sites), **apis(calls.sites, public)}
    for dotted, entry in sorted(entries.items()):
        paths += linker.from_api(entry, dotted)
    for option in (option for option in options if not option.common):
        entry = Entry(option.name, "option", option.file, option.line)
        paths += linker.from_option(entry, option.attribute)
    kept = [path for path in paths if path.barriers or len(path.steps) > 2]
    return Linked(
        tuple(linker.nodes[identity] for identity in sorted(linker.nodes)),
        tuple(sorted(linker.edges, key=lambda edge: (edge.source, edge.target, edge.kind))),
        numbered(kept),
    )
