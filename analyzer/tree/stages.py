"""Results of whole stages of a scan, kept between scans by everything that they were made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from analyzer.profile import Profile, Spent
from analyzer.tree.cache import Cache
from analyzer.tree.files import Kind, Tree, UnreadableFileError

Result = TypeVar("Result")

#: Of a larger file, the ends are hashed with its size and its time of change.
_WHOLE = 64 * 2**20
_END = 2**20


@dataclass(frozen=True, slots=True)
class Stage:
    """``code``: the folders and files of the program that decide its result; without any, all of them."""

    name: str
    code: tuple[str, ...] = ()


class Stages:
    """The stages of scans of one tree; without a cache, everything is computed."""

    def __init__(self, tree: Tree, cache: Cache | None, profile: Profile | None = None) -> None:
        self._tree = tree
        self._cache = cache
        self._profile = profile or Profile()
        self._contents: dict[Kind, list[tuple[str, str]]] = {}

    def keep(
        self, stage: Stage, kinds: Iterable[Kind], made_of: object, compute: Callable[[], Result]
    ) -> Result:
        """The result of a stage on the files of these kinds: that of an earlier scan, or computed now.

        Args:
            stage: which one.
            kinds: which of the tree's files it reads; of all others it may know that they are there.
            made_of: all else that the result depends on; plain data, dataclasses and sets of them.
            compute: makes the result, which must be picklable.
        """
        with self._profile.stage(stage.name) as spent:
            return self._kept(stage, tuple(kinds), made_of, compute, spent)

    def _kept(
        self,
        stage: Stage,
        kinds: tuple[Kind, ...],
        made_of: object,
        compute: Callable[[], Result],
        spent: Spent,
    ) -> Result:
        if self._cache is None:
            return compute()
        digest = self._digest(kinds, made_of)
        known = self._cache.get(stage.name, [digest], stage.code)
        if digest in known:
            spent.kept = True
            result: Result = known[digest]
            return result
        result = compute()
        self._cache.put(stage.name, {digest: result}, stage.code)
        return result

    def _digest(self, kinds: tuple[Kind, ...], made_of: object) -> bytes:
        paths = [*(file.path for file in self._tree.files), *self._tree.others]
        contents = [self._content(kind) for kind in kinds]
        packages = self._tree.packages
        described = msgspec.json.encode(
            [paths, self._tree.skipped, packages, contents, made_of], order="deterministic"
        )
        return hashlib.blake2b(described, digest_size=20).digest()

    def _content(self, kind: Kind) -> list[tuple[str, str]]:
        """Path and hash of each file of a kind."""
        if kind not in self._contents:
            self._contents[kind] = [
                (file.path, self._hash(file.path, file.size)) for file in self._tree.of(kind)
            ]
        return self._contents[kind]

    def _hash(self, path: str, size: int) -> str:
        digest = hashlib.blake2b(digest_size=20)
        try:
            if size <= _WHOLE:
                digest.update(self._tree.read(path))
            else:
                file = self._tree.root / path
                digest.update(f"{size} {file.stat().st_mtime_ns}".encode())
                with file.open("rb") as stream:
                    digest.update(stream.read(_END))
                    stream.seek(-_END, 2)
                    digest.update(stream.read(_END))
        except (OSError, UnreadableFileError) as error:
            return f"unreadable: {error}"
        return digest.hexdigest()
