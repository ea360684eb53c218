"""Registries: entries that say by data on which devices they may be used, and whom they leave out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.model import Effect, Gate, Step, Verdict
from analyzer.python import contracts
from analyzer.python.values import Class, Instance, Raised, Site, Truth, Value, truth

if TYPE_CHECKING:
    from analyzer.python.frames import Frame
    from analyzer.python.machine import Machine


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: what it serves, what it leads to, and the argument that says on which devices.

    ``site`` and ``code`` are those of the argument, where there is one; ``what`` tells a reader what it is.
    """

    site: Site
    code: str
    name: str
    leads_to: str
    what: str
    module: str
    scope: str


@dataclass(frozen=True, slots=True)
class Told:
    """An entry as one host answers whether it may be used there."""

    entry: Entry
    available: Truth


def entry(frame: Frame, node: ast.Call, callee: Value, result: Value) -> Entry | None:
    """The entry that a call makes, if it makes one."""
    if not isinstance(callee.data, Class) or callee.data.dotted not in contracts.registries():
        return None
    registry = contracts.registries()[callee.data.dotted]
    given = next((keyword for keyword in node.keywords if keyword.arg == registry.argument), None)
    if not isinstance(result.data, Instance):
        return None
    name, leads_to = (result.data.attributes.get(field) for field in (registry.name, registry.leads_to))
    if name is None or not isinstance(name.data, str):
        return None
    by = str(leads_to.data) if leads_to is not None and isinstance(leads_to.data, str) else ""
    return Entry(
        frame.site(given.value if given is not None else node),
        f"{name.data}: {registry.argument}={ast.unparse(given.value)}" if given is not None else name.data,
        name.data,
        by,
        f"the registry's entry for {name.data} by {by}" if by else f"the registry's entry for {name.data}",
        frame.module.source.name,
        frame.qualname,
    )


def answers(m: Machine, made: Mapping[Entry, Value]) -> Iterator[Told]:
    """What the registry's own method says of each entry on the host."""
    site = Site("", 1, 1, 1)
    platforms: dict[str, Value] = {}
    for one, value in made.items():
        assert isinstance(value.data, Instance)
        registry = contracts.registries()[value.data.of.dotted]
        m.steps = 0
        answer: Value | None = None
        with suppress(KeyError, Raised, m.budget, RecursionError), m.aside():
            if registry.path not in platforms:
                platforms[registry.path] = m.call(m.named(registry.platform), [], {}, site)
            method = m.attribute(value, registry.method, site)
            answer = m.call(method, [platforms[registry.path]], {}, site)
        if answer is not None:
            yield Told(one, truth(answer))


def gates(
    found: Mapping[str, Sequence[Told]], target: str, references: Sequence[str]
) -> list[tuple[Gate, str, str]]:
    """The gates at entries that tell architectures apart, with the module and scope of each.

    An entry is lost to the target if it refuses it and some reference may use it; another of the same name
    that the target may use takes its place.
    """
    entries: dict[Entry, dict[str, Truth]] = {}
    for arch, told in found.items():
        for answer in told:
            entries.setdefault(answer.entry, {})[arch] = answer.available
    serving: dict[str, list[Entry]] = {}
    for one, available in entries.items():
        if available.get(target) is Truth.TRUE:
            serving.setdefault(one.name, []).append(one)
    made = []
    for one in sorted(entries, key=lambda entry: (*entry.site.start, entry.name)):
        verdict = {arch: _verdict(entries[one].get(arch)) for arch in found}
        if not {"admit", "reject"} <= set(verdict.values()):
            continue
        lost = verdict[target] == "reject" and any(verdict.get(arch) == "admit" for arch in references)
        instead = next(iter(serving.get(one.name, ())), None) if lost else None
        effect: Effect = "none" if not lost else "degraded" if instead is not None else "excluded"
        made.append((_gate(one, verdict, effect, instead), one.module, one.scope))
    return made


def _verdict(available: Truth | None) -> Verdict:
    """What an entry says of an architecture; one that was not seen there says nothing."""
    if available in (Truth.TRUE, Truth.FREE):
        return "admit"
    return "reject" if available is Truth.FALSE else "unknown"


def _gate(one: Entry, verdict: dict[str, Verdict], effect: Effect, instead: Entry | None) -> Gate:
    return Gate(
        id="",
        layer="api",
        **one.site.span,
        scope=one.scope or "<module>",
        code=one.code,
        verdict=verdict,
        effect=effect,
        silent=effect != "none",
        falls_back_to=instead.leads_to or None if instead is not None else None,
        admits=one.leads_to or None,
        because=(Step(one.site.file, one.site.line, one.what),),
    )
