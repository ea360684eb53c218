"""Functions that compile sources and load them at once: the build that such a call makes."""

from __future__ import annotations

import ast
import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from analyzer.archs import Spelling
from analyzer.python import contracts, lists
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
from analyzer.tree.files import kind_of

if TYPE_CHECKING:
    from analyzer.python.machine import Machine


#: Steps that are spent on what a module says of its builds.
STEPS = 4_000


def loaded(m: Machine, compiler: Compiler, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """The module that such a call gives; of sources for the host alone nothing is kept."""
    given = {**dict(zip(compiler.positional, args, strict=False)), **keywords}
    found = [] if _given((compiler.pairs,), given) else [*_files(m, compiler, given)]
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
        TARGETS: Value(_targets(m, compiler, flags)),
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
        if path == HOLE:
            yield item
        elif PurePosixPath(path).suffix in compiler.device:
            yield Value(posixpath.normpath(PurePosixPath(_folder(m, compiler), path)))


def _text(m: Machine, compiler: Compiler, given: Mapping[str, Value]) -> str | None:
    """The source that is given, or made around files, with its exports; None where it is not known."""
    parts = [_one(m, item) for item in _given(compiler.texts, given)]
    if _given((compiler.pairs,), given):
        for item in _given(compiler.files, given):
            parts.append(f'#include "{PurePosixPath(_folder(m, compiler), _one(m, item))}"')
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


def names_sources(given: Iterable[Value]) -> bool:
    """Whether some of these values are names of source files, or lists of such."""
    return any(
        isinstance(item.data, (str, PurePosixPath)) and kind_of(str(item.data)) == "cuda"
        for value in given
        for item in _listed(value)
    )


def _folder(m: Machine, compiler: Compiler) -> PurePosixPath:
    """The folder that files are relative to."""
    if not compiler.within:
        return PurePosixPath()
    return PurePosixPath(_one(m, _asked(m, compiler.within) or Value(None)), compiler.below)


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
    """What the tree holds under a dotted name, or what a function of that name gives."""
    if dotted not in m.told:
        with suppress(KeyError):
            m.state(dotted.partition("()")[0].rpartition(".")[0])  # with which it is found out
    return m.told.get(dotted)


def find_out(m: Machine, module: str) -> None:
    """Find out what a module that was just loaded says of builds, before anything else is run in it."""
    follow, m.follow = m.follow, lambda *_: STEPS
    try:
        for name in contracts.asked().get(module, ()):
            site = Site("", 1, 1, 1)
            function, _, attribute = name.partition("().")
            if function not in m.modules[module].names:
                continue
            with suppress(KeyError, Raised, m.budget, RecursionError):
                value = m.force(m.named(f"{module}.{function}"))
                if isinstance(value.data, Function):
                    value = m.call(value, [], {}, site)
                m.told[f"{module}.{name}"] = m.attribute(value, attribute, site) if attribute else value
    finally:
        m.follow = follow


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


def _targets(m: Machine, compiler: Compiler, flags: Sequence[Value]) -> List:
    """What is compiled for beside what the flags say; open where it is not known.

    What functions of the tree say, else the architectures that the variable lists, else the host's own.
    """
    if compiler.unless and any(compiler.unless in _one(m, flag) for flag in flags):
        return List([])
    said = [item for dotted in compiler.asked for item in _listed(_asked(m, dotted))]
    if said:
        return List(
            [Value(flag) for item in said if isinstance(item.data, str) for flag in _as_flags(item.data)],
            open=not all(isinstance(item.data, str) for item in said),
        )
    try:
        listed = plain(environment(m)).get(compiler.variable)
    except ValueError:
        listed = None
    own = _as_flags(listed) if isinstance(listed, str) else [_code_for(Spelling(m.host.arch.number, ""))]
    return List([Value(flag) for flag in own])


def _as_flags(text: str) -> list[str]:
    """A flag as it is; of a list of architectures, a flag for each that machine code is made for."""
    made = lists.parse(text)
    return [text] if made is None else [_code_for(spelling) for spelling, machine, _ in made if machine]


def _code_for(spelling: Spelling) -> str:
    virtual = spelling.target.replace("sm", "compute")
    return f"-gencode=arch={virtual},code={spelling.target}"
