"""From the guards that builds meet to gates: one for each place, alike ones that nobody can run collapsed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from analyzer.archs import find
from analyzer.cuda.guards import Draft
from analyzer.identity import Numbering, digest
from analyzer.model import BuildVerdict, Effect, Gate, Place, Verdict

Mark = tuple[str, int]
"""A guard's place: file and line of its directive."""


@dataclass(frozen=True, slots=True)
class GuardGate:
    """A guard, the builds whose units include it, and those of them with an export that can run into it."""

    gate: Gate
    builds: tuple[str, ...]
    reached_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A place and what each build makes of it, in the order of builds.

    Without a build (an empty name) for a file that none compiles. ``constant`` are the builds in which all
    architectures fare alike, with the mask of those that pass. ``followed``: every build with a draft has
    exports.
    """

    drafts: tuple[tuple[str, Draft], ...]
    constant: tuple[tuple[str, int], ...]
    reached_by: tuple[str, ...]
    followed: bool

    @property
    def deciding(self) -> Draft:
        """As the build has it by which the target loses most, of those that can run into it if any can."""
        reached = [draft for build, draft in self.drafts if build in self.reached_by]
        return min(reached or [draft for _, draft in self.drafts], key=lambda draft: draft.gravity)

    @property
    def masks(self) -> list[tuple[str, int, int]]:
        """Each build with the masks of architectures that pass, and for which that is not known."""
        rows = [(build, draft.admit, draft.unknown) for build, draft in self.drafts]
        return [*rows, *((build, admit, 0) for build, admit in self.constant)]

    @property
    def met(self) -> bool:
        """Whether somebody can run into it, as far as is known."""
        return bool(self.reached_by) or not self.followed

    @property
    def compiled(self) -> bool:
        """Whether some build compiles the file."""
        return any(build for build, _ in self.drafts)


def gates(
    seen: Iterable[Seen], archs: Sequence[str], target: str, references: Sequence[str]
) -> tuple[tuple[GuardGate, ...], Mapping[Mark, str]]:
    """The gates at these places, by file and line, and the id of the gate at each place."""
    groups: dict[tuple[object, ...], list[Seen]] = defaultdict(list)
    for place in sorted(seen, key=lambda place: (place.deciding.file, place.deciding.line)):
        groups[_group(place)].append(place)
    numbering = Numbering()
    dispatches = _dispatches(groups.values())
    found: list[GuardGate] = []
    ids: dict[Mark, str] = {}
    for group in groups.values():
        gate = _gate(group, archs, target, references)
        name, order = numbering.next(gate.layer, gate.file, gate.scope, gate.code)
        dispatch = dispatches.get((gate.file, group[0].deciding.group)) if len(group) == 1 else None
        gate = msgspec.structs.replace(gate, id=name, order=order, dispatch=dispatch)
        builds = dict.fromkeys(build for place in group for build, _, _ in place.masks if build)
        reaching = dict.fromkeys(build for place in group for build in place.reached_by)
        found.append(GuardGate(gate, tuple(builds), tuple(reaching)))
        ids.update({(place.deciding.file, place.deciding.line): name for place in group})
    return tuple(found), ids


#: Effects that each place tells in its own way: what is lost there, what takes its place.
_OWN: frozenset[Effect] = frozenset({"empty_kernel", "lost_sync", "excluded", "degraded"})
#: Those of them that each place of a file tells which no build compiles.
_GRAVE: frozenset[Effect] = frozenset({"empty_kernel", "lost_sync"})


def _group(place: Seen) -> tuple[object, ...]:
    """Equal for places that make up one gate."""
    own = place.deciding
    effects = _OWN if place.compiled else _GRAVE
    if own.kind in ("kernel", "build") or (own.effect in effects and place.met):
        return (own.file, own.line)
    alike = (own.layer, own.file, own.code, own.admit, own.unknown, own.effect, own.kind == "")
    return (*alike, place.met)


def _gate(group: Sequence[Seen], archs: Sequence[str], target: str, references: Sequence[str]) -> Gate:
    place = group[0]
    own = place.deciding
    verdict = _verdict(own.admit, own.unknown, archs)
    effect = own.effect if place.met else "none"
    loses = own.losses if effect != "none" else ()
    return Gate(
        id="",
        layer=own.layer,
        file=own.file,
        line=own.line,
        end_line=own.end_line,
        column=own.column,
        scope=own.scope if len(group) == 1 else _common([other.deciding.scope for other in group]),
        code=own.code,
        verdict=verdict,
        effect=effect,
        silent=effect not in ("none", "raises", "illegal_instruction"),
        specialised=_specialised(verdict, target, references),
        falls_back_to=own.falls_back_to if effect != "none" else None,
        loses=loses,
        because=own.because,
        uses=tuple(Place(other.deciding.file, other.deciding.line) for other in group[1:]),
        count=len(group),
        verdict_by_build=_by_build(group, archs),
        message=own.message if effect != "none" else None,
    )


def _verdict(admit: int, unknown: int, archs: Sequence[str]) -> dict[str, Verdict]:
    verdict: dict[str, Verdict] = {}
    for index, arch in enumerate(archs):
        bit = 1 << index
        verdict[arch] = "unknown" if unknown & bit else "admit" if admit & bit else "reject"
    return verdict


def _by_build(group: Sequence[Seen], archs: Sequence[str]) -> tuple[BuildVerdict, ...]:
    """The verdict of each build, where they disagree."""
    masks = [row for place in group for row in place.masks]
    if len({row[1:] for row in masks}) == 1:
        return ()
    verdicts: dict[str, dict[str, Verdict]] = {}
    for build, admit, unknown in masks:
        verdicts.setdefault(build, _verdict(admit, unknown, archs))
    return tuple(BuildVerdict(build, verdict) for build, verdict in verdicts.items())


def _specialised(verdict: Mapping[str, Verdict], target: str, references: Sequence[str]) -> bool:
    """Whether the branch is for the target's generation alone."""
    passing = [arch for arch, value in verdict.items() if value != "reject"]
    if target not in passing or any(arch in passing for arch in references):
        return False
    return all(find(arch).major == find(target).major for arch in passing)


def _common(scopes: Sequence[str]) -> str:
    """The namespaces and classes that the scopes share."""
    first, *rest = [scope.split("::") for scope in scopes]
    for other in rest:
        length = next((i for i, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), None)
        first = first[: min(len(first), len(other)) if length is None else length]
    return "::".join(first)


def _dispatches(groups: Iterable[Sequence[Seen]]) -> dict[tuple[str, int], str]:
    """The dispatch of each ``#if`` chain with several conditions, by file and line of the ``#if``."""
    chains: dict[tuple[str, int], list[Draft]] = defaultdict(list)
    for group in groups:
        for place in group:
            own = place.deciding
            if own.chained:
                chains[own.file, own.group].append(own)
    counts: dict[str, int] = defaultdict(int)
    found: dict[tuple[str, int], str] = {}
    for key in sorted(chains):
        drafts = sorted(chains[key], key=lambda draft: draft.line)
        name = f"{key[0]}:{drafts[0].scope}:{digest('|'.join(draft.code for draft in drafts))}"
        counts[name] += 1
        found[key] = name if counts[name] == 1 else f"{name}.{counts[name]}"
    return found
