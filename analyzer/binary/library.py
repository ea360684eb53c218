"""What a compiled library holds: device images by translation unit, operators, Python modules."""

from __future__ import annotations

import io
import mmap
import os
import re
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from elftools.elf.elffile import ELFFile

from analyzer.binary import archive, cubin, fatbin
from analyzer.binary.errors import DamagedError
from analyzer.binary.fatbin import Buffer, Image

#: A library is not asked for more sections than this: the number is read from the file.
_SECTIONS = 100_000
#: The fields of a section header by the width of addresses, and the type of a section without content.
#: Source: System V ABI, https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.sheader.html.
_ROWS = {32: "10I", 64: "IIQQQQIIQQ"}
_NOBITS = 8
#: ``name(arguments) -> results`` of an operator, as PyTorch's registration keeps it.
#: Source: https://docs.pytorch.org/cppdocs/library.html, ``torch::Library::def``.
_SCHEMA = re.compile(rb"(?<=\0)(?:\w+::)?([A-Za-z_][\w.]*)\([^\0]*\)\s*->\s*[^\0]+(?=\0)")
_INIT = b"PyInit_"


@dataclass(frozen=True, slots=True)
class Unit:
    """The images of one translation unit; ``member``: of which object file of an archive."""

    member: str
    images: tuple[Image, ...]


@dataclass(frozen=True, slots=True)
class Library:
    """A library of the tree.

    ``operators``: names under which it registers operators with a schema; ``modules``: Python modules that it
    is.
    """

    path: str
    units: tuple[Unit, ...]
    operators: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()


def read(root: Path, path: str) -> Library:
    """Read a library: its tables are looked at in place, nothing is loaded or run.

    Raises:
        DamagedError: it cannot be opened, or is damaged.
    """
    with _Mapped(root / path) as data:
        return _library(path, data)


def kernels(root: Path, path: str, wanted: list[Image]) -> list[tuple[str, ...] | None]:
    """The mangled kernel names of images of a library; nothing for one that cannot be read."""
    found: list[tuple[str, ...] | None] = []
    with _Mapped(root / path) as data:
        for image in wanted:
            try:
                found.append(cubin.kernels(cubin.parse(fatbin.content(data, image))))
            except DamagedError:
                found.append(None)
    return found


def mentions(root: Path, path: str, names: Collection[str]) -> frozenset[str]:
    """Which of some names a library holds: as a string, or in the instructions that make a short one.

    A compiler makes a string of 8 to 15 characters by moving its first eight into a register.
    Source: Intel 64 and IA-32 Architectures Software Developer's Manual, MOV r64, imm64.

    Raises:
        DamagedError: the file cannot be read.
    """
    with _Mapped(root / path) as data:
        rows = list(_sections(data, 0, len(data)))
        return frozenset(
            name
            for name in names
            for section, first, last in rows
            if (section.startswith(".rodata") and data.find(b"\0" + name.encode() + b"\0", first, last) >= 0)
            or (section == ".text" and _moved(data, name.encode(), first, last))
        )


def _moved(data: Buffer, name: bytes, first: int, last: int) -> bool:
    """Whether the first eight characters are the operand of a move into a register."""
    if not 8 <= len(name) < 16:
        return False
    position = data.find(name[:8], first + 2, last)
    while position >= 0:
        if data[position - 2] in (0x48, 0x49) and 0xB8 <= data[position - 1] <= 0xBF:
            return True
        position = data.find(name[:8], position + 1, last)
    return False


class _Mapped:
    """A file as memory, read page by page as it is looked at."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Buffer = b""

    def __enter__(self) -> Buffer:
        try:
            with self.path.open("rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    raise DamagedError("an empty file")
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise DamagedError(error.strerror or str(error)) from error
        self.data.madvise(mmap.MADV_RANDOM)  # headers lie far apart: what is between them stays on disk
        return self.data

    def __exit__(self, *error: object) -> None:
        if isinstance(self.data, mmap.mmap):
            self.data.close()


class _Window(io.RawIOBase):
    """A part of mapped memory as a file."""

    def __init__(self, data: Buffer, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end
        self._at = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end - self._start}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        first = min(self._start + self._at, self._end)
        last = self._end if size < 0 else min(first + size, self._end)
        self._at += last - first
        return self._data[first:last]


def _library(path: str, data: Buffer) -> Library:
    head = data[:8]
    if head == archive.MAGIC:
        units = []
        for member in archive.members(data):
            if data[member.start : member.start + 4] == b"\x7fELF":
                inside = _object(data, member.start, member.end).units
                units += [Unit(member.name, unit.images) for unit in inside]
        return Library(path, tuple(units))
    if head[:4] == fatbin.MAGIC.to_bytes(4, "little"):
        return Library(path, _units(data, 0, len(data)))
    if head[:4] != b"\x7fELF":
        raise DamagedError("not a library: neither ELF, an archive nor a fat binary")
    if int.from_bytes(data[18:20], "little") == cubin.MACHINE:
        whole = data[:]
        made = cubin.spelling(cubin.parse(whole))
        return Library(path, (Unit("", (Image("machine", made, "", 0, len(whole), len(whole)),)),))
    found = _object(data, 0, len(data))
    return Library(path, found.units, found.operators, found.modules)


def _units(data: Buffer, start: int, end: int) -> tuple[Unit, ...]:
    return tuple(Unit("", container.images) for container in fatbin.containers(data, start, end))


def _object(data: Buffer, start: int, end: int) -> Library:
    """An ELF file that lies between two offsets."""
    units: list[Unit] = []
    operators: set[str] = set()
    modules: set[str] = set()
    rows = list(_sections(data, start, end))
    for name, first, last in rows:
        if name in fatbin.SECTIONS:
            units += _units(data, first, last)
    for name, first, last in rows if units else ():
        if name == ".rodata" or name.startswith(".rodata."):
            for match in _SCHEMA.finditer(data, first, last):
                operators.add(match.group(1).decode())
        elif name == ".dynstr":
            modules.update(_modules(data, first, last))
    return Library("", tuple(units), frozenset(operators), frozenset(modules))


def _modules(data: Buffer, first: int, last: int) -> Iterator[str]:
    """The Python modules whose initialisation function is among the dynamic symbols' names."""
    position = data.find(b"\0" + _INIT, first, last)
    while position >= 0:
        end = data.find(b"\0", position + 1, last)
        if end < 0:
            return
        yield data[position + 1 + len(_INIT) : end].decode("utf-8", "replace")
        position = data.find(b"\0" + _INIT, end, last)


class _Header(NamedTuple):
    """What is needed of a section's header: its name's place among the names, its type, where it lies."""

    name: int
    kind: int
    offset: int
    size: int


def _headers(elf: Any, data: Buffer, start: int, end: int) -> list[_Header]:
    """The section headers of a file, read at once: an archive may hold thousands of them.

    Their layout is that of ``Elf64_Shdr`` and ``Elf32_Shdr`` in the System V ABI.

    Raises:
        DamagedError: the table is cut off, or its rows are of another size.
    """
    layout = struct.Struct(("<" if elf.little_endian else ">") + _ROWS[elf.elfclass])
    first, width, count = int(elf["e_shoff"]), int(elf["e_shentsize"]), int(elf.num_sections())
    if not count:
        return []
    if count > _SECTIONS or first + count * width > end - start:
        raise DamagedError("the section table is cut off")
    if width != layout.size:
        raise DamagedError("the rows of the section table are of a size that is not known")
    rows = layout.iter_unpack(data[start + first : start + first + count * width])
    return [_Header(row[0], row[1], row[4], row[5]) for row in rows]


def _sections(data: Buffer, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Name, first and last offset of the sections that have content.

    Raises:
        DamagedError: the tables are damaged or point outside the file.
    """
    try:
        elf: Any = ELFFile(cast(IO[bytes], _Window(data, start, end)))
        rows = _headers(elf, data, start, end)
        names = rows[elf.get_shstrndx()] if rows else _Header(0, 0, 0, 0)
        texts = data[start + names.offset : min(start + names.offset + names.size, end)]
        for row in rows:
            name = texts[row.name : texts.find(b"\0", row.name)].decode("utf-8", "replace")
            if row.kind == _NOBITS or not name:
                continue
            first = start + row.offset
            if first + row.size > end:
                raise DamagedError(f"the section {name} points outside the file")
            yield name, first, first + row.size
    except DamagedError:
        raise
    except Exception as error:  # pyelftools lets many kinds of errors through where tables are damaged
        raise DamagedError(f"damaged ELF tables: {type(error).__name__}") from error
