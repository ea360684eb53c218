"""Libraries of every kind: what they hold is found; what is damaged is said to be, nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest
import tree_sitter_python
from elftools.elf.elffile import ELFFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.binary import library
from analyzer.binary.errors import DamagedError
from tests.binary import made

SM90 = made.image(2, 90, "a", made.cubin(90, "a", ["_Z4plusPf", "times"]))
SM120 = made.image(2, 120, "a", made.cubin(120, "a", ["_Z4plusPf"]), compress=True)
PTX = made.image(1, 80, "", b".version 8.0")
SCHEMAS = (
    b"\0mine\0scale(Tensor x, float factor) -> Tensor\0"
    b"other::add(Tensor a,\n  Tensor? b=None) -> (Tensor, Tensor)\0not a schema(\0_Z4plusPf\0"
)


def put(folder: Path, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return name


def held(found: library.Library) -> list[tuple[str, list[str]]]:
    return [(unit.member, [image.name for image in unit.images]) for unit in found.units]


def test_a_shared_library(tmp_path: Path) -> None:
    containers = made.fatbin(SM90, SM120) + made.fatbin(PTX)
    data = made.shared(containers, SCHEMAS, b"\0PyInit_ops\0malloc\0")
    found = library.read(tmp_path, put(tmp_path, "ops.so", data))
    assert held(found) == [("", ["sm_90a", "sm_120a"]), ("", ["compute_80"])]
    assert found.operators == {"scale", "add"}
    assert found.modules == {"ops"}


def test_kernels_of_images(tmp_path: Path) -> None:
    name = put(tmp_path, "ops.so", made.shared(made.fatbin(SM90, SM120, PTX)))
    images = list(library.read(tmp_path, name).units[0].images)
    assert library.kernels(tmp_path, name, images) == [("_Z4plusPf", "times"), ("_Z4plusPf",), None]


def test_a_library_without_device_code(tmp_path: Path) -> None:
    found = library.read(tmp_path, put(tmp_path, "plain.so", made.elf([(".rodata", 1, SCHEMAS, 0)])))
    assert found == library.Library("plain.so", ())


def test_an_archive(tmp_path: Path) -> None:
    members = [
        ("host.o", made.elf([])),
        ("a_rather_long_name.o", made.elf([("__nv_relfatbin", 1, made.fatbin(SM90), 0)])),
        ("odd.txt", b"abc"),
        ("gpu.o", made.shared(made.fatbin(SM120))),
    ]
    found = library.read(tmp_path, put(tmp_path, "lib.a", made.archive(members)))
    assert held(found) == [("a_rather_long_name.o", ["sm_90a"]), ("gpu.o", ["sm_120a"])]


def test_bare_images(tmp_path: Path) -> None:
    assert held(library.read(tmp_path, put(tmp_path, "k.cubin", made.cubin(121, "f")))) == [("", ["sm_121f"])]
    assert held(library.read(tmp_path, put(tmp_path, "k.fatbin", made.fatbin(PTX)))) == [("", ["compute_80"])]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "an empty file"),
        (b"GROUP ( libc.so.6 )", "neither ELF"),
        (b"\x7fELF" + bytes(8), "damaged ELF tables"),
        (made.shared(made.fatbin(SM90))[:-70], "section table is cut off"),
        (made.shared(made.fatbin(SM90)[:-8]), "cut off"),
        (made.archive([("a.o", made.elf([]))])[:-4], "cut off"),
        (b"!<arch>\n" + b"x" * 60, "no member header"),
    ],
    ids=range(7),
)
def test_damaged(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(DamagedError, match=why):
        library.read(tmp_path, put(tmp_path, "x.so", data))


def test_the_sections_of_a_real_library_are_those_that_pyelftools_finds() -> None:
    path = Path(tree_sitter_python._binding.__file__)  # every installation of this package has it
    with path.open("rb") as file:
        expected = [
            (section.name, section["sh_offset"], section["sh_offset"] + section["sh_size"])
            for section in ELFFile(file).iter_sections()
            if section["sh_type"] != "SHT_NOBITS" and section.name
        ]
    data = path.read_bytes()
    assert list(library._sections(data, 0, len(data))) == expected
    assert len(expected) > 10


@pytest.mark.parametrize(
    ("position", "value", "why"),
    [
        (0x3A, 72, "rows of the section table"),
        (0x3C, 0xFFF0, "cut off"),
        (0x3E, 0xFF00, "damaged ELF tables"),
    ],
)
def test_a_section_table_that_is_odd(tmp_path: Path, position: int, value: int, why: str) -> None:
    data = bytearray(made.elf([(".rodata", 1, SCHEMAS, 0)]) + bytes(64))
    data[position : position + 2] = value.to_bytes(2, "little")
    with pytest.raises(DamagedError, match=why):
        library.read(tmp_path, put(tmp_path, "odd.so", bytes(data)))


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="No such file"):
        library.read(tmp_path, "x.so")


def test_a_section_that_points_outside(tmp_path: Path) -> None:
    data = bytearray(made.shared(made.fatbin(SM90)))
    table = int.from_bytes(data[40:48], "little")
    data[table + 3 * 64 + 32 : table + 3 * 64 + 40] = (2**40).to_bytes(8, "little")  # size of .nv_fatbin
    with pytest.raises(DamagedError, match="points outside"):
        library.read(tmp_path, put(tmp_path, "x.so", bytes(data)))


@pytest.mark.parametrize(
    "whole",
    [
        made.shared(made.fatbin(SM90, SM120) + made.fatbin(PTX), SCHEMAS, b"\0PyInit_ops\0"),
        made.archive([("gpu.o", made.shared(made.fatbin(SM120))), ("a_rather_long_name.o", made.elf([]))]),
        made.cubin(90, "a", ["k"]),
    ],
    ids=["shared", "archive", "cubin"],
)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_hostile(tmp_path: Path, whole: bytes, data: st.DataObject) -> None:
    """Bytes changed anywhere, sizes that overflow, and an end that is missing."""
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(changed) - 8))
        number = data.draw(st.sampled_from([0, 1, 2**31, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1))
        width = data.draw(st.sampled_from([1, 2, 4, 8]))
        changed[place : place + width] = number.to_bytes(8, "little")[:width]
    cut = bytes(changed[: data.draw(st.integers(1, len(changed)))])
    name = put(tmp_path, "x.so", cut)
    try:
        found = library.read(tmp_path, name)
    except DamagedError:
        return
    images = [image for unit in found.units for image in unit.images]
    assert all(image.offset + image.size <= len(cut) for image in images)
    assert len(library.kernels(tmp_path, name, images)) == len(images)
