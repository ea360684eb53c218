"""From builds to guard gates, and to what each of their exports can run.

Every source of a build is walked once for all architectures (``preprocess``); the branches whose lines
do not survive alike on all of them are the build's guards. A guard is one gate however many builds meet it.

Header libraries hold guards by the thousand, most of them in instruction wrappers: hundreds of alike
functions, each with the same condition around one instruction, and a trap in its place. So that a report
stays readable, the places of one file whose guards have the same condition, verdict and effect are one
gate: it stands at the first of them, ``count`` says how many they are, ``uses`` where the others stand, and
its scope is what their scopes share. Guards of their own are those in kernels, and those at which work or a
synchronisation is lost, or something takes their place, since each of them tells something else. What an
export reaches is told by place (``held_by``).

A guard that no export of any build reaches has the effect ``none``: nobody can meet what nobody can run.
Where a build has no exports that could be found, that is not known, and the effect stays.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzer.archs import Spelling, find
from analyzer.cuda import compile_time, flags, hollow, isa, undeclared
from analyzer.cuda.activity import Configuration, FileActivity, Unit
from analyzer.cuda.derived import derived
from analyzer.cuda.directives import FileDirectives, facts
from analyzer.cuda.exported import Function, Reached, Way, reached
from analyzer.cuda.followed import Followed, Follower
from analyzer.cuda.gates import GuardGate, Mark, Seen, gates
from analyzer.cuda.guards import Bits, Draft, Finder
from analyzer.cuda.host import api, search
from analyzer.cuda.made import MadeSource, relocated
from analyzer.cuda.needs import Known, Needs
from analyzer.cuda.passes import device_pass, host_pass
from analyzer.cuda.preprocess import Memory, walk
from analyzer.cuda.processes import parallel
from analyzer.cuda.program import Program, Reader, ReadFile, Shelf
from analyzer.model import Step, Unresolved
from analyzer.tree.files import UnreadableFileError

__all__ = ["BuildUnits", "CudaResult", "ExportReach", "Function", "GuardGate", "Way", "analyse"]

#: Sources that nvcc compiles as CUDA; the host compiler alone sees all others (nvcc manual, "Supported
#: input file suffixes").
_CUDA = (".cu", ".jinja")
#: Sources that only the host compiler sees.
_HOST = (".cpp", ".cc", ".cxx", ".c")
#: How many ways to see a file may be known while files are looked at one by one: each is met in few others.
_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class FlagPlace:
    """The expression that gives a build its flags, in the function that makes it."""

    file: str
    line: int
    end_line: int
    column: int
    scope: str
    code: str


@dataclass(frozen=True, slots=True)
class BuildUnits:
    """One build as the compiler sees it.

    ``include_dirs`` are those inside the tree, in order. ``macros`` and ``flags`` are by architecture name:
    the ``-D`` macros, and further flags that bear on predefined macros (``-std=c++17``). ``spelling`` says
    how the build names each architecture, hypothetically where the build itself raises; an architecture
    without one is compiled under its plain name. ``cuda`` is the toolkit's release. ``place`` is where the
    build is given its flags; without one, no flag is told to be missing there. ``made`` are those of the
    sources, and of the headers beside them, that the build makes itself. ``compiled``: it is compiled for the
    target, not only supposed to be.
    """

    name: str
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...]
    macros: Mapping[str, Mapping[str, str]]
    spelling: Mapping[str, Spelling]
    cuda: tuple[int, int]
    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    place: FlagPlace | None = None
    made: tuple[MadeSource, ...] = ()
    compiled: bool = True

    @property
    def origins(self) -> dict[str, str]:
        """What the sources that it makes are made of."""
        return {one.path: one.origin for one in self.made}

    @property
    def named(self) -> tuple[str, ...]:
        """The files of the tree that its sources are, or are made of."""
        return tuple(dict.fromkeys(relocated(self.sources, self.origins)))

    def spelled(self, arch: str) -> Spelling:
        """How the build names the architecture."""
        return self.spelling.get(arch) or Spelling(find(arch).number)

    def asked(self, arch: str) -> tuple[str, ...]:
        """The compiler flags for an architecture, ``-D`` among them."""
        defined = (f"-D{name}={value}" for name, value in self.macros.get(arch, {}).items())
        return (*self.flags.get(arch, ()), *defined)


@dataclass(frozen=True, slots=True)
class ExportReach:
    """What one export of a build can run.

    ``guards`` are the ids of the gates inside it; ``ways`` lead to its kernels and to what holds those
    gates (``held_by``: gate id to that definition). ``doubtful``: something on the way was not read for
    certain. ``followed`` is what each reference compiles of it, held against the target.
    """

    build: str
    name: str
    function: str
    file: str
    line: int
    module: str | None
    kernels: tuple[Function, ...]
    functions: tuple[Function, ...]
    guards: tuple[str, ...]
    held_by: Mapping[str, Function]
    ways: tuple[Way, ...]
    doubtful: bool
    followed: tuple[Followed, ...] = ()


@dataclass(frozen=True, slots=True)
class CudaResult:
    """The guards and exports of all builds.

    ``files`` are the tree's files that each build's units include; ``directives`` the number of
    architecture-dependent ``#if`` and ``#elif`` lines of each file that was read; ``guarded``, by the id of a
    gate, what the references compile under it; ``supposed``, what builds that do not exist could run.
    """

    guards: tuple[GuardGate, ...]
    exports: tuple[ExportReach, ...]
    files: Mapping[str, tuple[str, ...]]
    directives: Mapping[str, int]
    unresolved: tuple[Unresolved, ...]
    guarded: Mapping[str, tuple[Followed, ...]] = field(default_factory=dict)
    supposed: tuple[ExportReach, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What all builds are analysed for."""

    archs: tuple[str, ...]
    target: str
    references: tuple[str, ...]

    @property
    def bits(self) -> Bits:
        """The passes by bit: one for each architecture in order, then the host's."""
        bit = {name: 1 << index for index, name in enumerate(self.archs)}
        references = tuple(bit[name] for name in self.references if name in bit)
        older = [name for name in self.archs if find(name).major < find(self.target).major]
        nearest = bit[max(older, key=lambda name: find(name).number)] if older else 0
        return Bits((1 << len(self.archs)) - 1, bit[self.target], references, nearest)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What one build's units told.

    ``dependent`` holds, for each architecture-dependent branch that some architecture comes by, the mask of
    those that take it; ``guarded`` what references compile under each guard at which something is lost;
    ``lacking`` the flags that the build should have been given; ``hanging``, by the place of a guard that
    only defines macros, the guards at which the target loses something by them.
    """

    name: str
    drafts: tuple[Draft, ...]
    exports: tuple[Reached, ...]
    files: tuple[str, ...]
    dependent: Mapping[Mark, int]
    guarded: Mapping[Mark, tuple[Followed, ...]]
    unresolved: tuple[Unresolved, ...]
    lacking: tuple[flags.Lacking, ...] = ()
    hanging: Mapping[Mark, tuple[Mark, ...]] = field(default_factory=dict)


class Files:
    """The tree as the preprocessor asks for it; every file is read once."""

    def __init__(self, read: Callable[[str], bytes], exists: Callable[[str], bool]) -> None:
        self._read, self._exists = read, exists
        self._facts: dict[str, FileDirectives | None] = {}
        self._there: dict[str, bool] = {}

    def load(self, path: str) -> bytes:
        """The bytes of a file that was found to be readable."""
        return self._read(path)

    def facts(self, path: str) -> FileDirectives | None:
        """The directives of a file; None where it cannot be read."""
        try:
            return self._facts[path]
        except KeyError:
            pass
        try:
            self._facts[path] = facts(self._read(path)) if self.exists(path) else None
        except (OSError, UnreadableFileError):
            self._facts[path] = None
        return self._facts[path]

    def exists(self, path: str) -> bool:
        """Whether there is a file at that path."""
        if path not in self._there:
            self._there[path] = self._exists(path)
        return self._there[path]


@dataclass(frozen=True, slots=True)
class Walked:
    """A build's units after the preprocessor, and those of its sources that could not be read.

    ``spelled`` is how it names each architecture.
    """

    units: tuple[Unit, ...]
    spelled: tuple[Spelling, ...]
    absent: tuple[Unresolved, ...]
    include_dirs: tuple[str, ...]
    asks: bool
    """Whether it is asked which flags the build lacks."""
    compiled: bool = True
    """Whether it is compiled for the target: only then an instruction may fail to assemble for it."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for builds that differ only in what the linker sees."""
        return (
            self.asks,
            self.compiled,
            self.spelled,
            tuple(tuple(unit.files.values()) for unit in self.units),
        )

    @property
    def activities(self) -> dict[FileActivity, None]:
        """The files of all units, in the order of their inclusion, each once for each way to see it."""
        return dict.fromkeys(activity for unit in self.units for activity in unit.files.values())


class Analysis:
    """Analyses builds one after another; what it knows about files serves them all."""

    def __init__(
        self, read: Callable[[str], bytes], exists: Callable[[str], bool], settings: Settings
    ) -> None:
        self.settings, self.bits = settings, settings.bits
        self.sources = Files(read, exists)
        self.forget()

    def forget(self) -> None:
        """Start anew: what is known of files, but for what their own lines say, serves speed alone."""
        settings, bits = self.settings, self.bits
        self.memory = Memory()
        self.reader = Reader(self.sources.load)
        self.finder = Finder(self.reader, bits)
        self.shelf: Shelf = {}
        self.seen: dict[tuple[FileActivity, tuple[int, ...]], list[ReadFile]] = {}
        self.places: dict[FileActivity, list[tuple[Mark, int]]] = {}
        self.units: dict[tuple[object, ...], Unit] = {}
        self.needs: Known = {}
        self.isa = isa.Finder(self.reader, bits, self._link)
        self.host = search.Finder(settings.archs, bits, self._seen)
        self.compile_time = compile_time.Finder(self.reader, bits, len(settings.archs))
        self.flags = flags.Finder(self.sources, self.reader, bits.device, bits.target)

    @property
    def passes(self) -> tuple[int, ...]:
        """The passes that count for what can be run: host, references and target."""
        bits = self.bits
        return bits.device + 1, *bits.references, bits.target

    def read(self, builds: Iterable[Walked]) -> None:
        """Read the files that several of the builds include."""
        counts = Counter(activity for walked in builds for activity in walked.activities)
        for activity, count in counts.items():
            if count > 1:
                self._seen(activity, self.passes)
                self.isa.sites(activity.path)

    def analyse(self, walked: Walked) -> BuildResult:
        """What a build's units tell, as the result of a build without a name."""
        units = walked.units if walked.compiled else ()
        illegal, unresolved = self.isa.drafts(units, walked.spelled)
        guards = self.finder.guards(walked.units)
        target = (self.bits.target,)
        if any(draft.effect == "excluded" for draft in guards):
            compiled = [file for activity in walked.activities for file in self._seen(activity, target)]
            guards = hollow.refined(guards, compiled)
        guards = self._undeclared(walked.units, guards)
        told = derived(guards)
        host = self.host.drafts(walked.units)
        drafts = (*told.drafts, *illegal, *host, *self.compile_time.drafts(walked.units))
        spans: dict[str, list[tuple[int, int, int]]] = {}
        for draft in drafts:
            own = draft.within or ((draft.line, draft.last),)
            spans.setdefault(draft.file, []).extend((draft.line, *lines) for lines in own)
        lacking = self.flags.lacking(walked.units, walked.include_dirs) if walked.asks else ()
        for loss in dict.fromkeys(loss for one in lacking for loss in one.losses):
            spans.setdefault(loss.file, []).append((loss.line, loss.line, loss.line))
        exports, guarded = self._followed(walked.units, drafts, spans) if walked.units else ((), {})
        activities = walked.activities
        dependent: dict[Mark, int] = {}
        for activity in activities:
            for place, taken in self._dependent(activity):
                dependent[place] = dependent.get(place, 0) | taken
        missing = (missing for unit in walked.units for missing in unit.missing)
        return BuildResult(
            "",
            drafts,
            exports,
            tuple(dict.fromkeys(activity.path for activity in activities)),
            dependent,
            {**guarded, **_passed_on(told.hanging, guarded)},
            (*unresolved, *(Unresolved(m.file, m.line, m.header, "not in the tree") for m in missing)),
            lacking,
            told.hanging,
        )

    def _undeclared(self, units: Sequence[Unit], drafts: Sequence[Draft]) -> tuple[Draft, ...]:
        """The drafts; those that take a name which the target's code needs say so."""
        bits = self.bits
        paths = {draft.file for draft in drafts if undeclared.may_be(draft)}
        if not paths:
            return tuple(drafts)
        own = [unit for unit in units if not paths.isdisjoint(unit.files)]
        references: dict[str, list[ReadFile]] = defaultdict(list)
        for unit in own:
            for path in sorted(paths & unit.files.keys()):
                references[path] += self._seen(unit.files[path], bits.references)
        compiled = [
            [file for activity in unit.files.values() for file in self._seen(activity, (bits.target,))]
            for unit in own
        ]
        return undeclared.refined(drafts, references, compiled)

    def _followed(
        self,
        units: Sequence[Unit],
        drafts: Sequence[Draft],
        spans: Mapping[str, Sequence[tuple[int, int, int]]],
    ) -> tuple[tuple[Reached, ...], dict[Mark, tuple[Followed, ...]]]:
        """What exports can run, and what stands behind the guards at which something is lost."""
        settings, bits = self.settings, self.bits
        program = self._link(units, self.passes)
        passes = list(zip(settings.references, bits.references, strict=False))
        follower = Follower(program, Needs(units, settings.target, self.needs), passes)
        exports = reached(program, spans, follower)
        met = {mark for export in exports for mark, _ in export.marks}
        guarded = {
            (draft.file, draft.line): follower.behind(draft.file, draft.line, draft.last)
            for draft in drafts
            if draft.effect != "none" and (draft.file, draft.line) in met
        }
        stops = ("raises", "illegal_instruction")
        raising = {(draft.file, draft.line) for draft in drafts if draft.effect in stops}
        sure = (replace(one, perhaps=tuple(filter(raising.__contains__, one.perhaps))) for one in exports)
        return _stopped(tuple(sure), [draft for draft in drafts if draft.breaks]), guarded

    def _dependent(self, activity: FileActivity) -> list[tuple[Mark, int]]:
        """The architecture-dependent branches that some architecture comes by, and which of them take it."""
        device = self.bits.device
        if activity not in self.places:
            self.places[activity] = [
                ((branch.file, branch.line), branch.active & device)
                for branch in activity.dependent
                if branch.condition and branch.enclosing & device
            ]
        return self.places[activity]

    def walk(self, build: BuildUnits) -> Walked:
        """The units of a build after the preprocessor."""
        units: list[Unit] = []
        unresolved: list[Unresolved] = []
        for source in dict.fromkeys(build.sources):
            if self.sources.facts(source) is None:
                unresolved.append(Unresolved(source, 1, build.name, "the source is not in the tree"))
                continue
            units.append(self._walk(build, source, source.endswith(_CUDA)))
        spelled = tuple(build.spelled(arch) for arch in self.settings.archs)
        asks = build.place is not None
        return Walked(tuple(units), spelled, tuple(unresolved), build.include_dirs, asks, build.compiled)

    def uncompiled(self, build: BuildUnits, compiled: Container[str]) -> BuildResult:
        """What is lost in those of these sources that are not ``compiled``: each is a unit of its own."""
        drafts: list[Draft] = []
        paths: list[str] = []
        for source in build.sources:
            facts = None if source in compiled else self.sources.facts(source)
            asks = facts is not None and any(door in self.reader.source(source).code for door in api.doors())
            if facts is None or not (asks or facts.conditional):
                continue
            paths.append(source)
            if len(self.memory.activities) > _KNOWN:
                self.forget()
                gc.collect()  # much of it hangs together in circles, and nobody else collects
            unit = self._walk(build, source, not source.endswith(_HOST))
            drafts += self.finder.own(unit)
            if asks:
                drafts += (draft for draft in self.host.drafts([unit]) if draft.file == source)
        lost = tuple(draft for draft in derived(drafts).drafts if draft.effect != "none")
        return BuildResult("", lost, (), tuple(paths), {}, {}, ())

    def _walk(self, build: BuildUnits, source: str, cuda: bool) -> Unit:
        passes = self._passes(build, cuda)
        return self._unit(source, build.include_dirs, passes, None if cuda else ())

    def _unit(
        self,
        source: str,
        include_dirs: tuple[str, ...],
        passes: Sequence[Configuration],
        implicit: tuple[str, ...] | None,
    ) -> Unit:
        """The source as these passes see it; builds that compile it alike share the walk."""
        alike = tuple((one.label, *one.macros.items()) for one in passes)
        key = (source, include_dirs, implicit, alike)
        if key not in self.units:
            self.units[key] = walk(
                source, self.sources, include_dirs, passes, memory=self.memory, implicit=implicit
            )
        return self.units[key]

    def _passes(self, build: BuildUnits, cuda: bool) -> list[Configuration]:
        """One pass for each architecture, then the host's; a source that is no CUDA has host passes only."""
        release = f"{build.cuda[0]}.{build.cuda[1]}"
        archs = self.settings.archs
        host = host_pass(
            [build.spelled(arch) for arch in archs], build.asked(self.settings.target), cuda=release
        )
        if not cuda:
            return [*(host_pass((), build.asked(arch), cuda=release) for arch in archs), host]
        device = (device_pass(build.spelled(arch), build.asked(arch), cuda=release) for arch in archs)
        return [*device, host]

    def _link(self, units: Sequence[Unit], passes: Sequence[int]) -> Program:
        """The units as these passes compile them: whatever any of them can run."""
        activities = dict.fromkeys(activity for unit in units for activity in unit.files.values())
        files = (file for activity in activities for file in self._seen(activity, passes))
        return Program(files, self.shelf)

    def _seen(self, activity: FileActivity, passes: Sequence[int]) -> list[ReadFile]:
        """The file as each of these passes compiles it."""
        key = activity, tuple(passes)
        if key not in self.seen:
            files = (self.reader.file(activity.path, activity.inactive(bit)) for bit in passes)
            self.seen[key] = list({id(file): file for file in files}.values())
        return self.seen[key]


def analyse(
    builds: Sequence[BuildUnits],
    read: Callable[[str], bytes],
    exists: Callable[[str], bool],
    archs: Sequence[str],
    target: str,
    references: Sequence[str],
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    uncompiled: Sequence[BuildUnits] = (),
    supposed: Sequence[BuildUnits] = (),
) -> CudaResult:
    """The guards of these builds, and what their exports can run.

    Args:
        builds: their names, and those of ``supposed``, are unique.
        read: the bytes of a file of the tree, by path; raises ``OSError`` or ``UnreadableFileError`` where
            it cannot be read.
        exists: whether the tree has a file (no folder) at a path.
        archs: names of all architectures that a verdict is wanted for, those below among them.
        target: the architecture in question.
        references: those that it is compared with.
        jobs: how many processes.
        progress: told the number of builds done and of all builds.
        uncompiled: their sources are looked at as well, where no build includes them.
        supposed: builds that do not exist; what they could run is told, and their guards are not.

    The result does not depend on ``jobs``.
    """
    settings = Settings(tuple(archs), target, tuple(references))
    results: dict[int, BuildResult] = {}
    collecting = gc.isenabled()
    gc.disable()  # nearly all that is made lives to the end
    try:
        every = [*builds, *supposed]
        made = {one.path: one.text.encode() for build in every for one in build.made}
        analysis = Analysis(
            lambda path: made[path] if path in made else read(path),
            lambda path: path in made or exists(path),
            settings,
        )
        for index, result in _results(every, analysis, jobs):
            results[index] = result
            if progress is not None:
                progress(len(results), len(every))
        ordered = [results[index] for index in range(len(builds))]
        beyond = [results[index] for index in range(len(builds), len(every))]
        compiled = frozenset(path for result in ordered for path in result.files)
        others = [analysis.uncompiled(build, compiled) for build in uncompiled]
    finally:
        if collecting:
            gc.enable()
    return replace(_result(ordered, others, settings), supposed=_result(beyond, (), settings).exports)


def _results(
    builds: Sequence[BuildUnits], analysis: Analysis, jobs: int
) -> Iterator[tuple[int, BuildResult]]:
    """What several builds need is worked out here, before the processes part; the rest in them."""
    walked = [analysis.walk(build) for build in builds]
    alike: dict[tuple[object, ...], list[int]] = {}
    for index, one in enumerate(walked):
        alike.setdefault(one.key, []).append(index)
    groups = list(alike.values())
    chunks = [walked[group[0]] for group in groups]
    analysis.read(chunks)
    for chunk, result in parallel(chunks, lambda: analysis.analyse, jobs):
        for index in groups[chunk]:
            absent = (*walked[index].absent, *result.unresolved)
            named = replace(result, name=builds[index].name, unresolved=absent)
            told = relocated(named, builds[groups[chunk][0]].origins)
            yield index, _with_flags(told, builds[index].place)


def _stopped(exports: Sequence[Reached], breaking: Sequence[Draft]) -> tuple[Reached, ...]:
    """The exports; nobody can run any of them past a guard behind which a unit of theirs does not compile."""
    found: list[Reached] = []
    for one in exports:
        own = one.export
        start = one.functions[0] if one.functions else Function(own.name, "host", own.file, own.line)
        known = {mark for mark, _ in one.marks}
        marks = {(draft.file, draft.line): start for draft in breaking}
        further = ((mark, start) for mark, start in marks.items() if mark not in known)
        found.append(replace(one, marks=(*one.marks, *further)))
    return tuple(found)


def _with_flags(result: BuildResult, place: FlagPlace | None) -> BuildResult:
    """The result with what the build's missing flags take away as a gate where it is given its flags."""
    lost = {(loss.file, loss.line): loss for one in result.lacking for loss in one.losses}
    if place is None or not lost:
        return result
    own = {(draft.file, draft.line) for draft in result.drafts}
    mark = place.file, place.line
    exports = []
    met: dict[Mark, None] = {}
    for export in result.exports:
        kept = tuple(row for row in export.marks if row[0] in own or row[0] not in lost)
        hit = [row for row in export.marks if row[0] in lost and export.dependent]
        met.update(dict.fromkeys(row[0] for row in hit))
        exports.append(replace(export, marks=(*kept, *((mark, row[1]) for row in hit[:1]))))
    lacking = [one for one in result.lacking if any((x.file, x.line) in met for x in one.losses)]
    if not lacking:
        return replace(result, exports=tuple(exports))
    draft = _flag_draft(place, lacking, met)
    return replace(result, drafts=(*result.drafts, draft), exports=tuple(exports))


def _flag_draft(place: FlagPlace, lacking: Sequence[flags.Lacking], met: Mapping[Mark, None]) -> Draft:
    losses = tuple(x for one in lacking for x in one.losses if (x.file, x.line) in met)
    names = " ".join(f"-D{one.flag}=1" for one in lacking)
    return Draft(
        file=place.file,
        line=place.line,
        end_line=place.end_line,
        column=place.column,
        last=place.end_line,
        scope=place.scope,
        kind="build",
        code=place.code,
        group=place.line,
        chained=False,
        admit=lacking[0].kept,
        unknown=0,
        reason="",
        effect="lost_sync",
        losses=tuple(dict.fromkeys(losses)),
        falls_back_to=None,
        message=f"{names} is not given",
        because=tuple(Step(x.file, x.line, f"compiled only with {names}") for x in dict.fromkeys(losses)),
        layer="jit",
    )


def _result(
    results: Sequence[BuildResult], uncompiled: Sequence[BuildResult], settings: Settings
) -> CudaResult:
    """All builds together, and what is lost in files that none of them compiles."""
    drafts: dict[Mark, list[tuple[str, Draft]]] = defaultdict(list)
    reached_by: dict[Mark, dict[str, None]] = defaultdict(dict)
    constant: dict[Mark, list[tuple[str, int]]] = defaultdict(list)
    directives: dict[str, set[int]] = {path: set() for result in results for path in result.files}
    for result in results:
        for draft in result.drafts:
            drafts[draft.file, draft.line].append((result.name, draft))
        for export in result.exports:
            for mark, _ in export.certain:
                reached_by[mark][result.name] = None
        for mark, found in result.hanging.items():
            if any(result.name in reached_by[other] for other in found):
                reached_by[mark][result.name] = None
        own = {(draft.file, draft.line) for draft in result.drafts}
        for place, taken in result.dependent.items():
            directives[place[0]].add(place[1])
            if place not in own:
                constant[place].append((result.name, taken))
    silent = {result.name for result in results if not result.exports}
    seen = [
        Seen(
            tuple(rows),
            tuple(constant.get(mark, ())),
            tuple(reached_by.get(mark, ())),
            silent.isdisjoint(build for build, _ in rows),
        )
        for mark, rows in drafts.items()
    ]
    seen += [
        Seen((("", draft),), (), (), False)
        for result in uncompiled
        for draft in {(draft.file, draft.line): draft for draft in reversed(result.drafts)}.values()
    ]
    guards, ids = gates(seen, settings.archs, settings.target, settings.references)
    unresolved = {found for result in results for found in result.unresolved}
    unresolved |= {
        Unresolved(draft.file, draft.line, draft.code, draft.reason)
        for rows in drafts.values()
        for _, draft in rows
        if draft.unknown
    }
    return CudaResult(
        guards,
        tuple(_export(result.name, export, ids) for result in results for export in result.exports),
        {result.name: result.files for result in results},
        {path: len(directives[path]) for path in sorted(directives)},
        tuple(sorted(unresolved)),
        _guarded(results, ids),
    )


def _passed_on(
    hanging: Mapping[Mark, Sequence[Mark]], guarded: Mapping[Mark, Sequence[Followed]]
) -> dict[Mark, tuple[Followed, ...]]:
    """What stands behind guards that only define macros: what does behind those that hang on them."""
    behind = {
        mark: tuple(dict.fromkeys(one for other in found for one in guarded.get(other, ())))
        for mark, found in hanging.items()
    }
    return {mark: found for mark, found in behind.items() if found}


def _guarded(results: Sequence[BuildResult], ids: Mapping[Mark, str]) -> dict[str, tuple[Followed, ...]]:
    """What stands behind each gate, at all its places, in all builds."""
    found: dict[str, dict[Followed, None]] = {}
    for result in results:
        for mark in sorted(result.guarded):
            found.setdefault(ids[mark], {}).update(dict.fromkeys(result.guarded[mark]))
    return {gate: tuple(one) for gate, one in found.items()}


def _export(build: str, found: Reached, ids: Mapping[Mark, str]) -> ExportReach:
    held_by: dict[str, Function] = {}
    for mark, function in found.certain:
        held_by.setdefault(ids[mark], function)
    own = found.export
    return ExportReach(
        build=build,
        name=own.name,
        function=own.function,
        file=own.file,
        line=own.line,
        module=own.module,
        kernels=found.kernels,
        functions=found.functions,
        guards=tuple(held_by),
        held_by=held_by,
        ways=found.ways,
        doubtful=found.doubtful,
        followed=found.followed,
    )
