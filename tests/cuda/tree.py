"""Trees of sources for tests of the preprocessor: in memory, or below a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from analyzer.cuda.directives import FileDirectives, facts


class Tree:
    """Files by path, as text."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._facts = {path: facts(text.encode()) for path, text in files.items()}

    def facts(self, path: str) -> FileDirectives | None:
        return self._facts.get(path)

    def exists(self, path: str) -> bool:
        return path in self._facts


class Disk:
    """The files below a folder; ``empty`` names further ones that are taken to be there and empty."""

    def __init__(self, root: Path, empty: Iterable[str] = ()) -> None:
        self._root = root
        self._facts: dict[str, FileDirectives | None] = {path: facts(b"") for path in empty}
        self._exists: dict[str, bool] = dict.fromkeys(self._facts, True)

    def facts(self, path: str) -> FileDirectives | None:
        if path not in self._facts:
            self._facts[path] = facts((self._root / path).read_bytes()) if self.exists(path) else None
        return self._facts[path]

    def exists(self, path: str) -> bool:
        if path not in self._exists:
            self._exists[path] = (self._root / path).is_file()
        return self._exists[path]
