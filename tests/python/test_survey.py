"""Which functions are walked by themselves on architectures that are neither the target nor a reference."""

from __future__ import annotations

from analyzer import archs
from analyzer.python import survey
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.words import words

PROGRAM = """
import torch

def tile(major):
    if major >= 9:
        return 128
    return 64

def run():
    return tile(torch.cuda.get_device_capability()[0])
"""


def test_what_is_only_reached_by_calls_is_left_to_its_callers() -> None:
    program = {"pkg/__init__.py": "", "pkg/tiles.py": PROGRAM}
    index = ModuleIndex(list(program), lambda file: program[file].encode(), ["torch"])
    interest = survey.Interest(index, {file: words(text.encode()) for file, text in program.items()})
    observer = Observer()
    work = survey.Survey(Machine(Host(archs.find("sm_90"), (13, 0)), index, observer), observer)
    survey.run(work, interest)
    assert {decision.scope for decision in observer.decisions.values()} == {"tile"}
    assert survey.telling(work) == {("pkg.tiles", "run"), ("pkg.tiles", "")}
