"""A report from whatever a user names: a tree, wheels, releases, or a report of an earlier scan."""

from __future__ import annotations

import hashlib
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
from analyzer.model import Report
from analyzer.profile import Profile
from analyzer.report.source import Source
from analyzer.tree.cache import Cache
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


def analysed(
    root: Path | None, quiet: bool, common: dict[str, Any], profile: Profile | None = None
) -> tuple[Report, Path]:
    """The report of a tree that is scanned now, with progress on standard error, and where the tree lies."""
    options = scan_options(root, **common)
    with display(sys.stderr, quiet) as progress:
        return pipeline.scan(options, progress, profile), options.root


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
        report, lies = analysed(place, quiet, common, profile)
        yield report, source_of(lies)


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
    """The report of a release in the index; kept with what other scans found out, and taken from there."""
    store = None if common["no_cache"] else Cache()
    asked = {name: value for name, value in common.items() if name != "jobs"}
    digest = hashlib.blake2b(msgspec.json.encode([release, asked], order="deterministic")).digest()
    kept: Report | None = store.get("release", [digest]).get(digest) if store is not None else None
    if kept is not None:
        return kept
    with scanned(None, [release], quiet, common) as (report, _):
        if store is not None:
            store.put("release", {digest: report})
        return report
