"""Statements: one function for each kind (branches, loops and ``try`` are in ``flow``)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from analyzer.python import expressions, flow, imports, lists, stores
from analyzer.python.contents import Stream
from analyzer.python.ends import Outcome
from analyzer.python.heap import loosen
from analyzer.python.values import (
    NAMED,
    Bound,
    Choice,
    Dict,
    Free,
    Instance,
    List,
    Origin,
    Partial,
    Provenance,
    Raised,
    Set,
    Truth,
    Unknown,
    Value,
    combine,
    truth,
)

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine


def block(m: Machine, body: list[ast.stmt], frame: Frame) -> Outcome:
    """Run statements in order.

    Where a decision makes some ways leave the block early, the rest runs under its control.
    """
    pushed = 0
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
        return Outcome.NORMAL
    finally:
        del m.control[len(m.control) - pushed :]


# Simple statements.


def _expression(m: Machine, node: ast.Expr, frame: Frame) -> None:
    m.evaluate(node.value, frame)


def _assign(m: Machine, node: ast.Assign, frame: Frame) -> None:
    value = m.evaluate(node.value, frame)
    value = m.place(value, frame.site(node), _targets(node))
    if isinstance(value.data, Partial) and value.data.bound is None:
        value.data.bound = frame.site(node)
    value = _written(m, value, node, frame)
    if value.tainted and not frame.is_module and not frame.in_class:
        m.recorder.bound(m, frame, node, value)
    for target in node.targets:
        stores.assign(m, target, value, frame)


def _written(m: Machine, value: Value, node: ast.Assign | ast.AnnAssign, frame: Frame) -> Value:
    """A container of constants that gets a name is known by where it stands: it may list architectures.

    Elsewhere than in a class, where it only can be meant for others, if what it holds looks like them.
    """
    data = value.data
    if value.source is not None or not isinstance(data, (tuple, List, Set)):
        return value
    if not frame.in_class and not lists.names_architectures(data):
        return value
    site = frame.site(node)
    if frame.in_class or frame.is_module:
        for name in _names(node):
            text = lists.listed(name, data)
            if text is not None:
                m.recorder.listed(m, frame, name, text, site)
    what = "" if frame.in_class else NAMED
    return Value(data, Provenance(Origin.ARGUMENT, (), site, what, key=site, written=frame.written(node)))


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@lru_cache(maxsize=4096)
def _targets(node: ast.Assign) -> str:
    return " = ".join(ast.unparse(target) for target in node.targets)


def _annotated(m: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        value = _written(m, m.evaluate(node.value, frame), node, frame)
        stores.assign(m, node.target, m.place(value, frame.site(node), ""), frame)


def _augmented(m: Machine, node: ast.AugAssign, frame: Frame) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        old = expressions.lookup(m, target.id, frame) or Value(Free("not bound"))
    else:
        old = m.evaluate(target, frame)
    new = m.evaluate(node.value, frame)
    options = old.data.options if isinstance(old.data, Choice) else (old,)
    if isinstance(node.op, ast.Add) and isinstance(old.data, List):
        elements = expressions.iterate(m, new, frame.site(node))
        extend(m, old.data, elements)
        stores.assign(m, target, Value(old.data, combine(old.source, new.source, *m.control)), frame)
        return
    if isinstance(node.op, ast.BitOr) and isinstance(old.data, (Dict, Set)):
        site = frame.site(node)
        m.call(m.attribute(old, "update", site), [new], {}, site)
        stores.assign(m, target, old, frame)
        return
    for option in options:
        if isinstance(option.data, (List, Dict, Set)):  # changed in place
            loosen(m.heap, option.data)
    if isinstance(old.data, (List, Dict, Set)):
        stores.assign(m, target, old, frame)
        return
    stores.assign(m, target, expressions.binary(m, node.op, old, new, frame.site(node)), frame)


def extend(m: Machine, items: List, elements: list[Value] | None) -> None:
    """``items.extend(elements)``; ``None``: elements that are not known."""
    m.heap.change(items)
    items.open = items.open or elements is None
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
        if handled is not None:
            raise Raised(handled.kind, handled.message, site, handled.value)
        raise Raised("Exception", "", site)
    kind = _exception_name(node.exc)
    message = ""
    value: Value | None = None
    arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
    if arguments:
        first = m.evaluate(arguments[0], frame)
        message = first.data if isinstance(first.data, str) else source_text(arguments[0])
    else:
        value = m.evaluate(node.exc, frame)
    raise Raised(kind, message, site, value, plain=not any(source.door for source in m.control))


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
    m.recorder.decision(m, frame, node.test, "assert", test, node)
    found = truth(test)
    if found is Truth.FALSE:
        message = ""
        if node.msg is not None:
            message = str(node.msg.value) if isinstance(node.msg, ast.Constant) else source_text(node.msg)
        raise Raised("AssertionError", message, frame.site(node))
    m.may_raise = m.may_raise or found is not Truth.TRUE


def _global(m: Machine, node: ast.Global | ast.Nonlocal, frame: Frame) -> None:
    if not frame.is_module:
        frame.scope.outer = frame.scope.outer | frozenset(node.names)


def _delete(m: Machine, node: ast.Delete, frame: Frame) -> None:
    for target in node.targets:
        stores.delete(m, target, frame)


# Contexts.


def _with(m: Machine, node: ast.With | ast.AsyncWith, frame: Frame) -> Outcome:
    for item in node.items:
        context = m.evaluate(item.context_expr, frame)
        if item.optional_vars is not None:
            stores.assign(m, item.optional_vars, _entered(m, context, frame, node), frame)
    return m.execute(node.body, frame)


def _entered(m: Machine, context: Value, frame: Frame, node: ast.stmt) -> Value:
    if isinstance(context.data, Instance):
        method = expressions.find_in_class(m, context.data.of, "__enter__")
        if method is not None:
            return m.call(Value(Bound(method, context)), [], {}, frame.site(node))
    if isinstance(context.data, (Instance, Free, Unknown, Stream)):
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
    ast.If: flow.run_if,
    ast.Match: flow.run_match,
    ast.For: flow.run_for,
    ast.AsyncFor: flow.run_for,
    ast.While: flow.run_while,
    ast.Try: flow.run_try,
    ast.TryStar: flow.run_try,
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
