"""What calls lead to in packages that are not in the tree: where following them ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from analyzer.model import Notice
from analyzer.python.findings import Findings

#: Names of callees that a notice gives as examples.
_SHOWN = 3


def unlinked(found: Mapping[str, Findings], leading: Iterable[str]) -> tuple[Notice, ...]:
    """One notice for each package outside the tree that decides by architecture itself and is called from it.

    Args:
        found: architecture to what its survey told.
        leading: the architectures whose calls are looked at.
    """
    places: dict[str, set[tuple[str, int, int]]] = {}
    callees: dict[str, set[str]] = {}
    callers: dict[str, set[str]] = {}
    for arch in leading:
        for call in found[arch].calls:
            top = call.package
            if top is None:
                continue
            places.setdefault(top, set()).add(call.site.start)
            callees.setdefault(top, set()).add(call.callee)
            callers.setdefault(top, set()).add(call.caller.partition(".")[0])
    return tuple(
        Notice(
            what=f"{top} is not in the tree: {len(places[top])} calls into it are not followed "
            f"({', '.join(sorted(callees[top])[:_SHOWN])}{', …' if len(callees[top]) > _SHOWN else ''})",
            packages=(*sorted(callers[top]), top),
        )
        for top in sorted(places)
    )
