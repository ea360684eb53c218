"""Surveys of small programs, or of a part of a tree, on every architecture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from analyzer import archs
from analyzer.model import Gate
from analyzer.python import findings, gates, survey
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.words import words

TARGET, REFERENCES = "sm_120", ("sm_90", "sm_100")


def surveyed(
    files: Iterable[str],
    read: Callable[[str], bytes],
    walked: Iterable[str] | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, findings.Findings]:
    """What a survey tells on each architecture.

    Args:
        files: all files of the tree.
        read: gives a file's bytes.
        walked: the Python files to walk; all if not given.
        names: the architectures; all if not given.
    """
    every = list(files)
    index = ModuleIndex(every, read, ["torch"])
    chosen = [file for file in every if file.endswith(".py")] if walked is None else list(walked)
    interest = survey.Interest(index, {file: words(read(file)) for file in chosen})
    surveys: dict[str, survey.Survey] = {}
    for name in names or archs.names():
        observer = Observer(explaining=name in (TARGET, *REFERENCES))
        surveys[name] = survey.Survey(Machine(Host(archs.find(name), (13, 0)), index, observer), observer)
    size = -1
    while size != interest.size:
        size = interest.size
        for work in surveys.values():
            survey.run(work, interest)
    return {name: findings.collect(work, name) for name, work in surveys.items()}


def gates_of(program: Mapping[str, str], names: Sequence[str] | None = None) -> list[Gate]:
    """The gates of a program given as file names and texts."""
    found = surveyed(program, lambda file: program[file].encode(), names=names)
    return [draft.gate for draft in gates.gates(found, TARGET, REFERENCES).gates]
