"""Paths: from an entry through calls and gates to builds, exports, kernels and guards; barriers in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from analyzer.cuda.exported import Function as CudaFunction
from analyzer.cuda.units import ExportReach
from analyzer.graph.flow import Flow, Way
from analyzer.jit.builds import BuildPlan
from analyzer.model import LAYERS, SEVERITIES, Barrier, Edge, Effect, Entry, Gate, Node, Path, Severity, When
from analyzer.python.findings import Findings
from analyzer.python.gates import PythonGate
from analyzer.python.observe import Key
from analyzer.python.values import Site

#: A blocked call weighs this much more than an open one, so that open ways are found first.
_BLOCKED = 1000
#: Kernels that a path shows of each export.
KERNELS = 40


@dataclass(slots=True)
class Linker:
    """Everything that paths are drawn from, with the nodes and edges that they use."""

    flow: Flow
    gates: Sequence[PythonGate]
    guards: Mapping[str, Gate]
    plans: Sequence[BuildPlan]
    reaches: Sequence[ExportReach]
    target_findings: Findings
    target: str
    collectors: frozenset[str]
    lacking: Mapping[str, Sequence[Gate]]
    asking: Mapping[tuple[str, str], Sequence[Gate]]
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[Edge, None] = field(default_factory=dict)
    by_key: dict[Key, list[PythonGate]] = field(init=False)
    by_function: dict[str, list[PythonGate]] = field(init=False)
    by_maker: dict[str, BuildPlan] = field(init=False)
    exports: dict[tuple[str, str], ExportReach] = field(init=False)
    known: dict[str, Gate] = field(init=False)

    def __post_init__(self) -> None:
        self.by_key = {}
        self.by_function = {}
        for gate in self.gates:
            for key in gate.keys:
                self.by_key.setdefault(key, []).append(gate)
            self.by_function.setdefault(gate.function, []).append(gate)
        self.by_maker = {plan.build.function: plan for plan in self.plans}
        self.exports = {(reach.build, reach.name): reach for reach in self.reaches}
        self.known = {gate.gate.id: gate.gate for gate in self.gates} | dict(self.guards)
        for others in (*self.lacking.values(), *self.asking.values()):
            self.known |= {gate.id: gate for gate in others}

    # Gates that stop the target.

    def stopping(self, way: Way) -> list[PythonGate]:
        """The gates that keep the target from a call that a reference makes."""
        if self.target in way.archs:
            return []
        found: dict[str, PythonGate] = {}
        for under in way.under:
            for key in sorted(under):
                for gate in self.by_key.get(key, ()):
                    if gate.gate.verdict.get(self.target) == "reject" and gate.gate.effect != "none":
                        found.setdefault(gate.gate.id, gate)
        return list(found.values())

    def raising(self, function: str) -> list[PythonGate]:
        """The gates by which a function surely raises on the target."""
        outcome = self.target_findings.outcomes.get(function)
        found = []
        for gate in self.by_function.get(function, ()):
            if gate.gate.effect != "raises":
                continue
            if gate.gate.layer in ("jit", "api"):
                found.append(gate)
            elif outcome is not None and outcome.raised_site is not None:
                site = outcome.raised_site
                if site.file == gate.gate.file and gate.gate.line <= site.line <= gate.gate.end_line + 12:
                    found.append(gate)
        return found

    # Paths.

    def from_api(self, entry: Entry, function: str) -> list[Path]:
        """The paths of a public function: one to each build that it can reach."""
        return self._to_builds(entry, [function], [])

    def from_option(self, entry: Entry, attribute: str) -> list[Path]:
        """The paths of an option: through the gates whose condition reads it, to what they let through."""
        readers = [gate for gate in self.gates if attribute in gate.reads and gate.gate.layer == "runtime"]
        setters = [
            Barrier(gate.gate.id, "default")
            for gate in self.gates
            if attribute in gate.stores and gate.gate.effect != "none"
        ]
        paths: list[Path] = []
        for reader in readers:
            if attribute in reader.stores:
                continue  # it only sets the option
            first = [Barrier(reader.gate.id, "always")] if reader.gate.effect != "none" else []
            starts = [
                target
                for source, target, data in self.flow.graph.edges(data=True)
                if any(reader.keys & under for under in data["way"].under)
            ]
            if not first and not setters:
                continue
            found = self._to_builds(entry, sorted(set(starts)), [*first, *setters], reader)
            paths += found or [self._path(entry, [reader.gate.id], [*first, *setters])]
        return paths

    def _to_builds(
        self,
        entry: Entry,
        starts: Sequence[str],
        barriers: Sequence[Barrier],
        reader: PythonGate | None = None,
    ) -> list[Path]:
        graph = self.flow.graph
        present = [start for start in starts if start in graph]
        if not present:
            return []
        distance, ways = _search(self, present)
        makers: dict[str, list[str]] = {}
        lost: dict[str, list[str]] = {}
        for node in sorted(distance):
            maker, _, export = node.partition("\0")
            if export and maker in self.by_maker:
                makers.setdefault(maker, []).append(node)
            elif node in self.by_maker:
                makers.setdefault(node, [])
            elif maker in self.lacking and export:
                lost.setdefault(maker, []).append(node)
        paths = []
        for library in sorted(lost):
            steps, stops = self._way(lost[library], ways, barriers, reader)
            self._library(library, lost[library], ways, steps, stops)
            paths.append(self._path(entry, list(steps), list(stops.values())))
        for maker in sorted(makers):
            ends = [*makers[maker], *([maker] if maker in distance else [])]
            steps, stops = self._way(ends, ways, barriers, reader)
            self._build(self.by_maker[maker], makers[maker], steps, stops)
            self._ahead_of_time(maker, stops)
            paths.append(self._path(entry, list(steps), list(stops.values())))
        return paths

    def _way(
        self,
        ends: Sequence[str],
        ways: Mapping[str, list[str]],
        barriers: Sequence[Barrier],
        reader: PythonGate | None,
    ) -> tuple[dict[str, None], dict[str, Barrier]]:
        """The functions on the ways to some ends, and what stops the target on them."""
        steps: dict[str, None] = {}
        stops: dict[str, Barrier] = {barrier.gate: barrier for barrier in barriers}
        if reader is not None:
            steps[reader.gate.id] = None
        trails = sorted((ways[end] for end in ends if end in ways), key=lambda trail: (len(trail), trail))
        for trail in trails:
            if reader is not None:
                self._edge(reader.gate.id, self._function(trail[0]), "opens")
            self._follow(trail, steps, stops)
        return steps, stops

    def _library(
        self,
        file: str,
        ends: Sequence[str],
        ways: Mapping[str, list[str]],
        steps: dict[str, None],
        stops: dict[str, Barrier],
    ) -> None:
        """Add the operators that are called of a library, the library, and the kernels that it lacks."""
        library = self._node(f"library:{file}", "library", file, file, 1)
        for end in ends:
            operator = end.partition("\0")[2]
            node = self._node(f"operator:{file}:{operator}", "operator", operator, file, 1)
            caller = ways[end][-2]
            self._edge(self._function(caller), node, "calls")
            for blocked in self.stopping(self.flow.graph.edges[caller, end]["way"]):
                self._edge(self._function(caller), blocked.gate.id, "decides")
                self._edge(blocked.gate.id, node, "opens")
                steps.setdefault(blocked.gate.id)
                stops.setdefault(blocked.gate.id, Barrier(blocked.gate.id, "always"))
            self._edge(node, library, "runs")
            steps.setdefault(node)
        steps.setdefault(library)
        loaded = f"{file}\0"
        for loader in self.flow.graph.predecessors(loaded) if loaded in self.flow.graph else ():
            self._edge(self._function(loader), library, "loads")
        for gate in self.lacking[file]:
            steps.setdefault(gate.id)
            self._edge(library, gate.id, "holds")
            stops.setdefault(gate.id, Barrier(gate.id, "always"))

    def _follow(self, trail: Sequence[str], steps: dict[str, None], stops: dict[str, Barrier]) -> None:
        """Add a trail of functions with the gates on it."""
        previous: str | None = None
        for name in trail:
            if "\0" in name:
                continue
            if previous is not None:
                way: Way = self.flow.graph.edges[previous, name]["way"]
                for gate in self.stopping(way):
                    self._edge(self._function(previous), gate.gate.id, "decides")
                    self._edge(gate.gate.id, self._function(name), "opens")
                    steps.setdefault(gate.gate.id)
                    stops.setdefault(gate.gate.id, Barrier(gate.gate.id, "always"))
                self._edge(self._function(previous), self._function(name), way.kind)
            steps.setdefault(self._function(name))
            for gate in self.raising(name):
                steps.setdefault(gate.gate.id)
                stops.setdefault(gate.gate.id, Barrier(gate.gate.id, "always"))
            previous = name

    def _build(
        self, plan: BuildPlan, exports: Sequence[str], steps: dict[str, None], stops: dict[str, Barrier]
    ) -> None:
        """Add a build, the exports that are called of it, and what these can run."""
        build = plan.build
        node = self._node(f"build:{build.name}", "build", build.name, build.file, build.line)
        for gate in self.raising(build.function):
            steps.setdefault(gate.gate.id)
            stops.setdefault(gate.gate.id, Barrier(gate.gate.id, "always"))
            self._edge(self._function(build.function), gate.gate.id, "decides")
            self._edge(gate.gate.id, node, "opens")
        self._edge(self._function(build.function), node, "builds")
        steps.setdefault(node)
        for end in exports:
            reach = self.exports.get((build.name, end.partition("\0")[2]))
            if reach is None:
                continue
            source = self._node(f"source:{reach.file}", "source", reach.file, reach.file, 1)
            self._edge(node, source, "compiles")
            steps.setdefault(source)
            export = self._node(
                f"export:{build.name}:{reach.name}", "export", reach.name, reach.file, reach.line
            )
            self._edge(source, export, "exports")
            steps.setdefault(export)
            for kernel in reach.kernels[:KERNELS]:
                steps.setdefault(self._kernel(kernel, export))
            for function in reach.functions:
                for asked in self.asking.get((function.file, function.name), ()):
                    if asked.effect != "none":
                        steps.setdefault(asked.id)
                        self._edge(export, asked.id, "holds")
                        stops.setdefault(asked.id, Barrier(asked.id, "always"))
            met = (self.guards[guard] for guard in reach.guards if guard in self.guards)
            for gate_found in sorted((gate for gate in met if gate.effect != "none"), key=_gravity):
                guard = gate_found.id
                steps.setdefault(guard)
                holder = reach.held_by.get(guard)
                self._edge(self._kernel(holder, export) if holder is not None else export, guard, "holds")
                stops.setdefault(guard, Barrier(guard, "always"))

    def _kernel(self, kernel: CudaFunction, export: str) -> str:
        kind = "kernel" if kernel.kind == "kernel" else "device_function"
        node = self._node(f"{kind}:{kernel.file}:{kernel.name}", kind, kernel.name, kernel.file, kernel.line)
        self._edge(export, node, "launches" if kind == "kernel" else "reaches")
        return node

    def _ahead_of_time(self, maker: str, stops: dict[str, Barrier]) -> None:
        """Add the gates that leave a build out of packages compiled ahead of time."""
        for collector in sorted(self.collectors):
            if not self.flow.graph.has_edge(collector, maker):
                continue
            for gate in self.stopping(self.flow.graph.edges[collector, maker]["way"]):
                stops.setdefault(gate.gate.id, Barrier(gate.gate.id, "ahead_of_time"))

    def _path(self, entry: Entry, steps: Sequence[str], barriers: Sequence[Barrier]) -> Path:
        ranked = met(barriers, self.known)
        effect, severity = outcome(ranked, self.known)
        node = self._node(f"entry:{entry.name}", "entry", entry.name, entry.file, entry.line)
        if steps:
            self._edge(node, steps[0], "enters")
        return Path(
            id="",
            entry=entry,
            steps=(node, *steps),
            barriers=tuple(ranked),
            effect=effect,
            severity=severity,
        )

    # Nodes.

    def _function(self, dotted: str) -> str:
        site = self.flow.sites.get(dotted, Site("", 1, 1, 1))
        return self._node(f"function:{dotted}", "function", dotted, site.file, site.line)

    def _node(self, identity: str, kind: str, name: str, file: str, line: int) -> str:
        self.nodes.setdefault(identity, Node(identity, kind, name, file, max(line, 1)))
        return identity

    def _edge(self, source: str, target: str, kind: str) -> None:
        if source != target:
            self.edges.setdefault(Edge(source, target, kind))


def _search(linker: Linker, starts: Sequence[str]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Distances and trails from any of the starts; calls that the target cannot make weigh more."""

    def weight(source: str, target: str, data: Mapping[str, Way]) -> int:
        return 1 + (_BLOCKED if linker.stopping(data["way"]) else 0)

    distance, ways = nx.multi_source_dijkstra(linker.flow.graph, set(starts), weight=weight)
    return distance, ways


def _gravity(guard: Gate) -> tuple[bool, int, str, int]:
    """Guards inside kernels are met in no order of their own: the gravest comes first."""
    return guard.effect != "empty_kernel", SEVERITIES.index(guard.severity), guard.file, guard.line


def met(barriers: Iterable[Barrier], gates: Mapping[str, Gate]) -> list[Barrier]:
    """Barriers in the order of meeting: first those that always count, then by layer, then as they came."""
    order: dict[When, int] = {"always": 0, "default": 1, "ahead_of_time": 2}

    def key(barrier: Barrier) -> tuple[int, int]:
        gate = gates.get(barrier.gate)
        # An API's own check lies no deeper than a condition of its caller: as they came.
        layer = max(LAYERS.index(gate.layer), LAYERS.index("api")) if gate is not None else len(LAYERS)
        return order[barrier.when], layer

    return sorted(barriers, key=key)


def outcome(barriers: Sequence[Barrier], gates: Mapping[str, Gate]) -> tuple[Effect, Severity]:
    """What becomes of a path in the end: the gravest of the barriers that always count, else of all."""
    always = [
        gates[barrier.gate] for barrier in barriers if barrier.when == "always" and barrier.gate in gates
    ]
    worst = always or [gates[barrier.gate] for barrier in barriers if barrier.gate in gates]
    gravest = min(worst, key=lambda gate: SEVERITIES.index(gate.severity), default=None)
    return (gravest.effect, gravest.severity) if gravest is not None else ("none", "none")


def numbered(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths in a fixed order, with ids: the entry, counted where it has several."""
    import msgspec

    counts: dict[str, int] = {}
    done = []
    for path in sorted(paths, key=lambda p: (p.entry.kind, p.entry.name, p.steps)):
        number = counts[path.entry.name] = counts.get(path.entry.name, 0) + 1
        name = path.entry.name if number == 1 else f"{path.entry.name}.{number}"
        done.append(msgspec.structs.replace(path, id=f"path:{name}"))
    return tuple(done)
