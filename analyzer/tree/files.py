"""The files of an installed tree that can matter, by kind, and their contents."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from analyzer.model import Input, Skipped
from analyzer.tree.errors import TreeError
from analyzer.tree.packages import Installation, Owners, Package, find

Kind = Literal["python", "cuda", "binary"]

_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc")
_UNITS = (".cu", ".cpp", ".cc", ".cxx", ".c", ".jinja")  # .jinja: sources that a build renders
_CUDA = frozenset((*_HEADERS, *_UNITS))
_LIBRARY = re.compile(r"\.so(\.\d+)*$")
_BINARY = frozenset((".a", ".cubin", ".fatbin"))

#: Source files beyond this size are data in disguise; compiled libraries are not limited.
LARGEST_SOURCE = 16 * 2**20


class UnreadableFileError(TreeError):
    """One file could not be read; ``why`` says why in a few words."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot read {path}: {why}")
        self.path = path
        self.why = why

    def __reduce__(self) -> tuple[type[UnreadableFileError], tuple[str, str]]:
        return type(self), (self.path, self.why)


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A file of a scanned package: path from the root with ``/``, size in bytes."""

    path: str
    size: int
    kind: Kind
    package: str


@dataclass(frozen=True, slots=True)
class Tree:
    """What is scanned: the selected packages of an installation and their files, sorted by path."""

    root: Path
    bases: tuple[str, ...]
    packages: tuple[Package, ...]
    files: tuple[File, ...]
    skipped: tuple[Skipped, ...]
    others: tuple[str, ...] = ()
    """Paths of files that are not read; the scanned code may ask whether they are there."""

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The packages as the report names them."""
        return tuple(Input(p.name, p.version, p.root) for p in self.packages)

    def of(self, kind: Kind) -> tuple[File, ...]:
        """The files of one kind."""
        return tuple(file for file in self.files if file.kind == kind)

    def read(self, path: str) -> bytes:
        """The content of a file of the tree, by its path from the root.

        Raises:
            UnreadableFileError: the system does not let it be read.
        """
        return read(self.root, path)


def read(root: Path, path: str) -> bytes:
    """The content of a file.

    Raises:
        UnreadableFileError: the system does not let it be read.
    """
    try:
        with open(os.path.join(root, path), "rb") as stream:
            return stream.read()
    except OSError as error:
        raise UnreadableFileError(path, error.strerror or str(error)) from error


def decode(data: bytes) -> str:
    """Source text other than Python: UTF-8; bytes that are not valid become replacement characters."""
    return data.decode("utf-8", "replace")


def kind_of(name: str) -> Kind | None:
    """What a file is, by its name; nothing if it does not matter."""
    suffix = os.path.splitext(name)[1]
    if suffix == ".py":
        return "python"
    if suffix in _CUDA:
        return "cuda"
    return "binary" if suffix in _BINARY or _LIBRARY.search(name) else None


def open_tree(root: Path, names: Sequence[str] = ()) -> Tree:
    """The tree at ROOT, with the packages of these names only (all without names).

    Raises:
        TreeError: ROOT cannot be read, holds no packages, or none of one of these names.
    """
    installation = find(root)
    packages = installation.select(names)
    skipped: list[Skipped] = []
    others: list[str] = []
    files = sorted(_files(installation, packages, skipped, others))
    told = tuple(sorted(skipped))
    return Tree(installation.root, installation.bases, packages, tuple(files), told, tuple(sorted(others)))


def _files(
    installation: Installation, packages: tuple[Package, ...], skipped: list[Skipped], others: list[str]
) -> Iterator[File]:
    owners = Owners(installation.packages)
    wanted = set(packages)
    depth = 1 if installation.bases == ("",) else 2
    for top, claimants in sorted(owners.tops.items()):
        if not wanted.intersection(claimants):
            continue
        for path, name in _walk(installation.root, top, skipped):
            kind = kind_of(name)
            if kind is None:
                others.append(path)
                continue
            owner = owners.of(path, depth) or claimants[0]
            if owner not in wanted:
                continue
            size = _size(installation.root, path, skipped)
            if size is None:
                continue
            if size > LARGEST_SOURCE and kind != "binary":
                skipped.append(Skipped(path, f"larger than {LARGEST_SOURCE // 2**20} MiB"))
                continue
            yield File(path, size, kind, owner.name)


def _size(root: Path, path: str, skipped: list[Skipped]) -> int | None:
    try:
        return os.stat(os.path.join(root, path)).st_size
    except OSError as error:
        skipped.append(Skipped(path, error.strerror or str(error)))
        return None


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to visit: its path from the root, where it really lies, and the real folders above it."""

    path: str
    real: str
    above: frozenset[str]

    def at(self, name: str) -> str:
        """The path from the root of an entry."""
        return f"{self.path}/{name}" if self.path else name


def _walk(root: Path, top: str, skipped: list[Skipped]) -> Iterator[tuple[str, str]]:
    """Path and name of the regular files at or below a top-level entry.

    Links are followed inside the root, but not to a folder that they lie in, and never out of it.
    """
    parent, _, name = top.rpartition("/")
    base = _Folder(parent, str(root / parent), frozenset())
    waiting: list[_Folder] = []
    yield from _visit(root, base, name, waiting, skipped)
    while waiting:
        folder = waiting.pop()
        try:
            entries = os.listdir(folder.real)
        except OSError as error:
            skipped.append(Skipped(folder.path, error.strerror or str(error)))
            continue
        for entry in entries:
            yield from _visit(root, folder, entry, waiting, skipped)


def _visit(
    root: Path, folder: _Folder, name: str, waiting: list[_Folder], skipped: list[Skipped]
) -> Iterator[tuple[str, str]]:
    """Yield an entry that is a file; put one that is a folder on the list."""
    path, real = folder.at(name), f"{folder.real}{os.sep}{name}"
    if _undecodable(path):
        skipped.append(Skipped(path.encode(errors="replace").decode(), "name is not valid UTF-8"))
        return
    mode = _mode(real, os.lstat)
    linked = stat.S_ISLNK(mode)
    if linked:
        real = os.path.realpath(real)
        if not real.startswith(f"{root}{os.sep}"):
            skipped.append(Skipped(path, "link that leads out of the tree"))
            return
        mode = _mode(real, os.stat)
    if stat.S_ISDIR(mode):
        above = folder.above | {folder.real}
        if real in above:
            skipped.append(Skipped(path, "link that leads back to a folder above it"))
        elif name != "__pycache__":
            waiting.append(_Folder(path, real, above))
    elif stat.S_ISREG(mode):
        yield path, name
    elif linked:
        skipped.append(Skipped(path, "link to nothing"))


def _mode(path: str, ask: Callable[[str], os.stat_result]) -> int:
    """What kind of entry a path is; of one that cannot be asked, none."""
    try:
        return ask(path).st_mode
    except (OSError, ValueError):
        return 0


def _undecodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False
