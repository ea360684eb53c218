"""Guards that take a declaration from the target which its code still names: it does not compile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from analyzer.cuda.guards import Draft
from analyzer.cuda.program import ReadFile

#: Declarations that a compiler looks for where a name stands; that of a function may be found later on.
_KINDS = frozenset({"variable", "alias", "class"})
_LOST = ("excluded", "degraded")
#: What stands before a name that is used, and after one; anything else could declare it.
_BEFORE = re.compile(r"(?:[(,=+/%?\[{;!|^<-]|(?<!:):|\b(?:return|case))\s*\Z")
_AFTER = re.compile(r"\s*(?:[)\],;:?+*/%|^}<>&.-]|[=!]=)")


def refined(
    drafts: Sequence[Draft], references: Mapping[str, Sequence[ReadFile]], units: Sequence[Sequence[ReadFile]]
) -> tuple[Draft, ...]:
    """The drafts; those that leave a unit of the target without a name that it uses raise.

    ``references`` are the files as references compile them, by path; ``units`` as the target does. Nothing is
    claimed where any mention of the name in the unit may declare it.
    """
    return tuple(_refined(draft, references, units) for draft in drafts)


def may_be(draft: Draft) -> bool:
    """Whether it is asked what a guard declares: one outside of functions and classes that takes code."""
    return draft.effect in _LOST and not draft.kind and draft.layer == "guard"


def _refined(
    draft: Draft, references: Mapping[str, Sequence[ReadFile]], units: Sequence[Sequence[ReadFile]]
) -> Draft:
    if not may_be(draft):
        return draft
    names = dict.fromkeys(_declared(draft, references.get(draft.file, ())))
    for files in units:
        if any(file.path == draft.file for file in files):
            for name in names:
                place = _used(name, files)
                if place is not None:
                    message = f"{name} is not declared ({place})"
                    return replace(draft, effect="raises", message=message, breaks=True)
    return draft


def _declared(draft: Draft, files: Sequence[ReadFile]) -> Iterator[str]:
    """What the lines of the guard declare outside of classes and functions."""
    for file in files:
        classes = {definition.path for definition in file.facts.definitions if definition.kind == "class"}
        for definition in file.facts.definitions:
            inside = draft.line < definition.line <= draft.last and definition.kind in _KINDS
            if inside and definition.scope not in classes and not definition.doubtful:
                yield definition.name


def _used(name: str, files: Sequence[ReadFile]) -> str | None:
    """Where a unit uses a name that nothing in it declares; None if it does not, or something may."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    place: str | None = None
    for file in files:
        code = file.text.code
        if name not in code:
            if any(macro.name == name or word.search(macro.body) for macro in file.text.macros()):
                return None
            continue
        for match in word.finditer(code):
            if not _BEFORE.search(code, max(0, match.start() - 80), match.start()):
                return None
            if not _AFTER.match(code, match.end()):
                return None
            place = place or f"{file.path}:{file.text.source.line(match.start())}"
    return place
