"""Functions that compile sources and load them at once: the build that such a call makes."""

from __future__ import annotations

import ast
import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from analyzer.archs import Spelling
from analyzer.python import lists
from analyzer.python.contents import Content
from analyzer.python.contracts import NAME, SOURCES, TARGETS, Compiler
from analyzer.python.library import HOLE, environment
from analyzer.python.modules import ROOT
from analyzer.python.values import (
    Choice,
    Class,
    Dict,
    Free,
    Function,
    List,
    Loaded,
    Raised,
    Site,
    Value,
    outside,
    plain,
)

if TYPE_CHECKING:
    from analyzer.python.machine import Machine


def loaded(m: Machine, compiler: Compiler, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """The module that such a call gives; of sources for the host alone nothing is kept."""
    given = {**dict(zip(compiler.positional, args, strict=False)), **keywords}
    found = [] if compiler.pairs else [*_files(m, compiler, given)]
    text = _text(m, compiler, given)
    if text:
        path = f"/{compiler.path}/{hashlib.sha256(text.encode()).hexdigest()[:16]}.cu"
        m.written[path] = Content("", text=text)
        found.append(Value(path))
    elif text is None:
        found.append(Value(Free("a source that is not fully known")))
    m.may_raise = True
    if not found:
        return Value(outside(f"{compiler.path}()"))
    flags = [*_listed(given.get(compiler.flags)), *_folders(m, compiler, given)]
    attributes = {
        NAME: given.get(NAME, Value(None)),
        SOURCES: Value(List(found)),
        compiler.flags: Value(List(flags)),
        TARGETS: Value(List([Value(flag) for flag in _targets(m, compiler, flags)])),
    }
    build = Value(Loaded(_class(compiler.path), attributes))
    m.loaded.append((build, m.forks == 0))
    return build


@cache
def _class(path: str) -> Class:
    """What stands for the objects that a function makes."""
    module, _, name = path.rpartition(".")
    node = ast.ClassDef(name=name, bases=[], keywords=[], body=[], decorator_list=[], lineno=1, col_offset=0)
    return Class(node, module, name, (), {})


def _files(m: Machine, compiler: Compiler, given: Mapping[str, Value]) -> Iterator[Value]:
    """The sources that are named by their path, without those that are surely none for the device."""
    for item in _given(compiler.files, given):
        path = _one(m, item)
        if path == HOLE or PurePosixPath(path).suffix in compiler.device:
            yield item if path == HOLE else Value(posixpath.normpath(path))


def _text(m: Machine, compiler: Compiler, given: Mapping[str, Value]) -> str | None:
    """The source that is given, or made around files, with its exports; None where it is not known."""
    parts = [_one(m, item) for item in _given(compiler.texts, given)]
    if compiler.pairs:
        within = _one(m, _asked(m, compiler.within) or Value(None))
        for item in _given(compiler.files, given):
            parts.append(f'#include "{PurePosixPath(within, compiler.below, _one(m, item))}"')
    if not parts:
        return ""
    exports = [compiler.exported.format(name=name) for name in _names(given.get(compiler.functions))]
    for pair in _given((compiler.pairs,), given):
        both = pair.data if isinstance(pair.data, tuple) else ()
        name, function = (_one(m, item) for item in both) if len(both) == 2 else (HOLE, HOLE)
        exports.append(compiler.exported.format(name=name, function=function))
    if exports:
        parts.append(compiler.around.format(exports="\n".join(exports)))
    text = "\n".join(parts)
    return None if HOLE in text else text.replace(ROOT, "")


def _given(parameters: Iterable[str], given: Mapping[str, Value]) -> list[Value]:
    return [item for parameter in parameters for item in _listed(given.get(parameter))]


def _one(m: Machine, value: Value) -> str:
    """A text; of several, where one of many builds is made, the first; with a hole where it is not known."""
    data = value.data
    if m.to_measure and isinstance(data, Choice):
        data = data.options[0].data
    return str(data) if isinstance(data, (str, PurePosixPath)) else HOLE


def _names(value: Value | None) -> list[str]:
    if value is not None and isinstance(value.data, Dict):
        return [name for name in value.data.items if isinstance(name, str)]
    return [item.data for item in _listed(value) if isinstance(item.data, str)]


def _asked(m: Machine, dotted: str) -> Value | None:
    """What the tree holds under a dotted name, or what a function of that name gives; found out once."""
    if dotted not in m.told:
        m.told[dotted] = _found_out(m, dotted)
    return m.told[dotted]


def _found_out(m: Machine, dotted: str) -> Value | None:
    try:
        value = m.force(m.named(dotted))
        return m.call(value, [], {}, Site("", 1, 1, 1)) if isinstance(value.data, Function) else value
    except (KeyError, Raised):
        return None


def _listed(value: Value | None) -> list[Value]:
    """The items of a list, or the one that is given in place of it; a free one for what is not known."""
    if value is None or value.data is None:
        return []
    if isinstance(value.data, (List, tuple)):
        items = list(value.data.items if isinstance(value.data, List) else value.data)
        return [*items, Value(Free("further items"))] if getattr(value.data, "open", False) else items
    return [value]


def _folders(m: Machine, compiler: Compiler, given: Mapping[str, Value]) -> Iterator[Value]:
    """The folders that are searched for headers, as flags; the root, since texts name headers from there."""
    yield Value(f"-I{ROOT}")
    own = [item for dotted in compiler.searched for item in _listed(_asked(m, dotted))]
    for item in [*own, *_listed(given.get(compiler.folders))]:
        if isinstance(item.data, (str, PurePosixPath)):
            yield Value(f"-I{item.data}")


def _targets(m: Machine, compiler: Compiler, flags: Sequence[Value]) -> Iterator[str]:
    """What is compiled for beside what the flags say.

    What functions of the tree say, else the architectures that the variable lists, else the host's own.
    """
    if compiler.unless and any(compiler.unless in _one(m, flag) for flag in flags):
        return
    if compiler.asked:
        for item in (item for dotted in compiler.asked for item in _listed(_asked(m, dotted))):
            if isinstance(item.data, str):
                yield item.data
        return
    try:
        listed = plain(environment(m)).get(compiler.variable)
    except ValueError:
        listed = None
    made = lists.parse(listed) if isinstance(listed, str) else None
    own = [Spelling(m.host.arch.number, "")]
    for spelling in own if made is None else (item for item, machine, _ in made if machine):
        virtual = spelling.target.replace("sm", "compute")
        yield f"-gencode=arch={virtual},code={spelling.target}"
