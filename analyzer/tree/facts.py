"""Run a function of one file's bytes over many files, on several processes, with a cache."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from analyzer import faults
from analyzer.model import Skipped
from analyzer.tree.cache import Cache
from analyzer.tree.files import File, Tree, UnreadableFileError, read

Fact = TypeVar("Fact")

#: Called with the number of files done and of all files.
Progress = Callable[[int, int], None]

#: Bytes of source that are handed to a process at once: small enough to balance, large enough to be cheap.
_CHUNK = 512 * 1024
#: Bytes of source below which other processes take longer to start than this one to do all of it.
_WORTH = 4 * 2**20
_DIED = "the process that read it died"


def compute(
    tree: Tree,
    files: Sequence[File],
    function: Callable[[bytes], Fact],
    *,
    name: str,
    jobs: int = 1,
    cache: Cache | None = None,
    progress: Progress | None = None,
    worth: int | None = None,
) -> list[Fact | Skipped]:
    """``function`` of the content of each file, in the order of ``files``.

    Args:
        tree: where the files lie.
        files: which files.
        function: pure, at the top level of a module, its result picklable.
        name: what the cache knows the function by.
        jobs: how many processes; with 1 everything runs in this one.
        cache: where results are kept between scans.
        progress: told of every step.
        worth: bytes of source from which on other processes are started, if not as for parsing.

    A file that cannot be read, or that the function fails on, gives ``Skipped`` with the reason. The result
    does not depend on ``jobs`` or the cache.
    """
    results: dict[str, Fact | Skipped] = {}
    digests: dict[str, bytes] = {}
    if cache is not None:
        digests = {file.path: digest for file in files if (digest := _digest(tree.root, file.path))}
        known = cache.get(name, digests.values())
        results = {path: known[digest] for path, digest in digests.items() if digest in known}
    report = progress or _silent
    report(len(results), len(files))
    missing = [file for file in files if file.path not in results]
    fresh: dict[bytes, Fact] = {}
    size = sum(file.size for file in missing)
    for path, digest, result in _run(
        tree.root, missing, function, jobs if size >= (_WORTH if worth is None else worth) else 1
    ):
        results[path] = result
        if not isinstance(result, Skipped):
            fresh[digest] = result
        report(len(results), len(files))
    if cache is not None:
        cache.put(name, fresh)
    return [results[file.path] for file in files]


def _silent(done: int, total: int) -> None:
    """Nobody wants to know."""


def _digest(root: Path, path: str) -> bytes | None:
    try:
        return _hash(read(root, path))
    except UnreadableFileError:
        return None


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=20).digest()


Row = tuple[str, bytes, Fact | Skipped]


def _work(root: Path, paths: Sequence[str], function: Callable[[bytes], Fact]) -> list[Row[Fact]]:
    """One chunk of files, in whatever process."""
    rows: list[Row[Fact]] = []
    for path in paths:
        try:
            data = read(root, path)
        except UnreadableFileError as error:
            rows.append((path, b"", Skipped(path, error.why)))
            continue
        try:
            rows.append((path, _hash(data), function(data)))
        except Exception as error:  # one file must not end the scan: it is listed with what happened
            rows.append((path, b"", Skipped(path, faults.told(error))))
    return rows


def _run(
    root: Path, files: Sequence[File], function: Callable[[bytes], Fact], jobs: int
) -> Iterable[Row[Fact]]:
    """All rows, in any order."""
    chunks = _chunks(files)
    if jobs <= 1:
        for chunk in chunks:
            for path in chunk:
                yield from _work(root, [path], function)
        return
    with _pool(min(jobs, len(chunks)), function.__module__) as pool:
        waiting = {pool.submit(_work, root, chunk, function): chunk for chunk in chunks}
        try:
            yield from _collect(root, waiting, function)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _collect(
    root: Path, waiting: dict[Future[list[Row[Fact]]], list[str]], function: Callable[[bytes], Fact]
) -> Iterable[Row[Fact]]:
    lost: list[str] = []
    while waiting:
        done, _ = wait(waiting, return_when="FIRST_COMPLETED")
        for future in done:
            chunk = waiting.pop(future)
            try:
                yield from future.result()
            except BrokenProcessPool:
                lost += chunk
    for path in sorted(lost):
        yield from _alone(root, path, function)


def _alone(root: Path, path: str, function: Callable[[bytes], Fact]) -> list[Row[Fact]]:
    """One file in a process of its own: it may be the one that ended another."""
    with _pool(1, function.__module__) as pool:
        try:
            return pool.submit(_work, root, [path], function).result()
        except BrokenProcessPool:
            return [(path, b"", Skipped(path, _DIED))]


def _chunks(files: Sequence[File]) -> list[list[str]]:
    """The files in pieces of about equal size, the largest files first: long work must not start last."""
    chunks: list[list[str]] = []
    room = 0
    for file in sorted(files, key=lambda file: (-file.size, file.path)):
        if not chunks or room < file.size:
            chunks.append([])
            room = _CHUNK
        chunks[-1].append(file.path)
        room -= file.size
    return chunks


def _pool(jobs: int, module: str) -> ProcessPoolExecutor:
    """Processes that have the module loaded. They are not forked from this one, which may have threads."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([__name__, module])
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_interrupt)


def _ignore_interrupt() -> None:
    """Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def default_jobs() -> int:
    """As many processes as this one may use processors."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
