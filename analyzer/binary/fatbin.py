"""The fat binary container: the device images that nvcc puts into host code, with their architectures.

A container is a header and, one after the other, entries of a header and its image, all little-endian::

    container  0  u32 magic 0xBA55ED50   4  u16 version 1   6  u16 size of this header
               8  u64 size of all entries
    entry      0  u16 kind (1 PTX, 2 machine code (ELF), 8 NVVM IR for link-time optimisation)
               2  u16 version 0x0101     4  u32 size of this header, at least 64
               8  u64 size of the image, padded    16  u32 size of the image if it is compressed, else 0
              28  u32 architecture (120)           40  u64 flags: 0x2000 LZ4, 0x8000 zstd,
              56  u64 size when decompressed               0x100000 ``a``, 0x200000 ``f``

Sources: ``fatbinary_section.h`` of the CUDA toolkit (sections and magic numbers);
https://github.com/n-eiling/cuda-fatbin-decompression (header fields, LZ4); the flags for zstd, ``a`` and
``f`` as nvcc 12.8 and 13.0 set them, which ``tests/binary`` holds against nvcc and cuobjdump.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from mmap import mmap
from typing import Literal

import lz4.block
import zstandard

from analyzer.archs import Spelling
from analyzer.binary.errors import DamagedError

Kind = Literal["ptx", "machine", "ir", "other"]
Compression = Literal["", "lz4", "zstd", "unknown"]
Buffer = bytes | mmap

MAGIC = 0xBA55ED50
#: The sections of an object file in which nvcc puts containers: linked, and relocatable device code.
SECTIONS = (".nv_fatbin", "__nv_relfatbin")
#: An image is not decompressed beyond this size, whatever its header says.
LARGEST = 256 * 2**20

_CONTAINER = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_KINDS: dict[int, Kind] = {1: "ptx", 2: "machine", 8: "ir"}
_LZ4, _ZSTD, _SPECIFIC, _FAMILY = 0x2000, 0x8000, 0x100000, 0x200000


@dataclass(frozen=True, slots=True)
class Image:
    """One device image. Offsets and sizes in bytes; ``full`` is the size when decompressed."""

    kind: Kind
    arch: Spelling
    compression: Compression
    offset: int
    size: int
    full: int

    @property
    def name(self) -> str:
        """``sm_120a``; ``compute_120`` for PTX."""
        return self.arch.target if self.kind == "machine" else f"compute_{self.arch.number}{self.arch.suffix}"


@dataclass(frozen=True, slots=True)
class Container:
    """The images of one translation unit (or one device link): each holds the same code for another GPU."""

    offset: int
    images: tuple[Image, ...]


def containers(data: Buffer, start: int, end: int) -> Iterator[Container]:
    """The containers between two offsets; zeros between them are padding.

    Raises:
        DamagedError: something else stands there, or a size leads out of what holds it.
    """
    position = start
    while position < end:
        if end - position < _CONTAINER.size:
            if any(data[position:end]):
                raise DamagedError(f"no fat binary at offset {position}")
            return
        magic, _, header, size = _CONTAINER.unpack_from(data, position)
        if magic == 0:
            position = _padding(data, position, end)
            continue
        if magic != MAGIC:
            raise DamagedError(f"no fat binary at offset {position}")
        stop = position + header + size
        if header < _CONTAINER.size or stop > end:
            raise DamagedError(f"the fat binary at offset {position} is cut off")
        yield Container(position, tuple(_images(data, position + header, stop)))
        position = stop


def _padding(data: Buffer, position: int, end: int) -> int:
    """The end of the zeros that begin here."""
    while position < end:
        block = data[position : min(position + 4096, end)]
        rest = block.lstrip(b"\0")
        if rest:
            return position + len(block) - len(rest)
        position += len(block)
    return end


def _images(data: Buffer, position: int, stop: int) -> Iterator[Image]:
    while position < stop:
        if stop - position < _ENTRY.size:
            raise DamagedError(f"the image header at offset {position} is cut off")
        row = _ENTRY.unpack_from(data, position)
        kind, _, header, size, compressed, _, _, _, number, _, _, flags, _, full = row
        first = position + header
        if header < _ENTRY.size or first + size > stop or compressed > size:
            raise DamagedError(f"the image at offset {position} is cut off")
        compression: Compression = "zstd" if flags & _ZSTD else "lz4" if flags & _LZ4 else ""
        if compressed and not compression:
            compression = "unknown"
        suffix = "a" if flags & _SPECIFIC else "f" if flags & _FAMILY else ""
        yield Image(
            _KINDS.get(kind, "other"),
            Spelling(number, suffix),
            compression,
            first,
            compressed or size,
            full or size,
        )
        position = first + size


def content(data: Buffer, image: Image) -> bytes | memoryview:
    """An image as the compiler made it; one that is not compressed stays where it is.

    Raises:
        DamagedError: it is compressed in a way that is not known, or it is not what its header says.
    """
    if not image.compression:
        return memoryview(data)[image.offset : image.offset + image.size]
    raw = data[image.offset : image.offset + image.size]
    if image.full > LARGEST:
        raise DamagedError(f"an image of {image.full} bytes is not decompressed")
    try:
        if image.compression == "lz4":
            return bytes(lz4.block.decompress(raw, uncompressed_size=image.full))
        if image.compression == "zstd":
            if zstandard.frame_content_size(raw) > image.full:
                raise DamagedError("a compressed image is larger than its header says")
            return zstandard.ZstdDecompressor().decompress(raw, max_output_size=image.full)
    except (lz4.block.LZ4BlockError, zstandard.ZstdError, ValueError, MemoryError) as error:
        raise DamagedError(f"an image cannot be decompressed: {error}") from error
    raise DamagedError("an image is compressed in a way that is not known")
