"""Small libraries made in memory: fat binaries, cubins, ELF files and archives, with the given content."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import zstandard

FLAGS = {"": 0, "a": 0x100000, "f": 0x200000}


def image(kind: int, number: int, suffix: str = "", data: bytes = b"", compress: bool = False) -> bytes:
    """One entry of a fat binary."""
    stored = zstandard.ZstdCompressor().compress(data) if compress else data
    padded = stored + bytes(-len(stored) % 8)
    flags = 0x11 | FLAGS[suffix] | (0x8000 if compress else 0)
    row = (kind, 0x101, 64, len(padded), len(stored) if compress else 0, 0, 8, 1, number, 0, 0, flags, 0)
    return struct.pack("<HHIQIIHHIIIQQQ", *row, len(data) if compress else 0) + padded


def fatbin(*images: bytes) -> bytes:
    """A container."""
    body = b"".join(images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(
    sections: Sequence[tuple[str, int, bytes, int]], machine: int = 62, flags: int = 0, abi: int = 0
) -> bytes:
    """An ELF file of sections: name, type, content, link."""
    names = b"\0"
    rows = [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    body = b""
    for name, kind, data, link in [*sections, (".shstrtab", 3, b"", 0)]:
        first = len(names)
        names += name.encode() + b"\0"
        content = names if name == ".shstrtab" else data
        width = 24 if kind == 2 else 0
        rows.append(
            struct.pack("<IIQQQQIIQQ", first, kind, 0, 0, 64 + len(body), len(content), link, 0, 8, width)
        )
        body += content + bytes(-len(content) % 8)
    ident = b"\x7fELF\x02\x01\x01\0" + bytes([abi]) + bytes(7)
    count = len(rows)
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", ident, 3, machine, 1, 0, 0, 64 + len(body), flags, 64, 0, 0, 64, count, count - 1
    )
    return header + body + b"".join(rows)


def cubin(number: int, suffix: str = "", kernels: Sequence[str] = (), functions: Sequence[str] = ()) -> bytes:
    """Machine code without any code: tables only, with kernels and other device functions."""
    strings = b"\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, other in [*((k, 0x10) for k in kernels), *((f, 0) for f in functions)]:
        symbols += struct.pack("<IBBHQQ", len(strings), 0x12, other, 1, 0, 0)
        strings += name.encode() + b"\0"
    compat = bytes([2, 9, suffix == "a", 0])
    sections = [(".nv.compat", 1, compat, 0), (".strtab", 3, strings, 0), (".symtab", 2, symbols, 2)]
    if suffix == "f":
        sections.append((".note.nv.tkinfo", 7, b"-arch sm_%df -m 64 \0" % number, 0))
    return elf(sections, machine=190, flags=number << 8 | 4, abi=8)


def shared(containers: bytes, strings: bytes = b"\0", dynamic: bytes = b"\0") -> bytes:
    """A host library with device code."""
    return elf([(".rodata", 1, strings, 0), (".dynstr", 3, dynamic, 0), (".nv_fatbin", 1, containers, 0)])


def archive(members: Sequence[tuple[str, bytes]]) -> bytes:
    """A static library; names of more than 15 characters go to the table of names."""
    long = b"".join(f"{name}/\n".encode() for name, _ in members if len(name) > 15)
    data = b"!<arch>\n"
    if long:
        data += _member(b"//", long)
    place = 0
    for name, content in members:
        if len(name) > 15:
            data += _member(b"/%d" % place, content)
            place += len(name) + 2
        else:
            data += _member(name.encode() + b"/", content)
    return data


def _member(name: bytes, content: bytes) -> bytes:
    header = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(content))
    return header + content + b"\n" * (len(content) % 2)
