"""The container: headers as nvcc writes them, what images are compressed with, what is damaged."""

from __future__ import annotations

import struct

import lz4.block
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archs import Spelling
from analyzer.binary import fatbin
from analyzer.binary.errors import DamagedError
from tests.binary import made

#: Image headers of a fat binary that nvcc 13.0 made of two kernels with
#: ``-gencode arch=compute_N,code=sm_N`` for 75, 80, 90a, 100f, 103a, 120a, 121f and PTX for 120f, 90, 90a:
#: what is read of each, and its first 64 bytes.
RECORDED = [
    (
        "sm_75",
        "",
        4456,
        4456,
        "020001014000000068110000000000000000000000000000080001004b0000000000000000000000110000",
    ),
    (
        "sm_80",
        "",
        4712,
        4712,
        "02000101400000006812000000000000000000000000000008000100500000000000000000000000110000",
    ),
    (
        "compute_90a",
        "zstd",
        283,
        759,
        "010001015000000020010000000000001b01000040000000000009005a000000000000000000000011801000000000000000000000000000f702",
    ),
    (
        "sm_90a",
        "",
        5320,
        5320,
        "0200010140000000c8140000000000000000000000000000080001005a0000000000000000000000110010",
    ),
    (
        "sm_100f",
        "",
        7856,
        7856,
        "0200010170000000b01e00000000000000000000400000000800010064000000000000000000000011002001",
    ),
    (
        "sm_103a",
        "",
        7856,
        7856,
        "0200010170000000b01e00000000000000000000400000000800010067000000000000000000000011001001",
    ),
    (
        "sm_120a",
        "",
        7856,
        7856,
        "0200010170000000b01e00000000000000000000400000000800010078000000000000000000000011001001",
    ),
    (
        "sm_121f",
        "",
        7856,
        7856,
        "0200010170000000b01e00000000000000000000400000000800010079000000000000000000000011002001",
    ),
    (
        "compute_120f",
        "zstd",
        290,
        785,
        "0100010150000000280100000000000022010000400000000000090078000000000000000000000011802000000000000000000000000000"
        "1103",
    ),
    (
        "compute_90",
        "zstd",
        283,
        758,
        "010001015000000020010000000000001b01000040000000000009005a000000000000000000000011800000000000000000000000000000f602",
    ),
]


def read(data: bytes) -> list[fatbin.Container]:
    return list(fatbin.containers(data, 0, len(data)))


def test_recorded_headers() -> None:
    body = b""
    for _, _, _, _, text in RECORDED:
        header = bytes.fromhex(text).ljust(64, b"\0")
        length, size = struct.unpack_from("<IQ", header, 4)
        body += header + bytes(length - 64 + size)
    (found,) = read(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body)
    assert [(i.name, i.compression, i.size, i.full) for i in found.images] == [row[:4] for row in RECORDED]


def test_containers_with_padding_between() -> None:
    first, second = made.fatbin(made.image(2, 90, "a", b"x" * 8)), made.fatbin(made.image(1, 120, "", b"ptx"))
    found = read(first + bytes(5000) + second + bytes(16))
    assert [[i.name for i in c.images] for c in found] == [["sm_90a"], ["compute_120"]]
    assert [c.offset for c in found] == [0, len(first) + 5000]


def test_other_kinds_are_no_code() -> None:
    (found,) = read(made.fatbin(made.image(8, 90), made.image(64, 90)))
    assert [i.kind for i in found.images] == ["ir", "other"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x01" * 64, "no fat binary"),
        (made.fatbin(made.image(2, 90)) + b"rest", "no fat binary"),
        (made.fatbin(made.image(2, 90))[:-8], "cut off"),
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 2**64 - 1), "cut off"),
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 0, 0) + bytes(16), "cut off"),
        (struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 8) + bytes(8), "header at offset 16"),
        (made.fatbin(made.image(2, 90).replace(b"\x40\0\0\0", b"\0\0\0\0", 1)), "cut off"),
        (made.fatbin(struct.pack("<HHIQ", 2, 1, 64, 2**63) + bytes(48)), "cut off"),
    ],
    ids=range(8),
)
def test_damaged(data: bytes, why: str) -> None:
    with pytest.raises(DamagedError, match=why):
        read(data)


@given(st.binary(max_size=400))
def test_any_bytes_after_the_magic(data: bytes) -> None:
    try:
        found = read(struct.pack("<I", 0xBA55ED50) + data)
    except DamagedError:
        return
    assert all(i.offset + i.size <= len(data) + 4 for c in found for i in c.images)


@given(st.binary(max_size=3000))
def test_compressed_images_come_back(data: bytes) -> None:
    whole = made.fatbin(made.image(2, 120, "a", data, compress=True))
    ((image,),) = [c.images for c in read(whole)]
    assert fatbin.content(whole, image) == data
    packed = lz4.block.compress(data, store_size=False)
    other = fatbin.Image("machine", Spelling(80), "lz4", 0, len(packed), len(data))
    assert fatbin.content(packed, other) == data


@pytest.mark.parametrize("compression", ["zstd", "lz4", "unknown"])
@given(st.binary(max_size=200), st.integers(0, 2**64 - 1))
def test_what_cannot_be_decompressed(compression: str, data: bytes, full: int) -> None:
    image = fatbin.Image("machine", Spelling(90), compression, 0, len(data), full)  # type: ignore[arg-type]
    try:
        found = fatbin.content(data, image)
    except DamagedError:
        return
    assert len(found) <= full


def test_a_small_image_that_claims_to_be_huge() -> None:
    packed = made.image(2, 90, "", bytes(2**20), compress=True)[64:]
    image = fatbin.Image("machine", Spelling(90), "zstd", 0, len(packed), 100)
    with pytest.raises(DamagedError, match="larger than its header says"):
        fatbin.content(packed, image)
    with pytest.raises(DamagedError, match="is not decompressed"):
        fatbin.content(packed, fatbin.Image("machine", Spelling(90), "zstd", 0, len(packed), 2**40))
