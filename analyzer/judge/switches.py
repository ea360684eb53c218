"""Switches in the environment that are on by default and lead the target to a library without code for it.

Nothing asks the device there: a default that was tried on other chips routes every one of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from analyzer.identity import Numbering
from analyzer.model import Gate, Justification, Step
from analyzer.python.findings import Findings
from analyzer.python.natives import Natives
from analyzer.python.observe import Switched
from analyzer.python.values import Site

Sure = Mapping[str, Sequence[tuple[str, Site]]]
"""By function, what it calls on every way, and where."""


def gates(
    found: Mapping[str, Findings],
    natives: Natives,
    target: str,
    references: Sequence[str],
    names: Iterable[str],
) -> list[Gate]:
    """A gate with the effect ``wrongly_admitted`` for each such default, where it is written.

    Args:
        found: what each architecture told; the calls are those of the references.
        natives: the libraries that the target meets.
        target: the architecture in question.
        references: what it is compared with.
        names: all architectures, for the verdict: no default tells them apart.
    """
    led: dict[tuple[Site, str], tuple[Step, ...]] = {}
    for arch in references:
        for switch in found[arch].switched:
            way = _to_lost(found[arch].sure, switch, natives, target)
            if way:
                led.setdefault((switch.default, switch.variable), way)
    numbering = Numbering()
    made = []
    for (site, variable), way in sorted(led.items(), key=lambda item: (item[0][0].start, item[0][1])):
        name, order = numbering.next("env", site.file, "<module>", variable)
        made.append(
            Gate(
                id=name,
                layer="env",
                **site.span,
                scope="<module>",
                code=variable,
                verdict=dict.fromkeys(names, "admit"),
                effect="wrongly_admitted",
                silent=True,
                because=(Step(site.file, site.line, f"{variable} is on where it is not set"), *way[:-1]),
                justification=Justification("unknown", way),
                order=order,
            )
        )
    return made


def _to_lost(sure: Sure, switch: Switched, natives: Natives, target: str) -> tuple[Step, ...]:
    """The shortest way from the call under a switch to a lost library, by calls made on every way."""
    first = Step(switch.site.file, switch.site.line, f"calls {switch.callee}")
    waiting: deque[tuple[str, tuple[Step, ...]]] = deque([(switch.callee, (first,))])
    seen = {switch.callee}
    while waiting:
        name, way = waiting.popleft()
        for native, what in natives.lost(name):
            lost = f"{what}: this library carries no code that {target} can run"
            return (*way, Step(native.file, 1, lost))
        for callee, site in sure.get(name, ()):
            if callee not in seen:
                seen.add(callee)
                waiting.append((callee, (*way, Step(site.file, site.line, f"calls {callee}"))))
    return ()
