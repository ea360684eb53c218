"""Control flow: branches, loops and ``try``: the ways on which it can go on, and where they meet."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import islice
from operator import and_, is_
from typing import TYPE_CHECKING, Any

from analyzer.python import expressions, stores
from analyzer.python.ends import Ended, Loop, Names, Outcome
from analyzer.python.heap import Place, Trail, Way, join_states, loosen, table
from analyzer.python.values import (
    REST,
    Builtin,
    Class,
    Dict,
    External,
    Free,
    Instance,
    Lazy,
    List,
    Origin,
    Provenance,
    Raised,
    Set,
    Truth,
    Unknown,
    Value,
    born,
    combine,
    if_set,
    join,
    optional,
    same,
    truth,
)

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine

Run = Callable[[], "Outcome"]


LOOP_LIMIT = 3000
#: How often ``while True`` is run before it is taken to be one that serves until it is stopped.
ENDLESS = 40
#: How often a loop of unknown length is run before what still changes in it is taken to be anything.
ROUNDS = 3


# Branches.


def run_if(m: Machine, node: ast.If, frame: Frame) -> Outcome:
    """``if``: one side if the test is known, else both."""
    test = expressions.as_condition(m, m.evaluate(node.test, frame), frame.site(node.test))
    switch = _switch(node.test, test, frame)
    gate = m.recorder.decision(m, frame, node.test, "if", if_set(test), node) or switch
    found = truth(test)
    sides = (node.body, node.orelse)
    if found is Truth.TRUE or found is Truth.FALSE:
        side = found is Truth.TRUE
        taken, skipped = sides if side else sides[::-1]
        if optional(test):
            suppose(m, frame, node, _under(m, skipped, frame, gate, node))
            gate = switch
        try:
            outcome = _under(m, taken, frame, gate, node, side)()
        except Raised as error:
            m.recorder.refused(m, frame, node.test, test, error)
            raise
        if outcome is Outcome.NORMAL and gate is not None and (gate.door or gate.option):
            if gate.door:
                _mark_untouched(skipped, frame, gate, side)
            if leaves(skipped) and not raises(skipped):
                m.control.append(Provenance(Origin.CONTROL, (gate,), what=returning(skipped), key=side))
        return outcome
    runs = [_under(m, body, frame, gate, node, body is node.body) for body in sides]
    return fork(m, runs, frame, gate, found)


def _switch(node: ast.expr, test: Value, frame: Frame) -> Provenance | None:
    """The provenance of a condition, told as a switch where an environment variable has a part in it.

    Not where something in it is negated: which default leads where is then not looked into.
    """
    if not optional(test) or any(isinstance(inner, ast.Not) for inner in ast.walk(node)):
        return test.source
    assert test.source is not None
    return Provenance(Origin.SWITCH, (test.source,), frame.site(node))


#: Steps that are spent on what an option that is not set would bring.
SUPPOSED = 2500


def suppose(m: Machine, frame: Frame, node: ast.AST, run: Callable[[], object]) -> None:
    """Run what is only reached if an environment variable is set that is not, for what is seen there.

    Nothing that it does lasts. Each place is run once for each walk of the function that holds it; in
    functions that are followed by a call, not at all.
    """
    name = frame.module.source.name
    if node in frame.supposed or not m.roots or m.roots[-1] != (name, frame.qualname):
        return
    frame.supposed.add(node)
    start, frame.scope.names = frame.scope.names, dict(frame.scope.names)
    lists: list[list[Any]] = [frame.returns, *frame.trails, *m.heap.trails, m.heap.pending]
    lists += [ended for loop in frame.loops for ended in (loop.broken, loop.continued)]
    lengths = [len(found) for found in lists]
    saved = m.may_raise, m.may_lack, m.limit, m.steps, frame.result
    m.limit = min(m.limit, m.steps + SUPPOSED)
    begun = m.heap.mark()
    try:
        run()
    except (Raised, m.budget):
        pass
    finally:
        for found, length in zip(lists, lengths, strict=True):
            del found[length:]
        m.heap.undo(begun, frame.scope)
        frame.scope.names = start
        m.may_raise, m.may_lack, m.limit, m.steps, frame.result = saved


def mark(body: list[ast.stmt], owner: ast.stmt) -> int:
    """What a side of a decision is known by in a file.

    Its first line; the negative line of the decision if the side has no statement.
    """
    return body[0].lineno if body else -owner.lineno


def _under(
    m: Machine,
    body: list[ast.stmt],
    frame: Frame,
    gate: Provenance | None,
    owner: ast.stmt,
    side: bool | None = None,
) -> Run:
    """Running statements under a decision; whether they ran and how they ended is noted.

    What they bind hangs on the decision for those who come after them. ``side``: what the condition came
    out as.
    """

    def noted() -> Outcome:
        place = (frame.file, mark(body, owner))
        try:
            outcome = run()
        except Raised as error:
            m.failed.setdefault(place, error.message)
            raise
        m.passed.add(place)
        return outcome

    def run() -> Outcome:
        if gate is None or not (gate.door or gate.option):
            return m.execute(body, frame)
        inside = returning(body)
        with m.controlled(gate, inside, side):
            outcome = m.execute(body, frame)
        if inside and outcome is Outcome.NORMAL and gate.door:
            _mark_names(stored_in(body)[0], frame, gate, side)
        return outcome

    return noted


def fork(
    m: Machine,
    runs: Iterable[Run],
    frame: Frame,
    gate: Provenance | None = None,
    found: Truth = Truth.FREE,
) -> Outcome:
    """Run alternatives of which any may be taken, each from the same state, and let them meet.

    Raises:
        Raised: no alternative goes anywhere else.
    """
    start = frame.scope.names
    blame = gate if found is Truth.UNKNOWN else None
    straight: list[tuple[Names, Way]] = []
    raising: list[tuple[Names, Way]] = []
    error: Raised | None = None
    gone = False
    for run in runs:
        frame.scope.names = dict(start)
        outcome: Outcome | None = None
        begun = m.heap.mark()
        m.forks += 1
        try:
            outcome = run()
        except Raised as raised:
            error = error or raised.kept()
        finally:
            m.forks -= 1
            way = m.heap.undo(begun, frame.scope)
            way.blame = blame
        names = frame.scope.names
        if outcome is None:
            raising.append((names, way))
        elif outcome is Outcome.NORMAL:
            straight.append((names, way))
        else:
            gone = True
            _keep(m, frame, outcome, names, way)
    frame.scope.names = start
    if straight:
        m.may_raise = m.may_raise or error is not None
        _meet(m, frame, straight, gate, found)
        return Outcome.NORMAL
    if gone:
        m.may_raise = m.may_raise or error is not None
        return Outcome.GONE
    assert error is not None
    _meet(m, frame, raising, gate, found)
    raise error


def _keep(m: Machine, frame: Frame, outcome: Outcome, names: Names, way: Way) -> None:
    """Keep a way that leaves until it is joined at the end of the function or the loop."""
    if outcome is Outcome.RETURN:
        value = frame.result or Value(None)
        if way.blame is not None:
            value = Value(
                Unknown("decided by a condition that is not understood"), combine(value.source, way.blame)
            )
        frame.returns.append(Ended(m.heap.leave(way), value))
    elif outcome is Outcome.BREAK and frame.loops:
        frame.loops[-1].broken.append(Ended(m.heap.leave(way), names=names))
    elif outcome is Outcome.CONTINUE and frame.loops:
        frame.loops[-1].continued.append(Ended(m.heap.leave(way), names=names))


def _meet(
    m: Machine, frame: Frame, ways: list[tuple[Names, Way]], gate: Provenance | None, found: Truth
) -> None:
    m.heap.join([way for _, way in ways], current=False)
    frame.scope.names = merge([names for names, _ in ways], gate, found)


def merge(ends: list[Names], gate: Provenance | None = None, found: Truth = Truth.FREE) -> Names:
    """The local names after ways met that end with these."""
    if len(ends) == 1:
        return ends[0]
    merged = dict(ends[0])
    for name in _differing(ends):
        values = [end[name] for end in ends if name in end]
        first = values[0]
        joined = join_states(values)
        if (
            gate is not None
            and gate.door
            and found is Truth.UNKNOWN
            and not all(same(value, first) for value in values)
        ):
            joined = Value(
                Unknown("assigned under a condition that is not understood"), combine(joined.source, gate)
            )
        merged[name] = joined
    return merged


def _differing(ends: list[Names]) -> list[str]:
    """The names that are not bound to one and the same value on all ways.

    Ways set out from one scope: mostly they have the same names in the same order, up to those that are new.
    """
    first, others = ends[0], ends[1:]
    names = list(first)
    if all(list(islice(other, len(names))) == names for other in others):
        equal = [*map(is_, first.values(), others[0].values())]
        for other in others[1:]:
            equal = [*map(and_, equal, map(is_, first.values(), other.values()))]
        found = [name for name, one in zip(names, equal, strict=True) if not one]
        new = (name for other in others for name in islice(other, len(names), None))
        return [*found, *dict.fromkeys(new)]
    return [
        name
        for name in dict.fromkeys(name for end in ends for name in end)
        if name not in first or any(other.get(name) is not first[name] for other in others)
    ]


def _mark_names(names: set[str], frame: Frame, gate: Provenance, side: bool | None) -> None:
    """What a side of a decision binds, or would have bound, owes its present value to the decision."""
    control = Provenance(Origin.CONTROL, (gate,), key=side)
    for name in names:
        value = frame.scope.names.get(name)
        if value is not None and not isinstance(value.data, Lazy):
            frame.scope.names[name] = value.derived(control)


def _mark_untouched(skipped: list[ast.stmt], frame: Frame, gate: Provenance, side: bool) -> None:
    """What the side not taken would have set owes its present value to the decision."""
    names, attributes = stored_in(skipped)
    _mark_names(names, frame, gate, side)
    for root, attr in attributes:
        owner = frame.scope.names.get(root)
        if owner is not None and isinstance(owner.data, Instance):
            value = owner.data.attributes.get(attr)
            if value is not None and not isinstance(value.data, Lazy):
                owner.data.attributes[attr] = value.derived(Provenance(Origin.CONTROL, (gate,), key=side))


_STORED: dict[int, tuple[list[ast.stmt], tuple[set[str], set[tuple[str, str]]]]] = {}


def stored_in(body: list[ast.stmt]) -> tuple[set[str], set[tuple[str, str]]]:
    """Names, and attributes of names, that statements may assign (nested functions aside)."""
    known = _STORED.get(id(body))
    if known is not None and known[0] is body:
        return known[1]
    names: set[str] = set()
    attributes: set[tuple[str, str]] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
        ):
            attributes.add((node.value.id, node.attr))
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))
    _STORED[id(body)] = (body, (names, attributes))
    return names, attributes


def leaves(body: list[ast.stmt]) -> bool:
    """Whether every way through the statements ends in return, raise, break or continue."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return True
        if (
            isinstance(statement, ast.If)
            and statement.orelse
            and leaves(statement.body)
            and leaves(statement.orelse)
        ):
            return True
        if isinstance(statement, ast.With) and leaves(statement.body):
            return True
    return False


_RETURNING: dict[int, tuple[list[ast.stmt], str]] = {}


def returning(body: list[ast.stmt]) -> str:
    """:data:`~analyzer.python.values.REST` if statements that leave do so by ``return``, ``raise`` alone."""
    known = _RETURNING.get(id(body))
    if known is not None and known[0] is body:
        return known[1]
    jumps = any(
        isinstance(node, (ast.Break, ast.Continue)) for statement in body for node in ast.walk(statement)
    )
    _RETURNING[id(body)] = body, "" if jumps else REST
    return _RETURNING[id(body)][1]


def raises(body: list[ast.stmt]) -> bool:
    """Whether every way through the statements ends in raise."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return True
        if (
            isinstance(statement, ast.If)
            and statement.orelse
            and raises(statement.body)
            and raises(statement.orelse)
        ):
            return True
    return False


# Loops.


@lru_cache(maxsize=8192)
def _jumps(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether the body can be left by return, break or continue."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        found = stack.pop()
        if isinstance(found, (ast.Return, ast.Break, ast.Continue)):
            return True
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.expr)):
            stack.extend(ast.iter_child_nodes(found))
    return False


def run_for(m: Machine, node: ast.For | ast.AsyncFor, frame: Frame) -> Outcome:
    """``for``: each element in turn if they are known, else any number of turns."""
    source = m.evaluate(node.iter, frame)
    elements = expressions.iterate(m, source, frame.site(node.iter))
    loop = Loop()
    frame.loops.append(loop)
    try:
        if elements is None or len(elements) > LOOP_LIMIT:
            element = _any_element(source)
            alive = _repeat(m, node, frame, loop, lambda: stores.assign(m, node.target, element, frame))
        else:
            alive = _each_turn(m, node, frame, loop, source, elements)
    finally:
        frame.loops.pop()
    return _finish(m, node, frame, loop, alive)


def _each_turn(
    m: Machine,
    node: ast.For | ast.AsyncFor,
    frame: Frame,
    loop: Loop,
    source: Value,
    elements: list[Value],
) -> bool:
    """One turn for each element; what a turn adds to a list that is looped over gets turns too."""
    done = 0
    while done < len(elements):
        stores.assign(m, node.target, elements[done], frame)
        done += 1
        if not _turn(m, node, frame, loop):
            return False
        if isinstance(source.data, List):
            now = expressions.iterate(m, source, frame.site(node.iter))
            if now is None or done > LOOP_LIMIT:
                element = _any_element(source)
                bind = partial(stores.assign, m, node.target, element, frame)
                return _repeat(m, node, frame, loop, bind)
            elements = now
    return True


def _any_element(source: Value) -> Value:
    """What a loop over something that is not all known may meet."""
    if isinstance(source.data, Unknown):
        return source
    known: list[Value] = []
    if isinstance(source.data, List):
        known = list(source.data.items)
    elif isinstance(source.data, Set):
        known = list(source.data.items.values())
    elif isinstance(source.data, Dict):
        known = [key for key, _ in source.data.items.values()]
    return join([*known, Value(Free("an element"))]).derived(source.source)


def _turn(m: Machine, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, loop: Loop) -> bool:
    """Run the body once; whether some way goes on to the next turn."""
    if not _jumps(node):
        return m.execute(node.body, frame) is Outcome.NORMAL
    outcome = fork(m, [lambda: m.execute(node.body, frame)], frame)
    return _gather(m, frame, loop.continued, outcome is Outcome.NORMAL)


def _gather(m: Machine, frame: Frame, ended: list[Ended], alive: bool) -> bool:
    """Let ways that left a body join the straight one, if there is one; whether any way goes on."""
    if not ended:
        return alive
    names = [end.names for end in ended if end.names is not None]
    if alive:
        names.append(frame.scope.names)
    m.heap.join([end.way for end in ended], current=alive)
    frame.scope.names = merge(names)
    ended.clear()
    return True


def _finish(
    m: Machine, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, loop: Loop, alive: bool
) -> Outcome:
    """After the last turn: the ``else`` clause for those that were not broken off, then all go on."""
    if not loop.broken:
        if not alive:
            return Outcome.GONE
        return m.execute(node.orelse, frame) if node.orelse else Outcome.NORMAL
    if alive and node.orelse:
        alive = fork(m, [lambda: m.execute(node.orelse, frame)], frame) is Outcome.NORMAL
    return Outcome.NORMAL if _gather(m, frame, loop.broken, alive) else Outcome.GONE


def _repeat(
    m: Machine,
    node: ast.For | ast.AsyncFor | ast.While,
    frame: Frame,
    loop: Loop,
    begin: Callable[[], None],
) -> bool:
    """Run a body any number of times: until nothing changes that a further turn could see."""
    for turn in range(ROUNDS + 1):
        before = frame.scope.names
        frame.scope.names = dict(before)
        alive = False
        begun = m.heap.mark()
        try:
            begin()
            alive = _turn(m, node, frame, loop)
        except Raised:
            m.may_raise = True
        finally:
            way = m.heap.undo(begun, frame.scope)
            names, frame.scope.names = frame.scope.names, before
        if not alive:
            break
        places = m.heap.join([way], current=True)
        frame.scope.names = merge([before, names])
        changed = [
            name
            for name, value in frame.scope.names.items()
            if name not in before or not same(value, before[name])
        ]
        if not changed and not places:
            break
        if turn >= ROUNDS - 1:
            _widen(m, frame, changed, places)
    return True


def _widen(m: Machine, frame: Frame, changed: list[str], places: list[Place]) -> None:
    """Let what a loop changes be anything."""
    anything = Value(Free("changes in a loop"))
    for name in changed:
        value = frame.scope.names[name]
        if not isinstance(value.data, (Lazy, Unknown)):
            frame.scope.names[name] = join([value, anything])
    for owner, entry in places:
        if entry is None:
            loosen(m.heap, owner)
            continue
        old = table(owner).get(entry)
        if old is not None and not isinstance(old.data, (Lazy, Unknown)):
            m.heap.store(owner, entry, join([old, anything]))


def run_while(m: Machine, node: ast.While, frame: Frame) -> Outcome:
    """``while``: turn by turn as long as the test is known, else any number of turns."""
    loop = Loop()
    frame.loops.append(loop)
    try:
        alive = _while(m, node, frame, loop)
    finally:
        frame.loops.pop()
    return _finish(m, node, frame, loop, alive)


def _while(m: Machine, node: ast.While, frame: Frame, loop: Loop) -> bool:
    forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
    for _ in range(ENDLESS if forever else LOOP_LIMIT):
        test = m.evaluate(node.test, frame)
        m.recorder.decision(m, frame, node.test, "while", test, node)
        found = truth(test)
        if found is Truth.FALSE:
            return True
        if found is not Truth.TRUE or loop.broken or loop.continued:
            break
        if not _turn(m, node, frame, loop):
            return False

    def begin() -> None:
        m.evaluate(node.test, frame)

    _repeat(m, node, frame, loop, begin)
    return not forever


# Patterns.


def run_match(m: Machine, node: ast.Match, frame: Frame) -> Outcome:
    """``match``: the first case whose pattern fits, or all that may."""
    subject = m.evaluate(node.subject, frame)
    runs: list[Run] = []
    gate: Provenance | None = subject.source
    certain = False
    for case in node.cases:
        test = _matches(m, case.pattern, subject, frame)
        if case.guard is not None and truth(test) is not Truth.FALSE:
            guard = m.evaluate(case.guard, frame)
            if truth(guard) is not Truth.TRUE:
                test = guard
        if subject.tainted or test.tainted:
            found_gate = m.recorder.decision(
                m, frame, case.pattern, "match", test.derived(subject.source), node
            )
            gate = found_gate or gate
        found = truth(test)
        if found is Truth.FALSE:
            continue
        if found is Truth.TRUE and not runs:
            return _under(m, case.body, frame, gate, node)()
        runs.append(_under(m, case.body, frame, gate, node))
        if found is Truth.TRUE:
            certain = True
            break
    if not runs:
        return Outcome.NORMAL
    if not certain:
        runs.append(lambda: Outcome.NORMAL)
    return fork(m, runs, frame, gate)


def _matches(m: Machine, pattern: ast.pattern, subject: Value, frame: Frame) -> Value:
    site = frame.site(pattern)
    if isinstance(pattern, ast.MatchValue):
        return expressions.compare(m, ast.Eq(), subject, m.evaluate(pattern.value, frame), site)
    if isinstance(pattern, ast.MatchSingleton):
        return expressions.compare(m, ast.Is(), subject, Value(pattern.value), site)
    if isinstance(pattern, ast.MatchOr):
        return _either([_matches(m, part, subject, frame) for part in pattern.patterns])
    if isinstance(pattern, ast.MatchAs):
        test = Value(True, subject.source)
        if pattern.pattern is not None:
            test = _matches(m, pattern.pattern, subject, frame)
        if pattern.name is not None and truth(test) is not Truth.FALSE:
            stores.name(m, frame, pattern.name, subject)
        return test
    if isinstance(pattern, ast.MatchSequence):
        found = _sequence(m, pattern, subject, frame)
        if found is not None:
            return found
    if subject.tainted:
        return m.unknown("a pattern that is not modelled", site, subject.source)
    return Value(Free("a pattern"))


def _either(found: list[Value]) -> Value:
    source = combine(*(value.source for value in found))
    values = [truth(value) for value in found]
    if Truth.TRUE in values:
        return Value(True, source)
    if all(value is Truth.FALSE for value in values):
        return Value(False, source)
    return Value(Free("a pattern"), source)


def _sequence(m: Machine, pattern: ast.MatchSequence, subject: Value, frame: Frame) -> Value | None:
    if isinstance(subject.data, (str, bytes)):
        return Value(False, subject.source)
    elements = expressions.iterate(m, subject, frame.site(pattern))
    if elements is None or any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
        return None
    if len(elements) != len(pattern.patterns):
        return Value(False, subject.source)
    tests = [
        _matches(m, part, element, frame) for part, element in zip(pattern.patterns, elements, strict=True)
    ]
    source = combine(subject.source, *(test.source for test in tests))
    values = [truth(test) for test in tests]
    if Truth.FALSE in values:
        return Value(False, source)
    if all(value is Truth.TRUE for value in values):
        return Value(True, source)
    return None


# Exceptions.


def run_try(m: Machine, node: ast.Try, frame: Frame) -> Outcome:
    """``try``: handlers run for what surely raises, and perhaps for what may."""
    saved = m.may_raise, m.may_lack
    m.may_raise = m.may_lack = False
    names: list[tuple[str, Value | None, Value]] = []
    changes: Trail = []
    clock = born()
    frame.trails.append(names)
    m.heap.trails.append(changes)
    error: Raised | None = None
    outcome = Outcome.NORMAL
    before = dict(frame.scope.names)
    try:
        outcome = m.execute(node.body, frame)
    except Raised as raised:
        error = raised.kept()
    finally:
        frame.trails.pop()
        m.heap.trails.pop()
        handlers = _possible(m, node, frame)
        m.may_raise, m.may_lack = m.may_raise or saved[0], m.may_lack or saved[1]
    try:
        if handlers:
            state = (before, names, changes, clock)
            outcome = _perhaps_handled(m, node, frame, handlers, state, outcome, error)
        elif error is not None:
            outcome = _handle(m, node, frame, error)
        elif outcome is Outcome.NORMAL and node.orelse:
            outcome = m.execute(node.orelse, frame)
    except Raised:
        if node.finalbody:
            m.execute(node.finalbody, frame)
        raise
    if node.finalbody:
        result = frame.result
        ended = m.execute(node.finalbody, frame)
        if ended is not Outcome.NORMAL:
            return ended
        frame.result = result
    return outcome


def _possible(m: Machine, node: ast.Try, frame: Frame) -> list[ast.ExceptHandler]:
    """The handlers that may run for what may raise in the body; what they surely take is settled."""
    found = list(node.handlers) if m.may_raise else []
    if m.may_lack:
        lacking = Raised("ModuleNotFoundError", "", frame.site(node))
        for handler in node.handlers:
            caught = _catches(m, handler, frame, lacking)
            if caught is not False and handler not in found:
                found.append(handler)
            if caught is True:
                m.may_lack = False
                break
    anything = Raised("BaseException", "", frame.site(node))
    if any(_catches(m, handler, frame, anything) or _is_exception(handler) for handler in node.handlers):
        m.may_raise = False
    return found


def _is_exception(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.type, ast.Name) and handler.type.id == "Exception"


def _perhaps_handled(
    m: Machine,
    node: ast.Try,
    frame: Frame,
    handlers: list[ast.ExceptHandler],
    state: tuple[Names, list[tuple[str, Value | None, Value]], Trail, int],
    outcome: Outcome,
    error: Raised | None,
) -> Outcome:
    """Something in the body may raise that is not known here: a handler may run from any state between."""
    before, names, changes, clock = state

    def went_well() -> Outcome:
        if error is not None:
            return _handle(m, node, frame, error)
        if outcome is Outcome.NORMAL and node.orelse:
            return m.execute(node.orelse, frame)
        return outcome

    def handled(handler: ast.ExceptHandler) -> Run:
        def run() -> Outcome:
            frame.scope.names = _any_time(before, names)
            m.heap.blur(changes, clock)
            return _run_handler(m, handler, frame, Value(Free("an exception")), None)

        return run

    runs = [handled(handler) for handler in handlers]
    if outcome is not Outcome.GONE:
        runs.insert(0, went_well)
        return fork(m, runs, frame)
    # All ways through the body were kept where they lead to; the handlers are what is left.
    try:
        return fork(m, runs, frame)
    except Raised:
        return Outcome.GONE


def _any_time(before: Names, trail: list[tuple[str, Value | None, Value]]) -> Names:
    """Local names as they may be at any point of a body that assigned these."""
    names = dict(before)
    values: dict[str, list[Value]] = {}
    for name, old, new in trail:
        values.setdefault(name, [] if old is None else [old]).append(new)
    for name, found in values.items():
        names[name] = join_states(found)
    return names


def _handle(m: Machine, node: ast.Try, frame: Frame, error: Raised) -> Outcome:
    """Run the first handler that takes an exception; where that is not known, perhaps."""
    value = (
        error.value
        if error.value is not None and isinstance(error.value.data, (Instance, Class))
        else Value(Free(error.message), error.value.source if error.value is not None else None)
    )
    open_handlers: list[ast.ExceptHandler] = []

    def run(handler: ast.ExceptHandler) -> Run:
        return lambda: _run_handler(m, handler, frame, value, error)

    def escape() -> Outcome:
        raise error

    for handler in node.handlers:
        caught = _catches(m, handler, frame, error)
        if caught is False:
            continue
        if caught is True and not open_handlers:
            return _run_handler(m, handler, frame, value, error)
        open_handlers.append(handler)
        if caught is True:
            return fork(m, [run(each) for each in open_handlers], frame)
    if open_handlers:
        return fork(m, [*(run(each) for each in open_handlers), escape], frame)
    raise error


def _run_handler(
    m: Machine, handler: ast.ExceptHandler, frame: Frame, value: Value, error: Raised | None
) -> Outcome:
    if handler.name:
        stores.name(m, frame, handler.name, value)
    saved, frame.handled = frame.handled, error
    try:
        return m.execute(handler.body, frame)
    finally:
        frame.handled = saved


def _catches(m: Machine, handler: ast.ExceptHandler, frame: Frame, error: Raised) -> bool | None:
    """Whether a handler takes an exception, ``None`` if that is not known."""
    if handler.type is None:
        return True
    raised = getattr(builtins, error.kind.rpartition(".")[2], None)
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    open_question = False
    for node in types:
        name = ast.unparse(node).rpartition(".")[2]
        expected = getattr(builtins, name, None)
        if isinstance(raised, type) and isinstance(expected, type):
            if issubclass(raised, expected):
                return True
            continue
        if expected in (Exception, BaseException) or name == error.kind.rpartition(".")[2]:
            return True
        known = _derives(m, frame, error, name)
        if known:
            return True
        open_question = open_question or known is None
    return None if open_question else False


def _derives(m: Machine, frame: Frame, error: Raised, name: str) -> bool | None:
    """Whether an exception class of the tree derives from the named one."""
    value = error.value if error.value is not None and isinstance(error.value.data, Class) else None
    value = value or expressions.lookup(m, error.kind, frame)
    if value is None or not isinstance(value.data, Class):
        return None
    expected = getattr(builtins, name, None)
    for item in expressions.linear(m, value.data):
        if item.node.name == name:
            return True
        for base in item.bases:
            data = m.force(base).data
            if isinstance(data, External):
                return None
            found = getattr(builtins, data.name, None) if isinstance(data, Builtin) else None
            if isinstance(found, type) and isinstance(expected, type) and issubclass(found, expected):
                return True
    return False
