"""Whether hardware or an oversight stands behind a gate that rejects the target: what is behind it, read.

Behind a gate in Python are the calls that references make under its decision and the target does not, and
whatever these lead to: functions, builds, the exports that are called of them and all that these can run. For
each reference that code was held against the target (``cuda.followed``). ``liftable``: everything that some
reference runs was read, and the target has all that it needs. ``hardware``: every reference needs something
that the target lacks, and no code beside it does the same with what the target has. Else it is ``unknown``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import networkx as nx

from analyzer import archs, data
from analyzer.cuda.followed import Followed
from analyzer.cuda.instructions import may_have
from analyzer.cuda.units import ExportReach
from analyzer.graph.flow import FEW, Flow, Way
from analyzer.jit.builds import BuildPlan
from analyzer.judge.traced import lacking
from analyzer.model import Gate, Justification, Step
from analyzer.python.findings import Findings
from analyzer.python.gates import PythonGate
from analyzer.python.observe import Call, Key, Led
from analyzer.python.trials import AUTO, Trial
from analyzer.python.values import Truth

Kind = Literal["hardware", "liftable", "unknown"]

#: Steps of evidence that are kept of one kind.
KEPT = 4


@dataclass(frozen=True, slots=True)
class Behind:
    """What one reference reaches through a gate.

    ``builds`` hold the exports that are run of each; ``open`` are places at which it was not followed.
    """

    functions: frozenset[str]
    builds: Mapping[str, tuple[ExportReach, ...]]
    open: tuple[Step, ...]


@dataclass
class Follower:
    """Follows gates into what stands behind them."""

    flow: Flow
    found: Mapping[str, Findings]
    gates: Sequence[PythonGate]
    plans: Sequence[BuildPlan]
    exports: Sequence[ExportReach]
    guarded: Mapping[str, tuple[Followed, ...]]
    target: str
    references: Sequence[str]
    named: Mapping[str, tuple[ExportReach, ...]] = field(default_factory=dict)
    """By gate, the exports of the sources that are named where the value is met which the gate gives."""
    runs: Mapping[str, Sequence[Trial]] = field(default_factory=dict)
    """By architecture, the runs of public functions and classes with each of their back ends."""
    _graphs: dict[str, nx.DiGraph[str]] = field(default_factory=dict)

    def python(self, draft: PythonGate) -> Justification | None:
        """The justification of a gate in Python; None for one that lets the target pass."""
        gate = draft.gate
        if gate.verdict.get(self.target) != "reject" or gate.effect == "none":
            return None
        told = [self._reference(draft, arch) for arch in self.passing(gate)]
        return _joined(told) if told else Justification("unknown", ())

    def passing(self, gate: Gate) -> list[str]:
        """The references that a gate lets pass."""
        return [arch for arch in self.references if gate.verdict.get(arch) == "admit"]

    def reached_by_target(self, draft: PythonGate) -> dict[str, tuple[ExportReach, ...]]:
        """The builds that the target itself is led to through a gate that lets it pass.

        A list that lets the target in leads there if some run of what users call comes to its build: that
        code which is not run could make it, with arguments that are not known, says nothing.
        """
        if draft.gate.layer == "jit" and draft.function not in self._loaded:
            return {}
        led = self._by_value(draft)
        functions = led or set(self._starts(draft, self.target))
        for start in list(functions):
            functions |= self._after(start)
        # A call that raises is not seen to be made: follow those that references make, as far as they raise.
        for source, callee, under in self._to_failing:
            if source in functions or (not led and any(draft.keys & keys for keys in under)):
                functions |= {callee, *nx.descendants(self._among_failing, callee)}
        return self._builds(functions)

    def traced(self, functions: Iterable[str], arch: str) -> list[Step]:
        """What kernels in Python that an architecture runs ask for, and the target lacks."""
        calls = (call for name in sorted(functions) for call in self._calls[arch].get(name, ()))
        return lacking(((call.callee, call.site) for call in calls if call.kind == "outside"), self.target)

    def surely_traced(self, draft: PythonGate, arch: str) -> list[Step]:
        """The same of what an architecture runs on every way behind a gate."""
        surely = self.found[arch].surely
        starts = {*self._starts(draft, arch), *(self._guarded_by(draft) if draft.check else ())}
        return lacking((call for name in sorted(starts) for call in surely.get(name, ())), self.target)

    def traced_after(self, draft: PythonGate, arch: str) -> list[Step]:
        """The same of what the function that a check stands in runs itself, on every way."""
        calls = self.found[arch].surely.get(draft.function, ()) if draft.check else ()
        return lacking(calls, self.target)

    @cached_property
    def _failing(self) -> frozenset[str]:
        """The functions that surely raise on the target."""
        outcomes = self.found[self.target].outcomes
        return frozenset(name for name, outcome in outcomes.items() if outcome.raised is not None)

    @cached_property
    def _loaded(self) -> frozenset[str]:
        """The functions whose builds the target calls in runs of public functions with each back end."""
        return frozenset(maker for trial in self.runs.get(self.target, ()) for maker, _ in trial.exports)

    @cached_property
    def _under(self) -> Mapping[Key, Sequence[tuple[str, Way]]]:
        """By decision, whom the calls lead to that stand under it, and how."""
        found: dict[Key, list[tuple[str, Way]]] = {}
        for _, callee, way in self.flow.graph.edges(data="way"):
            for key in dict.fromkeys(key for under in way.under for key in under):
                found.setdefault(key, []).append((callee, way))
        return found

    @cached_property
    def _led(self) -> Mapping[Led, Sequence[str]]:
        """By side of a decision, whom the target calls where the value is asked for that it gives."""
        found: dict[Led, list[str]] = {}
        for _, callee, way in self.flow.graph.edges(data="way"):
            for led, choices in way.led.get(self.target, {}).items():
                found.setdefault(led, []).extend(self._tried(callee, choices) or [callee])
        return found

    def _by_value(self, draft: PythonGate) -> set[str]:
        """Whom the target calls where the value is asked for that a gate gives it, and not another."""
        return {callee for led in self._gives(draft) for callee in self._led.get(led, ())}

    def _after(self, start: str) -> set[str]:
        """What the target comes to after a function.

        Where it asks another for a back end by name that was run for it to the end, it comes to what that
        run called, and not to the other back ends.
        """
        return nx.descendants(self._choosing, start) if start in self._choosing else set()

    @cached_property
    def _choosing(self) -> nx.DiGraph[str]:
        """The calls that the target makes, past functions that it asks for a back end."""
        graph = self._graph(self.target).copy()
        for source, callee, way in self.flow.graph.edges(data="way"):
            if graph.has_edge(source, callee) and (tried := self._tried(callee, way.choices)):
                graph.remove_edge(source, callee)
                graph.add_edges_from((source, reached) for reached in tried)
        return graph

    def _tried(self, callee: str, choices: Iterable[str]) -> list[str]:
        """What the target's runs of a function came to with all the choices that it is asked for.

        Nothing, where one of them is not known, or was not run to its end.
        """
        runs = [self._ended.get((callee, choice), frozenset()) for choice in choices]
        return sorted(frozenset[str]().union(*runs)) if all(runs) else []

    @cached_property
    def _ended(self) -> dict[tuple[str, str], frozenset[str]]:
        """The builds and exports that the target's runs came to, by function and choice, if they ended."""
        found: dict[tuple[str, str], frozenset[str]] = {}
        for run in self.runs.get(self.target, ()):
            exports, loaded = _called(run)
            if run.choice and not run.cut and {*exports.values(), *loaded} <= self._makers.keys():
                found[run.definition, run.choice] = frozenset([*exports, *loaded])
        return found

    def comes_to_builds(self, draft: PythonGate) -> bool:
        """Whether all that the target calls under a gate, or for the value that it gives, comes to a build.

        What stands under decisions that only forward the gate is left out: it may be for another value.
        """
        own = [key for key in draft.keys if key[:3] == (draft.gate.file, draft.gate.line, draft.gate.column)]
        under = {
            callee for key in own for callee, way in self._under.get(key, ()) if self.target in way.archs
        }
        starts = self._by_value(draft) or under
        return bool(starts) and all(self._builds({start, *self._after(start)}) for start in starts)

    def _gives(self, draft: PythonGate) -> frozenset[Led]:
        """What a value is known by that the gated side of a decision gives the target.

        Which side gave it may not be noted; where the decision is known, it is that which the target takes.
        """
        place = draft.gate.file, draft.gate.line, draft.gate.column
        answers = self.found[self.target].answers
        found: set[Led] = set()
        for key in draft.keys:
            if key[:3] == place:
                answer = answers.get((key, None))
                known = answer is not None and answer.outcome in (Truth.TRUE, Truth.FALSE)
                found.update((key, side) for side in ((draft.polarity, None) if known else (draft.polarity,)))
        return frozenset(found)

    @cached_property
    def _among_failing(self) -> nx.DiGraph[str]:
        """The calls between them."""
        return self.flow.graph.subgraph(self._failing).copy()

    @cached_property
    def _to_failing(self) -> list[tuple[str, str, Sequence[frozenset[Key]]]]:
        """The calls that lead to them: who, whom, under which decisions."""
        edges = self.flow.graph.edges(data="way")
        return [(source, callee, way.under) for source, callee, way in edges if callee in self._failing]

    def guard(self, gate: Gate) -> Justification | None:
        """The justification of a guard; None for one at which the target loses nothing."""
        if gate.effect == "none" or gate.verdict.get(self.target) != "reject":
            return None
        if gate.layer == "isa":
            return self._instruction(gate)
        if gate.layer != "guard":
            after = {"host": "what comes after a check on the host", "jit": "what else the flag brings"}
            what = f"{after.get(gate.layer, 'what comes after it')} was not followed"
            return Justification("unknown", (Step(gate.file, gate.line, what),))
        passing = {arch for arch in self.references if gate.verdict.get(arch) == "admit"}
        by_arch: dict[str, list[Followed]] = {}
        for one in self.guarded.get(gate.id, ()):
            if one.arch in passing:
                by_arch.setdefault(one.arch, []).append(one)
        if not by_arch:
            return Justification("unknown", (Step(gate.file, gate.line, "no build leads here"),))
        return _joined([self._guarded(gate, found) for _, found in sorted(by_arch.items())])

    def _instruction(self, gate: Gate) -> Justification:
        """Hardware, if the instruction assembles for the target under no name that compilers have for it."""
        if may_have(archs.find(self.target), gate.code):
            what = f"some spelling of {self.target} may have it"
            return Justification("unknown", (Step(gate.file, gate.line, what), *gate.because))
        return Justification("hardware", gate.because)

    def _guarded(self, gate: Gate, found: Sequence[Followed]) -> Justification:
        """What stands under a guard on one reference, over all builds and places."""
        if all(one.lacks and not one.instead for one in found):
            return Justification("hardware", tuple(_lacking(found)))
        if any(one.lacks for one in found) or any(one.open for one in found):
            return Justification("unknown", (*_open(found), *_lacking(found)))
        functions = max(one.functions for one in found)
        what = (
            f"nothing under this line needs what {self.target} lacks; {_counted(functions)} followed from it"
        )
        return Justification("liftable", (Step(gate.file, gate.line, what),))

    # Python.

    def let_in(self, draft: PythonGate) -> Justification | None:
        """What is to be said of a gate that lets the target in to a package which was not scanned."""
        gate, target = draft.gate, self.target
        selects = "reject" in gate.verdict.values() and gate.verdict.get(target) == "admit"
        if not selects or gate.specialised or gate.effect != "none":
            return None
        functions = set(self._starts(draft, target))
        found = [*self._imported(draft), *self._direct(draft, target), *self._leaving(functions, target)]
        steps = [step for step in dict.fromkeys(found) if "was not scanned" in step.what]
        return Justification("unknown", tuple(steps[:KEPT])) if steps else None

    def _reference(self, draft: PythonGate, arch: str) -> Justification:
        behind = self.behind(draft, arch)
        kinds: list[Kind] = []
        steps: list[Step] = list(behind.open)
        for name in sorted(behind.builds):
            kind, told = self.build(name, behind.builds[name], arch)
            kinds.append(kind)
            steps += told
        if self.named.get(draft.gate.id):
            place = draft.gate.file, draft.gate.line
            kind, told = self._held("what is built for it", place, self.named[draft.gate.id], arch)
            if kind == "hardware":
                return Justification(kind, tuple(told))  # whatever other values lead to
            kinds.append(kind)
            steps += told
        asked = self.traced(behind.functions, arch)
        if asked:
            kinds.append("hardware" if self.surely_traced(draft, arch) else "unknown")
            steps += asked
        if not kinds and not self._runs(behind.functions, arch):
            what = "what it lets through leads to no code for the device that was read"
            return Justification("unknown", (*steps, Step(draft.gate.file, draft.gate.line, what)))
        if kinds and all(kind == "hardware" for kind in kinds):
            return Justification("hardware", tuple(steps))
        if behind.open or any(kind != "liftable" for kind in kinds):
            return Justification("unknown", tuple(steps))
        read = f"followed from here: {_counted(len(behind.functions))} of Python"
        return Justification("liftable", (Step(draft.gate.file, draft.gate.line, read), *steps))

    def _runs(self, functions: Iterable[str], arch: str) -> bool:
        """Whether some function runs a kernel that a foundation compiles for the device at hand."""
        compilers = data.table("contracts")["foundation"]["compilers"]
        return any(
            call.kind == "outside" and call.callee.partition(".")[0] in compilers
            for name in functions
            for call in self._calls[arch].get(name, ())
        )

    def behind(self, draft: PythonGate, arch: str, seen: frozenset[str] = frozenset()) -> Behind:
        """What a reference reaches through a gate; ``seen`` are gates that it was reached through."""
        functions = set(self._starts(draft, arch))
        graph = self._graph(arch)
        for start in list(functions):
            if start in graph:
                functions |= nx.descendants(graph, start)
        builds = self._builds(functions)
        open_ = [*self._leaving(functions, arch), *self._direct(draft, arch)]
        if draft.stores and draft.gate.id not in seen:
            for reader in self.gates:
                if reader.reads & draft.stores and not reader.stores & draft.stores:
                    further = self.behind(reader, arch, seen | {draft.gate.id})
                    functions |= further.functions
                    builds = {**further.builds, **builds}
                    open_ += further.open
        named = frozenset(name for name in functions if "\0" not in name)
        return Behind(named, builds, tuple(dict.fromkeys(open_)))

    def _starts(self, draft: PythonGate, arch: str) -> Iterator[str]:
        """What a reference calls behind the gate, and the target does not."""
        gate = draft.gate
        if gate.layer == "jit":
            if any(plan.build.function == draft.function for plan in self.plans):
                yield draft.function
            return
        if gate.layer == "api":
            yield from (name for name in [f"{draft.module}.{gate.scope}"] if name in self.flow.graph)
            yield from self._declared(gate, arch)
            return
        graph = self.flow.graph
        behind = [call for key in draft.keys for call in self._under.get(key, ())]
        if draft.check:  # and what comes after the check
            checked = (name for name in self._guarded_by(draft) if name in graph)
            behind += [
                (callee, graph.edges[name, callee]["way"]) for name in checked for callee in graph[name]
            ]
        gives = self._gives(draft) if arch == self.target else frozenset()
        for callee, way in behind:
            barred = gives & way.barred.get(self.target, frozenset())
            if arch in way.archs and not barred and (arch == self.target or self.target not in way.archs):
                yield callee
        if gate.effect == "raises" and arch != self.target:
            yield from self._checked(draft, arch)

    def _guarded_by(self, draft: PythonGate) -> frozenset[str]:
        """The functions that a check stands before: its own, and after a constructor's, all of the class."""
        owner, _, name = draft.function.rpartition(".")
        if name != "__init__":
            return frozenset([draft.function])
        return frozenset(name for name in self.flow.graph if name.startswith(f"{owner}."))

    def _declared(self, gate: Gate, arch: str) -> Iterator[str]:
        """What is run behind a declaration that lets an architecture in."""
        place = gate.file, gate.line, gate.column
        held = [
            run
            for run in self.runs.get(arch, ())
            if any(argument is not None and argument.start == place for (_, argument), _ in run.decided)
        ]
        return self._run([run for run in held if run.choice not in ("", AUTO)] or held, arch)

    def _checked(self, draft: PythonGate, arch: str) -> Iterator[str]:
        """What comes after a check at which the target's runs of public functions end."""
        ended = {
            (run.definition, run.choice)
            for run in self.runs.get(self.target, ())
            for stop in run.stops
            if any(argument is None and key in draft.keys for key, argument in stop.under)
        }
        runs = [run for run in self.runs.get(arch, ()) if (run.definition, run.choice) in ended]
        return self._run(runs, arch)

    def _run(self, runs: Iterable[Trial], arch: str) -> Iterator[str]:
        """The exports that runs call, what leads to them, and the builds that are loaded all the same.

        The public function itself is left out: it leads to its other back ends as well.
        """
        graph = self._graph(arch)
        for run in runs:
            exports, loaded = _called(run)
            yield from (maker for maker in loaded if maker in self._makers)
            after = nx.descendants(graph, run.definition) if run.definition in graph else set()
            for export, maker in exports.items():
                if maker not in self._makers:
                    continue
                yield export
                if export in after:
                    yield from sorted(after & nx.ancestors(graph, export))

    def _graph(self, arch: str) -> nx.DiGraph[str]:
        """The calls that one architecture makes, the constructors that it runs, the exports that it hands on.

        The target is run in the functions alone that tell something of the device: in all others it makes
        the calls that every reference makes.
        """
        if arch not in self._graphs:
            graph: nx.DiGraph[str] = nx.DiGraph()
            walked = self.found[arch].outcomes
            for source, target, data_ in self.flow.graph.edges(data=True):
                by = data_["way"].archs
                if arch in by or (source not in walked and by.issuperset(self.references)):
                    graph.add_edge(source, target)
            graph.add_edges_from(self._beside(arch))
            everywhere = set.intersection(*(self._beside(one) for one in self.references))
            graph.add_edges_from((source, target) for source, target in everywhere if source not in walked)
            self._graphs[arch] = graph
        return self._graphs[arch]

    def _beside(self, arch: str) -> set[tuple[str, str]]:
        """The constructors that one architecture runs, and the exports that it hands on, by who does it."""
        found: set[tuple[str, str]] = set()
        for call in self.found[arch].calls:
            if call.kind == "makes":
                found.add((call.caller, f"{call.callee}.__init__"))
            elif call.kind == "hands":
                found.add((call.caller, call.callee))
        return found

    def _builds(self, functions: Iterable[str]) -> dict[str, tuple[ExportReach, ...]]:
        """The builds among what is reached: the exports that are called, else all that they have."""
        called: dict[str, set[str]] = {}
        for name in functions:
            maker, _, export = name.partition("\0")
            if maker in self._makers:
                called.setdefault(maker, set()).update([export] if export else [])
        found = {}
        for maker, exports in called.items():
            build = self._makers[maker].build.name
            of_build = self._by_build.get(build, ())
            found[build] = tuple(one for one in of_build if not exports or one.name in exports)
        return found

    @cached_property
    def _makers(self) -> dict[str, BuildPlan]:
        return {plan.build.function: plan for plan in self.plans}

    @cached_property
    def _by_build(self) -> dict[str, list[ExportReach]]:
        found: dict[str, list[ExportReach]] = {}
        for export in self.exports:
            found.setdefault(export.build, []).append(export)
        return found

    @cached_property
    def _calls(self) -> dict[str, dict[str, list[Call]]]:
        """The calls that lead out of what was read, by architecture and caller."""
        found: dict[str, dict[str, list[Call]]] = {}
        for arch in (self.target, *self.references):
            by_caller = found.setdefault(arch, {})
            for call in self.found[arch].calls:
                if call.kind in ("outside", "method"):
                    by_caller.setdefault(call.caller, []).append(call)
        return found

    @cached_property
    def _methods(self) -> dict[str, int]:
        """How many classes have a method of a name."""
        counts: dict[str, int] = {}
        for dotted in {name for arch in self.references for name in self.found[arch].outcomes}:
            owner, _, name = dotted.rpartition(".")
            if owner.rpartition(".")[2][:1].isupper():
                counts[name] = counts.get(name, 0) + 1
        return counts

    def _leaving(self, functions: Iterable[str], arch: str) -> Iterator[Step]:
        for name in sorted(functions):
            library, _, called = name.partition("\0")
            if called and library not in self._makers:
                yield Step(library, 1, f"{called}: this library carries no code that {self.target} can run")
            for call in self._calls[arch].get(name, ()):
                yield from self._out(call)

    def _direct(self, draft: PythonGate, arch: str) -> Iterator[Step]:
        """The calls under the gate's own decision that lead out."""
        for calls in self._calls[arch].values():
            for call in calls:
                if draft.keys & call.under and (arch == self.target or not self._also(call)):
                    yield from self._out(call)

    def _imported(self, draft: PythonGate) -> Iterator[Step]:
        """What the target imports under the gate's own decision, and which is not in the tree."""
        for call in self.found[self.target].calls:
            if call.kind == "imports" and draft.keys & call.under:
                package = call.callee.partition(".")[0]
                if not _is_foundation(call.callee, package):
                    what = f"imports {call.callee}: the package {package} was not scanned"
                    yield Step(call.site.file, call.site.line, what)

    @cached_property
    def _by_target(self) -> frozenset[tuple[str, str, Key]]:
        return frozenset(
            (call.caller, call.callee, (call.site.file, call.site.line, call.site.column, call.kind))
            for call in self.found[self.target].calls
        )

    def _also(self, call: Call) -> bool:
        """Whether the target makes the same call."""
        place = (call.site.file, call.site.line, call.site.column, call.kind)
        return (call.caller, call.callee, place) in self._by_target

    def _out(self, call: Call) -> Iterator[Step]:
        if call.kind == "outside":
            package = call.callee.partition(".")[0]
            if not _is_foundation(call.callee, package):
                what = f"calls {call.callee}: the package {package} was not scanned"
                yield Step(call.site.file, call.site.line, what)
        elif self._methods.get(call.callee, 0) > FEW:
            what = f"calls .{call.callee}() of one of {self._methods[call.callee]} classes: not followed"
            yield Step(call.site.file, call.site.line, what)

    def build(self, name: str, exports: Sequence[ExportReach], arch: str) -> tuple[Kind, list[Step]]:
        """What one reference runs of a build, held against the target."""
        build = next(plan.build for plan in self.plans if plan.build.name == name)
        kind, steps = self._held(name, (build.file, build.line), exports, arch)
        if not build.given:
            return kind, steps
        what = f"{name} is made to measure, and was read as it is made with {build.given}"
        return "unknown", [Step(build.file, build.line, what), *steps]

    def _held(
        self, name: str, place: tuple[str, int], exports: Sequence[ExportReach], arch: str
    ) -> tuple[Kind, list[Step]]:
        followed = {one.name: part for one in exports for part in one.followed if part.arch == arch}
        if not followed:
            return "unknown", [Step(*place, f"the sources of {name} were not found, or export nothing")]
        parts = list(followed.values())
        if any(_chosen(part) and not part.instead for part in parts):
            return "hardware", list(_lacking([part for part in parts if _chosen(part)]))
        if any(part.lacks or part.open for part in parts):
            return "unknown", [*_open(parts), *_lacking(parts)]
        if not any(one.kernels for one in exports):
            return "unknown", [Step(*place, f"none of the exports of {name} leads to a kernel that was read")]
        functions = max(part.functions for part in parts)
        what = (
            f"{name}: {len(parts)} of its exports read, up to {_counted(functions)} each; "
            f"{self.target} has all that they need"
        )
        return "liftable", [Step(*place, what)]


def _called(run: Trial) -> tuple[dict[str, str], list[str]]:
    """The exports that a run calls, each with who makes its build, and who makes the others that it loads."""
    exports = {f"{maker}\0{name}": maker for maker, name in run.exports}
    makers = dict.fromkeys(one.maker for one in run.compiled)
    return exports, [maker for maker in makers if maker not in exports.values()]


def _chosen(part: Followed) -> bool:
    """Whether a program, not a library that offers it, asks for what the target lacks."""
    return any(need.chosen for need in part.lacks)


def _lacking(parts: Iterable[Followed]) -> Iterator[Step]:
    steps: dict[Step, None] = {}
    for part in parts:
        for need in part.lacks:
            steps.setdefault(Step(need.file, need.line, f"{need.what}: {need.why}"))
    yield from list(steps)[:KEPT]


def _open(parts: Iterable[Followed]) -> Iterator[Step]:
    steps: dict[Step, None] = {}
    for part in parts:
        for step in part.open:
            steps.setdefault(step)
    yield from list(steps)[:KEPT]


def _counted(functions: int) -> str:
    return f"{functions:,} function{'' if functions == 1 else 's'}"


def _joined(told: Sequence[Justification]) -> Justification:
    """One answer from those of all references that pass: one that is liftable is enough."""
    liftable = next((one for one in told if one.kind == "liftable"), None)
    if liftable is not None:
        return liftable
    kind: Kind = "hardware" if all(one.kind == "hardware" for one in told) else "unknown"
    steps = dict.fromkeys(step for one in told if kind == one.kind for step in one.evidence)
    return Justification(kind, tuple(steps)[: 2 * KEPT])


def _is_foundation(path: str, package: str) -> bool:
    """Whether what is called serves every architecture alike."""
    if package in sys.stdlib_module_names:
        return True
    table = data.table("contracts")["foundation"]
    if any(path == root or path.startswith(f"{root}.") for root in table["custom"]):
        return False
    return package in table["packages"]
