"""Gates of layer ``resource``: tables of tile sizes and launches that ask for too much shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from analyzer import archs
from analyzer.model import Effect, Gate, Step, Verdict
from analyzer.python.findings import Findings
from analyzer.python.launches import Launch
from analyzer.python.tiles import Tiles
from analyzer.python.values import Site

#: File, module, scope and, if they stand in a tuner's call, the lines of this.
Tuned = tuple[str, str, str, tuple[int, int] | None]
#: What Triton raises. Source: ``triton.runtime.errors.OutOfResources``.
MESSAGE = "out of resource: shared memory, Required: {}, Hardware limit: {}"


def gates(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at tables that the target reaches, with the module and scope of each.

    A table is a gate if some architectures have the memory for it and others do not. What an architecture
    does not reach it does not ask for.
    """
    tables: dict[Site, dict[str, Tiles]] = {}
    tuned: dict[Tuned, dict[str, list[Tiles]]] = {}
    for arch, findings in found.items():
        for tiles in findings.tiles:
            if tiles.tuned:
                group = tiles.site.file, tiles.module, tiles.scope, tiles.tuner
                tuned.setdefault(group, {}).setdefault(arch, []).append(tiles)
            else:
                tables.setdefault(tiles.site, {})[arch] = tiles
    made = _tuned(tuned, target, references)
    for site in sorted(tables, key=lambda site: site.start):
        here = tables[site]
        if target not in here:
            continue
        verdict = {arch: _verdict(here.get(arch), arch) for arch in found}
        fits = any(verdict.get(arch) == "admit" for arch in references)
        effect: Effect = "over_resource" if verdict[target] == "reject" and fits else "none"
        if {"admit", "reject"} <= {verdict[arch] for arch in here}:
            own = here[target]
            made.append((_gate(own, verdict, effect, target), own.module, own.scope))
    return made


def _tuned(
    groups: Mapping[Tuned, Mapping[str, Sequence[Tiles]]], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at configurations of a tuner of which the target must do without some.

    One gate for all that a reference can run and the target cannot, at the first, by what the least asks for.
    The tuner passes over them without a word.
    """
    made = []
    for group in sorted(groups, key=str):
        here = groups[group]
        lost = [
            tiles
            for tiles in here.get(target, ())
            if _verdict(tiles, target) == "reject"
            and any(_verdict(tiles, arch) == "admit" and tiles in here.get(arch, ()) for arch in references)
        ]
        if not lost:
            continue
        least = min(
            lost, key=lambda tiles: (tiles.demand(archs.find(target)) or 0, tiles.site.line, tiles.code)
        )
        verdict: dict[str, Verdict] = {arch: _verdict(least, arch) for arch in here}
        some = any(_verdict(tiles, target) != "reject" for tiles in here[target])
        gate = _gate(least, verdict, "degraded" if some else "over_resource", target)
        if some:
            gate = msgspec.structs.replace(
                gate,
                silent=True,
                message=None,
                falls_back_to="a configuration that fits",
                admits=f"{len(lost)} of {len(here[target])} configurations",
            )
        made.append((msgspec.structs.replace(gate, count=len(lost)), least.module, least.scope))
    return made


def _verdict(tiles: Tiles | None, arch: str) -> Verdict:
    profile = archs.find(arch)
    demand = tiles.demand(profile) if tiles is not None else None
    if demand is None:
        return "unknown" if tiles is not None else "reject"
    return "admit" if demand <= profile.shared_per_block else "reject"


def _gate(tiles: Tiles, verdict: dict[str, Verdict], effect: Effect, target: str) -> Gate:
    profile, site = archs.find(target), tiles.site
    demand = tiles.demand(profile)
    what = (
        f"tiles of {tiles.m} x {tiles.k} and {tiles.k} x {tiles.n} elements of at least {tiles.bits} bits in "
        f"{tiles.stages} stages: at least {demand} bytes of shared memory; "
        f"{target} has {profile.shared_per_block}"
    )
    return Gate(
        id="",
        layer="resource",
        **site.span,
        scope=tiles.scope or "<module>",
        code=tiles.code,
        verdict=verdict,
        effect=effect,
        because=(Step(site.file, site.line, what),),
        message=MESSAGE.format(demand, profile.shared_per_block) if effect != "none" else None,
    )


def launched(
    found: Mapping[str, Findings], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at what decides numbers with which the target asks for too much, each at the least of them.

    A launch counts if a reference makes it with the same numbers, and has the memory for it.
    """
    made = []
    limit = archs.find(target).shared_per_block
    places: dict[Site, list[Launch]] = {}
    for one in found[target].launches if target in found else ():
        if one.demand > limit:
            places.setdefault(one.decides, []).append(one)
    for site in sorted(places, key=lambda site: site.start):
        verdicts: dict[Launch, dict[str, Verdict]] = {
            one: {
                arch: "admit" if one.demand <= archs.find(arch).shared_per_block else "reject"
                for arch, told in found.items()
                if one in told.launches
            }
            for one in places[site]
        }
        lost = [one for one in places[site] if any(verdicts[one].get(arch) == "admit" for arch in references)]
        if lost:
            least = min(lost, key=lambda one: (one.demand, one.site.file, one.site.line, one.text))
            verdict: dict[str, Verdict] = {arch: verdicts[least].get(arch, "reject") for arch in found}
            made.append((_launch_gate(least, verdict, target), least.module, least.scope))
    return made


def _launch_gate(one: Launch, verdict: dict[str, Verdict], target: str) -> Gate:
    limit = archs.find(target).shared_per_block
    taken_for = f", where {one.given}" if one.given else ""
    what = (
        f"{one.kernel} is launched with {one.text}{taken_for}: at least {one.demand} bytes of shared memory "
        f"for operands of 16 bits; {target} has {limit}"
    )
    place = one.decides
    return Gate(
        id="",
        layer="resource",
        **place.span,
        scope=one.scope or "<module>",
        code=one.text,
        verdict=verdict,
        effect="over_resource",
        because=(Step(one.site.file, one.site.line, what),),
        message=MESSAGE.format(one.demand, limit),
    )
