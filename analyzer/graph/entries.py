"""Entry points: what a user can name, a public function or method, or an option of a server."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeGuard

import networkx as nx

from analyzer.model import Entry
from analyzer.python import contracts
from analyzer.python.modules import ModuleIndex, Source, absolute_name
from analyzer.python.options import Option, fields
from analyzer.python.survey import ast_name
from analyzer.python.values import Site

_OPTION = re.compile(rb"""add_argument\(\s*["'](--[A-Za-z0-9][\w-]*)["']""")


#: An attribute that stands in more files than this is too common to tell whose it is.
_COMMON = 60


def declared_options(index: ModuleIndex, words: Mapping[str, frozenset[str]]) -> tuple[Option, ...]:
    """The options that files declare with ``argparse``, or by annotations, and keep in a field of that name.

    An option is named after its package: ``sglang --attention-backend``. Where the attribute bears a name
    that half the tree uses (``device``), the option says so: where it is read cannot be told by name.
    """
    counts = Counter(word for found_in in words.values() for word in found_in)
    found: dict[str, Option] = {}
    modules = {source.file: source for source in index.sources.values()}
    declaring = {"add_argument", *contracts.option_fields()}
    for file in sorted(file for file in words if declaring & words[file]):
        source = modules.get(file)
        if source is None:
            continue
        for text, line in _declared(source, words[file]):
            attribute = text.removeprefix("--").replace("-", "_")
            name = f"{source.name.partition('.')[0]} {text}"
            known = found.get(name)
            if known is None:
                found[name] = Option(name, attribute, file, line, (source.name,), counts[attribute] > _COMMON)
            elif source.name not in known.modules:
                found[name] = replace(known, modules=(*known.modules, source.name))
    return tuple(found[name] for name in sorted(found))


def _declared(source: Source, words: frozenset[str]) -> Iterator[tuple[str, int]]:
    """The texts of options that a file declares, each with its line."""
    for match in _OPTION.finditer(source.data) if "add_argument" in words else ():
        attribute = match.group(1).removeprefix(b"--").replace(b"-", b"_")
        if re.search(rb"(?m)^    " + attribute + rb"\s*[:=]", source.data):
            yield match.group(1).decode(), source.data.count(b"\n", 0, match.start(1)) + 1
    if contracts.option_fields().keys() & words:
        for found in fields(source.parsed.module):
            yield found.text, found.line


def public_names(
    index: ModuleIndex, words: Mapping[str, frozenset[str]] = MappingProxyType({})
) -> dict[str, tuple[str, ...]]:
    """Dotted definition to the public dotted names under which packages export it, shortest first.

    What a documented decorator marks as an API is public under its own name, too; ``words``: file to the
    identifiers in it.
    """
    aliases: dict[str, str] = {}
    for source in list(index.sources.values()):
        if source.package and source.data and not _private(source.name):
            _collect(index, words, source, aliases)
    names: dict[str, set[str]] = {}
    for public in aliases:
        definition = public
        for _ in range(8):
            following = aliases.get(definition)
            if following is None or following == definition:
                break
            definition = following
        names.setdefault(definition, set()).add(public)
    for definition in _marked(index, words):
        names.setdefault(definition, {definition})
    return {
        definition: tuple(sorted(found, key=lambda name: (name.count("."), name)))
        for definition, found in names.items()
    }


def _marked(index: ModuleIndex, words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Functions, and classes with methods, that a decorator marks as an API."""
    marks = contracts.api_marks()
    for source in list(index.sources.values()):
        if not marks & words.get(source.file, frozenset()) or _private(source.name):
            continue
        for name in _marked_in(source):
            yield f"{source.name}.{name}"


def _marked_in(source: Source) -> Iterator[str]:
    """The names of a module's own functions and classes that are marked so."""
    marks = contracts.api_marks()
    for node in _statements(source.parsed.module.body):
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        marked = any(
            ast_name(decorator) in marks
            for item in inner
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
            for decorator in item.decorator_list
        )
        name = getattr(node, "name", "_")
        if marked and not name.startswith("_"):
            yield name


def _private(dotted: str) -> bool:
    return any(part.startswith("_") for part in dotted.split("."))


def _collect(
    index: ModuleIndex, words: Mapping[str, frozenset[str]], source: Source, aliases: dict[str, str]
) -> None:
    for node in _statements(source.parsed.module.body):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = absolute_name(source, node)
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name == "*":
                offered = _offered(index.find(base), words)
                aliases.update({f"{source.name}.{own}": f"{base}.{own}" for own in offered})
            elif not name.startswith("_"):
                aliases[f"{source.name}.{name}"] = f"{base}.{alias.name}"


def _offered(source: Source | None, words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """The functions and classes of a module's own that are meant for whoever takes it over by ``import *``.

    Those that it lists; where it lists none, those that a decorator marks as an API: the others are helpers.
    A file with neither among its identifiers is not parsed.
    """
    telling = {"__all__", *contracts.api_marks()}
    if source is None or telling.isdisjoint(words.get(source.file, telling)):
        return
    body = source.parsed.module.body
    listed = next((node.value for node in body if _lists_all(node)), None)
    if listed is None:
        yield from _marked_in(source)
        return
    named = {one.value for one in ast.walk(listed) if isinstance(one, ast.Constant)}
    for node in _statements(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name in named:
            yield node.name


def _lists_all(node: ast.stmt) -> TypeGuard[ast.Assign]:
    """Whether a statement says what a module offers."""
    return isinstance(node, ast.Assign) and [getattr(one, "id", "") for one in node.targets] == ["__all__"]


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those on either side of a condition or an attempt included."""
    for node in body:
        yield node
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try, ast.With)):
                yield from _statements(getattr(node, inner, ()))


def callers(graph: nx.DiGraph[str], ends: Iterable[str], sites: Mapping[str, Site]) -> dict[str, Entry]:
    """The nearest functions from which calls lead to some ends and whose own dotted name is public."""
    found: dict[str, Entry] = {}
    seen: set[str] = set()
    waiting = sorted(ends, reverse=True)
    while waiting:
        for caller in sorted(graph.predecessors(waiting.pop())):
            if caller in seen:
                continue
            seen.add(caller)
            site = sites.get(caller)
            if _private(caller) or site is None:
                waiting.append(caller)
            else:
                found[caller] = Entry(caller, "api", site.file, site.line)
    return found


def apis(functions: Mapping[str, Site], public: Mapping[str, tuple[str, ...]]) -> dict[str, Entry]:
    """The functions and methods that are public, by their dotted definition."""
    found: dict[str, Entry] = {}
    for dotted, site in functions.items():
        name = _public(dotted, public)
        if name is not None:
            found[dotted] = Entry(name, "api", site.file, site.line)
    return found


def _public(dotted: str, public: Mapping[str, tuple[str, ...]]) -> str | None:
    if dotted in public:
        return public[dotted][0]
    owner, _, method = dotted.rpartition(".")
    if owner in public and (not method.startswith("_") or method == "__call__"):
        return f"{public[owner][0]}.{method}"
    return None
