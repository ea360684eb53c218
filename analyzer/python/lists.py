"""Lists of architectures that Python puts into the environment of a build, and whom they leave out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from analyzer import archs, data
from analyzer.archs import Spelling
from analyzer.model import Effect, Gate, Step, Verdict
from analyzer.python import contracts
from analyzer.python.values import List, Set, Site, Value, plain

_NAME = re.compile(r"(sm_?|compute_)?(\d{2,3}|\d{1,2}\.\d)[af]?")
_ITEM = re.compile(r"(\d+\.\d[af]?|\d{2,3}[af]?)(\+PTX|-real|-virtual)?\Z")


@dataclass(frozen=True, slots=True)
class ArchList:
    """A value that a variable is given, or an option is made with: where, and the architectures in it."""

    site: Site
    variable: str
    text: str
    module: str
    scope: str


@cache
def variables() -> frozenset[str]:
    """The names of variables that list the architectures of a build."""
    return frozenset(data.table("contracts")["arch_lists"]["variables"])


@cache
def _ends() -> tuple[str, ...]:
    return tuple(data.table("contracts")["arch_constants"]["ends"])


def constants(words: Iterable[str]) -> set[str]:
    """Those among some names that a constant may have which lists architectures."""
    return {word for word in words if word.endswith(_ends())}


def listed(name: str, container: tuple[Value, ...] | List | Set) -> str | None:
    """What a constant of that name lists, as :func:`parse` reads it; nothing if it is no such list."""
    if not name.endswith(_ends()) or not names_architectures(container):
        return None
    items = container if isinstance(container, tuple) else plain(Value(container))
    texts = [item.data if isinstance(item, Value) else item for item in items]
    if not all(isinstance(text, str) for text in texts):
        return None
    return ";".join(_item(text) for text in sorted(texts))


def _item(text: str) -> str:
    """A name of an architecture as an item of a list: ``sm_90`` is machine code, and no PTX."""
    match = _NAME.fullmatch(text)
    number = text[len(match[1] or "") :] if match is not None else text
    return f"{number}-real" if text.startswith("sm") and number.isdigit() else number


def names_architectures(data: tuple[Value, ...] | List | Set) -> bool:
    """Whether all that a container holds are names, numbers or capabilities of architectures."""
    if isinstance(data, tuple):
        items: Iterable[Value] = data
    elif data.open:
        return False
    else:
        items = data.items.values() if isinstance(data, Set) else data.items
    found = [_named(item.data) for item in items]
    return bool(found) and all(found)


def _named(item: object) -> bool:
    numbers, capabilities = _numbers()
    if isinstance(item, tuple) and len(item) == 2:
        return tuple(part.data if isinstance(part, Value) else part for part in item) in capabilities
    if isinstance(item, str):
        match = _NAME.fullmatch(item)
        # One with its prefix is meant, also if it is newer than what is known here.
        return match is not None and (bool(match[1]) or int(match[2].replace(".", "")) in numbers)
    return isinstance(item, int) and not isinstance(item, bool) and item in numbers


@cache
def _numbers() -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Compute capabilities as one number and majors; as pairs."""
    known = archs.profiles()
    numbers = {arch.number for arch in known} | {arch.major for arch in known}
    return frozenset(numbers), frozenset((arch.major, arch.minor) for arch in known)


def parse(text: str) -> list[tuple[Spelling, bool, bool]] | None:
    """Each architecture with whether machine code and PTX are made for it; nothing if one is not a number.

    Source: ``torch/utils/cpp_extension.py`` (``9.0+PTX``), CMake's ``CUDA_ARCHITECTURES`` (``90-real``).
    """
    found = []
    for item in re.split(r"[\s,;]+", text.strip()):
        match = _ITEM.match(item)
        if match is None:
            return None
        mark = match.group(2) or ""
        plain = "." not in match.group(1) and not mark  # CMake makes both of a bare number
        ptx = mark in ("+PTX", "-virtual") or plain
        found.append((Spelling.parse(match.group(1)), mark != "-virtual", ptx))
    return found


def serves(text: str, arch: str) -> bool | None:
    """Whether an architecture can run what is built for a list; nothing if the list is not understood."""
    made = parse(text)
    if made is None:
        return None
    profile = archs.find(arch)
    return any(
        (machine and spelling.runs_on(profile)) or (ptx and spelling.compiles_on(profile))
        for spelling, machine, ptx in made
    )


def gates(
    found: Mapping[str, Sequence[ArchList]], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at lists that the target sets, with the module and scope of each."""
    lists: dict[Site, dict[str, ArchList]] = {}
    for arch, told in found.items():
        for item in told:
            if item.variable not in contracts.pins():
                lists.setdefault(item.site, {})[arch] = item
    made = []
    for site in sorted(lists, key=lambda site: site.start):
        here = lists[site]
        if target not in here:
            continue
        verdict = {arch: _verdict(here.get(arch), arch) for arch in found}
        if len(set(verdict.values()) - {"unknown"}) < 2:
            continue
        served = any(verdict.get(arch) == "admit" for arch in references)
        effect: Effect = "no_image" if verdict[target] == "reject" and served else "none"
        own = here[target]
        made.append((_gate(own, verdict, effect, target), own.module, own.scope))
    return made


def _verdict(item: ArchList | None, arch: str) -> Verdict:
    served = serves(item.text, arch) if item is not None else None
    return "unknown" if served is None else "admit" if served else "reject"


def _gate(item: ArchList, verdict: dict[str, Verdict], effect: Effect, target: str) -> Gate:
    site = item.site
    can = "can run it" if verdict[target] == "admit" else "can run none of it"
    return Gate(
        id="",
        layer="env",
        **site.span,
        scope=item.scope or "<module>",
        code=f"{item.variable}={item.text}",
        verdict=verdict,
        effect=effect,
        because=(Step(site.file, site.line, f"builds for {item.text}: {target} {can}"),),
    )
