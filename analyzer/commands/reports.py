"""A report from whatever a user names: a tree, wheels, releases, or a report of an earlier scan."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from analyzer import scan as pipeline
from analyzer.commands.options import scan_options
from analyzer.commands.output import saved_report, source_of
from analyzer.console import display
from analyzer.model import Report, decode, encode
from analyzer.profile import Profile
from analyzer.report.source import Source
from analyzer.tree.cache import default_folder, fingerprint
from analyzer.tree.errors import TreeError
from analyzer.tree.fetch import fetched, unpack


@contextmanager
def tree(root: Path | None, fetch: Sequence[str], keep: bool = True) -> Iterator[Path | None]:
    """The folder to scan: the releases from the index if there are any, else the root."""
    if not fetch:
        yield root
        return
    with fetched(fetch, keep) as folder:
        yield folder


@contextmanager
def scanned(
    root: Path | None,
    fetch: Sequence[str],
    quiet: bool,
    common: dict[str, Any],
    profile: Profile | None = None,
) -> Iterator[tuple[Report, Source]]:
    """The report of a tree or of releases, and its code as long as that is there."""
    with tree(root, fetch, keep=not common["no_cache"]) as place:
        options = scan_options(place, **common)
        with display(sys.stderr, quiet) as progress:
            report = pipeline.scan(options, progress, profile)
        yield report, source_of(options.root)


def named(text: str, quiet: bool, common: dict[str, Any]) -> Report:
    """The report of a folder, of a wheel, of ``NAME==VERSION[,NAME==VERSION]``, or in a JSON file.

    Raises:
        TreeError: there is no such thing, or it cannot be read.
    """
    path = Path(text)
    if path.suffix == ".json" and not path.is_dir():
        return saved_report(path)
    if path.suffix == ".whl":
        if not path.is_file():
            raise TreeError(f"no such wheel: {path}")
        with TemporaryDirectory(prefix="smgate-") as folder:
            unpack(path, Path(folder))
            with scanned(Path(folder), (), quiet, common) as (report, _):
                return report
    fetch = text.split(",") if "==" in text and not path.exists() else []
    with scanned(None if fetch else path, fetch, quiet, common) as (report, _):
        return report


def released(release: str, quiet: bool, common: dict[str, Any]) -> Report:
    """The report of a release in the index; kept in the cache folder and taken from there the next time."""
    if common["no_cache"]:
        with scanned(None, [release], quiet, common) as (report, _):
            return report
    asked = json.dumps(
        [release, {k: v for k, v in common.items() if k != "jobs"}], sort_keys=True, default=str
    )
    name = hashlib.blake2b(fingerprint() + asked.encode(), digest_size=16).hexdigest()
    file = default_folder() / "reports" / f"{name}.json"
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return decode(file.read_bytes())
    with scanned(None, [release], quiet, common) as (report, _):
        _keep(file, encode(report))
        return report


def _keep(file: Path, content: bytes) -> None:
    """Write a file of the cache, whole or not at all; a cache that cannot be written is none."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(file)
