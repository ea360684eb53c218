"""Kernels that launch to do nothing, because what they call was compiled out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzer.cuda import work
from analyzer.cuda.functions import Definition
from analyzer.cuda.guards import Draft
from analyzer.cuda.program import ReadFile
from analyzer.model import Loss

#: How many calls deep an emptied function is followed to the kernels that call it.
_DEPTH = 4
_DEVICE = ("device", "host_device")


def refined(drafts: Sequence[Draft], files: Sequence[ReadFile]) -> tuple[Draft, ...]:
    """The drafts; those that take all work from a kernel through a function that it calls say so.

    ``files`` are those of a build as the target compiles them. A function is hollow if nothing is left of it
    but calls of hollow functions; where a name has several definitions, all must be.
    """
    return tuple(_refined(draft, files) for draft in drafts)


def _refined(draft: Draft, files: Sequence[ReadFile]) -> Draft:
    if draft.effect != "excluded" or draft.kind not in _DEVICE or not draft.scope:
        return draft
    name = draft.scope.rpartition("::")[2]
    if not _all_hollow(name, files, frozenset()):
        return draft
    kernels = tuple(_emptied(frozenset([name]), files))
    if not kernels:
        return draft
    losses = [Loss(kernel.name, "body", file.path, kernel.line) for file, kernel in kernels]
    return replace(draft, effect="empty_kernel", losses=(*draft.losses, *dict.fromkeys(losses)))


def _emptied(hollow: frozenset[str], files: Sequence[ReadFile]) -> Iterator[tuple[ReadFile, Definition]]:
    """The kernels of which nothing is left but calls of hollow functions."""
    for _ in range(_DEPTH):
        further: set[str] = set()
        for file, caller in _callers(hollow, files):
            if caller.kind == "kernel":
                if _is_hollow(file, caller, hollow):
                    yield file, caller
            elif caller.name not in hollow and _all_hollow(caller.name, files, hollow):
                further.add(caller.name)
        if not further:
            return
        hollow |= further


def _callers(names: frozenset[str], files: Sequence[ReadFile]) -> Iterator[tuple[ReadFile, Definition]]:
    """The device code that mentions one of the names."""
    for file in files:
        code = file.text.code
        if not any(name in code for name in names):
            continue
        for definition in file.facts.functions:
            if definition.kind in ("kernel", *_DEVICE) and definition.name not in names:
                start, end = definition.body
                if any(code.find(name, start, end) >= 0 for name in names):
                    yield file, definition


def _all_hollow(name: str, files: Sequence[ReadFile], hollow: frozenset[str]) -> bool:
    found = [
        (file, definition)
        for file in files
        for definition in file.table.definitions.get(name, ())
        if definition.is_function
    ]
    return bool(found) and all(_is_hollow(file, definition, hollow) for file, definition in found)


def _is_hollow(file: ReadFile, definition: Definition, hollow: frozenset[str]) -> bool:
    return not work.has_work(file.text.text, definition.parameters, definition.end, hollow)
