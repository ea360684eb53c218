"""The support matrix: each public API with each back end on each architecture, and which gates decide."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from analyzer import data
from analyzer.cuda.units import ExportReach
from analyzer.judge.declared import Run
from analyzer.judge.images import Images
from analyzer.model import LAYERS, Cell, Effect, Gate, Status
from analyzer.python import contracts
from analyzer.python.gates import PythonGate
from analyzer.python.observe import Key
from analyzer.python.trials import AUTO, Asked, Stop, Trial
from analyzer.python.values import Truth

#: Effects with which nothing of what was asked for is done.
_FATAL: frozenset[Effect] = frozenset(
    ["raises", "empty_kernel", "illegal_instruction", "no_image", "over_resource"]
)
#: Effects of a gate in Python by which other code, or none, takes the place of what was asked for.
_LESS: frozenset[Effect] = frozenset(["degraded", "excluded"])


@dataclass(frozen=True, slots=True)
class Row:
    """The trials of one entry with one choice, by architecture."""

    entry: str
    choice: str
    trials: Mapping[str, Trial]
    common: frozenset[str] = field(init=False)
    """What raises everywhere without asking the device: methods that are not meant for this choice."""
    differing: Mapping[Asked, Mapping[Truth, tuple[str, ...]]] = field(init=False)
    """Decisions that came out in different ways, with the architectures of each."""
    behind: Row | None = field(init=False)
    """The same of what the choice of a server option stands for."""

    def __post_init__(self) -> None:
        every = [
            {stop.method for stop in trial.stops if not stop.under and not stop.before}
            for trial in self.trials.values()
        ]
        object.__setattr__(self, "common", frozenset(set.intersection(*every)))
        found: dict[Asked, dict[Truth, tuple[str, ...]]] = {}
        for arch, trial in self.trials.items():
            for asked, outcome in trial.decided:
                known = found.setdefault(asked, {})
                known[outcome] = (*known.get(outcome, ()), arch)
        object.__setattr__(self, "differing", {asked: ways for asked, ways in found.items() if len(ways) > 1})
        further = {arch: trial.behind for arch, trial in self.trials.items() if trial.behind is not None}
        object.__setattr__(self, "behind", Row(self.entry, self.choice, further) if further else None)


@dataclass(frozen=True, slots=True)
class Judged:
    """The status of a row on one architecture, the gates that decide it, and why it is unknown if it is.

    ``message``: what a user reads where it raises.
    """

    status: Status
    gates: Sequence[str] = ()
    why: str = ""
    message: str = ""


Judgement = Callable[[Row, Trial, Sequence[Stop], str], Judged]


@dataclass(slots=True)
class Judge:
    """What decides cells.

    ``effects`` tells what each Python gate, by id, does to an architecture; ``names``: dotted definition to
    the public names; ``built``: the function that makes a build to its name; ``loads_images``: whether a
    source file loads device images that are not compiled from the tree.
    """

    gates: Sequence[PythonGate]
    effects: Callable[[str], Mapping[str, Effect]]
    guards: Mapping[str, Gate]
    reaches: Sequence[ExportReach]
    built: Mapping[str, str]
    names: Mapping[str, tuple[str, ...]]
    archs: Sequence[str]
    images: Images
    loads_images: Callable[[str], bool]
    target: str = ""
    """The architecture that the effects of ``gates`` are told for."""
    by_place: dict[tuple[str, int, int], list[Gate]] = field(init=False)
    by_file: dict[str, list[Gate]] = field(init=False)
    by_key: dict[Key, list[Gate]] = field(init=False)
    by_dispatch: dict[str, list[Gate]] = field(init=False)
    exports: dict[tuple[str, str], ExportReach] = field(init=False)
    stores: dict[str, frozenset[str]] = field(init=False)
    reads: dict[str, frozenset[str]] = field(init=False)
    order: dict[str, tuple[bool, int]] = field(init=False)
    """Gate to its place in the order in which a user meets them; what only prebuilt packages meet is last."""

    def __post_init__(self) -> None:
        self.stores = {found.gate.id: found.stores for found in self.gates}
        self.reads = {found.gate.id: found.reads for found in self.gates}
        self.by_place, self.by_key, self.by_dispatch = defaultdict(list), defaultdict(list), defaultdict(list)
        self.by_file = defaultdict(list)
        collectors = contracts.collectors()
        collecting = {collector.rpartition(".")[0] for collector in collectors}
        known = [*self.guards.values(), *self.images.gates.values()]
        self.order = {gate.id: (False, LAYERS.index(gate.layer)) for gate in known}
        for found in self.gates:
            gate = found.gate
            ahead = found.function.rpartition(".")[0] in collecting
            self.order[gate.id] = ahead, LAYERS.index(gate.layer)
            if found.function in collectors:
                continue  # it decides what is compiled ahead of time
            if gate.dispatch is not None:
                self.by_dispatch[gate.dispatch].append(gate)
            self.by_place[gate.file, gate.line, gate.column].append(gate)
            self.by_file[gate.file].append(gate)
            if any(key[:3] == (gate.file, gate.line, gate.column) for key in found.keys):
                for key in sorted(found.keys):
                    self.by_key[key].append(gate)
        self.exports = {(reach.build, reach.name): reach for reach in self.reaches}

    def cells(self, apis: Iterable[Row], options: Iterable[Row]) -> tuple[Cell, ...]:
        """One cell for each row that an architecture has a part in, in order of area and name.

        ``apis`` and ``options``: the rows of public functions and classes, and of server options.
        """
        found = [self._api(row) for row in apis if self._tells(row)]
        chosen = [self._option(row) for row in options]
        telling = {cell.api for cell in chosen if set(cell.status.values()) != {"unknown"}}
        found += [cell for cell in chosen if cell.api in telling]
        order = [area.name for area in areas()]
        return tuple(sorted(found, key=lambda cell: (order.index(cell.area), cell.api)))

    def runs(self, apis: Iterable[Row], arch: str) -> Iterator[Run]:
        """How public functions and classes fare on an architecture, and the declarations that let them in."""
        for row in apis:
            trial = row.trials.get(arch)
            if trial is None or not self._tells(row):
                continue
            judged = self._at(row, trial, arch, self._judged)
            declared = frozenset(
                gate.id for asked, _ in trial.decided for gate in self._gates(asked) if gate.layer == "api"
            )
            name = trial.definition.rpartition(".")[2]
            own = (gate for gate in self.by_file[trial.site.file] if gate.scope == name)
            claims = frozenset(gate.id for gate in own if gate.layer == "api") - declared
            api, reasons = self.names[row.entry][0], tuple(judged.gates)
            yield Run(api, row.choice, declared, judged.status, reasons, claims)

    def choices(self, options: Iterable[Row], references: Sequence[str]) -> Iterator[Run]:
        """How choices of server options fare on the target, and the gates that let it have them.

        Those are the gates that give the option that value, and those that refuse it elsewhere. An option
        that is only switched on fares badly where what reads it does something else. Choices that the
        references cannot have either are no loss.
        """
        for row in options:
            asked = [arch for arch in (self.target, *references) if arch in row.trials]
            fared = {arch: self._at(row, row.trials[arch], arch, self._judged_option) for arch in asked}
            bad = ("unsupported",) if row.choice else ("unsupported", "degraded")
            if self.target not in fared or all(one.status in bad for one in fared.values()):
                continue
            given = (_attribute(row), row.choice or True)
            letting = {found.gate.id for found in self.gates if given in found.sets}
            for arch, trial in row.trials.items():
                letting.update(*(self._around(stop.under[:1], arch) for stop in trial.stops))
            own = fared[self.target]
            status = "unsupported" if own.status in bad else own.status
            yield Run(row.entry, row.choice, frozenset(letting), status, tuple(own.gates), option=True)

    def _tells(self, row: Row) -> bool:
        """Whether a choice is one (it does not fail everywhere at once), with device code behind it."""
        every = list(row.trials.values())
        if every[0].definition in self.built:
            return False
        if row.choice and all(_rejected_at_once(trial) and not _named(trial) for trial in every):
            return False
        return any(trial.exports or trial.decided for trial in every)

    def _api(self, row: Row) -> Cell:
        name = self.names[row.entry][0]
        first = next(iter(row.trials.values()))
        return self._cell(row, name, area_of(name, first.site.file), self._judged)

    def _option(self, row: Row) -> Cell:
        return self._cell(row, row.entry, area_of(row.entry, ""), self._judged_option)

    def _cell(self, row: Row, name: str, area: str, judge: Judgement) -> Cell:
        site = next(iter(row.trials.values())).site
        status: dict[str, Status] = {}
        reasons: dict[str, tuple[str, ...]] = {}
        message: dict[str, str] = {}
        chosen: dict[str, str] = {}
        unknown: dict[str, str] = {}
        for arch in self.archs:
            trial = row.trials.get(arch)
            if trial is None:
                status[arch], unknown[arch] = "unknown", "it was not run for this architecture"
                continue
            judged = self._at(row, trial, arch, judge)
            status[arch] = judged.status
            if judged.gates:
                reasons[arch] = tuple(judged.gates)
            if judged.status == "unknown":
                unknown[arch] = judged.why
            if judged.message:
                message[arch] = judged.message
            if trial.chosen and (row.choice == AUTO or status[arch] == "degraded"):
                chosen[arch] = trial.chosen[0]
        return Cell(
            api=name,
            backend=row.choice,
            file=site.file,
            line=site.line,
            status=status,
            chosen=chosen,
            reasons=reasons,
            area=area,
            message=message,
            why=unknown,
        )

    def _at(self, row: Row, trial: Trial, arch: str, judge: Judgement) -> Judged:
        """The judgement for one architecture, its gates in the order of meeting."""
        stops = [stop for stop in trial.stops if stop.method not in row.common and _counts(stop)]
        judged = judge(row, trial, stops, arch)
        return replace(judged, gates=sorted(dict.fromkeys(judged.gates), key=self._met))

    def _met(self, gate: str) -> tuple[bool, int]:
        return self.order.get(gate, (False, len(LAYERS)))

    def _judged(self, row: Row, trial: Trial, stops: Sequence[Stop], arch: str) -> Judged:
        """The status of an API on one architecture and the gates that decide it."""
        if stops:
            return self._stopped(stops, arch)
        lacking, sure = self._lacking(trial, arch)
        if lacking:
            why = "" if sure else "on some ways it loads a build that leaves this architecture out"
            return Judged("unsupported" if sure else "unknown", lacking, why)
        guards, fatal = self._guards(trial, arch)
        wrong = self._wrongly_admitted(trial) if arch == self.target else []
        if fatal or wrong:
            return Judged("unsupported", [*wrong, *guards])
        if trial.cut:
            return Judged("unknown", (), f"its run {trial.cut}")
        for asked, outcome in trial.decided:
            if outcome is Truth.UNKNOWN and self._gates(asked):
                file, line = asked[0][:2]
                return Judged("unknown", (), f"the condition at {file}:{line} could not be decided")
        elsewhere = next((pair for pair in trial.exports if self._runs_elsewhere(pair)), None)
        if elsewhere is not None:
            why = f"{elsewhere[1]} runs images that are made elsewhere and fetched when it is called"
            return Judged("unknown", guards, why)
        less = [
            gate.id
            for gate in self._against(row, trial, arch)
            if self._effect(gate, arch) in _LESS and not self._served(gate, arch)
        ]
        return Judged("degraded", [*less, *guards]) if less or guards else Judged("supported")

    def _judged_option(self, row: Row, trial: Trial, stops: Sequence[Stop], arch: str) -> Judged:
        """The same for a choice of an option: what reads it decides, and what replaces it by another."""
        if stops:
            return self._stopped(stops, arch)
        attribute = _attribute(row)
        against = self._against(row, trial, arch)
        replaced = [gate.id for gate in against if attribute in self.stores.get(gate.id, ())]
        if trial.chosen and replaced and any(t.chosen != trial.chosen for t in row.trials.values()):
            return Judged("degraded", replaced)
        about = {attribute, row.choice}
        reading = [
            gate
            for gate in against
            if self.reads.get(gate.id, frozenset()) & about and attribute not in self.stores.get(gate.id, ())
        ]
        effects = {self._effect(gate, arch) for gate in reading}
        why = [gate.id for gate in reading if self._effect(gate, arch) != "none"]
        if "raises" in effects or ("excluded" in effects and not row.choice):
            return Judged("unsupported", why)
        if effects & _LESS:
            return Judged("degraded", why)
        # That a gate lets it through tells who is asked, no more.
        passed = [
            gate.id
            for asked in row.differing
            for gate in self._gates(asked)
            if gate.verdict.get(arch) == "admit" and self.reads.get(gate.id, frozenset()) & about
        ]
        if trial.cut:
            return Judged("unknown", passed, f"what reads it {trial.cut}")
        if row.behind is not None and trial.behind is not None:
            return self._judged_behind(row.behind, trial.behind, arch, passed)
        if passed:
            return Judged("unknown", passed, "its gate lets it through; what lies behind was not followed")
        return Judged("unknown", (), "no gate asks for this choice; what lies behind it was not followed")

    def _judged_behind(self, row: Row, trial: Trial, arch: str, passed: Sequence[str]) -> Judged:
        """The same for what a choice stands for, which the gates ``passed`` let through."""
        judged = self._at(row, trial, arch, self._judged)
        if judged.status == "unsupported" and trial.hangs and self._by_guards(judged):
            why = f"which of its ways it takes hangs on {', '.join(trial.hangs)} as well"
            return Judged("unknown", (*passed, *judged.gates), why)
        works = any(one.stops or one.exports or one.compiled for one in row.trials.values())
        if not trial.definition and not works:
            return Judged("unknown", passed, "what asks for it was not seen to lead to code for the device")
        if judged.status in ("supported", "degraded") and trial.outside:
            why = f"what it calls in {', '.join(trial.outside)} is not in the tree"
            return Judged("unknown", (*passed, *judged.gates), why)
        if judged.status == "supported" and not trial.exports and not trial.decided:
            return Judged("unknown", passed, "nothing behind it was seen to depend on the device")
        return replace(judged, gates=(*passed, *judged.gates))

    def _by_guards(self, judged: Judged) -> bool:
        """Whether it is what is called that stops a run, on some way: not the run itself, on every way."""
        return all(gate in self.guards for gate in judged.gates)

    def _lacking(self, trial: Trial, arch: str) -> tuple[list[str], bool]:
        """The gates by which what is loaded was not compiled for an architecture, and whether that is sure.

        What is loaded on some ways alone counts where nothing that is loaded fits, and a back end was chosen.
        """
        found = [(build, self.images.lacking(build, arch)) for build in trial.compiled]
        certain = [gate for build, gate in found if gate is not None and build.sure]
        if certain:
            return certain, True
        gates = [gate for _, gate in found if gate is not None]
        chosen = trial.choice not in ("", AUTO)
        return (gates if chosen and len(gates) == len(found) else []), False

    def _wrongly_admitted(self, trial: Trial) -> list[str]:
        """The lists of builds that let the target in where the hardware stops everything behind them.

        They count where a back end was chosen (else another may take its place) and no other list lets the
        target in: which of two builds is made may hang on what is not known.
        """
        if trial.choice in ("", AUTO):
            return []
        found = [gate for asked, _ in trial.decided for gate in self._gates(asked) if gate.layer == "jit"]
        entered = [gate for gate in found if gate.verdict.get(self.target) == "admit"]
        wrong = [gate for gate in entered if gate.effect == "wrongly_admitted" and _by_hardware(gate)]
        return [gate.id for gate in wrong] if len(wrong) == len(entered) else []

    def _runs_elsewhere(self, pair: tuple[str, str]) -> bool:
        """Whether an export runs no kernel of its own, but images that are fetched when it is called."""
        reach = self.exports.get((self.built.get(pair[0], ""), pair[1]))
        if reach is None or reach.kernels:
            return False
        return any(self.loads_images(file) for file in dict.fromkeys(found.file for found in reach.functions))

    def _effect(self, gate: Gate, arch: str) -> Effect:
        return self.effects(arch).get(gate.id, "none")

    def _served(self, gate: Gate, arch: str) -> bool:
        """Whether another branch of the dispatch is made for an architecture that this one leaves out."""
        if gate.dispatch is None:
            return False
        admitted = [other for other, verdict in gate.verdict.items() if verdict == "admit"]
        return any(
            sibling.verdict.get(arch) == "admit"
            and all(sibling.verdict.get(other) == "reject" for other in admitted)
            for sibling in self.by_dispatch.get(gate.dispatch, ())
        )

    def _against(self, row: Row, trial: Trial, arch: str) -> list[Gate]:
        """The gates that decided a run against an architecture, and for one that they admit."""
        found: dict[str, Gate] = {}
        for asked, outcome in trial.decided:
            if outcome is Truth.FREE or outcome not in row.differing.get(asked, {}):
                continue
            for gate in self._gates(asked):
                others = row.differing[asked]
                admitted = any(
                    gate.verdict.get(a) == "admit" for o, at in others.items() for a in at if o is not outcome
                )
                if gate.verdict.get(arch) == "reject" and admitted:
                    found.setdefault(gate.id, gate)
        return list(found.values())

    def _gates(self, asked: Asked) -> list[Gate]:
        key, argument = asked
        if argument is not None:
            return self.by_place.get(argument.start, [])
        return self.by_key.get(key, [])

    def _stopped(self, stops: Sequence[Stop], arch: str) -> Judged:
        """An entry that raises is not supported, if a gate says so; else the trial may lack something."""
        gates = [identity for stop in stops for identity in self._stopping(stop, arch)]
        first = stops[0]
        if gates:
            return Judged("unsupported", gates, message=first.message)
        at = f"{first.site.file}:{first.site.line}"
        said = f", “{first.message}”" if first.message else ""
        why = f"its run ends at {at}{said}, and no gate was seen to decide that"
        return Judged("unknown", (), why, first.message)

    def _stopping(self, stop: Stop, arch: str) -> Iterator[str]:
        """The gates that make an entry raise: the nearest around it, else all that reject on the way."""
        for asked in stop.under:
            around = self._around([asked], arch)
            if around:
                yield from around
                return
        for asked in stop.before:
            for gate in self._gates(asked):
                if gate.verdict.get(arch) == "reject" and self._effect(gate, arch) == "raises":
                    yield gate.id

    def _around(self, under: Iterable[Asked], arch: str) -> list[str]:
        """The gates at decisions in whose statement a run ends that reject an architecture."""
        return [g.id for asked in under for g in self._gates(asked) if g.verdict.get(arch) == "reject"]

    def _guards(self, trial: Trial, arch: str) -> tuple[list[str], bool]:
        """The guards that take something from what is called, and whether nothing at all is left of it."""
        found: list[str] = []
        running = dead = 0
        on_host = False
        for maker, name in trial.exports:
            reach = self.exports.get((self.built.get(maker, ""), name))
            if reach is None:
                continue
            stopped: set[tuple[str, str]] = set()
            for identity in reach.guards:
                gate = self.guards.get(identity)
                if gate is None or gate.effect == "none" or _verdict(gate, reach.build, arch) != "reject":
                    continue
                found.append(identity)
                holder = reach.held_by.get(identity)
                on_host = on_host or (gate.layer == "host" and gate.effect == "raises")
                if gate.effect in _FATAL and holder is not None:
                    stopped.add((holder.file, holder.name))
            if reach.kernels:
                running += 1
                dead += all((kernel.file, kernel.name) in stopped for kernel in reach.kernels)
        return found, on_host or (bool(running) and dead == running)


def _by_hardware(gate: Gate) -> bool:
    return gate.justification is not None and gate.justification.kind == "hardware"


def _verdict(gate: Gate, build: str, arch: str) -> str:
    own = next((entry.verdict for entry in gate.verdict_by_build if entry.build == build), gate.verdict)
    return own.get(arch, "unknown")


def _attribute(row: Row) -> str:
    """The attribute that keeps an option's value."""
    return row.entry.rpartition("--")[2].replace("-", "_")


def rows(trials: Mapping[str, Iterable[Trial]]) -> list[Row]:
    """The trials of all architectures side by side, in the order in which choices are offered."""
    found: dict[tuple[str, str], dict[str, Trial]] = {}
    for arch, told in trials.items():
        for trial in told:
            found.setdefault((trial.entry, trial.choice), {})[arch] = trial
    return [Row(entry, choice, by_arch) for (entry, choice), by_arch in found.items()]


def _counts(stop: Stop) -> bool:
    """Whether a stop has to do with the device: a method may also lack what another should have set."""
    return stop.method in ("", "__init__") or bool(stop.under or stop.before)


def _rejected_at_once(trial: Trial) -> bool:
    return any(stop.method in ("", "__init__") for stop in trial.stops)


def _named(trial: Trial) -> bool:
    """Whether some decision on an answer of the device lies before a stop."""
    return any(stop.under or stop.before for stop in trial.stops)


@dataclass(frozen=True, slots=True)
class Area:
    """A field of work, and the words in module and function names by which it is known."""

    name: str
    words: tuple[str, ...]


@cache
def areas() -> tuple[Area, ...]:
    """The areas in the order in which they are shown; the last takes what fits no other."""
    rows = data.table("areas")["area"]
    return tuple(Area(row["name"], tuple(row["words"])) for row in rows)


@cache
def area_of(name: str, file: str) -> str:
    """The first area with a word that begins a part of an API's own name, its whole name or its path."""
    own = name.rpartition(".")[2].lower()
    for text in (own, name.lower(), file.lower()):
        for area in areas():
            if any(re.search(rf"(?<![a-z0-9]){re.escape(word)}", text) for word in area.words):
                return area.name
    return areas()[-1].name
