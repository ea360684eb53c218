"""Builds that are loaded on an architecture for which their own flags compile nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from analyzer import archs
from analyzer.identity import Numbering
from analyzer.jit.commands import parse
from analyzer.judge.severity import judged
from analyzer.model import Effect, Gate, Justification, Step, Verdict
from analyzer.python.gates import PythonGate
from analyzer.python.observe import Key
from analyzer.python.trials import AUTO, Compiled, Trial


def fits(build: Compiled, arch: str) -> bool:
    """Whether the flags of a build compile anything for an architecture, if only code for its driver."""
    spellings = parse(build.flags).spellings
    return not spellings or any(spelling.compiles_on(archs.find(arch)) for spelling in spellings)


@dataclass(frozen=True, slots=True)
class Images:
    """The gates at flags that leave out an architecture on which the build is loaded, by place and code.

    ``chosen``: the decisions on the device that the flags at a place hang on, for the target.
    """

    gates: Mapping[tuple[str, int, int, str], Gate]
    chosen: Mapping[tuple[str, int, int, str], frozenset[Key]] = field(default_factory=dict)

    def lacking(self, build: Compiled, arch: str) -> str | None:
        """The gate by which a loaded build has nothing for an architecture, if it has not."""
        gate = self.gates.get(_place(build))
        return gate.id if gate is not None and not fits(build, arch) else None


def _place(build: Compiled) -> tuple[str, int, int, str]:
    return build.site.file, build.site.line, build.site.column, build.code


def images(trials: Mapping[str, Iterable[Trial]], target: str, references: Sequence[str]) -> Images:
    """A gate for each place at which the flags of a build leave out an architecture that loads it.

    That the user asks for a back end that is made for another chip is no loss; that the program surely
    chooses so by itself is: effect ``no_image``.
    """
    loaded: dict[tuple[str, int, int, str], dict[str, list[tuple[Compiled, bool]]]] = {}
    for arch, told in trials.items():
        for trial in told:
            for build in trial.compiled:
                own = trial.choice in ("", AUTO) and build.sure
                loaded.setdefault(_place(build), {}).setdefault(arch, []).append((build, own))
    found: dict[tuple[str, int, int, str], Gate] = {}
    chosen: dict[tuple[str, int, int, str], frozenset[Key]] = {}
    numbering = Numbering()
    for place, by_arch in sorted(loaded.items()):
        verdict: dict[str, Verdict] = {
            arch: "admit" if any(fits(build, arch) for build, _ in builds) else "reject"
            for arch, builds in by_arch.items()
        }
        flags = {build.flags for builds in by_arch.values() for build, _ in builds}
        every = [build for builds in by_arch.values() for build, _ in builds]
        build = next((build for build in every if build.flags), every[0])
        for arch in trials:  # where nothing loads it, what is always the same can still be told
            known: Verdict = "unknown" if len(flags) > 1 else "admit" if fits(build, arch) else "reject"
            verdict.setdefault(arch, known)
        if not {"admit", "reject"} <= set(verdict.values()):
            continue
        asked = any(own for _, own in by_arch.get(target, ()))
        lost = verdict.get(target) == "reject" and any(verdict.get(arch) == "admit" for arch in references)
        effect: Effect = "no_image" if lost and asked else "none"
        name, order = numbering.next("jit", build.site.file, build.scope, build.code)
        made = ", ".join(dict.fromkeys(str(s) for s in parse(build.flags).spellings))
        where = "wherever it is loaded" if len(flags) == 1 else "where these flags are chosen"
        gate = Gate(
            id=name,
            layer="jit",
            **build.site.span,
            scope=build.scope or "<module>",
            code=build.code,
            verdict=verdict,
            effect=effect,
            because=(Step(build.site.file, build.site.line, f"compiled for {made} {where}"),),
            order=order,
        )
        found[place] = gate
        chosen[place] = frozenset(key for one, _ in by_arch.get(target, ()) for key in one.chosen)
    return Images(found, chosen)


def chosen_wrongly(found: Images, drafts: Iterable[PythonGate], target: str) -> dict[str, Gate]:
    """The gates, by id, that let the target have the flags by which a build has nothing for it.

    Whom such a gate keeps away, is compiled for; whoever has nothing, was let in.
    """
    wrong: dict[str, Gate] = {}
    for draft in drafts:
        gate = draft.gate
        if gate.effect != "none" or gate.specialised or gate.verdict.get(target) != "admit":
            continue
        kept_away = {arch for arch, verdict in gate.verdict.items() if verdict == "reject"}
        for place, lacking in found.gates.items():
            if lacking.effect != "no_image" or not draft.keys & found.chosen[place]:
                continue
            nothing = {arch for arch, verdict in lacking.verdict.items() if verdict == "reject"}
            if kept_away and not kept_away & nothing:
                step = Step(lacking.file, lacking.line, f"{lacking.because[0].what}: nothing for {target}")
                judgement = Justification("unknown", (step,))
                damaged = msgspec.structs.replace(
                    gate, effect="wrongly_admitted", silent=True, justification=judgement
                )
                wrong[gate.id] = judged(damaged)
    return wrong
