"""Collections of admitted choices of which one architecture is held to another than the next.

Such as ``allowed = {"a", "b"}`` in one branch of a decision on the device, ``allowed = {"a"}`` in the other,
and ``assert choice in allowed`` behind both: with ``"b"``, those of the second branch raise. Which choices
there are is free, so the check itself tells nothing: what tells is the collection.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model import Gate, Step, Verdict
from analyzer.python import flow, sides
from analyzer.python.values import (
    Choice,
    Free,
    List,
    Raised,
    Set,
    Site,
    Truth,
    Value,
    is_constant,
    plain,
)

if TYPE_CHECKING:
    from analyzer.python.findings import Findings
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine
    from analyzer.python.observe import Decision, Key
    from analyzer.python.sides import Side


@dataclass(frozen=True, slots=True)
class Turn:
    """A decision on the device that leads to a check, and how it came out on the way there.

    ``stops``: what raises on its other side: for each such place the marks of the sides that hold it.
    """

    key: Key
    outcome: Truth
    stops: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Admitted:
    """A collection in force at a check: where it is written, what it holds, how the check was come to.

    ``fails``: the side of the check that is taken for what the collection does not hold: true for ``then``.
    ``given``: what may be asked for, where it is known.
    """

    site: Site
    code: str
    key: Key
    test: str
    fails: bool
    choices: frozenset[object]
    given: frozenset[object] | None
    turns: tuple[Turn, ...]
    module: str
    scope: str


# On one host.


def seen(
    m: Machine, frame: Frame, check: Decision, under: Callable[[], Iterable[Decision]]
) -> Iterator[Admitted]:
    """The collections that a check holds free choices against; ``under`` gives what it hangs on."""
    function, test = frame.function, check.node
    if function is None or not isinstance(test, ast.expr):
        return
    for fails in (False, True):
        for compare in _held(test, fails):
            name = compare.comparators[0]
            assert isinstance(name, ast.Name)
            choices = _choices(frame.scope.names.get(name.id))
            written = _written(m.body(function), name.id, choices) if choices else None
            given = _given(m, frame, compare.left) if written is not None else frozenset()
            if choices is None or written is None or given == frozenset():
                continue
            yield Admitted(
                frame.site(written),
                ast.unparse(written),
                check.key,
                ast.unparse(compare),
                fails,
                choices,
                given,
                tuple(_turns(under(), check)),
                check.module,
                check.scope,
            )


def _held(test: ast.expr, outcome: bool) -> Iterator[ast.Compare]:
    """The parts of a condition that ask whether a named collection holds something.

    Those of which it is enough that it does not for the condition to come out so.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _held(test.operand, not outcome)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if outcome else ast.And):
        for part in test.values:
            yield from _held(part, outcome)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        asks = isinstance(test.ops[0], ast.NotIn if outcome else ast.In)
        if asks and isinstance(test.comparators[0], ast.Name):
            yield test


def _choices(value: Value | None) -> frozenset[object] | None:
    """What a collection holds, if it is known in full and a decision on the device has a part in it."""
    if value is None or not value.tainted or not isinstance(value.data, (tuple, List, Set)):
        return None
    with suppress(ValueError, TypeError):
        return frozenset(plain(value))
    return None


def _written(body: list[ast.stmt], name: str, choices: frozenset[object]) -> ast.Assign | None:
    """The assignment that gives a local name this collection as it is written, if there is just one."""
    found = [
        node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        and _literal(node.value) == choices
    ]
    return found[0] if len(found) == 1 else None


def _literal(node: ast.expr) -> frozenset[object] | None:
    if not isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        return None
    with suppress(ValueError, TypeError):
        return frozenset(ast.literal_eval(node))
    return None


def _given(m: Machine, frame: Frame, node: ast.expr) -> frozenset[object] | None:
    """What may be asked for: anything if it is free, nothing of which it could be said if it is not."""
    plainly = all(isinstance(inner, (ast.Name, ast.Attribute, ast.expr_context)) for inner in ast.walk(node))
    value: Value | None = None
    with suppress(Raised):
        value = m.evaluate(node, frame) if plainly else None
    data = value.data if value is not None and not value.tainted else None
    if isinstance(data, Free):
        return None
    options = [option.data for option in data.options] if isinstance(data, Choice) else []
    if any(isinstance(option, Free) for option in options):
        return None
    return frozenset(option for option in options if is_constant(option))


def _turns(under: Iterable[Decision], check: Decision) -> Iterator[Turn]:
    """The decisions of the same function that lead to a check, as far as each came out one way."""
    for decision in under:
        owner = decision.owner
        same = (decision.module, decision.scope) == (check.module, check.scope)
        if not same or not isinstance(owner, ast.If) or len(decision.outcomes) != 1:
            continue
        (outcome,) = decision.outcomes
        if outcome in (Truth.TRUE, Truth.FALSE):
            beside = owner.orelse if outcome is Truth.TRUE else owner.body
            yield Turn(decision.key, outcome, tuple(_stops(beside, ())))


def _stops(body: list[ast.stmt], marks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """For each place in a block that raises, the marks of the sides that hold it."""
    for statement in body:
        if isinstance(statement, (ast.Raise, ast.Assert)):
            yield marks
        elif isinstance(statement, ast.If):
            for side in (statement.body, statement.orelse):
                yield from _stops(side, (*marks, flow.mark(side, statement)))
        else:
            for block in sides.blocks(statement):
                yield from _stops(block, marks)


# Over all hosts.


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at collections that leave out for the target what others may ask for.

    A choice counts if some architecture is held to a collection with it at the same check. With it, the
    target raises there; a reference must be held to a collection with it too, or surely take a way past the
    check on which nothing raises.
    """
    made: dict[Site, tuple[Gate, str, str]] = {}
    for own in sorted(found[target].admitted if target in found else (), key=lambda one: one.site.start):
        side = _failing(found[target], own)
        held = {
            arch: [other for other in told.admitted if (other.key, other.test) == (own.key, own.test)]
            for arch, told in found.items()
        }
        every = frozenset[object]().union(*(other.choices for here in held.values() for other in here))
        left_out = every - own.choices if own.given is None else (every & own.given) - own.choices
        if not left_out or side is None or not side.raises or own.site in made:
            continue
        verdict = {arch: _verdict(told, held[arch], own, left_out) for arch, told in found.items()}
        if any(verdict.get(arch) == "admit" for arch in references):
            gate = _gate(own, side, verdict, left_out, held)
            made[own.site] = gate, own.module, own.scope
    return list(made.values())


def _failing(told: Findings, own: Admitted) -> Side | None:
    """What a check does with what the collection does not hold."""
    static = told.statics.get((own.key, None))
    if static is None:
        return None
    return static.shape.then if own.fails else static.shape.other


def _verdict(told: Findings, held: Sequence[Admitted], own: Admitted, left_out: frozenset[object]) -> Verdict:
    """Whether an architecture gets past a check with something that the target's collection leaves out."""
    if held:
        return "admit" if any(other.choices & left_out for other in held) else "reject"
    return "admit" if any(_turns_away(told, turn) for turn in own.turns) else "unknown"


def _turns_away(told: Findings, turn: Turn) -> bool:
    """Whether an architecture surely takes the other side of a decision, and nothing raises there."""
    outcomes = {answer.outcome for (key, _), answer in told.answers.items() if key == turn.key}
    other = Truth.FALSE if turn.outcome is Truth.TRUE else Truth.TRUE
    if outcomes != {other}:
        return False
    file = turn.key[0]
    ran = {mark for at, mark in (*told.passed, *told.failed) if at == file}
    return not any(all(mark in ran for mark in marks) for marks in turn.stops)


def _gate(
    own: Admitted,
    side: Side,
    verdict: dict[str, Verdict],
    left_out: frozenset[object],
    held: Mapping[str, Sequence[Admitted]],
) -> Gate:
    site = own.site
    named = ", ".join(sorted(map(repr, left_out)))
    steps = [
        Step(site.file, site.line, f"leaves out {named}"),
        Step(site.file, own.key[1], f"raises unless {own.test.replace(' not in ', ' in ')}"),
    ]
    others: dict[Site, list[str]] = {}
    for arch, here in held.items():
        for other in here:
            if other.choices & left_out:
                others.setdefault(other.site, []).append(arch)
    steps += [
        Step(place.file, place.line, f"what is admitted on {', '.join(archs)}")
        for place, archs in sorted(others.items(), key=lambda pair: pair[0].start)
    ]
    return Gate(
        id="",
        layer="runtime",
        **site.span,
        scope=own.scope,
        code=own.code,
        verdict=verdict,
        effect="raises",
        message=side.message or None,
        because=tuple(steps),
    )
