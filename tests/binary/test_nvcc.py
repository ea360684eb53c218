"""Fat binaries that nvcc makes here and now, held against what was asked for and what cuobjdump lists."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from analyzer.binary import library
from tests.binary import toolkit

pytestmark = pytest.mark.skipif(toolkit.tool("nvcc") is None, reason="nvcc is not at hand")

SOURCE = """
__global__ void plus(float* x) { x[threadIdx.x] += 1; }
template <int N> __global__ void times(float* x) { x[threadIdx.x] *= N; }
void launch(float* x) { plus<<<1, 32>>>(x); times<2><<<1, 32>>>(x); }
"""
MACHINE = ["80", "90a", "100f", "103a", "120", "120a", "121f"]
PTX = ["90", "90a", "120f"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "k.cu").write_text(SOURCE)
    asked = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in MACHINE]
    asked += [f"-gencode=arch=compute_{arch},code=compute_{arch}" for arch in PTX]
    toolkit.nvcc(folder / "k.cu", folder / "k.o", "-c", *asked)
    toolkit.nvcc(folder / "k.cu", folder / "rdc.o", "-dc", "-gencode=arch=compute_120a,code=sm_120a")
    subprocess.run(["ar", "rc", folder / "k.a", folder / "k.o", folder / "rdc.o"], check=True)
    return folder


def names(folder: Path, name: str) -> Counter[str]:
    return Counter(image.name for unit in library.read(folder, name).units for image in unit.images)


def test_what_was_asked_for(folder: Path) -> None:
    wanted = Counter([*(f"sm_{arch}" for arch in MACHINE), *(f"compute_{arch}" for arch in PTX)])
    assert names(folder, "k.o") == wanted
    assert names(folder, "k.a") == wanted + Counter(["sm_120a"])


@pytest.mark.skipif(toolkit.tool("cuobjdump") is None, reason="cuobjdump is not at hand")
@pytest.mark.parametrize("name", ["k.o", "rdc.o", "k.a"])
def test_what_cuobjdump_lists(folder: Path, name: str) -> None:
    """But for the families of machine code, which it does not tell."""
    ours: Counter[str] = Counter()
    for image, count in names(folder, name).items():
        ours[image.removesuffix("f") if image.startswith("sm_") else image] += count
    assert ours == toolkit.listed(folder / name)


def test_kernels(folder: Path) -> None:
    (unit,) = library.read(folder, "k.o").units
    machine = [image for image in unit.images if image.kind == "machine"]
    told = library.kernels(folder, "k.o", machine)
    assert [sorted(found or ()) for found in told] == [["_Z4plusPf", "_Z5timesILi2EEvPf"]] * len(MACHINE)
