"""Device machine code (cubin): its architecture and the kernels in it.

A cubin is an ELF file of machine type 190. Of thousands of them in a library only two tables are read, so
they are read here and not through a general ELF reader, which takes some hundred times as long.

Sources: ``llvm/BinaryFormat/ELF.h`` (``EM_CUDA``; ``e_flags`` in both versions of the ABI;
``STO_CUDA_ENTRY``); the compatibility attribute and the tool's note as ptxas 12.8 and 13.0 write them.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from analyzer.archs import Spelling
from analyzer.binary.errors import DamagedError

MACHINE = 190

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _NOBITS = 2, 8
_FUNCTION, _ENTRY = 2, 0x10
_ABI_OLD = 7
_SPECIFIC_OLD, _SPECIFIC = 0x800, 0x8
#: ``.nv.compat``: a record of kind 2 is an attribute and its value; 9 is code for one GPU only.
_ACCELERATOR = bytes([0x02, 0x09, 0x01])
_TOLD = re.compile(rb"-arch[ =]+sm_(\d+)([af]?)\b")


@dataclass(frozen=True, slots=True)
class Section:
    """A row of the section table, with its name. Offset and size in bytes."""

    name: str
    kind: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """The tables of a cubin."""

    data: bytes | memoryview
    abi: int
    flags: int
    sections: tuple[Section, ...]

    def content(self, section: Section) -> bytes:
        """What a section holds."""
        if section.kind == _NOBITS:
            return b""
        return bytes(self.data[section.offset : section.offset + section.size])

    def named(self, name: str) -> bytes:
        """What the section of that name holds; empty if there is none."""
        return next((self.content(section) for section in self.sections if section.name == name), b"")


def parse(data: bytes | memoryview) -> Cubin:
    """Read the tables.

    Raises:
        DamagedError: it is no cubin, or an offset or size leads out of it.
    """
    if len(data) < _HEADER.size or data[:6] != b"\x7fELF\x02\x01":
        raise DamagedError("not a 64-bit little-endian ELF file")
    ident, _, machine, _, _, _, table, flags, _, _, _, width, count, names = _HEADER.unpack_from(data)
    if machine != MACHINE:
        raise DamagedError(f"ELF for machine {machine}, not for a GPU")
    if width != _SECTION.size or table + count * width > len(data) or names >= max(count, 1):
        raise DamagedError("the section table is cut off")
    rows = [_SECTION.unpack_from(data, table + number * width) for number in range(count)]
    for _, kind, _, _, offset, size, *_ in rows:
        if kind != _NOBITS and offset + size > len(data):
            raise DamagedError("a section points outside the file")
    first, length = (rows[names][4], rows[names][5]) if rows else (0, 0)
    strings = bytes(data[first : first + length])
    sections = tuple(
        Section(_string(strings, name), kind, offset, size, link)
        for name, kind, _, _, offset, size, link, *_ in rows
    )
    return Cubin(data, ident[8], flags, sections)


def _string(strings: bytes, offset: int) -> str:
    return strings[offset : max(strings.find(b"\0", offset), 0)].decode("utf-8", "replace")


def spelling(cubin: Cubin) -> Spelling:
    """The architecture that the code is for.

    A family target (``f``) is told by the compiler's note alone; without it the code counts as plain, which
    runs on the same GPUs.
    """
    old = cubin.abi <= _ABI_OLD
    number = cubin.flags & 0xFF if old else cubin.flags >> 8 & 0xFF
    told = _TOLD.search(cubin.named(".note.nv.tkinfo"))
    if told is not None and int(told.group(1)) == number:
        return Spelling(number, told.group(2).decode())
    compat = cubin.named(".nv.compat")
    specific = cubin.flags & (_SPECIFIC_OLD if old else _SPECIFIC) or _marked(compat)
    return Spelling(number, "a" if specific else "")


def _marked(compat: bytes) -> bool:
    """Whether the attributes say that the code is for one GPU only. They are the first record, if any."""
    return compat.startswith(_ACCELERATOR)


def kernels(cubin: Cubin) -> tuple[str, ...]:
    """The (mangled) names of the kernels, in the order of the symbol table.

    Raises:
        DamagedError: the symbol table points outside its strings.
    """
    found: list[str] = []
    for section in cubin.sections:
        if section.kind != _SYMTAB:
            continue
        if section.link >= len(cubin.sections):
            raise DamagedError("the symbol table has no strings")
        strings = cubin.content(cubin.sections[section.link])
        rows = cubin.content(section)
        for name, info, other, *_ in _SYMBOL.iter_unpack(rows[: len(rows) // _SYMBOL.size * _SYMBOL.size]):
            if info & 0xF == _FUNCTION and other & _ENTRY:
                found.append(_string(strings, name))
    return tuple(found)
