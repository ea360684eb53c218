"""Which GPUs can run a device image."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.archs import Arch
from analyzer.binary.fatbin import Image

#: The order in which kinds of images are named.
_KINDS = ("machine", "ptx", "ir", "other")


def runs_on(image: Image, arch: Arch) -> bool:
    """Whether a GPU can run an image: machine code as it is, PTX after the driver has compiled it."""
    if image.kind == "machine":
        return image.arch.runs_on(arch)
    return image.kind == "ptx" and image.arch.compiles_on(arch)


def names(images: Iterable[Image]) -> tuple[str, ...]:
    """What a set of images is made for, each once: machine code first, by ascending version."""
    ordered = sorted(
        images, key=lambda image: (_KINDS.index(image.kind), image.arch.number, image.arch.suffix)
    )
    return tuple(dict.fromkeys(image.name for image in ordered))
