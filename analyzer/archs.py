"""Architecture profiles and their compiler spellings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from analyzer import data


@dataclass(frozen=True, slots=True)
class Arch:
    """One GPU architecture. Sizes in bytes; ``index`` is its place among the known ones."""

    name: str
    index: int
    major: int
    minor: int
    family: tuple[str, ...]
    first_cuda: tuple[int, int]
    shared_per_block: int
    shared_per_sm: int
    cluster: int
    suffixes: tuple[str, ...]
    products: tuple[str, ...]

    @property
    def number(self) -> int:
        """``120`` for compute capability 12.0."""
        return self.major * 10 + self.minor

    @property
    def capability(self) -> str:
        """``"12.0"``."""
        return f"{self.major}.{self.minor}"

    @property
    def richest(self) -> Spelling:
        """The spelling with which the compiler knows all that the GPU has: ``a``, where there is one."""
        return Spelling(self.number, "a" if "a" in self.suffixes else "")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a build names an architecture to the compiler: number and suffix (``""``, ``a`` or ``f``)."""

    number: int
    suffix: str = ""

    def __str__(self) -> str:
        """``12.0a``, the form used in reports."""
        return f"{self.number // 10}.{self.number % 10}{self.suffix}"

    @property
    def target(self) -> str:
        """``sm_120a``, the form used by compilers."""
        return f"sm_{self.number}{self.suffix}"

    def macros(self) -> dict[str, str]:
        """The macros that nvcc predefines in the device pass for this spelling.

        Source: ``nvcc --dryrun`` of CUDA 13.0 for every spelling; CUDA C++ Programming Guide,
        "Feature Availability" (architecture-specific and family-specific macros).
        """
        value = str(self.number * 10)
        macros = {"__CUDA_ARCH__": value}
        if self.suffix == "a":
            macros[f"__CUDA_ARCH_FEAT_SM{self.number}_ALL"] = "1"
            macros["__CUDA_ARCH_SPECIFIC__"] = value
        if self.suffix in ("a", "f"):
            macros["__CUDA_ARCH_FAMILY_SPECIFIC__"] = value
        return macros

    def runs_on(self, arch: Arch) -> bool:
        """Whether a GPU runs machine code made for this.

        It runs on the same major version and an equal or higher minor one; what is made for one GPU (``a``)
        on that alone, for a family (``f``) on its members.

        Source: CUDA C++ Programming Guide, "Binary Compatibility", "Family-Specific Architecture Features".
        """
        if self.suffix:
            return self._alone(arch)
        return self.number // 10 == arch.major and self.number % 10 <= arch.minor

    def compiles_on(self, arch: Arch) -> bool:
        """Whether the driver of a GPU can compile PTX made for this: an equal or lower version.

        Source: CUDA C++ Programming Guide, "PTX Compatibility"; for ``a`` and ``f`` as for machine code.
        """
        return self._alone(arch) if self.suffix else self.number <= arch.number

    def _alone(self, arch: Arch) -> bool:
        if self.suffix == "a":
            return self.number == arch.number
        return any(arch.name in made.family for made in profiles() if made.number == self.number)

    @classmethod
    def parse(cls, text: str) -> Spelling:
        """From ``12.0a``, ``120a``, ``sm_120a`` or ``compute_120a``.

        Raises:
            ValueError: the text is none of these.
        """
        body = text.strip().removeprefix("sm_").removeprefix("compute_")
        suffix = body[-1:] if body[-1:] in ("a", "f") else ""
        digits = body.removesuffix(suffix).replace(".", "") if suffix else body.replace(".", "")
        if not digits.isdigit() or len(digits) < 2:
            raise ValueError(f"not an architecture: {text!r}")
        return cls(int(digits), suffix)


@cache
def profiles() -> tuple[Arch, ...]:
    """All known architectures, by ascending compute capability."""
    rows = []
    for index, row in enumerate(data.table("archs")["arch"]):
        major, minor = row["capability"].split(".")
        cuda_major, cuda_minor = row["first_cuda"].split(".")
        rows.append(
            Arch(
                name=row["name"],
                index=index,
                major=int(major),
                minor=int(minor),
                family=tuple(row["family"]),
                first_cuda=(int(cuda_major), int(cuda_minor)),
                shared_per_block=row["shared_per_block"],
                shared_per_sm=row["shared_per_sm"],
                cluster=row["cluster"],
                suffixes=tuple(row["suffixes"]),
                products=tuple(row["products"]),
            )
        )
    return tuple(rows)


def names() -> tuple[str, ...]:
    """The names of all known architectures, in order."""
    return tuple(arch.name for arch in profiles())


def earlier(names: Iterable[str], target: str) -> list[str]:
    """Those among some architectures that are earlier members of the target's family: it runs their code.

    Source: PTX ISA, ".target": family-specific architectures.
    """
    return [name for name in names if name != target and target in find(name).family]


def find(name: str) -> Arch:
    """The architecture of that name (``sm_120``; ``120``, ``12.0`` and ``sm120`` are understood).

    Raises:
        ValueError: no such architecture; the message names the known ones.
    """
    text = name.strip().lower().removeprefix("sm").removeprefix("_").replace(".", "")
    for arch in profiles():
        if text == str(arch.number):
            return arch
    raise ValueError(f"unknown architecture {name!r}; known: {', '.join(names())}")
