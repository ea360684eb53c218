"""The modules of a tree by dotted name, and whether what lies outside it can be imported."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from analyzer import data
from analyzer.python import device
from analyzer.python.syntax import ParsedFile, parse

#: Stands for the scanned root in paths that the evaluated code computes.
ROOT = "/<root>/"

_BLOCK = rb"(?:class|def|async|if|elif|else|for|while|try|except|finally|with|match)\b"
_ITEM_STORE = rb"([A-Za-z_]\w*)(?:\[[^\]\n]+\] *=(?!=)|\.update\()"
#: Each begins with a character that stands for itself: what lies between is passed over fast.
_STORE_OR_BLOCK = re.compile(rb"\n([ \t]*)(?:(%b)|(?<=[ \t])%b)" % (_BLOCK, _ITEM_STORE))
_OWN_LINE = re.compile(rb"\n(?:([A-Za-z_]\w*)[ \t]*[:=]|[ \t]+([A-Za-z_]\w*),?(?=\n|\Z))")
_IMPORTING = re.compile(rb"import(?<!\wimport)\b(.*)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_GLOBAL = re.compile(rb"(?m)^([ \t]+)global[ \t]+([\w, \t]+)")


@dataclass(eq=False)
class Source:
    """A module's file. ``package``: it is an ``__init__.py``."""

    name: str
    file: str
    package: bool
    read: Callable[[str], bytes]

    @cached_property
    def data(self) -> bytes:
        """The file's content."""
        return self.read(self.file)

    @cached_property
    def parsed(self) -> ParsedFile:
        """The lowered syntax tree; parsed when first asked for."""
        return parse(self.data)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Module names that functions set through ``global``, except caches filled when first asked for."""
        names: set[str] = set()
        for found in _GLOBAL.finditer(self.data):
            rest = _same_block(self.data, found.end(), len(found.group(1)))
            for name in found.group(2).split(b","):
                word = re.escape(name.strip())
                if re.search(rb"\bif\s+(not\s+)?\b%b\b(\s+is\s+None)?\s*:" % word, rest) is None:
                    names.add(name.strip().decode("ascii", "replace"))
        return frozenset(names)

    @cached_property
    def lines(self) -> list[str]:
        """The file's text, line by line."""
        return self.data.decode("utf-8", "replace").splitlines()


def _stored(data: bytes) -> set[bytes]:
    """The names of which some line in a function sets items; not of one under a module's ``if`` alone."""
    found: set[bytes] = set()
    above: list[tuple[int, bool]] = []
    """The blocks that the present line stands in: how far each is indented, whether it is a function."""
    for line in _STORE_OR_BLOCK.finditer(b"\n" + data):
        own = line.end(1) - line.start(1)
        while above and above[-1][0] >= own:
            above.pop()
        if line[2]:
            above.append((own, line[2] in (b"def", b"async")))
        elif any(function for _, function in above):
            found.add(line[3])
    return found


def _bound(data: bytes) -> set[bytes]:
    """The names that are bound on a line of their own, or imported: no local ones."""
    found = {match[1] or match[2] for match in _OWN_LINE.finditer(b"\n" + data)}
    for match in _IMPORTING.finditer(data):
        found.update(_WORD.findall(match[1]))
    return found


def _same_block(data: bytes, start: int, indent: int) -> bytes:
    """The lines after a place that are indented at least so far: the rest of its block."""
    first = data.find(b"\n", start) + 1
    if not first:
        return b""
    end = re.compile(rb"(?m)^[ \t]{0,%d}[^\s#]" % (indent - 1)).search(data, first)
    return data[first : end.start() if end is not None else len(data)]


def absolute_name(source: Source, node: ast.ImportFrom) -> str:
    """The dotted name of the module that an import statement of a source names."""
    if not node.level:
        return node.module or ""
    parts = source.name.split(".")
    drop = node.level - (1 if source.package else 0)
    parts = parts[: len(parts) - drop] if drop else parts
    if node.module:
        parts = [*parts, node.module]
    return ".".join(parts)


class ModuleIndex:
    """All modules under a root.

    Args:
        files: tree-relative paths of all files.
        read: gives a file's bytes.
        required: distributions that the scanned packages require without a condition: they import.
    """

    def __init__(
        self, files: Iterable[str], read: Callable[[str], bytes], required: Iterable[str] = ()
    ) -> None:
        self.sources: dict[str, Source] = {}
        self.folders: set[str] = set()
        self.files = frozenset(files)
        self.read = read
        self._inside: dict[str, set[str]] = {}
        """What each folder holds, by name."""
        self.compiled: set[str] = set()
        """Dotted names of modules that are shared libraries: they import, nothing is known of them."""
        for file in sorted(self.files):
            if not file.endswith(".py"):
                self._add_compiled(file)
                continue
            parts = file.removesuffix(".py").split("/")
            package = parts[-1] == "__init__"
            if package:
                parts = parts[:-1]
            if not parts or not all(part.isidentifier() for part in parts):
                continue
            name = ".".join(parts)
            self.sources.setdefault(name, Source(name, file, package, read))
            for cut in range(1, len(parts)):
                self.folders.add(".".join(parts[:cut]))
        self.required = {_normal(name) for name in required}

    def _add_compiled(self, file: str) -> None:
        """Note a module that is a shared library."""
        folder, _, name = file.rpartition("/")
        if name.endswith((".so", ".pyd")):
            stem = name.partition(".")[0]
            if stem.isidentifier():
                self.compiled.add(f"{folder.replace('/', '.')}.{stem}".removeprefix("."))

    def find(self, name: str) -> Source | None:
        """The module of that dotted name; a folder without ``__init__`` is an empty package."""
        source = self.sources.get(name)
        if source is None and name in self.folders:
            source = self.sources[name] = Source(name, name.replace(".", "/"), True, lambda _: b"")
        return source

    def has_path(self, path: str) -> bool:
        """Whether the tree has such a file or folder."""
        folder, _, name = path.rpartition("/")
        return name in self._folder(folder)

    def matching(self, folder: str, pattern: str) -> list[str]:
        """The files and folders of a folder that fit a pattern of path components, in order."""
        found = ["/".join(part for part in folder.split("/") if part)]
        for part in pattern.split("/"):
            names = ((path, name) for path in found for name in self._folder(path) if fnmatchcase(name, part))
            found = [f"{path}/{name}" if path else name for path, name in names]
        return sorted(found)

    def _folder(self, path: str) -> set[str]:
        """The names of what lies in a folder; none of what is no folder."""
        if not self._inside:
            for file in self.files:
                while file:
                    folder, _, name = file.rpartition("/")
                    inside = self._inside.setdefault(folder, set())
                    if name in inside:
                        break
                    inside.add(name)
                    file = folder
        return self._inside.get(path, set())

    def text(self, path: str) -> str | None:
        """The text of a file of the tree."""
        if path not in self.files:
            return None
        return self.read(path).decode("utf-8", "replace")

    @cached_property
    def item_stores(self) -> frozenset[str]:
        """Module names of which some line in a function of the tree sets items: tables that are filled in."""
        found: set[bytes] = set()
        for source in self.sources.values():
            stored = _stored(source.data) - found
            if stored:
                found |= stored & _bound(source.data)
        return frozenset(name.decode("ascii", "replace") for name in found)

    def bound_outside(self, name: str) -> frozenset[str]:
        """The names that a module's own statements import from packages outside the tree."""
        source = self.find(name)
        found: set[str] = set()
        for node in source.parsed.module.body if source is not None else ():
            if isinstance(node, ast.Import):
                named = [(item.name, item.asname or item.name.partition(".")[0]) for item in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                named = [(node.module, item.asname or item.name) for item in node.names]
            else:
                continue
            found.update(bound for module, bound in named if self.find(module.partition(".")[0]) is None)
        return frozenset(found)

    def path(self, name: str) -> str:
        """The file of a module."""
        source = self.find(name)
        return source.file if source is not None else name.replace(".", "/")

    def stand_in(self, name: str) -> str | None:
        """The dotted name under which the device model knows a module, ``None`` if it does not.

        That is a module with entries of its own, or a copy of one that a package carries.
        """
        top = name.partition(".")[0]
        if top in device.roots():
            return name
        parts = name.split(".")
        for place, part in enumerate(parts):
            if part in data.table("contracts")["import_names"]["vendored"]:
                return ".".join(parts[place:])
        return None

    def importable(self, name: str) -> bool | None:
        """Whether ``import name`` succeeds.

        True: in the tree, in the standard library or required; False: known to be absent; None: open.

        A dotted name outside the tree is judged by its first part.
        """
        top = name.partition(".")[0]
        if self.find(name) is not None or name in self.compiled:
            return True
        if device.exists(top) is False:
            return False
        if self.find(top) is not None and not any(name.startswith(f"{c}.") for c in self.compiled):
            return False
        if top in sys.stdlib_module_names:
            return True
        names = data.table("contracts")["import_names"]
        if top in names["assumed"]:
            return True
        if _normal(names["distribution"].get(top, top)) in self.required:
            return True
        return None


def _normal(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")
