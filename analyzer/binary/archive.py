"""Static libraries: the members of an ``ar`` archive.

The format is a magic line and, for each member, a header of 60 bytes of text and the content, padded to an
even size. Source: ``ar(5)``; names of more than 15 characters stand in the member ``//`` (GNU, System V).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.binary.errors import DamagedError
from analyzer.binary.fatbin import Buffer

MAGIC = b"!<arch>\n"
_HEADER = 60


@dataclass(frozen=True, slots=True)
class Member:
    """A member that is no table of names or symbols; where its content begins and ends."""

    name: str
    start: int
    end: int


def members(data: Buffer) -> Iterator[Member]:
    """The object files of an archive.

    Raises:
        DamagedError: a header is cut off or is none.
    """
    position, size = len(MAGIC), len(data)
    names = b""
    while position < size:
        header = data[position : position + _HEADER]
        if len(header) < _HEADER or header[58:] != b"`\n":
            raise DamagedError(f"no member header at offset {position} of the archive")
        digits = header[48:58].strip()
        if not digits.isdigit():
            raise DamagedError(f"a member at offset {position} of the archive has no size")
        start = position + _HEADER
        end = start + int(digits)
        if end > size:
            raise DamagedError(f"the member at offset {position} of the archive is cut off")
        name = header[:16].rstrip()
        if name == b"//":
            names = data[start:end]
        elif name not in (b"/", b"/SYM64/"):
            yield Member(_name(name, names), start, end)
        position = end + end % 2


def _name(field: bytes, names: bytes) -> str:
    if field[:1] == b"/" and field[1:].isdigit():
        first = int(field[1:])
        field = names[first : max(names.find(b"\n", first), 0)]
    return field.removesuffix(b"/").decode("utf-8", "replace")
