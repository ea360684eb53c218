"""Compiled libraries as Python reaches them: operators that they register, modules that they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from analyzer import data
from analyzer.python.modules import ModuleIndex, absolute_name


@dataclass(frozen=True, slots=True)
class Native:
    """A library: file, operators that it registers, namespaces that it names, dotted module name if any.

    ``lost``: the target can run none of its device code.
    """

    file: str
    operators: frozenset[str]
    namespaces: frozenset[str]
    module: str
    lost: bool = True

    def registers(self, namespace: str, operator: str) -> bool:
        """Whether ``namespace::operator`` is, by the strings of the library, its own."""
        return namespace in self.namespaces and operator in self.operators


@dataclass(frozen=True, slots=True)
class Natives:
    """The libraries with device code."""

    libraries: tuple[Native, ...] = ()

    def lost(self, path: str) -> list[tuple[Native, str]]:
        """Libraries of which the target runs nothing that a dotted path calls into, with what is called.

        An operator that another library registers too, which the target can run, is not lost.
        """
        prefix = operators()
        if path.startswith(f"{prefix}."):
            parts = path.removeprefix(f"{prefix}.").split(".")
            if len(parts) < 2:
                return []
            namespace, operator = parts[0], parts[1].removesuffix("()")
            owners = [native for native in self.libraries if native.registers(namespace, operator)]
            return [(n, f"{namespace}::{operator}") for n in owners] if all(n.lost for n in owners) else []
        return [
            (native, path.removeprefix(f"{native.module}.").partition("(")[0])
            for native in self.libraries
            if native.lost and native.module and path.startswith(f"{native.module}.")
        ]

    def without(self, files: Collection[str]) -> Natives:
        """The libraries but for some."""
        return Natives(tuple(native for native in self.libraries if native.file not in files))

    def words(self, present: frozenset[str]) -> set[str]:
        """The names in a file by which it may call a lost library, given all identifiers in it."""
        found: set[str] = set()
        for native in self.libraries:
            if not native.lost:
                continue
            last = operators().rpartition(".")[2]
            if last in present and not native.namespaces.isdisjoint(present):
                found |= native.operators & present
            module = native.module.rpartition(".")[2]
            if module in present:
                found.add(module)
        return found


@cache
def operators() -> str:
    """The dotted name under which registered operators are found."""
    return str(data.table("contracts")["operators"]["path"])


@cache
def loaders() -> dict[str, int]:
    """Functions that load a library by its path, and which argument that is."""
    return {row["call"]: row["argument"] for row in data.table("contracts").get("loader", [])}


def imports(
    index: ModuleIndex, words: Mapping[str, frozenset[str]], natives: Natives
) -> Iterator[tuple[str, Native, int]]:
    """The modules that import a lost library as a module, and on which line."""
    wanted = {native.module: native for native in natives.libraries if native.lost and native.module}
    last = {module.rpartition(".")[2] for module in wanted}
    for source in sorted(index.sources.values(), key=lambda source: source.file) if wanted else ():
        if last.isdisjoint(words.get(source.file, ())):
            continue
        for node in ast.walk(source.parsed.module):
            if isinstance(node, ast.ImportFrom):
                base = absolute_name(source, node)
                named = [base, *(f"{base}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            else:
                continue
            for name in named:
                if name in wanted:
                    yield source.name, wanted[name], node.lineno


def namespaces(text: bytes) -> frozenset[str]:
    """The namespaces whose operators are named in a source file."""
    pattern = operators().encode().replace(b".", rb"\s*\.\s*") + rb"\s*\.\s*([A-Za-z_]\w*)"
    return frozenset(match.decode() for match in re.findall(pattern, text))


def native(
    file: str, operators: Iterable[str], namespaces: Iterable[str], modules: Iterable[str], lost: bool
) -> Native:
    """A library by what its file tells: its module is found where the file lies, if it initialises one."""
    folder, _, name = file.rpartition("/")
    stem = name.partition(".")[0]
    module = f"{folder.replace('/', '.')}.{stem}".removeprefix(".") if stem in modules else ""
    return Native(file, frozenset(operators), frozenset(namespaces), module, lost)
