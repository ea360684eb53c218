"""Guards that only define macros, or do not: what they take from the target shows where these are used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from analyzer.cuda.guards import Draft
from analyzer.cuda.losses import GRAVITY

Mark = tuple[str, int]
"""A guard's place: file and line of its directive."""

#: What a guard passes on to the one that withholds its macro; what else is lost is told where it stands.
_PASSED_ON = ("empty_kernel", "lost_sync")


@dataclass(frozen=True, slots=True)
class Derived:
    """The guards of a build, and which guards hang on each of those that only define macros."""

    drafts: tuple[Draft, ...]
    hanging: Mapping[Mark, tuple[Mark, ...]]


def derived(drafts: Sequence[Draft]) -> Derived:
    """The drafts; a guard that keeps nothing but macros from the target bears what it loses by them.

    A draft hangs on such a guard if one of the lost definitions has a part in its condition.
    """
    by_definition: dict[Mark, Draft] = {}
    for draft in drafts:
        if draft.effect == "none" and {loss.kind for loss in draft.losses} == {"macro"}:
            by_definition.update(((loss.file, loss.line), draft) for loss in draft.losses)
    hanging: dict[Mark, list[Draft]] = defaultdict(list)
    for draft in drafts:
        if draft.effect in _PASSED_ON:
            places = dict.fromkeys((step.file, step.line) for step in draft.because)
            roots = (by_definition[place] for place in places if place in by_definition)
            for mark in dict.fromkeys((root.file, root.line) for root in roots):
                hanging[mark].append(draft)
    return Derived(
        tuple(_bearing(draft, hanging.get((draft.file, draft.line), ())) for draft in drafts),
        {mark: tuple((draft.file, draft.line) for draft in found) for mark, found in hanging.items()},
    )


def _bearing(draft: Draft, hanging: Sequence[Draft]) -> Draft:
    if not hanging:
        return draft
    losses = (loss for other in hanging for loss in other.losses)
    effect = min((other.effect for other in hanging), key=GRAVITY.index)
    return replace(draft, effect=effect, losses=(*draft.losses, *dict.fromkeys(losses)))
