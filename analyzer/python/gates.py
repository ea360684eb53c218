"""From decisions on every host to gates: the verdict of each, its sides, its effect."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from analyzer import archs
from analyzer.identity import Numbering, digest
from analyzer.model import Effect, Gate, Layer, Part, Step, Unresolved, Verdict
from analyzer.model import Place as ModelPlace
from analyzer.python import admitted, demands, lists, pins, refusals, registries, sides, toolkits
from analyzer.python.decisions import Merged, Sorted, place_key, site_key, sort
from analyzer.python.findings import Findings, Seen, Static
from analyzer.python.observe import Key
from analyzer.python.polarity import negated
from analyzer.python.sides import NOTHING, Side
from analyzer.python.values import Site, Truth


@dataclass(frozen=True, slots=True)
class PythonGate:
    """A gate with what the graph needs: the decisions it covers, the attributes its gated side assigns.

    ``reads``: attribute names and strings in its condition. ``polarity``: whether the gated code is what runs
    when the condition is true. ``check``: the other side raises, and the function comes to it whatever it is
    given. ``sets``: the attributes and items that the gated side gives a text, or true. ``refuses``: what is
    on the other side only says no, or may. ``calls``: the calls that the gated side consists of, if it does
    nothing else.
    """

    gate: Gate
    keys: frozenset[Key]
    stores: frozenset[str]
    reads: frozenset[str]
    module: str
    scope: str
    function: str
    polarity: bool
    check: bool = False
    sets: frozenset[tuple[str, str | bool]] = frozenset()
    refuses: bool = False
    calls: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PythonGates:
    """All gates of the scanned Python, what only forwards them, and what could not be decided."""

    gates: tuple[PythonGate, ...]
    unresolved: tuple[Unresolved, ...]
    expressions: Mapping[str, int]
    forwards: Mapping[Key, frozenset[Key]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the target, the references, and what every host told."""

    target: str
    references: tuple[str, ...]
    found: Mapping[str, Findings]


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str], decisions: Sorted | None = None
) -> PythonGates:
    """The gates that the decisions of all hosts make up.

    Args:
        found: architecture name to what its host told.
        target: the architecture in question.
        references: the architectures that it is compared with.
        decisions: the decisions of all hosts by what they are, if that is known.
    """
    question = Question(target, tuple(references), found)
    decisions = decisions or sort(found)
    drafts: list[PythonGate] = []
    arguments: dict[Site, list[Merged]] = defaultdict(list)
    for item in decisions.own:
        if item.place[1] is None:
            uses = [
                decisions.kept[place]
                for place in sorted(decisions.forwarded.get(item.place[0], ()), key=place_key)
                if place in decisions.kept
            ]
            drafts += _plain_gate(item, uses, question)
    for place, item in decisions.kept.items():
        if place[1] is not None:
            arguments[place[1]].append(item)
    drafts = _outdone(_unserved(drafts, question), question)
    for site in sorted(arguments, key=site_key):
        drafts += _argument_gate(site, arguments[site], question)
    # A list that is held against the device is told by what holds it; so is a claim.
    waiting = {arch: [one for one in told.lists if one.site not in arguments] for arch, told in found.items()}
    listed = lists.gates(waiting, target, references)
    asked = [*demands.gates(found, target, references), *demands.launched(found, target, references)]
    refused = refusals.gates(found, target, references, [draft.gate for draft in drafts])
    pinned = pins.gates(found, target, references)
    claimed = {
        arch: [one for one in told.registered if one.entry.site not in arguments]
        for arch, told in found.items()
    }
    registered = registries.gates(claimed, target, references)
    held = admitted.gates(found, target, references)
    further = [*registered, *refused, *toolkits.gates(found, target, references), *pinned, *held]
    for gate, module, scope in [*asked, *listed, *further]:
        drafts.append(
            PythonGate(
                gate, frozenset(), frozenset(), frozenset(), module, scope, _function(module, scope), True
            )
        )
    expressions: dict[str, set[Key]] = defaultdict(set)
    for findings in found.values():
        for file, keys in findings.expressions.items():
            expressions[file] |= keys
    return PythonGates(
        _numbered(drafts),
        _unresolved(decisions.own, question),
        {file: len(keys) for file, keys in expressions.items()},
        decisions.forwards,
    )


def _unresolved(own: Sequence[Merged], question: Question) -> tuple[Unresolved, ...]:
    """What could not be decided for the target."""
    found: set[Unresolved] = set()
    for item in own:
        answer = item.answers.get(question.target)
        if answer is not None and answer.outcome is Truth.UNKNOWN:
            site, code = item.static.site, item.static.shape.code
            found.add(Unresolved(site.file, site.line, code[:200], answer.why or "not decided"))
    told = question.found.get(question.target)
    passed = [item.static for item in own if question.target not in item.answers]
    for site, what, why in told.unresolved if told is not None else ():
        # Conditions that were met elsewhere, in the function or the module that was not run to its end.
        waiting = sum(what in (static.function, static.module) for static in passed)
        found.add(Unresolved(site.file, site.line, what, why, waiting))
    return tuple(sorted(found))


# Sides.


def _settled(side: Side, file: str, findings: Findings) -> Side:
    """A side as one host takes it."""
    return sides.settled(side, Seen(findings, file))


def _takes(outcome: Truth, then: bool) -> bool:
    """Whether the ``then`` (or the other) side may be reached under an outcome."""
    return outcome not in (Truth.TRUE, Truth.FALSE) or (outcome is Truth.TRUE) is then


def _raising(item: Merged, then: bool, question: Question) -> bool:
    """Whether a side raises, as it is written or on every host that takes it."""
    side = item.static.shape.then if then else item.static.shape.other
    if side.raises:
        return True
    file = item.static.site.file
    taken = [
        _settled(side, file, question.found[arch]).raises
        for arch, answer in item.answers.items()
        if _takes(answer.outcome, then) and arch in question.found
    ]
    return bool(taken) and all(taken)


def _gated_side(item: Merged, raising: Mapping[bool, bool], question: Question) -> bool:
    """Which side is the gated code: True for ``then``.

    The side that does not raise; what comes after one that only refuses under circumstances, that passes
    over the rest of a loop's turn, or that gives back nothing where the rest gives something; else the one
    that the condition names positively, unless no reference takes it and they take code, not just an answer,
    on the other.
    """
    shape = item.static.shape
    if raising[True] != raising[False]:
        return raising[True] is False
    if (shape.then.sieves and shape.other.empty) or (shape.then.skips and shape.other.rest):
        return False
    if shape.then.answers and shape.other.rest and not (shape.other.answers or shape.other.explains):
        return False
    positive = not _negative(item, question)
    outcomes = [item.answers[arch].outcome for arch in question.references if arch in item.answers]
    if any(_takes(outcome, positive) for outcome in outcomes):
        return positive
    beside = shape.other if positive else shape.then
    refusing = beside.empty or beside.answers or beside.explains
    return positive if refusing or not outcomes else not positive


def _negative(item: Merged, question: Question) -> bool:
    """Whether a condition names architectures by what they are not.

    Where any of several reasons is enough to pass over something, those count that ask the device.
    """
    if item.static.conjunction:
        return item.static.shape.negative
    place = (*item.place[0][:3], "bool"), None
    values: dict[str, set[str]] = {}
    for findings in question.found.values():
        answer = findings.answers.get(place)
        for code, value in answer.parts if answer is not None else ():
            values.setdefault(code, set()).add(value)
    asking = [code for code, found in values.items() if len(found) > 1]
    senses = {negated(ast.parse(code, mode="eval").body) for code in asking}
    return senses.pop() if len(senses) == 1 else item.static.shape.negative


# Verdicts.


def _verdicts(item: Merged, gated: bool, check: bool, question: Question) -> dict[str, Verdict]:
    """Whether each architecture reaches the gated code.

    ``check``: the other side raises. Where such a check surely lets some architectures pass, one that it
    stops under some circumstances is rejected: under these, the others get through.
    """
    verdict: dict[str, Verdict] = {}
    passing = {
        arch
        for arch, answer in item.answers.items()
        if answer.outcome in (Truth.TRUE, Truth.FALSE) and _takes(answer.outcome, gated)
    }
    failing = {
        arch
        for arch, answer in item.answers.items()
        if answer.outcome in (Truth.TRUE, Truth.FALSE) and not _takes(answer.outcome, gated)
    }
    strict = check and bool(passing) and not failing
    for arch, findings in question.found.items():
        answer = item.answers.get(arch)
        if answer is None:
            cut = item.static.function in findings.cut
            verdict[arch] = "unknown" if cut else "reject"
        elif answer.outcome is Truth.UNKNOWN:
            verdict[arch] = "unknown"
        elif answer.outcome is Truth.FREE:
            verdict[arch] = "reject" if strict else "admit"
        else:
            verdict[arch] = "admit" if arch in passing else "reject"
    return verdict


def _says_nothing(verdict: Mapping[str, Verdict]) -> bool:
    """Whether all architectures fare the same."""
    return len(set(verdict.values())) == 1 and "unknown" not in verdict.values()


def _open_everywhere(item: Merged) -> bool:
    """Whether the architecture decides nothing wherever a condition is reached, such as a look into a cache.

    What keeps some architectures from reaching it is told before. A look-up that finds what it looks for
    decides nothing either.
    """
    open_ones = (Truth.FREE, Truth.TRUE) if item.static.kind == "lookup" else (Truth.FREE,)
    return all(answer.outcome in open_ones for answer in item.answers.values())


# Gates.


def _plain_gate(item: Merged, uses: Sequence[Merged], question: Question) -> list[PythonGate]:
    """The gate at a decision, if it tells architectures apart."""
    static, shape, target = item.static, item.static.shape, question.target
    raising = {side: _raising(item, side, question) for side in (True, False)}
    gated = _gated_side(item, raising, question)
    verdict = _verdicts(item, gated, raising[not gated], question)
    if _says_nothing(verdict) or _open_everywhere(item):
        return []
    inside, outside = (shape.then, shape.other) if gated else (shape.other, shape.then)
    instead = NOTHING
    if target in question.found:
        instead = _settled(outside, static.site.file, question.found[target])
    if static.kind == "bool" or (instead.answers and not instead.raises):
        followed = _instead_of_uses(uses, question)
        instead = replace(followed, announces=followed.announces or instead.announces)
    if shape.told and not instead.leaves:
        instead = replace(instead, announces=True)
    effect, silent, specialised, falls_back = _effect(item, verdict, instead, gated, question)
    if _only_told(inside, outside):
        effect, silent, falls_back = "none", False, None
    message = None
    if effect == "raises":
        answer = item.answers.get(target)
        raised = answer.raised if answer is not None else None
        message = raised or instead.message or outside.message or None
    gate = _gate(
        static,
        "runtime",
        static.site,
        static.scope,
        shape.code,
        verdict,
        effect=effect,
        silent=silent,
        specialised=specialised,
        falls_back_to=falls_back,
        message=message,
        because=_because(item, question),
        uses=tuple(sorted({ModelPlace(use.static.site.file, use.static.site.line) for use in uses})),
        dispatch=_dispatch(static),
        parts=_parts(item, question),
        admits=_admits(item, inside, outside, verdict, question),
        negated=not gated,
    )
    keys = frozenset({item.place[0], *(use.place[0] for use in uses)})
    function = _function(static.module, static.scope)
    return [
        PythonGate(
            gate,
            keys,
            frozenset(inside.stores),
            static.reads,
            static.module,
            static.scope,
            function,
            gated,
            raising[not gated] and shape.always,
            frozenset(inside.sets) | _placed(item, gated, question),
            raising[not gated] or outside.answers or outside.sieves,
            frozenset(_NUMBER.sub("#", call) for call in inside.calls),
        )
    ]


def _placed(item: Merged, gated: bool, question: Question) -> frozenset[tuple[str, str | bool]]:
    """What attributes and items were given on the target by the gated side of a decision.

    Where it was not noted by which side, the target took the gated one if it surely comes to it.
    """
    answer = item.answers.get(question.target)
    known = answer is not None and answer.outcome in (Truth.TRUE, Truth.FALSE)
    taken = {gated, None} if known and answer is not None and _takes(answer.outcome, gated) else {gated}
    told = question.found.get(question.target)
    return frozenset(
        (name, text)
        for (key, side), name, text in (told.placed if told is not None else ())
        if key[:3] == item.place[0][:3] and side in taken
    )


def _unserved(drafts: Sequence[PythonGate], question: Question) -> list[PythonGate]:
    """The gates, with the branches of a dispatch that no reference takes where the target takes none at all.

    What the target gets in place of a reference's branch, it gets in place of these: each could serve it.
    """
    chains: dict[str, list[PythonGate]] = defaultdict(list)
    for draft in drafts:
        if draft.gate.dispatch is not None:
            chains[draft.gate.dispatch].append(draft)
    lost: dict[str, Gate] = {}
    for name, chain in chains.items():
        if all(draft.polarity and draft.gate.verdict.get(question.target) == "reject" for draft in chain):
            lost.update((name, draft.gate) for draft in chain if draft.gate.effect != "none")

    def served(gate: Gate) -> Gate:
        sibling = lost.get(gate.dispatch or "")
        if sibling is None or gate.effect != "none" or not _passing(gate):
            return gate
        return msgspec.structs.replace(
            gate,
            effect=sibling.effect,
            silent=sibling.silent,
            falls_back_to=sibling.falls_back_to,
            message=sibling.message,
        )

    return [replace(draft, gate=served(draft.gate)) for draft in drafts]


#: What tells the calls for one architecture from those for another.
_NUMBER = re.compile(r"\d+[af]?")


def _outdone(drafts: Sequence[PythonGate], question: Question) -> list[PythonGate]:
    """The gates, with what is made for the target alone and does less than beside it for its own family.

    What an earlier member of the family gets, the target could have: it runs the same code.
    """
    target = question.target
    beside: dict[str, list[PythonGate]] = defaultdict(list)
    for draft in drafts:
        if draft.calls and draft.gate.verdict.get(target) == "reject":
            beside[draft.function].append(draft)

    def outdone(draft: PythonGate) -> Gate:
        gate = draft.gate
        if not draft.calls or _passing(gate) != [target]:
            return gate
        for other in beside[draft.function]:
            kin = archs.earlier(_passing(other.gate), target)
            if kin and draft.calls < other.calls:
                more = len(other.calls - draft.calls)
                what = f"{' and '.join(kin)}, whose code {target} runs, gets {more} more of these here"
                step = Step(other.gate.file, other.gate.line, what)
                return msgspec.structs.replace(
                    gate,
                    effect="degraded",
                    silent=True,
                    specialised=True,
                    falls_back_to=gate.admits,
                    because=(*gate.because, step),
                )
        return gate

    return [replace(draft, gate=outdone(draft)) for draft in drafts]


def _passing(gate: Gate) -> list[str]:
    return [arch for arch, value in gate.verdict.items() if value == "admit"]


def _only_told(inside: Side, outside: Side) -> bool:
    """Whether the two sides differ in nothing but what they tell the user."""
    if not (inside.tells or outside.tells):
        return False
    return all(side.tells or (side.empty and not side.rest) for side in (inside, outside))


def _instead_of_uses(uses: Sequence[Merged], question: Question) -> Side:
    """What a caller does on the target when a condition that it only forwards comes out false."""
    if question.target not in question.found:
        return NOTHING
    findings = question.found[question.target]
    for use in uses:
        answer = use.answers.get(question.target)
        if answer is None or use.static.kind not in ("if", "ifexp", "assert"):
            continue
        shape = use.static.shape
        decided = answer.outcome in (Truth.TRUE, Truth.FALSE)
        then = answer.outcome is Truth.TRUE if decided else shape.negative
        side = _settled(shape.then if then else shape.other, use.static.site.file, findings)
        if side.empty or side.answers:
            continue
        return side if decided else replace(side, raises=False)
    return NOTHING


def _effect(
    item: Merged, verdict: Mapping[str, Verdict], instead: Side, gated: bool, question: Question
) -> tuple[Effect, bool, bool, str | None]:
    """Effect, silence, whether the target is singled out, and what takes the gated code's place."""
    target = question.target
    if verdict.get(target) != "reject" or target not in item.answers:
        return "none", False, False, None
    if not any(verdict.get(arch) == "admit" for arch in question.references):
        return "none", False, False, None
    if instead.raises:
        return "raises", False, False, None
    major = archs.find(target).major
    alone = all(archs.find(arch).major == major for arch, value in verdict.items() if value == "reject")
    named = gated is item.static.shape.negative and not item.static.shape.ordered
    if alone and named and not instead.empty and not instead.regrets:
        return "none", False, True, None
    silent = not instead.announces
    if instead.empty:
        return "excluded", silent, False, None
    return "degraded", silent, False, instead.action or None


def _admits(
    item: Merged, inside: Side, outside: Side, verdict: Mapping[str, Verdict], question: Question
) -> str | None:
    """What the first architecture that passes gets, where it can be named."""
    if inside.rest and (outside.raises or outside.answers):
        return None
    ordered = [*question.references, *verdict]
    arch = next((arch for arch in ordered if verdict.get(arch) == "admit" and arch in question.found), None)
    if arch is None:
        return inside.action or None
    return _settled(inside, item.static.site.file, question.found[arch]).action or None


def _function(module: str, scope: str) -> str:
    return f"{module}.{scope}" if scope else module


def _because(item: Merged, question: Question) -> tuple[Step, ...]:
    steps: dict[tuple[str, int], Step] = {}
    for arch in [*question.references, question.target]:
        answer = item.answers.get(arch)
        for step in answer.because if answer is not None else ():
            steps.setdefault((step.file, step.line), step)
    return tuple(steps.values())


def _parts(item: Merged, question: Question) -> tuple[Part, ...]:
    codes = dict.fromkeys(code for answer in item.answers.values() for code, _ in answer.parts)
    return tuple(
        Part(
            code,
            {
                arch: dict(item.answers[arch].parts).get(code, "not reached")
                for arch in question.found
                if arch in item.answers
            },
        )
        for code in codes
    )


def _dispatch(static: Static) -> str | None:
    if not static.shape.chain:
        return None
    return f"{static.site.file}:{static.scope or '<module>'}:{digest(static.shape.chain)}"


def _argument_gate(site: Site, items: list[Merged], question: Question) -> list[PythonGate]:
    """The gate at an argument that names architectures, checked somewhere inside the callee.

    Whether an architecture is among those that are named is never free; where it is, the argument names
    something else.
    """
    target = question.target
    items = [
        item
        for item in items
        if item.static.kind != "while"
        and all(answer.outcome is not Truth.FREE for answer in item.answers.values())
    ]
    if not items:
        return []
    shapes = [item.static.shape for item in items]
    raises = [shape.then.raises or shape.other.raises for shape in shapes]
    deciding = items[raises.index(True)] if True in raises else items[-1]
    first = items[0].static
    admits_when = _admitting(deciding)
    verdict = _verdicts(deciding, admits_when, False, question)
    if _says_nothing(verdict):
        return []
    raising = deciding.static.shape.other if admits_when else deciding.static.shape.then
    rejected = verdict.get(target) == "reject" and target in deciding.answers  # else it is stopped before
    effect: Effect = "none"
    if rejected and any(verdict.get(arch) == "admit" for arch in question.references):
        effect = "raises" if raising.raises else "excluded"
    answer = deciding.answers.get(target)
    message = (answer.raised if answer is not None else None) or raising.message or None
    layer: Layer = "api" if first.decorator else "runtime"
    if not (first.decorator or first.listed) and _gives(deciding, question):
        layer = "jit"
    steps = (
        Step(site.file, site.line, f"given here: {first.argument_code}"),
        *(_checked(item.static) for item in items),
        *_because(deciding, question),
    )
    unique: dict[tuple[str, int], Step] = {}
    for step in steps:
        unique.setdefault((step.file, step.line), step)
    gate = _gate(
        first,
        layer,
        site,
        first.decorates or first.argument_scope,
        first.argument_code,
        verdict,
        effect=effect,
        silent=effect == "excluded",
        message=message if effect == "raises" else None,
        because=tuple(unique.values()),
    )
    function = _function(first.argument_module, first.argument_scope)
    keys = frozenset(item.place[0] for item in items)
    nothing = frozenset[str]()
    return [
        PythonGate(gate, keys, nothing, nothing, first.argument_module, first.argument_scope, function, True)
    ]


def _gives(item: Merged, question: Question) -> bool:
    """Whether the function that holds a check gives something, such as flags for a build."""
    outcomes = (findings.outcomes.get(item.static.function) for findings in question.found.values())
    values = {outcome.value for outcome in outcomes if outcome is not None and not outcome.boolean}
    return bool(values - {None, "None"})


def _checked(static: Static) -> Step:
    return Step(static.site.file, static.site.line, f"checked here: {static.shape.code[:120]}")


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
    negated: bool = False,
) -> Gate:
    return Gate(
        id="",
        layer=layer,
        **site.span,
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
        negated=negated,
    )


def _order(gate: Gate) -> tuple[str, int, int, str, str]:
    return gate.file, gate.line, gate.column, gate.layer, gate.code


def _numbered(drafts: list[PythonGate]) -> tuple[PythonGate, ...]:
    drafts = sorted(drafts, key=lambda draft: _order(draft.gate))
    numbering = Numbering()
    numbered: list[PythonGate] = []
    for draft in drafts:
        gate = draft.gate
        name, order = numbering.next(gate.layer, gate.file, gate.scope, gate.code)
        numbered.append(replace(draft, gate=msgspec.structs.replace(gate, id=name, order=order)))
    return tuple(numbered)
