"""The pipeline: from the files of a tree to a report, and from names to values."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import msgspec

from analyzer import __version__, archs, model
from analyzer.archs import Spelling
from analyzer.binary import gates as binary
from analyzer.binary.library import mentions
from analyzer.cuda import limits, uncompiled, units
from analyzer.cuda.stages import Staged
from analyzer.graph.entries import declared_options, public_names
from analyzer.graph.flow import flow
from analyzer.graph.link import link
from analyzer.graph.unlinked import unlinked
from analyzer.jit import builds, listed, named, places
from analyzer.jit.extract import Extract, extract
from analyzer.judge import backends, matrix, switches
from analyzer.judge.declared import borne_out, contradicted
from analyzer.judge.images import chosen_wrongly, images
from analyzer.judge.justification import Follower
from analyzer.judge.severity import judged
from analyzer.judge.verdict import judge, unfollowed
from analyzer.model import (
    Build,
    Coverage,
    Effect,
    FileFacts,
    Files,
    Gate,
    Predicate,
    Report,
    Target,
    Tool,
    Unresolved,
)
from analyzer.profile import Profile
from analyzer.python import contracts, fleet, gates, tuning
from analyzer.python.calls import call
from analyzer.python.decisions import sort
from analyzer.python.device import Host
from analyzer.python.findings import Findings
from analyzer.python.machine import Budget, Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.natives import Natives, namespaces, native, operators
from analyzer.python.observe import Observer
from analyzer.python.values import (
    Bound,
    Builtin,
    Choice,
    Free,
    Function,
    Partial,
    Raised,
    Site,
    Unknown,
    plain,
)
from analyzer.python.words import words
from analyzer.request import Progress, ScanOptions
from analyzer.tree.cache import Cache
from analyzer.tree.errors import TreeError
from analyzer.tree.facts import compute
from analyzer.tree.files import Tree, UnreadableFileError, decode, open_tree
from analyzer.tree.requirements import notices, required
from analyzer.tree.stages import Stage, Stages

_COMMON = ("tree", "archs.py", "data.py", "identity.py", "model.py", "processes.py")
_PYTHON = Stage("python", ("python", "jit", "graph/entries.py", *_COMMON))
_CUDA = Stage("cuda", ("cuda", *_COMMON))

#: Bytes that are searched for patterns as quickly as other processes start.
_SEARCHED = 32 * 2**20

_TRUTH = frozenset(["true", "false"])
_TEST_FOLDERS = frozenset(["test", "tests", "testing", "benchmark", "benchmarks"])


def analyse(
    tree: Tree,
    store: Cache | None,
    stages: Stages,
    options: ScanOptions,
    progress: Progress,
    profile: Profile,
) -> Report:
    """The report of a tree; ``stages`` keeps what of it can be used again."""
    names = archs.names()
    with profile.stage("libraries"):
        compiled = binary.analyse(
            tree,
            options.target,
            options.references,
            names,
            lambda done, total: progress("Libraries", done, total),
        )
    with profile.stage("words"):
        index, spellings = _index(tree, store, options.jobs, progress)
    natives = _natives(tree, compiled, spellings)
    public = public_names(index, spellings)
    declared = declared_options(index, spellings)
    followed = frozenset([options.target, *options.references])
    taking = partial(extract, public=public, declared=declared, words=spellings, followed=followed)
    task = fleet.Task(index, spellings, options.release, options.environment, taking, natives)
    told = stages.keep(
        _PYTHON,
        ("python",),
        (options.target, options.references, options.cuda, options.environment, names, natives),
        lambda: fleet.run(
            task,
            options.target,
            options.references,
            names,
            options.jobs,
            lambda done, total: progress("Python", done, total),
        ),
    )
    if not profile.stages[_PYTHON.name].kept:
        for survey in told.values():
            profile.charge(survey.seconds)
    found = {arch: item.findings for arch, item in told.items()}
    passed_by = _passed_by(found, options.target)
    libraries = {
        gate.id: unfollowed(_placed(binary.unmet(gate) if gate.file in passed_by else gate), options.target)
        for gate in compiled.gates
    }
    lacking = {
        library.path: [libraries[gate.id] for gate in own]
        for library, own in compiled.lost
        if library.path not in passed_by
    }
    extracts: dict[str, Extract] = {arch: item.extract for arch, item in told.items()}  # type: ignore[misc]
    apis = {arch: item.apis for arch, item in extracts.items()}
    decisions = sort(found)
    python = gates.gates(found, options.target, options.references, decisions)
    paths = {file.path for file in tree.files}
    plans, unbuilt = builds.plan(
        {arch: item.builds for arch, item in extracts.items()}, paths, lambda path: decode(tree.read(path))
    )
    wanted = _wanted(tree, plans, options, names)
    loose = uncompiled.beside(wanted, [file.path for file in tree.of("cuda") if not _in_tests(file.path)])
    supposed = _supposed(tree, python.gates, wanted, options, names)
    cuda = stages.keep(
        _CUDA,
        ("cuda",),
        (wanted, loose, supposed, names, options.target, options.references),
        lambda: units.analyse(
            wanted,
            tree.read,
            paths.__contains__,
            names,
            options.target,
            options.references,
            options.jobs,
            lambda done, total: progress("CUDA", done, total),
            loose,
            supposed,
        ),
    )
    beyond: dict[str, list[units.ExportReach]] = {}
    for export in cuda.supposed:
        beyond.setdefault(export.build, []).append(export)
    requested = limits.gates(
        _requests(tree, cuda, store, options.jobs, progress), options.target, options.references, names
    )
    demands = {item.gate.id: unfollowed(_placed(item.gate), options.target) for item in requested}
    asking: dict[tuple[str, str], list[Gate]] = {}
    for item in requested:
        if item.always:
            asking.setdefault((item.file, item.function), []).append(demands[item.gate.id])
    progress("Graph", 0, 1)
    with profile.stage("calls"):
        calls = flow(found, [options.target, *options.references], natives.without(passed_by))
    with profile.stage("followed"):
        follower = Follower(
            calls,
            found,
            [replace(draft, gate=_placed(draft.gate)) for draft in python.gates],
            plans,
            cuda.exports,
            cuda.guarded,
            options.target,
            options.references,
            {gate: tuple(run) for gate, run in beyond.items()},
            apis,
        )
        drafts, guards = judge(
            follower.gates,
            (guard.gate for guard in cuda.guards),
            follower,
            cache(partial(_lines, tree)),
        )
    with profile.stage("matrix"):
        built = {plan.build.function: plan.build.name for plan in plans}
        shown = images(apis, options.target, options.references)

        @cache
        def effects(arch: str) -> dict[str, Effect]:
            here = arch == options.target
            own = python if here else gates.gates(found, arch, options.references, decisions)
            return {item.gate.id: item.gate.effect for item in own.gates}

        table = matrix.Judge(
            drafts,
            effects,
            guards,
            cuda.exports,
            built,
            public,
            names,
            shown,
            cache(partial(_loads_images, tree)),
            options.target,
        )
        rows = matrix.rows(apis)
        choices = matrix.rows({arch: item.options for arch, item in extracts.items()})
        cells = table.cells(rows, choices)
        unfit = {gate.id: judged(_placed(gate)) for gate in shown.gates.values()}
        known = {draft.gate.id: draft.gate for draft in drafts} | guards | unfit
        runs = [*table.runs(rows, options.target), *table.choices(choices, options.references)]
        held = contradicted(runs, known, options.target) | borne_out(runs, known, options.target)
        held |= chosen_wrongly(shown, drafts, options.target)
        drafts = [replace(draft, gate=held.get(draft.gate.id, draft.gate)) for draft in drafts]
    with profile.stage("paths"):
        linked = link(
            index,
            spellings,
            public,
            declared,
            calls,
            found[options.target],
            drafts,
            guards,
            plans,
            cuda.exports,
            options.target,
            natives.without(passed_by),
            lacking,
            asking,
        )
    progress("Graph", 1, 1)
    python_gates = [draft.gate for draft in drafts]
    with profile.stage("settings"):
        tuned = [
            judged(_placed(gate))
            for gate in tuning.gates(index, spellings, tree.others, options.target, options.references, names)
        ]
        shipped = [
            unfollowed(_placed(gate), options.target)
            for gate in listed.gates(tree, options.target, options.references, names)
        ]
        switched = [
            judged(_placed(gate))
            for gate in switches.gates(
                found, natives.without(passed_by), options.target, options.references, names
            )
        ]
    read = [*guards.values(), *libraries.values(), *demands.values(), *unfit.values()]
    others = [*read, *tuned, *shipped, *switched]
    every = sorted([*python_gates, *others], key=_gate_order)
    target = archs.find(options.target)
    return Report(
        schema_version=model.SCHEMA_VERSION,
        tool=Tool("smgate", __version__),
        target=Target(target.name, target.capability, options.cuda),
        references=options.references,
        archs=names,
        inputs=tree.inputs,
        notices=(*notices(tree.packages), *unlinked(found, (options.target, *options.references))),
        predicates=predicates(found, extracts, every),
        gates=tuple(every),
        builds=tuple(plan.build for plan in plans),
        nodes=linked.nodes,
        edges=linked.edges,
        paths=backends.told_apart(linked.paths, apis, built, public),
        matrix=cells,
        coverage=_coverage(tree, extracts, every, python, cuda, compiled, unbuilt),
    )


@cache
def _loading() -> re.Pattern[bytes]:
    return re.compile(rb"\b(?:" + "|".join(sorted(contracts.image_loads())).encode() + rb")\b")


def _loads_images(tree: Tree, file: str) -> bool:
    return bool(_loading().search(tree.read(file)))


def _placed(gate: Gate) -> Gate:
    """A gate with what its place makes of it."""
    return msgspec.structs.replace(gate, in_tests=_in_tests(gate.file))


def _lines(tree: Tree, file: str) -> list[str] | None:
    try:
        return decode(tree.read(file)).splitlines()
    except UnreadableFileError:
        return None


def _gate_order(gate: Gate) -> tuple[str, int, int, str]:
    return gate.file, gate.line, gate.column, gate.id


def _in_tests(path: str) -> bool:
    return any(part in _TEST_FOLDERS for part in path.split("/")[:-1])


def _index(
    tree: Tree, store: Cache | None, jobs: int, progress: Progress
) -> tuple[ModuleIndex, dict[str, frozenset[str]]]:
    """The modules of the tree and the identifiers of each Python file."""
    files = tree.of("python")
    facts = compute(
        tree,
        files,
        words,
        name="words",
        jobs=jobs,
        cache=store,
        progress=lambda done, total: progress("Files", done, total),
    )
    found = {file.path: fact for file, fact in zip(files, facts, strict=True) if isinstance(fact, frozenset)}
    every = [file.path for file in tree.files if file.kind != "python" or file.path in found]
    return ModuleIndex([*every, *tree.others], tree.read, required(tree.packages)), found


def _requests(
    tree: Tree, cuda: units.CudaResult, store: Cache | None, jobs: int, progress: Progress
) -> dict[str, tuple[limits.Demand | Staged, ...]]:
    """Requests of shared memory in the files that builds read; in all, where no build is known."""
    read = {path for files in cuda.files.values() for path in files}
    files = [file for file in tree.of("cuda") if not read or file.path in read]
    found = compute(
        tree,
        files,
        limits.facts,
        name="shared memory requests, budgets and stages",
        jobs=jobs,
        cache=store,
        progress=lambda done, total: progress("Resources", done, total),
        worth=_SEARCHED,
    )
    rows = zip(files, found, strict=True)
    return {file.path: facts for file, facts in rows if isinstance(facts, tuple) and facts}


def _passed_by(found: Mapping[str, Findings], target: str) -> frozenset[str]:
    """Libraries that are seen to be loaded by their path on some architectures, and not on the target."""
    loaded = {
        arch: {call.callee for call in findings.calls if call.kind == "loads"}
        for arch, findings in found.items()
    }
    return frozenset[str]().union(*loaded.values()) - loaded[target]


def _natives(tree: Tree, compiled: binary.BinaryGates, words: Mapping[str, frozenset[str]]) -> Natives:
    """The libraries with device code, as the Python of the tree reaches them."""
    if not compiled.lost:
        return Natives()
    last = operators().rpartition(".")[2]
    named = frozenset[str]().union(
        *(namespaces(tree.read(file)) for file in sorted(words) if last in words[file])
    )
    lost = {found.path for found, _ in compiled.lost}
    return Natives(
        tuple(
            native(
                found.path,
                found.operators,
                mentions(tree.root, found.path, named) if found.operators else (),
                found.modules,
                found.path in lost,
            )
            for found in compiled.libraries
        )
    )


def _compiled(build: Build, target: str) -> bool:
    """Whether the target can make a build, and it compiles for it."""
    written = build.spelling.get(target, ())
    profile = archs.find(target)
    others = written and not any(Spelling.parse(text).runs_on(profile) for text in written)
    return build.outcome.get(target) == "ok" and not others


def _flag_place(tree: Tree, build: Build, target: str) -> units.FlagPlace | None:
    """Where a build that is compiled for the target is given its flags."""
    if not _compiled(build, target):
        return None
    line, last, column, code = places.flag_place(build, tree.read(build.file))
    return units.FlagPlace(build.file, line, last, column, build.function.rpartition(".")[2], code)


def _wanted(
    tree: Tree, plans: Sequence[builds.BuildPlan], options: ScanOptions, names: Sequence[str]
) -> list[units.BuildUnits]:
    """The builds whose sources are to be preprocessed and followed."""
    usual = builds.usual_defines(plans)
    wanted = []
    for plan in plans:
        if not plan.sources or not plan.command:
            continue
        first = next(iter(plan.command.values()))
        folders = dict.fromkeys(path for command in plan.command.values() for path in command.include_dirs)
        macros = {
            arch: dict(plan.command[arch].defines)
            if arch in plan.command
            else {name: usual.get(arch, {}).get(name, value) for name, value in first.defines}
            for arch in names
        }
        spelling: dict[str, Spelling] = {arch: plan.spelling[arch] for arch in names}
        wanted.append(
            units.BuildUnits(
                plan.build.name,
                plan.sources,
                tuple(folders),
                macros,
                spelling,
                options.release,
                place=_flag_place(tree, plan.build, options.target),
                made=plan.made,
                compiled=_compiled(plan.build, options.target),
            )
        )
    return wanted


def _supposed(
    tree: Tree,
    drafts: Sequence[gates.PythonGate],
    wanted: Sequence[units.BuildUnits],
    options: ScanOptions,
    names: Sequence[str],
) -> list[units.BuildUnits]:
    """Builds of the sources that are named where a value is met which a gate withholds from the target.

    They bear the gate's id, and are compiled with the include folders that most builds beside them have.
    """
    known = named.by_name([file.path for file in tree.of("cuda")])
    parsed = cache(partial(_parsed, tree))  # many gates are met in one file
    richest = {arch.name: arch.richest for arch in archs.profiles()}
    macros: dict[str, dict[str, str]] = {arch: {} for arch in names}
    found: list[units.BuildUnits] = []
    for draft in drafts:
        gate = draft.gate
        rejects = gate.verdict.get(options.target) == "reject" and gate.effect != "none"
        sources = named.sources(gate, parsed, known) if rejects else ()
        if not sources:
            continue
        top = sources[0].partition("/")[0] + "/"
        beside = Counter(
            build.include_dirs for build in wanted if any(path.startswith(top) for path in build.named)
        )
        folders = beside.most_common(1)[0][0] if beside else ()
        found.append(units.BuildUnits(gate.id, sources, folders, macros, richest, options.release))
    return found


def _parsed(tree: Tree, file: str) -> ast.Module | None:
    try:
        return ast.parse(decode(tree.read(file)))
    except (UnreadableFileError, SyntaxError, ValueError):
        return None


def predicates(
    found: Mapping[str, Findings], extracts: Mapping[str, Extract], every: Sequence[Gate]
) -> tuple[Predicate, ...]:
    """Names whose value differs between architectures, with the gates that go through their place."""
    values: dict[tuple[str, int], tuple[Site, dict[str, str]]] = {}
    for arch, findings in found.items():
        for outcome in findings.outcomes.values():
            if outcome.tainted and outcome.value is not None:
                values.setdefault((outcome.dotted, 0), (outcome.site, {}))[1][arch] = outcome.value
        for name, (site, text) in findings.variables.items():
            values.setdefault((name, 0), (site, {}))[1][arch] = text
        for name, bound in extracts[arch].applied.items():
            values.setdefault((name, 0), (bound.site, {}))[1][arch] = bound.value
        for (name, site), text in findings.locals.items():
            values.setdefault((name, site.line), (site, {}))[1][arch] = text
    for local in [key for key, (_, value) in values.items() if key[1] and not set(value.values()) <= _TRUTH]:
        del values[local]  # something beside the architecture decides it
    places: dict[tuple[str, int], list[str]] = {}
    for gate in every:
        for step in gate.because:
            places.setdefault((step.file, step.line), []).append(gate.id)
    return tuple(
        Predicate(
            name,
            site.file,
            site.line,
            value,
            tuple(
                sorted(
                    {
                        g
                        for line in range(site.line, site.end_line + 1)
                        for g in places.get((site.file, line), ())
                    }
                )
            ),
            site.end_line,
        )
        for (name, _), (site, value) in sorted(values.items(), key=lambda item: item[0])
        if len(set(value.values())) > 1 and not all(text in ("free", "unknown") for text in value.values())
    )


def _coverage(
    tree: Tree,
    extracts: Mapping[str, Extract],
    every: Sequence[Gate],
    python: gates.PythonGates,
    cuda: units.CudaResult,
    compiled: binary.BinaryGates,
    unbuilt: Sequence[Unresolved],
) -> Coverage:
    parsed = frozenset[str]().union(*(item.parsed for item in extracts.values()))
    damaged = frozenset[str]().union(*(item.damaged for item in extracts.values()))
    counts: dict[str, int] = {}
    for gate in every:
        counts[gate.file] = counts.get(gate.file, 0) + 1
    expressions = {**dict(cuda.directives), **dict(python.expressions)}
    skipped = {*tree.skipped, *compiled.skipped}
    read = {file.path for file in tree.files} - {found.file for found in skipped}
    included = {path for files in cuda.files.values() for path in files}
    libraries = {facts.file: facts for facts in compiled.read}
    rows = tuple(
        libraries.get(file) or FileFacts(file, expressions.get(file, 0), counts.get(file, 0))
        for file in sorted(parsed | included | set(expressions) | set(libraries))
        if file in read
    )
    return Coverage(
        files=Files(
            seen=len(tree.files) + len(tree.skipped),
            read=len(read),
            parsed=len((parsed | included | set(libraries)) & read),
            partly_parsed=len(damaged),
            skipped=tuple(sorted(skipped)),
        ),
        unresolved=_by_reason({*python.unresolved, *cuda.unresolved, *compiled.unresolved, *unbuilt}),
        read=rows,
    )


def _by_reason(places: Iterable[Unresolved]) -> tuple[Unresolved, ...]:
    """What is not understood, grouped by reason: what most conditions wait for comes first."""
    weights: dict[str, int] = {}
    for place in places:
        weights[place.why] = weights.get(place.why, 0) + place.blocks
    return tuple(sorted(places, key=lambda place: (-weights[place.why], place.why, place)))


def evaluate(names: Sequence[str], options: ScanOptions) -> dict[str, dict[str, Any]]:
    """The value of functions (called without arguments) and variables on every architecture.

    ``{"unknown": reason}`` where it is undecided, ``{"raises": text}`` where it raises.

    Raises:
        TreeError: no module of the tree holds such a name.
    """
    sys.setrecursionlimit(max(fleet.RECURSION, sys.getrecursionlimit()))
    tree = open_tree(options.root, options.packages)
    files = [file.path for file in tree.files]
    index = ModuleIndex(files, tree.read, required(tree.packages))
    results: dict[str, dict[str, Any]] = {name: {} for name in names}
    for arch in archs.profiles():
        machine = Machine(Host(arch, options.release, options.environment), index, Observer(explaining=False))
        for name in names:
            results[name][arch.name] = _evaluated(machine, name)
    return results


def _evaluated(machine: Machine, name: str) -> Any:
    site = Site("", 1, 1, 1)
    machine.steps = 0
    try:
        value = machine.named(name)
        if isinstance(value.data, (Function, Bound, Partial, Builtin)):
            value = call(machine, value, [], {}, site)
        return plain(value)
    except KeyError:
        raise TreeError(
            f"no module of the tree holds {name}; give a dotted name such as package.module.name"
        ) from None
    except Raised as error:
        return {"raises": f"{error.kind}: {error.message}"}
    except Budget:
        return {"unknown": "the evaluation took too many steps"}
    except ValueError:
        data = value.data
        if isinstance(data, (Free, Unknown)):
            return {"unknown": data.why}
        if isinstance(data, Choice):
            return {"unknown": "one of several values"}
        return {"unknown": f"a value of kind {type(data).__name__}"}
