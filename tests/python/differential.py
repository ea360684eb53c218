"""Small programs run twice: for real, in a process of their own under a simulated torch, and evaluated."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import Raised, Value
from tests.oracle.records import SITE, judge, machine, outcome

CAPABILITIES = ("7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1")

#: Run by the real interpreter: imports the program afresh for each capability and asks it.
_REAL = """
import contextlib, io, json, os, sys, types
root, spec = sys.argv[1], json.loads(sys.argv[2])
os.environ.clear(); os.environ.update(spec["environment"])
sys.path.insert(0, root)
ours = set(sys.modules)
def plain(value):
    import enum
    if isinstance(value, enum.Enum): return str(value)
    if isinstance(value, (set, frozenset)): return [plain(v) for v in sorted(value)]
    if isinstance(value, (list, tuple)): return [plain(v) for v in value]
    if isinstance(value, dict): return {k: plain(v) for k, v in value.items()}
    return value
def ask(compute):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return plain(compute())
    except Exception as error:
        return {"raises": {"type": type(error).__name__}}
answers = {}
for text in spec["capabilities"]:
    major, minor = map(int, text.split("."))
    for name in set(sys.modules) - ours: del sys.modules[name]
    torch = types.ModuleType("torch"); torch.__path__ = []
    torch.cuda = types.SimpleNamespace(
        get_device_capability=lambda device=None, c=(major, minor): c, is_available=lambda: True,
        device_count=lambda: 1, current_device=lambda: 0,
        get_device_properties=lambda device=None, a=major, b=minor: types.SimpleNamespace(major=a, minor=b))
    torch.version = types.SimpleNamespace(cuda=spec["cuda"], hip=None)
    sys.modules["torch"] = torch
    import importlib; importlib.invalidate_caches()
    case = importlib.import_module("case")
    found = {}
    for name in sorted(vars(case)):
        if name.startswith("ask"): found[name] = ask(vars(case)[name])
        elif name.startswith("VALUE"): found[name] = plain(vars(case)[name])
    answers[text] = found
print(json.dumps(answers))
"""


def execute(
    root: Path,
    cuda: str = "13.0",
    environment: Mapping[str, str] = {},
    capabilities: tuple[str, ...] = CAPABILITIES,
) -> dict[str, dict[str, Any]]:
    """What ``case.py`` under ``root`` answers: capability to name to value, or ``{"raises": {"type": …}}``.

    Asked are all functions whose name begins with ``ask``, and the names that begin with ``VALUE``.
    """
    spec = json.dumps({"cuda": cuda, "environment": dict(environment), "capabilities": capabilities})
    command = [sys.executable, "-I", "-c", _REAL, str(root), spec]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def write(root: Path, files: Mapping[str, str] | str) -> ModuleIndex:
    """Write a program (one text is ``case.py``), and index it."""
    texts = {"case.py": files} if isinstance(files, str) else files
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return ModuleIndex(texts, lambda file: (root / file).read_bytes())


def answer(m: Machine, name: str) -> Value | Raised:
    """What the evaluator says to one of the program's names."""

    def compute() -> Value:
        found = m.named(f"case.{name}")
        return m.call(found, [], {}, SITE) if name.startswith("ask") else found

    return outcome(m, compute)


def check(
    root: Path,
    files: Mapping[str, str] | str,
    cuda: str = "13.0",
    environment: Mapping[str, str] = {},
) -> None:
    """Assert that the evaluator gives every answer that the real run gives, for every capability.

    Names that begin with ``ask_open`` or ``VALUE_OPEN`` may stay undecided, but must not be wrong.
    """
    index = write(root, files)
    real = execute(root, cuda, environment)
    assert any(real.values()), "the program asks nothing"
    failures: list[str] = []
    for capability, wanted in real.items():
        m = machine(index, capability, cuda, environment)
        for name, want in wanted.items():
            got = answer(m, name)
            verdict = judge(got, want)
            allowed = ("equal", "undecided") if "open" in name.lower() else ("equal",)
            if verdict not in allowed:
                shown = got if isinstance(got, Raised) else getattr(got.data, "options", got.data)
                failures.append(f"{name} on {capability}: {verdict}: {shown!r}, really {want!r}")
    assert not failures, "\n".join(failures[:20])
