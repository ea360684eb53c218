"""Notices about packages that ask for another version of a scanned package than the one present."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from analyzer.model import Notice
from analyzer.tree.packages import UNKNOWN, Package

#: Conditions in metadata are read for the platform that runs these GPUs, whatever runs the scan.
_PLATFORM = {
    "os_name": "posix",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "extra": "",
}


def notices(packages: Iterable[Package]) -> tuple[Notice, ...]:
    """One notice for each requirement between scanned packages that is not met, in order of names."""
    present = {canonicalize_name(package.name): package for package in packages}
    return tuple(
        Notice(
            what=f"{package.name} {package.version} requires {requirement.name}{requirement.specifier}, "
            f"but {other.version} is scanned",
            packages=(package.name, other.name),
        )
        for _, package in sorted(present.items())
        for requirement in _requirements(package)
        if (other := present.get(canonicalize_name(requirement.name))) and not _met(requirement, other)
    )


def _requirements(package: Package) -> list[Requirement]:
    """The requirements that hold without any extra; those that cannot be read are left out."""
    result: dict[str, Requirement] = {}
    for text in package.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(_PLATFORM):
            result.setdefault(f"{canonicalize_name(requirement.name)}{requirement.specifier}", requirement)
    return [requirement for _, requirement in sorted(result.items())]


def _met(requirement: Requirement, other: Package) -> bool:
    """Whether the version fits; an unknown version is not called a mismatch."""
    if other.version == UNKNOWN:
        return True
    try:
        return requirement.specifier.contains(other.version, prereleases=True)
    except InvalidVersion:
        return True


def required(packages: Iterable[Package]) -> frozenset[str]:
    """The distributions that the packages require without an extra: installed beside them, they import."""
    return frozenset(
        requirement.name
        for package in packages
        for requirement in _requirements(package)
        if requirement.marker is None or "extra" not in str(requirement.marker)
    )
