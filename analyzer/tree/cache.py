"""What was computed is kept between scans, by the hash of what it came from, in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from analyzer import __version__, data

#: Raised whenever the layout of the database changes.
FORMAT = 1

#: What is not used is dropped, the least recently used first, when the facts outgrow this many bytes.
LIMIT = 512 * 2**20

_CREATE = """
CREATE TABLE IF NOT EXISTS facts (
    key BLOB PRIMARY KEY,
    value BLOB NOT NULL,
    sum INTEGER NOT NULL,
    size INTEGER NOT NULL,
    used INTEGER NOT NULL
)
"""
_AT_ONCE = 500


def default_folder() -> Path:
    """``$XDG_CACHE_HOME/smgate``, or ``~/.cache/smgate`` (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "smgate"


@cache
def _program() -> tuple[tuple[str, bytes], ...]:
    """The program's own files and tables, with their content's hashes, as they are when it is first asked.

    That is before anything is computed: what is edited meanwhile must not vouch for what the old code found.
    """
    program = Path(__file__).resolve().parent.parent
    found = []
    for prefix, folder, pattern in (("", program, "**/*.py"), ("queries/", data.folder("queries"), "**/*")):
        for path in sorted(path for path in folder.glob(pattern) if path.is_file()):
            content = hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
            found.append((prefix + path.relative_to(folder).as_posix(), content))
    return tuple(found)


@cache
def fingerprint(code: tuple[str, ...] = ()) -> bytes:
    """A hash of the program's own code and knowledge: facts computed by another state of it are not used.

    ``code``: the folders and files of the program that count; without any, all of them.
    """
    digest = hashlib.blake2b(f"{FORMAT} {__version__}".encode(), digest_size=16)
    for name, content in _program():
        counts = not code or any(name == part or name.startswith(f"{part}/") for part in code)
        if counts or name.startswith("queries/"):
            digest.update(name.encode() + b"\0" + content)
    return digest.digest()


class Cache:
    """A store of picklable values. Every failure of the store is a miss: it never stops a scan.

    Safe for several scans at once (SQLite locks the file); damaged entries are dropped and computed again, a
    damaged file is replaced. Nothing but this program's own pickles is read from it.
    """

    def __init__(self, folder: Path | None = None, limit: int = LIMIT) -> None:
        self._file = (folder or default_folder()) / f"facts-{FORMAT}.sqlite"
        self._limit = limit
        _program()
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                connection = sqlite3.connect(self._file, timeout=10, isolation_level=None)
                try:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.execute("PRAGMA synchronous=OFF")  # a lost entry is computed again
                    connection.execute(_CREATE)
                    connection.execute("SELECT key, value, sum, size, used FROM facts LIMIT 1").fetchone()
                    return connection
                except sqlite3.Error:
                    connection.close()
                    raise
            except sqlite3.OperationalError as error:
                if "no such column" not in str(error):
                    return None  # locked for long, or no room: do without
                self._discard()
            except sqlite3.DatabaseError:
                self._discard()
            except OSError:
                return None
        return None

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(f"{self._file}{suffix}")

    def get(self, kind: str, digests: Iterable[bytes], code: tuple[str, ...] = ()) -> dict[bytes, Any]:
        """The values stored under this kind of fact for contents of these hashes.

        ``code``: see :func:`fingerprint`.
        """
        wanted = {_key(kind, digest, code): digest for digest in digests}
        found: dict[bytes, Any] = {}
        damaged: list[bytes] = []
        with self._transaction() as connection:
            for part in _parts(list(wanted)) if connection else ():
                marks = ",".join("?" * len(part))
                query = f"SELECT key, value, sum FROM facts WHERE key IN ({marks})"
                for key, value, checksum in connection.execute(query, part).fetchall() if connection else ():
                    try:
                        if zlib.crc32(value) != checksum:
                            raise ValueError("damaged entry")
                        found[wanted[key]] = pickle.loads(zlib.decompress(value))
                    except Exception:  # whatever a damaged pickle raises
                        damaged.append(key)
            if connection and (found or damaged):
                now = _clock(connection) + 1
                used = [(now, _key(kind, digest, code)) for digest in found]
                connection.executemany("UPDATE facts SET used = ? WHERE key = ?", used)
                connection.executemany("DELETE FROM facts WHERE key = ?", [(key,) for key in damaged])
        return found

    def put(self, kind: str, values: Mapping[bytes, Any], code: tuple[str, ...] = ()) -> None:
        """Store values by the hashes of the contents that they were computed from."""
        with self._transaction() as connection:
            if connection is None or not values:
                return
            now = _clock(connection) + 1
            rows = []
            for digest, value in values.items():
                packed = zlib.compress(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), 1)
                rows.append((_key(kind, digest, code), packed, zlib.crc32(packed), len(packed), now))
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)", rows)
            self._trim(connection)

    def _trim(self, connection: sqlite3.Connection) -> None:
        """Drop the least recently used until half of the room is free."""
        (total,) = connection.execute("SELECT coalesce(sum(size), 0) FROM facts").fetchone()
        if total <= self._limit:
            return
        for key, size in connection.execute("SELECT key, size FROM facts ORDER BY used, key").fetchall():
            connection.execute("DELETE FROM facts WHERE key = ?", (key,))
            total -= size
            if total <= self._limit // 2:
                return

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection | None]:
        """One transaction; errors of the store end it, and the store with it."""
        connection = self._connection
        if connection is None:
            yield None
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:  # locked for long by another scan, or damaged
            self._give_up(connection, error)
            yield None
            return
        try:
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(connection, error)

    def _give_up(self, connection: sqlite3.Connection, error: sqlite3.Error) -> None:
        self._connection = None
        connection.close()
        if not isinstance(error, sqlite3.OperationalError):
            self._discard()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _clock(connection: sqlite3.Connection) -> int:
    """The count of uses so far: order is all that matters."""
    (now,) = connection.execute("SELECT coalesce(max(used), 0) FROM facts").fetchone()
    return int(now)


def _key(kind: str, digest: bytes, code: tuple[str, ...]) -> bytes:
    return hashlib.blake2b(fingerprint(code) + kind.encode() + b"\0" + digest, digest_size=20).digest()


def _parts(keys: list[bytes]) -> Iterator[list[bytes]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
