"""Entry points: what a user can name, a public function or method, or an option of a server."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from analyzer.model import Entry
from analyzer.python.modules import ModuleIndex, Source, absolute_name
from analyzer.python.values import Site

_OPTION = re.compile(rb"""add_argument\(\s*["'](--[A-Za-z0-9][\w-]*)["']""")


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option and the attribute under which the program keeps its value."""

    entry: Entry
    attribute: str


#: An attribute that stands in more files than this is too common to tell whose it is.
_COMMON = 60


def options(
    index: ModuleIndex, files: Iterable[str], words: Mapping[str, frozenset[str]]
) -> tuple[Option, ...]:
    """The options that files declare with ``argparse`` and keep in a field of the same name.

    An option is named after its package: ``sglang --attention-backend``. Options whose attribute bears a
    name that half the tree uses (``device``) are left out: where it is read cannot be told by name.
    """
    found: dict[str, Option] = {}
    modules = {source.file: source for source in index.sources.values()}
    for file in sorted(files):
        source = modules.get(file)
        if source is None:
            continue
        for match in _OPTION.finditer(source.data):
            text = match.group(1).decode()
            attribute = text.removeprefix("--").replace("-", "_")
            if not re.search(rb"(?m)^    " + attribute.encode() + rb"\s*[:=]", source.data):
                continue
            if sum(attribute in found_in for found_in in words.values()) > _COMMON:
                continue
            name = f"{source.name.partition('.')[0]} {text}"
            line = source.data.count(b"\n", 0, match.start(1)) + 1
            found.setdefault(name, Option(Entry(name, "option", file, line), attribute))
    return tuple(found[name] for name in sorted(found))


def public_names(index: ModuleIndex) -> dict[str, tuple[str, ...]]:
    """Dotted definition to the public dotted names under which packages export it, shortest first."""
    aliases: dict[str, str] = {}
    for source in list(index.sources.values()):
        if source.package and source.data and not _private(source.name):
            _collect(source, aliases)
    names: dict[str, set[str]] = {}
    for public in aliases:
        definition = public
        for _ in range(8):
            following = aliases.get(definition)
            if following is None or following == definition:
                break
            definition = following
        names.setdefault(definition, set()).add(public)
    return {
        definition: tuple(sorted(found, key=lambda name: (name.count("."), name)))
        for definition, found in names.items()
    }


def _private(dotted: str) -> bool:
    return any(part.startswith("_") for part in dotted.split("."))


def _collect(source: Source, aliases: dict[str, str]) -> None:
    for node in _statements(source.parsed.module.body):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = absolute_name(source, node)
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name != "*" and not name.startswith("_"):
                aliases[f"{source.name}.{name}"] = f"{base}.{alias.name}"


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
