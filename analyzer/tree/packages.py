"""Which packages an installed tree holds: names, versions, requirements, and which files are whose."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.parser import BytesHeaderParser
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from analyzer.tree.errors import TreeError

UNKNOWN = "unknown"
_METADATA = ((".dist-info", "METADATA"), (".egg-info", "PKG-INFO"))
_NOT_CODE = ("__pycache__", "bin")


@dataclass(frozen=True, slots=True)
class Package:
    """An installed distribution, or a top-level folder or module that none claims.

    ``root`` is its main folder (or file), ``tops`` are all its top-level entries, from the scanned root.
    """

    name: str
    version: str
    root: str
    tops: tuple[str, ...]
    requires: tuple[str, ...] = ()
    files: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    def named(self, name: str) -> bool:
        """Whether a user may mean this package by that name (of the distribution or of what is imported)."""
        wanted = canonicalize_name(name)
        imports = (PurePosixPath(top).name.removesuffix(".py") for top in self.tops)
        return wanted == canonicalize_name(self.name) or wanted in map(canonicalize_name, imports)


@dataclass(frozen=True, slots=True)
class Installation:
    """The packages of a tree. ``bases`` are the folders from which modules are imported ("" is the root)."""

    root: Path
    bases: tuple[str, ...]
    packages: tuple[Package, ...]

    def select(self, names: Sequence[str]) -> tuple[Package, ...]:
        """The packages of these names; all if none is given.

        Raises:
            TreeError: a name fits no package.
        """
        for name in names:
            if not any(package.named(name) for package in self.packages):
                known = ", ".join(package.name for package in self.packages[:8])
                more = ", ..." if len(self.packages) > 8 else ""
                raise TreeError(f"no package named {name!r} in {self.root}; it holds: {known}{more}")
        return tuple(p for p in self.packages if not names or any(p.named(name) for name in names))


def site_packages(root: Path) -> Path:
    """The folder that holds packages: ROOT, or the site-packages folder of the virtual environment ROOT.

    Raises:
        TreeError: ROOT is missing, no folder, unreadable, or a single package.
    """
    try:
        if not root.is_dir():
            raise TreeError(f"no such folder: {root}" if not root.exists() else f"not a folder: {root}")
        found = sorted(root.glob("lib/python*/site-packages")) or sorted(root.glob("Lib/site-packages"))
        inside = [path for path in found if path.is_dir()]
        if len(inside) > 1:
            raise TreeError(
                f"{root} holds several site-packages folders; name one: {', '.join(map(str, inside))}"
            )
        result = (inside[0] if inside else root).resolve()
        os.listdir(result)
    except OSError as error:
        raise TreeError(f"cannot read {root}: {error.strerror or error}") from error
    if not inside and (result / "__init__.py").is_file():
        raise TreeError(
            f"{root} is a single package; give the folder that it is installed in: {result.parent}"
        )
    return result


def find(root: Path) -> Installation:
    """The packages in ROOT: a site-packages folder, a virtual environment or a folder of unpacked wheels.

    Raises:
        TreeError: ROOT cannot be read or holds no Python package.
    """
    place = site_packages(root)
    bases = _bases(place)
    packages = [package for base in bases for package in _packages(place, base)]
    if not packages:
        raise TreeError(f"no Python packages in {place}")
    packages.sort(key=lambda package: (canonicalize_name(package.name), package.root))
    return Installation(place, bases, tuple(packages))


def _bases(place: Path) -> tuple[str, ...]:
    """Where packages lie: in the root, or in folders of it that each hold one unpacked wheel."""
    if any(_metadata_folders(place)):
        return ("",)
    wheels = [path.name for path in _folders(place) if any(_metadata_folders(path))]
    return tuple(wheels) or ("",)


def _folders(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []  # listed as skipped when its files are


def _metadata_folders(place: Path) -> Iterator[tuple[Path, Path]]:
    """Each metadata folder (or old-style file) with the file of headers in it."""
    for suffix, name in _METADATA:
        for path in sorted(place.glob(f"*{suffix}")):
            if (path / name).is_file():
                yield path, path / name
            elif suffix == ".egg-info" and path.is_file():
                yield path, path


def _packages(place: Path, base: str) -> list[Package]:
    """The packages below one base."""
    folder = place / base
    found: list[Package] = []
    claimed: Counter[str] = Counter()
    for metadata, headers in _metadata_folders(folder):
        package = _distribution(folder, base, metadata, headers)
        if package is not None:
            found.append(package)
            claimed.update(package.tops)
    for entry in _code_entries(folder):
        top = _join(base, entry)
        if top not in claimed:
            found.append(Package(entry.removesuffix(".py"), UNKNOWN, top, (top,)))
    shared = {top for top, count in claimed.items() if count > 1}
    return [_keep_shared_files(package, shared) for package in found]


def _keep_shared_files(package: Package, shared: set[str]) -> Package:
    """Only folders that several packages share need a look at single files; forget the rest."""
    files = frozenset(file for file in package.files if file.startswith(tuple(top + "/" for top in shared)))
    return Package(package.name, package.version, package.root, package.tops, package.requires, files)


def _distribution(folder: Path, base: str, metadata: Path, headers: Path) -> Package | None:
    """One distribution by its metadata, or nothing if none of its code lies in the tree."""
    name, version, requires = _headers(headers, metadata)
    present = [file for file in _record(metadata) if _is_code_path(file) and (folder / _top(file)).exists()]
    if not present:
        present = [top for top in _declared_tops(metadata, name) if (folder / top).exists()]
    if not present:
        return None
    tops = tuple(sorted({_join(base, _top(file)) for file in present}))
    root = _main(present)
    files = frozenset(_join(base, file) for file in present)
    return Package(name, version, _join(base, root), tops, requires, files)


def _headers(path: Path, metadata: Path) -> tuple[str, str, tuple[str, ...]]:
    """Name, version and requirements (``Requires-Dist``; Core metadata specification)."""
    stem, _, version = metadata.name.rpartition(".")[0].partition("-")
    try:
        message = BytesHeaderParser().parsebytes(path.read_bytes())
    except OSError:
        return stem, version or UNKNOWN, ()
    requires = tuple(str(value) for value in message.get_all("Requires-Dist") or ())
    return str(message["Name"] or stem), str(message["Version"] or version or UNKNOWN), requires


def _record(metadata: Path) -> list[str]:
    """The files of a distribution (``RECORD``; Recording installed projects specification)."""
    try:
        text = (metadata / "RECORD").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [row[0] for row in csv.reader(text.splitlines()) if row]


def _declared_tops(metadata: Path, name: str) -> list[str]:
    """Top-level names where there is no record of files: as declared, else the name itself."""
    try:
        words = (metadata / "top_level.txt").read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        words = [re.sub(r"[-.]+", "_", name)]
    return [entry for word in words for entry in (word, f"{word}.py")]


def _is_code_path(path: str) -> bool:
    top = _top(path)
    if (
        path.startswith(("/", "../"))
        or top in _NOT_CODE
        or top.endswith((".dist-info", ".egg-info", ".data"))
    ):
        return False
    return "/" in path or path.endswith((".py", ".so"))


def _top(path: str) -> str:
    return path.partition("/")[0]


def _join(base: str, path: str) -> str:
    return f"{base}/{path}" if base else path


def _main(files: list[str]) -> str:
    """The folder (or module) that holds most of these files, as deep as all of them in it go."""
    count = Counter(_top(file) for file in files)
    best = max(count, key=lambda top: (count[top], top))
    folders = {str(PurePosixPath(file).parent) for file in files if _top(file) == best and "/" in file}
    return os.path.commonpath(folders) if folders else best


def _code_entries(folder: Path) -> Iterator[str]:
    """Top-level folders with Python files in them, and top-level modules."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in _NOT_CODE or entry.is_symlink():
            continue
        if entry.is_file() and entry.name.endswith(".py"):
            yield entry.name
        elif entry.name.endswith((".dist-info", ".egg-info", ".data")):
            continue
        elif entry.is_dir() and _holds_python(Path(entry.path)):
            yield entry.name


def _holds_python(folder: Path) -> bool:
    return any(name.endswith(".py") for _, _, names in os.walk(folder) for name in names)


class Owners:
    """Whose file a path is."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self._tops: dict[str, list[Package]] = {}
        self._files: dict[str, Package] = {}
        for package in packages:
            for top in package.tops:
                self._tops.setdefault(top, []).append(package)
            for file in package.files:
                self._files.setdefault(file, package)

    @property
    def tops(self) -> Mapping[str, Sequence[Package]]:
        """The top-level entries and the packages that have files in each."""
        return self._tops

    def of(self, path: str, depth: int) -> Package | None:
        """The package of a file; a top-level entry has ``depth`` parts (1, or 2 below a base)."""
        top = "/".join(path.split("/", depth)[:depth])
        candidates = self._tops.get(top, ())
        return candidates[0] if len(candidates) == 1 else self._files.get(path)
