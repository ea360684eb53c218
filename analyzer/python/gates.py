"""From decisions on every host to gates: which decision is one, its verdict, its sides, its effect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from analyzer import archs
from analyzer.identity import digest, identity
from analyzer.model import Effect, Gate, Layer, Part, Place as ModelPlace, Step, Unresolved, Verdict
from analyzer.python.findings import Answer, Findings, Place, Static
from analyzer.python.observe import Key
from analyzer.python.sides import NOTHING, Side
from analyzer.python.values import Site, Truth


@dataclass(frozen=True, slots=True)
class PythonGate:
    """A gate with what the graph needs: the decisions it covers, the attributes its gated side assigns.

    ``reads``: attribute names and strings in its condition. ``gated``: the side that references can take.
    """

    gate: Gate
    keys: frozenset[Key]
    stores: frozenset[str]
    reads: frozenset[str]
    module: str
    scope: str
    function: str
    polarity: bool


@dataclass(slots=True)
class Merged:
    """One decision over all hosts."""

    place: Place
    static: Static
    answers: dict[str, Answer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PythonGates:
    """All gates of the scanned Python, what only forwards them, and what could not be decided."""

    gates: tuple[PythonGate, ...]
    unresolved: tuple[Unresolved, ...]
    expressions: Mapping[str, int]
    forwards: Mapping[Key, frozenset[Key]]


def gates(found: Mapping[str, Findings], target: str, references: Sequence[str]) -> PythonGates:
    """The gates that the decisions of all hosts make up.

    Args:
        found: architecture name to what its host told.
        target: the architecture in question.
        references: the architectures that it is compared with.
    """
    merged = _merge(found)
    inner = _contained(merged)
    kept = {place: item for place, item in merged.items() if place not in inner}
    ways = _Ways(merged, inner)
    own: list[Merged] = []
    forwarded: dict[Key, set[Place]] = defaultdict(set)
    forwards: dict[Key, frozenset[Key]] = {}
    for place, item in kept.items():
        if item.static.kind == "bool" and not any(answer.mixed for answer in item.answers.values()):
            continue
        direct, through = ways.of(place)
        if direct:
            own.append(item)
        else:
            forwards[place[0]] = frozenset(through)
            for key in through:
                forwarded[key].add(place)
    drafts = _drafts(own, kept, forwarded, target, references, found)
    unresolved = [
        Unresolved(item.static.site.file, item.static.site.line, item.static.shape.code[:200], answer.why or "not decided")
        for item in own
        for arch, answer in item.answers.items()
        if arch == target and answer.outcome is Truth.UNKNOWN
    ]
    for arch, findings in found.items():
        if arch == target:
            unresolved += [Unresolved(site.file, site.line, what, why) for site, what, why in findings.unresolved]
    expressions: dict[str, set[Key]] = defaultdict(set)
    for findings in found.values():
        for file, keys in findings.expressions.items():
            expressions[file] |= keys
    return PythonGates(
        _numbered(drafts),
        tuple(sorted(set(unresolved))),
        {file: len(keys) for file, keys in expressions.items()},
        forwards,
    )


def _merge(found: Mapping[str, Findings]) -> dict[Place, Merged]:
    merged: dict[Place, Merged] = {}
    for arch, findings in found.items():
        for place, answer in findings.answers.items():
            item = merged.get(place)
            if item is None:
                item = merged[place] = Merged(place, findings.statics[place])
            item.answers[arch] = answer
    order = sorted(merged, key=lambda place: (place[0], _site_key(place[1])))
    return {place: merged[place] for place in order}


def _site_key(site: Site | None) -> tuple[str, int, int]:
    return (site.file, site.line, site.column) if site is not None else ("", 0, 0)


def _contained(merged: Mapping[Place, Merged]) -> set[Place]:
    """``and``/``or`` expressions that stand inside another decision's condition: parts of it."""
    by_file: dict[str, list[Merged]] = defaultdict(list)
    for item in merged.values():
        by_file[item.static.site.file].append(item)
    inner: set[Place] = set()
    for items in by_file.values():
        for item in items:
            if item.static.kind != "bool":
                continue
            here = item.static.site
            for other in items:
                there = other.static.site
                if other.place[0] == item.place[0]:
                    continue
                if _holds(there, here) and (there != here or other.static.kind != "bool"):
                    inner.add(item.place)
                    break
    return inner


def _holds(outer: Site, inner: Site) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and outer.end_line >= inner.end_line and (
        outer.line < inner.line or outer.end_line > inner.end_line or outer.column <= inner.column
    ) and inner.line <= outer.end_line


class _Ways:
    """By which gates an answer reaches a decision, seeing through decisions that are only parts of others."""

    def __init__(self, merged: Mapping[Place, Merged], inner: set[Place]) -> None:
        self.merged = merged
        self.by_key: dict[Key, list[Place]] = defaultdict(list)
        for place in merged:
            self.by_key[place[0]].append(place)
        self.transparent = {place[0] for place in inner}
        for place, item in merged.items():
            if item.static.kind == "bool" and not any(answer.mixed for answer in item.answers.values()):
                self.transparent.add(place[0])
        self.known: dict[Place, tuple[bool, set[Key]]] = {}

    def of(self, place: Place) -> tuple[bool, set[Key]]:
        """Whether a device answer reaches it directly, and the keys of the gates that it forwards."""
        if place in self.known:
            return self.known[place]
        self.known[place] = (False, set())
        direct, through = False, set[Key]()
        for answer in self.merged[place].answers.values():
            direct = direct or answer.direct
            for key in answer.through:
                if key == place[0]:
                    continue
                if key not in self.transparent:
                    through.add(key)
                    continue
                for other in self.by_key.get(key, ()):
                    if other != place:
                        inner_direct, inner_through = self.of(other)
                        direct = direct or inner_direct
                        through |= inner_through
        self.known[place] = (direct, through)
        return direct, through


def _drafts(
    own: list[Merged],
    kept: Mapping[Place, Merged],
    forwarded: Mapping[Key, set[Place]],
    target: str,
    references: Sequence[str],
    found: Mapping[str, Findings],
) -> list[PythonGate]:
    drafts: list[PythonGate] = []
    arguments: dict[Site, list[Merged]] = defaultdict(list)
    for item in own:
        if item.static.argument is not None:
            arguments[item.static.argument].append(item)
            continue
        drafts += _plain_gate(item, kept, forwarded, target, references, found)
    for place, item in kept.items():
        if place[1] is not None and item not in own:
            arguments[place[1]].append(item)
    for site in sorted(arguments, key=_site_key):
        drafts += _argument_gate(site, arguments[site], target, references, found)
    return drafts


def _taken(outcome: Truth, then: bool) -> Verdict:
    """Whether the ``then`` (or the other) side can be reached under an outcome."""
    if outcome is Truth.UNKNOWN:
        return "unknown"
    if outcome is Truth.FREE:
        return "admit"
    return "admit" if (outcome is Truth.TRUE) is then else "reject"


def _gated_side(item: Merged, target: str, references: Sequence[str]) -> bool | None:
    """Which side is the gated code: True for ``then``; ``None`` if no reference decides anything here.

    The side that the condition names positively and that does not raise, if a reference takes it; else the
    other one.
    """
    shape = item.static.shape
    positive = not shape.negative
    preferred = [positive, not positive]
    raising = {True: shape.then.raises, False: shape.other.raises}
    preferred.sort(key=lambda side: raising[side])
    outcomes = [item.answers[arch].outcome for arch in references if arch in item.answers]
    for side in preferred:
        if any(_taken(outcome, side) == "admit" for outcome in outcomes):
            return side
    return preferred[0] if outcomes else None


def _plain_gate(
    item: Merged,
    kept: Mapping[Place, Merged],
    forwarded: Mapping[Key, set[Place]],
    target: str,
    references: Sequence[str],
    found: Mapping[str, Findings],
) -> list[PythonGate]:
    gated = _gated_side(item, target, references)
    if gated is None:
        gated = not item.static.shape.negative
    verdict: dict[str, Verdict] = {}
    for arch in found:
        answer = item.answers.get(arch)
        verdict[arch] = "reject" if answer is None else _taken(answer.outcome, gated)
    if len(set(verdict.values())) == 1 and "unknown" not in verdict.values():
        return []
    uses = [kept[place].static for place in sorted(forwarded.get(item.place[0], ()), key=lambda p: p[0]) if place in kept]
    shape = item.static.shape
    inside, outside = (shape.then, shape.other) if gated else (shape.other, shape.then)
    if item.static.kind == "bool":
        outside = _outside_of_uses(uses)
    effect, silent, specialised, falls_back = _effect(item, verdict, inside, outside, target, references)
    answer = item.answers.get(target)
    message = None
    if effect == "raises":
        message = (answer.raised if answer is not None else None) or outside.message or None
    gate = _gate(
        item.static,
        "runtime",
        item.static.site,
        item.static.scope,
        shape.code,
        verdict,
        effect=effect,
        silent=silent,
        specialised=specialised,
        falls_back_to=falls_back,
        message=message,
        because=_because(item, target, references),
        uses=tuple(sorted({ModelPlace(use.site.file, use.site.line) for use in uses})),
        dispatch=_dispatch(item.static),
        parts=_parts(item, found),
        admits=inside.action or None,
    )
    keys = frozenset({item.place[0], *(use.key for use in uses)})
    return [
        PythonGate(
            gate,
            keys,
            frozenset(inside.stores),
            item.static.reads,
            item.static.module,
            item.static.scope,
            _function(item.static.module, item.static.scope),
            gated,
        )
    ]


def _outside_of_uses(uses: Sequence[Static]) -> Side:
    """What a caller does instead when a condition that it only forwards is false."""
    for use in uses:
        if use.kind in ("if", "ifexp"):
            other = use.shape.then if use.shape.negative else use.shape.other
            if not other.empty:
                return replace(other, raises=False)
    return NOTHING


def _function(module: str, scope: str) -> str:
    return f"{module}.{scope}" if scope else module


def _effect(
    item: Merged,
    verdict: Mapping[str, Verdict],
    inside: Side,
    outside: Side,
    target: str,
    references: Sequence[str],
) -> tuple[Effect, bool, bool, str | None]:
    """Effect, silence, whether the target is singled out, and what takes the gated code's place."""
    answer = item.answers.get(target)
    if verdict.get(target) != "reject" or answer is None:
        return "none", False, False, None
    if not any(verdict.get(arch) == "admit" for arch in references):
        if outside.raises:
            return "none", False, False, None
        return "none", False, False, None
    major = archs.find(target).major
    alone = all(archs.find(arch).major == major for arch, value in verdict.items() if value == "reject")
    if outside.raises:
        return "raises", False, False, None
    if alone and not outside.empty:
        return "none", False, True, None
    silent = not outside.announces
    if outside.empty:
        return "excluded", silent, False, None
    return "degraded", silent, False, outside.action or None


def _because(item: Merged, target: str, references: Sequence[str]) -> tuple[Step, ...]:
    steps: dict[tuple[str, int], Step] = {}
    for arch in [*references, target]:
        answer = item.answers.get(arch)
        for step in answer.because if answer is not None else ():
            steps.setdefault((step.file, step.line), step)
    return tuple(steps.values())


def _parts(item: Merged, found: Mapping[str, Findings]) -> tuple[Part, ...]:
    codes = dict.fromkeys(code for answer in item.answers.values() for code, _ in answer.parts)
    return tuple(
        Part(code, {arch: dict(item.answers[arch].parts).get(code, "not reached") for arch in found if arch in item.answers})
        for code in codes
    )


def _dispatch(static: Static) -> str | None:
    if not static.shape.chain:
        return None
    return f"{static.site.file}:{static.scope}:{digest(str(static.shape.chain - static.site.line) + static.module)}"


def _argument_gate(
    site: Site, items: list[Merged], target: str, references: Sequence[str], found: Mapping[str, Findings]
) -> list[PythonGate]:
    """The gate at an argument that names architectures, checked somewhere inside the callee."""
    deciding = next((i for i in items if i.static.shape.then.raises or i.static.shape.other.raises), items[-1])
    first = items[0].static
    admits_when = _admitting(deciding)
    verdict: dict[str, Verdict] = {}
    for arch in found:
        answer = deciding.answers.get(arch)
        verdict[arch] = "reject" if answer is None else _taken(answer.outcome, admits_when)
    if len(set(verdict.values())) == 1 and "unknown" not in verdict.values():
        return []
    raising = deciding.static.shape.other if admits_when else deciding.static.shape.then
    rejected = verdict.get(target) == "reject"
    matters = rejected and any(verdict.get(arch) == "admit" for arch in references)
    effect: Effect = "none"
    if matters:
        effect = "raises" if raising.raises else "excluded"
    answer = deciding.answers.get(target)
    message = (answer.raised if answer is not None else None) or raising.message or None
    layer: Layer = "api" if first.decorator else "jit"
    steps = (
        Step(first.argument.file if first.argument else site.file, site.line, f"given here: {first.argument_code}"),
        *(Step(i.static.site.file, i.static.site.line, f"checked here: {i.static.shape.code[:120]}") for i in items),
        *_because(deciding, target, references),
    )
    unique: dict[tuple[str, int], Step] = {}
    for step in steps:
        unique.setdefault((step.file, step.line), step)
    gate = _gate(
        first,
        layer,
        site,
        first.argument_scope,
        first.argument_code,
        verdict,
        effect=effect,
        silent=effect == "excluded",
        message=message if effect == "raises" else None,
        because=tuple(unique.values()),
    )
    function = _function(first.argument_module, first.argument_scope)
    keys = frozenset(item.place[0] for item in items)
    return [PythonGate(gate, keys, frozenset(), frozenset(), first.argument_module, first.argument_scope, function, True)]


def _admitting(item: Merged) -> bool:
    """The side of a check on which the architecture passes."""
    shape = item.static.shape
    if shape.then.raises != shape.other.raises:
        return not shape.then.raises
    return not shape.negative


def _gate(
    static: Static,
    layer: Layer,
    site: Site,
    scope: str,
    code: str,
    verdict: Mapping[str, Verdict],
    *,
    effect: Effect,
    silent: bool,
    because: tuple[Step, ...],
    specialised: bool = False,
    falls_back_to: str | None = None,
    message: str | None = None,
    uses: tuple[ModelPlace, ...] = (),
    dispatch: str | None = None,
    parts: tuple[Part, ...] = (),
    admits: str | None = None,
) -> Gate:
    return Gate(
        id="",
        layer=layer,
        file=site.file,
        line=site.line,
        end_line=site.end_line,
        column=site.column,
        scope=scope or "<module>",
        code=code,
        verdict=dict(verdict),
        effect=effect,
        silent=silent,
        specialised=specialised,
        falls_back_to=falls_back_to,
        because=because,
        uses=uses,
        dispatch=dispatch,
        message=message,
        parts=parts,
        admits=admits,
    )


def _numbered(drafts: list[PythonGate]) -> tuple[PythonGate, ...]:
    drafts = sorted(drafts, key=lambda d: (d.gate.file, d.gate.line, d.gate.column, d.gate.layer, d.gate.code))
    counts: dict[tuple[str, str, str, str], int] = defaultdict(int)
    numbered: list[PythonGate] = []
    for draft in drafts:
        gate = draft.gate
        group = (gate.layer, gate.file, gate.scope, gate.code)
        order = counts[group]
        counts[group] += 1
        done = _with(gate, id=identity(gate.layer, gate.file, gate.scope, gate.code, order), order=order)
        numbered.append(replace(draft, gate=done))
    return tuple(numbered)


def _with(gate: Gate, **changes: object) -> Gate:
    import msgspec

    return msgspec.structs.replace(gate, **changes)
