"""Imports: names bound to modules and to what they hold, resolved when first read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from analyzer.python import expressions, singletons, stores
from analyzer.python.modules import ROOT, absolute_name
from analyzer.python.syntax import Broken
from analyzer.python.values import (
    Dict,
    External,
    Free,
    Lazy,
    Module,
    Origin,
    Provenance,
    Raised,
    Site,
    Value,
    is_constant,
    join,
)

if TYPE_CHECKING:
    from analyzer.python.frames import Frame, ModuleState
    from analyzer.python.machine import Machine


def run_module(m: Machine, state: ModuleState) -> None:
    """Execute a module's body; an error in it leaves the names bound so far."""
    from analyzer.python.frames import Frame

    source = state.source
    state.names["__name__"] = Value(source.name)
    state.names["__file__"] = Value(ROOT + source.file)
    frame = Frame(state, "", state.scope, is_module=True)
    m.stack.append(frame)
    try:
        m.execute(source.parsed.module.body, frame)
    except Raised as error:
        m.recorder.unresolved(
            error.site, source.name, f"importing {source.name} raises {error.kind}: {error.message}"
        )
    finally:
        m.stack.pop()
    for name in source.rebound:
        value = state.names.get(name)
        if value is not None and not isinstance(value.data, Lazy):
            state.names[name] = join([value, Value(Free("a function sets it later"))])
    _loosen_settings(m, state)
    seen: set[int] = set()
    for value in list(state.names.values()):
        singletons.loosen(m, value, seen)


def _loosen_settings(m: Machine, state: ModuleState) -> None:
    """A table of plain values holds what it is made with only until functions set its items."""
    for name, value in state.names.items():
        table = value.data
        if not isinstance(table, Dict) or not table.items or name not in m.index.item_stores:
            continue
        if all(is_constant(item.data) or isinstance(item.data, Free) for _, item in table.items.values()):
            for key, (known, item) in table.items.items():
                if not item.tainted:
                    table.items[key] = known, join([item, Value(Free("a function sets it later"))])


def run_import(m: Machine, node: ast.Import, frame: Frame) -> None:
    """``import a.b as c``."""
    for alias in node.names:
        site = frame.site(node)
        _check(m, alias.name, site)
        _note(m, frame, node, alias.name)
        if alias.asname:
            bind(m, frame, alias.asname, module_value(m, alias.name))
        else:
            bind(m, frame, alias.name.partition(".")[0], module_value(m, alias.name.partition(".")[0]))


def run_import_from(m: Machine, node: ast.ImportFrom, frame: Frame) -> None:
    """``from a.b import c as d``; names are looked up when they are first read."""
    base = absolute(frame.module, node)
    site = frame.site(node)
    _check(m, base, site)
    _note(m, frame, node, base)
    for alias in node.names:
        if alias.name == "*":
            _star(m, base, frame)
            continue
        value = _member(m, base, alias.name, site)
        if frame.trails and isinstance(value.data, Lazy):
            # Inside a ``try`` it counts whether the name is there.
            try:
                member(m, base, alias.name, site)
            except Raised as error:
                if error.kind == "AttributeError":
                    raise Raised(
                        "ImportError", f"cannot import name {alias.name!r} from {base!r}", site
                    ) from None
                raise
        bind(m, frame, alias.asname or alias.name, value)


def _note(m: Machine, frame: Frame, node: ast.Import | ast.ImportFrom, module: str) -> None:
    """Tell of an import of what is not in the tree, where a decision leads to it."""
    if m.control and m.index.find(module.partition(".")[0]) is None:
        m.recorder.imported(m, frame, node, module)


def absolute(state: ModuleState, node: ast.ImportFrom) -> str:
    """The dotted name of the module that an import statement names."""
    return absolute_name(state.source, node)


def module_value(m: Machine, name: str) -> Value:
    """A module as a value: of the tree, or outside it."""
    known_as = m.index.stand_in(name)
    if known_as is not None:
        return Value(External(known_as))
    if m.index.find(name) is not None:
        return Value(Module(name))
    return Value(External(name))


def bind(m: Machine, frame: Frame, name: str, value: Value) -> None:
    """Bind a name by an import."""
    stores.name(m, frame, name, value)


def member(m: Machine, module: str, name: str, site: Site) -> Value:
    """``module.name`` for a module of the tree.

    Raises:
        Raised: ImportError/AttributeError when the module surely has no such name.
    """
    state = m.state(module)
    value = state.names.get(name)
    if value is not None and not (isinstance(value.data, Lazy) and value.data.running):
        value = m.force(value)
        state.names[name] = value
        return value
    child = f"{module}.{name}"
    if m.index.find(child) is not None or child in m.index.compiled:
        return module_value(m, child)
    if not state.done:
        late = _defined_later(m, state, name)
        if late is not None:
            return late
        return Value(Free(f"{child} is read while its module is being imported"))
    hook = state.names.get("__getattr__")
    if hook is not None:
        return m.call(m.force(hook), [Value(name)], {}, site)
    if name.startswith("__") and name.endswith("__"):
        return Value(Free(f"{child} is not modelled"))
    parsed = state.source.parsed
    if parsed.errors or any(isinstance(node, Broken) for node in parsed.module.body):
        return Value(Free(f"{child} may stand in what could not be read"))
    raise Raised("AttributeError", f"module {module!r} has no attribute {name!r}", site)


def _defined_later(m: Machine, state: ModuleState, name: str) -> Value | None:
    """A function or class that a module in the middle of its import defines further down."""
    from analyzer.python import statements
    from analyzer.python.frames import Frame

    for node in state.source.parsed.module.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and node.name == name:
            frame = Frame(state, "", state.scope, is_module=True)
            statements.block(m, [node], frame)
            return m.force(state.names[name])
    return None


def _member(m: Machine, base: str, name: str, site: Site) -> Value:
    known_as = m.index.stand_in(base)
    if known_as is not None or m.index.find(base) is None:
        return expressions.external(m, f"{known_as or base}.{name}", site, None)

    def compute(machine: Machine) -> Value:
        try:
            found = member(machine, base, name, site)
            return found.derived(Provenance(Origin.PLACE, (), site, f"{name} imported from {base}"))
        except Raised as error:
            return Value(Free(f"{base}.{name} cannot be imported: {error.message}"))

    return Value(Lazy(compute))


def _star(m: Machine, base: str, frame: Frame) -> None:
    if m.index.stand_in(base) is not None or m.index.find(base) is None:
        return
    state = m.state(base)
    exported = state.names.get("__all__")
    names: list[str] = []
    if exported is not None:
        from analyzer.python.values import plain

        try:
            names = [str(name) for name in plain(m.force(exported))]
        except ValueError:
            names = []
    if not names:
        names = [name for name in state.names if not name.startswith("_")]
    for name in names:
        if name in state.names:
            bind(m, frame, name, state.names[name])


def _check(m: Machine, name: str, site: Site) -> None:
    """Note that an import may fail, or raise when it surely does."""
    known = m.index.importable(name)
    if known is None:
        m.may_lack = True
    elif known is False:
        parent, _, child = name.rpartition(".")
        if parent and m.index.find(parent) is not None and m.index.stand_in(parent) is None:
            state = m.state(parent)
            if child in state.names:
                return
        raise Raised("ModuleNotFoundError", f"No module named {name!r}", site)
