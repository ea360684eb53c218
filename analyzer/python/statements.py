"""Statements: one function for each kind, with branches whose taking is free run on copies and joined."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.python import expressions, imports
from analyzer.python.values import (
    Class,
    Dict,
    External,
    Free,
    Instance,
    Lazy,
    List,
    Partial,
    Provenance,
    Raised,
    Scope,
    Truth,
    Unknown,
    Value,
    combine,
    is_constant,
    join,
    plain,
    same,
    truth,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Frame, Machine


class Outcome(Enum):
    """How a block of statements ends."""

    NORMAL = "normal"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"


LOOP_LIMIT = 3000


def block(m: Machine, body: list[ast.stmt], frame: Frame) -> Outcome:
    """Run statements in order.

    Where a decision makes some ways leave the block early, the rest runs under its control.
    """
    pushed = 0
    depth = m.depth
    try:
        for statement in body:
            m.steps += 1
            handler = HANDLERS.get(type(statement))
            if handler is None:
                continue
            before = len(m.control)
            outcome = handler(m, statement, frame)
            pushed += len(m.control) - before
            if outcome is not None and outcome is not Outcome.NORMAL:
                return outcome
            if frame.scope.names.pop(_PERHAPS, None) is not None:
                m.deepen()
        return Outcome.NORMAL
    finally:
        del m.control[len(m.control) - pushed :]
        m.depth = depth


#: A local mark: some way through the statement just run left the block, which one is free.
_PERHAPS = "<perhaps left>"


def store_name(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """Bind a name in the frame's scope, or where ``global``/``nonlocal`` says."""
    scope = frame.scope
    if name in scope.outer:
        outer: Scope | None = scope.parent
        while outer is not None:
            if name in outer.names:
                outer.names[name] = value
                return
            outer = outer.parent
        frame.module.names[name] = value
        return
    scope.names[name] = value


def assign(m: Machine, target: ast.expr, value: Value, frame: Frame) -> None:
    """``target = value`` for names, attributes, items and unpacking."""
    if isinstance(target, ast.Name):
        stored = m.under_control(value)
        if stored.tainted:
            stored = m.place(stored, frame.site(target), "")
        store_name(m, frame, target.id, stored)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(m, target, value, frame)
    elif isinstance(target, ast.Attribute):
        owner = m.evaluate(target.value, frame)
        _store_attribute(m, owner, target.attr, m.place(m.under_control(value), frame.site(target), ""))
    elif isinstance(target, ast.Subscript):
        owner = m.evaluate(target.value, frame)
        key = m.evaluate(target.slice, frame)
        _store_item(m, owner, key, m.under_control(value))
    elif isinstance(target, ast.Starred):
        assign(m, target.value, value, frame)


def _unpack(m: Machine, target: ast.Tuple | ast.List, value: Value, frame: Frame) -> None:
    names = target.elts
    elements = expressions.iterate(m, value, frame.site(target))
    star = next((i for i, name in enumerate(names) if isinstance(name, ast.Starred)), None)
    if elements is not None and star is not None and len(elements) >= len(names) - 1:
        tail = len(names) - 1 - star
        middle = elements[star : len(elements) - tail]
        elements = [
            *elements[:star],
            Value(List(middle, m.depth), value.source),
            *elements[len(elements) - tail :],
        ]
    if elements is None or len(elements) != len(names):
        data = value.data if isinstance(value.data, Unknown) else Free("a part of a free value")
        if isinstance(value.data, expressions.Choice):
            options = [expressions.iterate(m, option, frame.site(target)) for option in value.data.options]
            if all(option is not None and len(option) == len(names) for option in options):
                for position, name in enumerate(names):
                    assign(
                        m,
                        name,
                        join([option[position] for option in options if option is not None]).derived(
                            value.source
                        ),
                        frame,
                    )
                return
        for name in names:
            assign(m, name, Value(data, value.source), frame)
        return
    for name, element in zip(names, elements, strict=True):
        assign(m, name, element.derived(value.source), frame)


def _store_attribute(m: Machine, owner: Value, name: str, value: Value) -> None:
    data = owner.data
    if value.tainted:
        m.recorder.stored(name)
    if isinstance(data, Instance):
        if m.depth > data.depth:
            old = data.attributes.get(name)
            value = join([old if old is not None else Value(Free("not set here")), value])
        data.attributes[name] = value
    elif isinstance(data, expressions.Function):
        data.attributes[name] = value
    elif isinstance(data, expressions.Module):
        state = m.modules.get(data.name)
        if state is not None and not m.stack[-1].function:
            state.names[name] = value
    elif isinstance(data, expressions.Choice):
        for option in data.options:
            with m.perhaps():
                _store_attribute(m, option, name, value)


def _store_item(m: Machine, owner: Value, key: Value, value: Value) -> None:
    data = owner.data
    if isinstance(data, Dict):
        try:
            wanted = plain(key)
            hash(wanted)
        except (ValueError, TypeError):
            data.open = True
            return
        if m.depth > data.depth:
            old = data.items.get(wanted)
            if old is None:
                data.open = True
            else:
                value = join([old[1], value])
        data.items[wanted] = (key, value)
    elif isinstance(data, List):
        if (
            isinstance(key.data, int)
            and -len(data.items) <= key.data < len(data.items)
            and m.depth <= data.depth
        ):
            data.items[key.data] = value
        else:
            data.open = True


# Simple statements.


def _expression(m: Machine, node: ast.Expr, frame: Frame) -> None:
    m.evaluate(node.value, frame)


def _assign(m: Machine, node: ast.Assign, frame: Frame) -> None:
    value = m.evaluate(node.value, frame)
    value = m.place(value, frame.site(node), _targets(node))
    if isinstance(value.data, Partial) and value.data.bound is None:
        value.data.bound = frame.site(node)
    for target in node.targets:
        assign(m, target, value, frame)


@lru_cache(maxsize=4096)
def _targets(node: ast.Assign) -> str:
    return " = ".join(ast.unparse(target) for target in node.targets)


def _annotated(m: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        value = m.evaluate(node.value, frame)
        assign(m, node.target, m.place(value, frame.site(node), ""), frame)


def _augmented(m: Machine, node: ast.AugAssign, frame: Frame) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        old = expressions.lookup(m, target.id, frame) or Value(Free("not bound"))
    else:
        old = m.evaluate(target, frame)
    new = m.evaluate(node.value, frame)
    if isinstance(node.op, ast.Add) and isinstance(old.data, List):
        elements = expressions.iterate(m, new, frame.site(node))
        extend(m, old.data, elements)
        assign(m, target, Value(old.data, combine(old.source, new.source, *m.control)), frame)
        return
    assign(m, target, expressions.binary(m, node.op, old, new, frame.site(node)), frame)


def extend(m: Machine, items: List, elements: list[Value] | None) -> None:
    """``items.extend(elements)``; ``None``: elements that are not known."""
    if elements is None or m.depth > items.depth:
        items.open = True
    items.items.extend(m.under_control(element) for element in elements or [])


def _return(m: Machine, node: ast.Return, frame: Frame) -> Outcome:
    value = m.evaluate(node.value, frame) if node.value is not None else Value(None)
    value = m.under_control(value)
    frame.result = m.place(value, frame.site(node), "return")
    return Outcome.RETURN


def _raise(m: Machine, node: ast.Raise, frame: Frame) -> Outcome:
    site = frame.site(node)
    if node.exc is None:
        handled = frame.handled
        raise Raised("Exception", "", site, handled)
    kind = _exception_name(node.exc)
    message = ""
    value: Value | None = None
    arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
    if arguments:
        first = m.evaluate(arguments[0], frame)
        message = first.data if isinstance(first.data, str) else source_text(arguments[0])
    else:
        value = m.evaluate(node.exc, frame)
    raise Raised(kind, message, site, value)


def source_text(node: ast.expr) -> str:
    """A message whose parts are not all known, as it is written: ``{name}`` for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{" + ast.unparse(part.value) + "}"
            for part in node.values
            if isinstance(part, (ast.Constant, ast.FormattedValue))
        )
    return ast.unparse(node)


def _exception_name(node: ast.expr) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(target)


def _assert(m: Machine, node: ast.Assert, frame: Frame) -> None:
    test = m.evaluate(node.test, frame)
    gate = m.recorder.decision(m, frame, node.test, "assert", test, node)
    if truth(test) is Truth.FALSE:
        message = ""
        if node.msg is not None:
            message = node.msg.value if isinstance(node.msg, ast.Constant) else source_text(node.msg)
        raise Raised("AssertionError", str(message), frame.site(node))
    if gate is not None and gate.door:
        m.control.append(gate)


def _global(m: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    if not frame.is_module:
        frame.scope.outer = frame.scope.outer | frozenset(node.names)


def _delete(m: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name) and m.depth == 0:
            frame.scope.names.pop(target.id, None)


# Branches.


def _if(m: Machine, node: ast.If, frame: Frame) -> Outcome:
    test = m.evaluate(node.test, frame)
    gate = m.recorder.decision(m, frame, node.test, "if", test, node) or test.source
    found = truth(test)
    sides = (node.body, node.orelse)
    if found is Truth.TRUE or found is Truth.FALSE:
        taken, skipped = sides if found is Truth.TRUE else sides[::-1]
        with m.controlled(gate):
            outcome = m.execute(taken, frame)
        if outcome is Outcome.NORMAL and gate is not None and gate.door:
            _mark_untouched(m, skipped, frame, gate)
            if leaves(skipped):
                m.control.append(gate)
        return outcome
    return fork(m, _runs(m, sides, frame, gate), frame, gate, found)


def _runs(
    m: Machine, sides: tuple[list[ast.stmt], ...], frame: Frame, gate: Provenance | None
) -> list[Callable[[], Outcome]]:
    def run(side: list[ast.stmt]) -> Callable[[], Outcome]:
        def go() -> Outcome:
            with m.controlled(gate):
                return m.execute(side, frame)

        return go

    return [run(side) for side in sides]


def fork(
    m: Machine,
    runs: list[Callable[[], Outcome]],
    frame: Frame,
    gate: Provenance | None = None,
    found: Truth = Truth.FREE,
) -> Outcome:
    """Run alternatives of which any may be taken, each on a copy of the local names, and join what they leave."""
    start = dict(frame.scope.names)
    ends: list[dict[str, Value]] = []
    results: list[Value] = []
    error: Raised | None = None
    left = False
    for run in runs:
        frame.scope.names = dict(start)
        try:
            with m.perhaps():
                outcome = run()
        except Raised as raised:
            error = raised
            left = True
            continue
        if outcome is Outcome.RETURN:
            results.append(frame.result or Value(None))
            left = True
        elif outcome is Outcome.NORMAL:
            ends.append(frame.scope.names)
        else:
            ends.append(frame.scope.names)
            left = True
    if found is Truth.UNKNOWN and gate is not None:
        results = [
            Value(Unknown("decided by a condition that is not understood"), combine(value.source, gate))
            for value in results
        ]
    if not ends:
        frame.scope.names = start
        if not results:
            assert error is not None
            raise error
        frame.result = join(results)
        return Outcome.RETURN
    frame.returns.extend(results)
    frame.scope.names = ends[0] if len(ends) == 1 else _merge(ends, gate, found)
    if left:
        frame.scope.names[_PERHAPS] = Value(None)
    return Outcome.NORMAL


def _merge(ends: list[dict[str, Value]], gate: Provenance | None, found: Truth) -> dict[str, Value]:
    merged: dict[str, Value] = {}
    for name in dict.fromkeys(name for end in ends for name in end):
        if name == _PERHAPS:
            continue
        values = [end[name] for end in ends if name in end]
        first = values[0]
        if len(values) == len(ends) and all(value is first for value in values):
            merged[name] = first
            continue
        if any(isinstance(value.data, Lazy) for value in values):
            values = [value for value in values if isinstance(value.data, Lazy)]
            merged[name] = values[0]
            continue
        joined = values[0] if len(values) == 1 else join(values)
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


def _mark_untouched(m: Machine, skipped: list[ast.stmt], frame: Frame, gate: Provenance) -> None:
    """What the side not taken would have set owes its present value to the decision."""
    names, attributes = stored_in(skipped)
    for name in names:
        value = frame.scope.names.get(name)
        if value is not None and not isinstance(value.data, Lazy):
            frame.scope.names[name] = value.derived(gate)
    for root, attr in attributes:
        owner = frame.scope.names.get(root)
        if owner is not None and isinstance(owner.data, Instance):
            value = owner.data.attributes.get(attr)
            if value is not None and not isinstance(value.data, Lazy):
                owner.data.attributes[attr] = value.derived(gate)


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


def _match(m: Machine, node: ast.Match, frame: Frame) -> Outcome:
    subject = m.evaluate(node.subject, frame)
    runs: list[Callable[[], Outcome]] = []
    gate: Provenance | None = subject.source
    certain = False
    for case in node.cases:
        test = _matches(m, case.pattern, subject, frame)
        if case.guard is not None and truth(test) is not Truth.FALSE:
            guard = m.evaluate(case.guard, frame)
            if truth(guard) is not Truth.TRUE:
                test = guard
        if subject.tainted or test.tainted:
            gate = (
                m.recorder.decision(m, frame, case.pattern, "match", test.derived(subject.source), node)
                or gate
            )
        found = truth(test)
        if found is Truth.FALSE:
            continue
        if found is Truth.TRUE and not runs:
            with m.controlled(gate):
                return m.execute(case.body, frame)
        runs.extend(_runs(m, (case.body,), frame, gate))
        if found is Truth.TRUE:
            certain = True
            break
    if not runs:
        return Outcome.NORMAL
    if not certain:
        runs.append(lambda: Outcome.NORMAL)
    return fork(m, runs, frame, gate)


def _matches(m: Machine, pattern: ast.pattern, subject: Value, frame: Frame) -> Value:
    if isinstance(pattern, ast.MatchValue):
        return expressions.compare(
            m, ast.Eq(), subject, m.evaluate(pattern.value, frame), frame.site(pattern)
        )
    if isinstance(pattern, ast.MatchSingleton):
        return expressions.compare(m, ast.Is(), subject, Value(pattern.value), frame.site(pattern))
    if isinstance(pattern, ast.MatchOr):
        found = [_matches(m, part, subject, frame) for part in pattern.patterns]
        source = combine(*(value.source for value in found))
        values = [truth(value) for value in found]
        if Truth.TRUE in values:
            return Value(True, source)
        if all(value is Truth.FALSE for value in values):
            return Value(False, source)
        return Value(Free("a pattern"), source)
    if isinstance(pattern, ast.MatchAs):
        if pattern.pattern is not None:
            test = _matches(m, pattern.pattern, subject, frame)
        else:
            test = Value(True, subject.source)
        if pattern.name is not None:
            store_name(m, frame, pattern.name, subject)
        return test
    if isinstance(pattern, ast.MatchSequence):
        elements = expressions.iterate(m, subject, frame.site(pattern))
        if elements is not None and not any(isinstance(part, ast.MatchStar) for part in pattern.patterns):
            if len(elements) != len(pattern.patterns):
                return Value(False, subject.source)
            tests = [
                _matches(m, part, element, frame)
                for part, element in zip(pattern.patterns, elements, strict=True)
            ]
            values = [truth(test) for test in tests]
            if Truth.FALSE in values:
                return Value(False, combine(*(test.source for test in tests)))
            if all(value is Truth.TRUE for value in values):
                return Value(True, combine(*(test.source for test in tests)))
    if subject.tainted:
        return m.unknown("a pattern that is not modelled", frame.site(pattern), subject.source)
    return Value(Free("a pattern"))


# Loops.


def _for(m: Machine, node: ast.For | ast.AsyncFor, frame: Frame) -> Outcome:
    source = m.evaluate(node.iter, frame)
    elements = expressions.iterate(m, source, frame.site(node.iter))
    if elements is None or len(elements) > LOOP_LIMIT:
        known = list(source.data.items) if isinstance(source.data, List) else []
        element = (
            join([*known, Value(Free("an element"))]).derived(source.source)
            if not isinstance(source.data, Unknown)
            else source
        )
        return _some_times(m, node, frame, element)
    for element in elements:
        assign(m, node.target, element, frame)
        outcome = _iteration(m, node.body, frame)
        if outcome is Outcome.BREAK:
            return Outcome.NORMAL
        if outcome is Outcome.RETURN:
            return outcome
    return m.execute(node.orelse, frame)


def _iteration(m: Machine, body: list[ast.stmt], frame: Frame) -> Outcome:
    outcome = m.execute(body, frame)
    frame.scope.names.pop(_PERHAPS, None)
    return outcome


def _some_times(
    m: Machine, node: ast.For | ast.AsyncFor | ast.While, frame: Frame, element: Value | None
) -> Outcome:
    """A loop that runs an unknown number of times: once on what may hold at any turn, or not at all."""

    def run() -> Outcome:
        for name in stored_in(node.body)[0]:
            value = frame.scope.names.get(name)
            if value is not None and not isinstance(value.data, Lazy) and is_constant(value.data):
                frame.scope.names[name] = join([value, Value(Free("changes in a loop"))]).derived(
                    value.source
                )
        if element is not None and isinstance(node, (ast.For, ast.AsyncFor)):
            assign(m, node.target, element, frame)
        return _iteration(m, node.body, frame)

    outcome = fork(m, [run, lambda: Outcome.NORMAL], frame)
    frame.scope.names.pop(_PERHAPS, None)
    if outcome is Outcome.RETURN:
        return outcome
    return m.execute(node.orelse, frame) if node.orelse else Outcome.NORMAL


def _while(m: Machine, node: ast.While, frame: Frame) -> Outcome:
    for _ in range(LOOP_LIMIT):
        test = m.evaluate(node.test, frame)
        m.recorder.decision(m, frame, node.test, "while", test, node)
        found = truth(test)
        if found is Truth.FALSE:
            return m.execute(node.orelse, frame)
        if found is not Truth.TRUE:
            return _some_times(m, node, frame, None)
        if isinstance(node.test, ast.Constant):
            return _some_times(m, node, frame, None)
        outcome = _iteration(m, node.body, frame)
        if outcome is Outcome.BREAK:
            return Outcome.NORMAL
        if outcome is Outcome.RETURN:
            return outcome
    return Outcome.NORMAL


# Exceptions and contexts.


def _try(m: Machine, node: ast.Try, frame: Frame) -> Outcome:
    saved, m.may_raise = m.may_raise, False
    before = dict(frame.scope.names)
    error: Raised | None = None
    outcome = Outcome.NORMAL
    try:
        try:
            outcome = m.execute(node.body, frame)
        finally:
            may_raise, m.may_raise = m.may_raise, saved
        if outcome is Outcome.NORMAL and node.orelse:
            outcome = m.execute(node.orelse, frame)
    except Raised as raised:
        error = raised
    if error is not None:
        outcome = _handle(m, node, frame, error)
    elif may_raise and node.handlers:
        outcome = _perhaps_handled(m, node, frame, before, outcome)
    elif may_raise:
        m.may_raise = True
    if node.finalbody:
        ended = m.execute(node.finalbody, frame)
        if ended is not Outcome.NORMAL:
            return ended
    return outcome


def _perhaps_handled(
    m: Machine, node: ast.Try, frame: Frame, before: dict[str, Value], outcome: Outcome
) -> Outcome:
    """The body ran through, but something in it that is not known here may raise."""
    after, result = frame.scope.names, frame.result
    frame.scope.names = before

    def went_well() -> Outcome:
        frame.scope.names = after
        frame.result = result
        return outcome

    def handled(handler: ast.ExceptHandler) -> Callable[[], Outcome]:
        def run() -> Outcome:
            return _run_handler(m, handler, frame, Value(Free("an exception")))

        return run

    return fork(m, [went_well, *(handled(handler) for handler in node.handlers)], frame)


def _handle(m: Machine, node: ast.Try, frame: Frame, error: Raised) -> Outcome:
    for handler in node.handlers:
        caught = _catches(m, handler, frame, error)
        if caught is False:
            continue
        value = (
            error.value
            if error.value is not None and isinstance(error.value.data, (Instance, Class))
            else Value(Free(error.message), error.value.source if error.value is not None else None)
        )
        return _run_handler(m, handler, frame, value)
    if node.finalbody:
        m.execute(node.finalbody, frame)
    raise error


def _run_handler(m: Machine, handler: ast.ExceptHandler, frame: Frame, value: Value) -> Outcome:
    if handler.name:
        store_name(m, frame, handler.name, value)
    saved, frame.handled = frame.handled, value
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
        if not isinstance(raised, type) or not isinstance(expected, type):
            known = _derives(m, frame, error, name)
            if known:
                return True
            open_question = open_question or known is None
    return None if open_question else False


def _derives(m: Machine, frame: Frame, error: Raised, name: str) -> bool | None:
    """Whether an exception class of the tree derives from the named one."""
    value = expressions.lookup(m, error.kind, frame)
    if value is None or not isinstance(value.data, Class):
        return None
    for item in expressions.linear(m, value.data):
        if item.node.name == name:
            return True
        for base in item.bases:
            data = m.force(base).data
            if isinstance(data, expressions.Builtin) and isinstance(getattr(builtins, data.name, None), type):
                expected = getattr(builtins, name, None)
                if isinstance(expected, type) and issubclass(getattr(builtins, data.name), expected):
                    return True
            elif isinstance(data, External):
                return None
    return False


def _with(m: Machine, node: ast.With | ast.AsyncWith, frame: Frame) -> Outcome:
    for item in node.items:
        context = m.evaluate(item.context_expr, frame)
        if item.optional_vars is not None:
            assign(m, item.optional_vars, _entered(m, context, frame, node), frame)
    return m.execute(node.body, frame)


def _entered(m: Machine, context: Value, frame: Frame, node: ast.stmt) -> Value:
    if isinstance(context.data, Instance):
        method = expressions.find_in_class(m, context.data.of, "__enter__")
        if method is not None:
            return m.call(Value(expressions.Bound(method, context)), [], {}, frame.site(node))
    if isinstance(context.data, (Instance, Free, Unknown)):
        return context
    return Value(Free("what a context gives"), context.source)


# Definitions.


def _function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    from analyzer.python import calls

    calls.define_function(m, node, frame)


def _class(m: Machine, node: ast.ClassDef, frame: Frame) -> None:
    from analyzer.python import calls

    calls.define_class(m, node, frame)


def _import(m: Machine, node: ast.Import, frame: Frame) -> None:
    imports.run_import(m, node, frame)


def _import_from(m: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    imports.run_import_from(m, node, frame)


def _break(m: Machine, node: ast.Break, frame: Frame) -> Outcome:
    return Outcome.BREAK


def _continue(m: Machine, node: ast.Continue, frame: Frame) -> Outcome:
    return Outcome.CONTINUE


HANDLERS: dict[type[ast.AST], Callable[..., Outcome | None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Global: _global,
    ast.Nonlocal: _global,
    ast.Delete: _delete,
    ast.If: _if,
    ast.Match: _match,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Break: _break,
    ast.Continue: _continue,
}
