"""Files of a package that none of its builds is seen to compile: who does, and how, is not known.

Headers for the user's own kernels, sources that are handed to a compiler at run time, templates. They are
looked at one by one, as the builds beside them would compile them, with every flag given whose lack would
take synchronisation away: what is lost even so is told. Packages without any build are left alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from analyzer import archs
from analyzer.cuda.flags import flag_names
from analyzer.cuda.units import BuildUnits


def beside(builds: Sequence[BuildUnits], files: Iterable[str]) -> tuple[BuildUnits, ...]:
    """For each package with builds, its files as one build: all folders, the flags that all builds share.

    Files of whole architectures (``a``) are compiled: the richest spelling of each.
    """
    by_package: dict[str, list[BuildUnits]] = defaultdict(list)
    for build in builds:
        for top in dict.fromkeys(map(_package, build.named)):
            by_package[top].append(build)
    sources: dict[str, list[str]] = defaultdict(list)
    for path in files:
        sources[_package(path)].append(path)
    return tuple(
        _together(own, sorted(sources[top])) for top, own in sorted(by_package.items()) if sources[top]
    )


def _package(path: str) -> str:
    return path.partition("/")[0]


def _together(builds: Sequence[BuildUnits], sources: Sequence[str]) -> BuildUnits:
    folders = Counter(folder for build in builds for folder in dict.fromkeys(build.include_dirs))
    spelling = {arch.name: arch.richest for arch in archs.profiles()}
    return BuildUnits(
        name="",
        sources=tuple(sources),
        include_dirs=tuple(folder for folder, _ in folders.most_common()),
        macros={arch: _shared(builds, arch) for arch in spelling},
        spelling=spelling,
        cuda=builds[0].cuda,
    )


def _shared(builds: Sequence[BuildUnits], arch: str) -> dict[str, str]:
    """The macros that all builds define alike, and those without which synchronisation is lost."""
    first, *rest = (build.macros.get(arch, {}) for build in builds)
    shared = {name: text for name, text in first.items() if all(one.get(name) == text for one in rest)}
    return shared | dict.fromkeys(flag_names(), "1")
