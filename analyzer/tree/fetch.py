"""Wheels from the package index, unpacked for a scan."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import InvalidRequirement, Requirement

from analyzer.tree.errors import TreeError


@contextmanager
def fetched(releases: Sequence[str]) -> Iterator[Path]:
    """Temporary folder with the wheels of these releases (``NAME==VERSION``) unpacked, dependencies left out.

    Raises:
        TreeError: a release is not given as NAME==VERSION, cannot be had, or its wheel is damaged.
    """
    for release in releases:
        _check(release)
    with TemporaryDirectory(prefix="smgate-") as folder:
        wheels, tree = Path(folder, "wheels"), Path(folder, "tree")
        for place in (wheels, tree):
            place.mkdir()
        for release in releases:
            _download(release, wheels)
        for wheel in sorted(wheels.glob("*.whl")):
            unpack(wheel, tree)
        yield tree


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


def _check(release: str) -> None:
    try:
        requirement = Requirement(release)
    except InvalidRequirement as error:
        raise TreeError(f"not NAME==VERSION: {release!r}") from error
    pins = list(requirement.specifier)
    exact = len(pins) == 1 and pins[0].operator == "==" and not pins[0].version.endswith("*")
    if not exact or requirement.url or requirement.marker or requirement.extras:
        raise TreeError(f"not NAME==VERSION: {release!r}")


def _download(release: str, folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), release]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise TreeError(f"cannot run pip to fetch {release}: {error.strerror}") from error
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")] or [
            result.stderr.strip().rpartition("\n")[2]
        ]
        raise TreeError(f"cannot fetch {release}: {lines[-1].removeprefix('ERROR: ')}")
