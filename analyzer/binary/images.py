"""Which GPUs can run a device image."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.archs import Arch, profiles
from analyzer.binary.fatbin import Image

#: The order in which kinds of images are named.
_KINDS = ("machine", "ptx", "ir", "other")


def runs_on(image: Image, arch: Arch) -> bool:
    """Whether a GPU can run an image: machine code as it is, PTX after the driver has compiled it.

    Machine code runs on the same major version and an equal or higher minor one, PTX on an equal or higher
    version. What is made for one GPU (``a``) runs on that alone, for a family (``f``) on its members.

    Source: CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility" and "Family-Specific
    Architecture Features".
    """
    made = image.arch
    if image.kind not in ("machine", "ptx"):
        return False
    if made.suffix == "a":
        return made.number == arch.number
    if made.suffix == "f":
        return arch.name in _family(made.number)
    if image.kind == "ptx":
        return made.number <= arch.number
    return made.number // 10 == arch.major and made.number % 10 <= arch.minor


def _family(number: int) -> tuple[str, ...]:
    return next((arch.family for arch in profiles() if arch.number == number), ())


def names(images: Iterable[Image]) -> tuple[str, ...]:
    """What a set of images is made for, each once: machine code first, by ascending version."""
    ordered = sorted(
        images, key=lambda image: (_KINDS.index(image.kind), image.arch.number, image.arch.suffix)
    )
    return tuple(dict.fromkeys(image.name for image in ordered))
