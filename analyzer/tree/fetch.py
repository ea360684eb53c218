"""Wheels from the package index, kept in the user's cache folder and unpacked for a scan."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from analyzer.tree.cache import default_folder
from analyzer.tree.errors import TreeError


@contextmanager
def fetched(releases: Sequence[str], keep: bool = True) -> Iterator[Path]:
    """Temporary folder with the wheels of these releases (``NAME==VERSION``) unpacked, dependencies left out.

    ``keep``: wheels stay in the user's cache folder, and are taken from there the next time. Nothing is
    installed, and no code of a wheel is run.

    Raises:
        TreeError: a release is not given as NAME==VERSION, cannot be had, or its wheel is damaged.
    """
    names = [_folder(release) for release in releases]
    with TemporaryDirectory(prefix="smgate-") as folder:
        wheels = default_folder() / "wheels" if keep else Path(folder, "wheels")
        tree = Path(folder, "tree")
        tree.mkdir()
        for release, name in zip(releases, names, strict=True):
            for wheel in _wheels(release, wheels / name):
                unpack(wheel, tree)
        yield tree


def _wheels(release: str, folder: Path) -> list[Path]:
    """The wheel of a release in its folder, which is complete or absent: downloaded beside it, then moved."""
    if not folder.is_dir():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=".part-", dir=folder.parent) as part:
                _download(release, Path(part, "wheel"))
                with contextlib.suppress(OSError):  # another process was faster
                    Path(part, "wheel").rename(folder)
        except OSError as error:
            raise TreeError(f"cannot keep {release} in {folder.parent}: {error.strerror}") from error
    return sorted(folder.glob("*.whl"))


def versions(package: str, last: int) -> tuple[str, ...]:
    """The newest releases of a package in the index, oldest first, without those before a final one.

    Raises:
        TreeError: the name is none, or the index does not know it.
    """
    try:
        name = Requirement(package)
    except InvalidRequirement as error:
        raise TreeError(f"not the name of a package: {package!r}") from error
    if name.specifier or name.url or name.extras or name.marker:
        raise TreeError(f"not the name of a package: {package!r}")
    text = _pip(
        ["index", "versions", "--only-binary=:all:", name.name], f"cannot list the releases of {package}"
    )
    listed = next((line for line in text.splitlines() if line.startswith("Available versions:")), "")
    found = [Version(part.strip()) for part in listed.partition(":")[2].split(",") if part.strip()]
    final = sorted(version for version in found if not version.is_prerelease)
    return tuple(str(version) for version in final[-last:])


def unpack(wheel: Path, folder: Path) -> None:
    """Unpack one wheel. Members cannot leave the folder (``zipfile`` strips roots and ``..``).

    Raises:
        TreeError: it is not a wheel, or damaged.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile) as error:
        raise TreeError(f"cannot unpack {wheel.name}: {error}") from error


def _folder(release: str) -> str:
    """The name of the folder for a release: one for all spellings of the name."""
    try:
        requirement = Requirement(release)
    except InvalidRequirement as error:
        raise TreeError(f"not NAME==VERSION: {release!r}") from error
    pins = list(requirement.specifier)
    exact = len(pins) == 1 and pins[0].operator == "==" and not pins[0].version.endswith("*")
    if not exact or requirement.url or requirement.marker or requirement.extras:
        raise TreeError(f"not NAME==VERSION: {release!r}")
    return f"{canonicalize_name(requirement.name)}-{pins[0].version}"


def _download(release: str, folder: Path) -> None:
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    _pip(["download", *options, release], f"cannot fetch {release}")


def _pip(arguments: Sequence[str], failure: str) -> str:
    """What pip prints.

    Raises:
        TreeError: it cannot be run, or fails; the message is that failure and pip's last word on it.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise TreeError(f"{failure}: cannot run pip: {error.strerror}") from error
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")] or [
            result.stderr.strip().rpartition("\n")[2]
        ]
        raise TreeError(f"{failure}: {lines[-1].removeprefix('ERROR: ')}")
    return result.stdout
