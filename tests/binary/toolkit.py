"""NVIDIA's command line tools, where they are at hand: in ``.cache/cuda`` (``make toolkit``) or on PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".cache" / "cuda" / "nvidia" / "cu13"
_IMAGE = re.compile(r"^(ELF|PTX) file +\d+: .*\.sm_(\w+)\.(?:cubin|ptx)$", re.MULTILINE)


def tool(name: str) -> str | None:
    """The path of a tool."""
    own = HOME / "bin" / name
    return str(own) if own.is_file() else shutil.which(name)


def nvcc(source: Path, output: Path, *options: str) -> None:
    """Compile, with the headers beside the compiler."""
    command = [tool("nvcc") or "nvcc", *options, "-o", str(output), str(source)]
    if (HOME / "include").is_dir():
        command[1:1] = ["-I", str(HOME / "include")]
    subprocess.run(command, check=True, capture_output=True, text=True)


def listed(library: Path) -> Counter[str]:
    """How many images of each name cuobjdump lists: ``sm_90a``, ``compute_90``."""
    command = [tool("cuobjdump") or "cuobjdump", "--list-elf", "--list-ptx", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return Counter(f"{'sm' if kind == 'ELF' else 'compute'}_{arch}" for kind, arch in _IMAGE.findall(text))
