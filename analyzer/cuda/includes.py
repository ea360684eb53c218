"""Where an ``#include`` leads: a file of the tree, a stand-in for a header outside it, or nowhere known."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from analyzer.cuda import headers
from analyzer.cuda.directives import Directive, FileDirectives
from analyzer.cuda.expansion import Unknown

Resolved = dict[tuple[str, str, bool, str], str | None]
"""Answers by folder (empty where it does not matter), header, quotes, and the directive's kind."""


class Sources(Protocol):
    """The files of a tree; paths are relative to its root, with ``/``."""

    def facts(self, path: str) -> FileDirectives | None:
        """The directives of a file; None where it cannot be read."""

    def exists(self, path: str) -> bool:
        """Whether there is a file (no folder) at that path."""


@dataclass(frozen=True, slots=True)
class Resolver:
    """Finds headers in the order in which a compiler searches for them."""

    sources: Sources
    include_dirs: tuple[str, ...]
    resolved: Resolved

    def resolve(self, path: str, directive: Directive, header: str, quoted: bool) -> str | None:
        """The tree's file that this directive of the file ``path`` includes; None where it has none."""
        return self._resolve(path, header, quoted, directive.kind)

    def _resolve(self, path: str, header: str, quoted: bool, kind: str) -> str | None:
        relative = quoted or kind == "include_next"
        folder = path.rpartition("/")[0] if relative else ""
        key = (folder, header, quoted, kind)
        if key not in self.resolved:
            self.resolved[key] = next(self._existing(path, folder, header, quoted, kind), None)
        return self.resolved[key]

    def _existing(self, path: str, folder: str, header: str, quoted: bool, kind: str) -> Iterator[str]:
        for directory in self._searched(path, folder, header, quoted, kind):
            target = posixpath.normpath(posixpath.join(directory, header))
            if not target.startswith("..") and self.sources.exists(target):
                yield target

    def _searched(self, path: str, folder: str, header: str, quoted: bool, kind: str) -> list[str]:
        if header.startswith("/") or not header:
            return []
        directories = list(self.include_dirs)
        if kind == "include_next":
            # The search goes on after the folder in which this very file was found.
            holding = [i for i, d in enumerate(directories) if path.startswith(d.rstrip("/") + "/")]
            return directories[holding[0] + 1 :] if holding else directories
        # A stand-in lies in no folder of the tree.
        return [folder, *directories] if quoted and not path.startswith("<") else directories

    def has_header(self, path: str, text: str) -> int | Unknown:
        """The answer to ``__has_include`` in the file ``path``; ``text`` is ``<name>`` or ``"name"``."""
        header = text[1:-1].strip()
        if not header or text[0] not in '<"':
            return Unknown("malformed __has_include")
        if self._resolve(path, header, text[0] == '"', "include") is not None:
            return 1
        known = headers.present(header)
        return Unknown(f"{header} is not in the tree") if known is None else int(known)
