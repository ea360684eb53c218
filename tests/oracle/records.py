"""What the scanned packages answered when run under a simulated device, to hold the evaluator against."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from packaging.version import Version

from analyzer import archs
from analyzer.python import expressions, library
from analyzer.python.device import Host
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.values import (
    Choice,
    Dict,
    External,
    Free,
    Instance,
    List,
    Raised,
    Set,
    Site,
    Unknown,
    Value,
    is_constant,
    lift,
)

ORACLE = Path(__file__).resolve().parents[2].parent / "shared" / "oracle" / "python"
PACKAGES = ("flashinfer_python-0.6.3", "sglang-0.5.8.post1")
SITE = Site("<test>", 1, 1, 1)


def records(package: str) -> dict[str, Any]:
    """The recorded answers of one package."""
    path = ORACLE / f"{package}.json"
    if not path.is_file():
        pytest.skip("the recorded executions (shared/oracle) are not present")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def products() -> dict[str, dict[str, str]]:
    """What the simulated device of each capability has beyond its architecture.

    As entries of ``device_api.toml`` that are free, with the expressions that they had in the recorded runs.
    """
    tree = ast.parse((ORACLE / "oracle_py.py").read_text())
    tables = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("SM_COUNT", "NAMES")
    }
    return {
        f"{major}.{minor}": {
            "torch.cuda.get_device_properties().multi_processor_count": repr(count),
            "torch.cuda.get_device_properties().name": repr(tables["NAMES"][major, minor]),
            "torch.cuda.get_device_name()": repr(tables["NAMES"][major, minor]),
            "pynvml.nvmlDeviceGetName()": repr(tables["NAMES"][major, minor]),
        }
        for (major, minor), count in tables["SM_COUNT"].items()
    }


class Silent:
    """A recorder that takes no notes."""

    def decision(self, *_: Any) -> None:
        return None

    def called(self, *_: Any) -> None:
        return None

    def imported(self, *_: Any) -> None:
        return None

    def bound(self, *_: Any) -> None:
        return None

    def table(self, *_: Any) -> None:
        """Tables of sizes are of no interest here."""

    def compared(self, *_: Any) -> None:
        """Not of interest."""

    def refused(self, *_: Any) -> None:
        """What the toolkit refuses is of no interest here."""

    def listed(self, *_: Any) -> None:
        """Lists of architectures are of no interest here."""

    def put(self, *_: Any) -> None: ...

    def kept(self, *_: Any) -> None: ...

    def stored(self, *_: Any) -> None:
        return None

    def unresolved(self, *_: Any) -> None:
        return None


def index_of(root: Path, also: Iterator[str] | list[str]) -> ModuleIndex:
    """All modules of a tree; ``also``: distributions that were present in the recorded runs."""
    files = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    required = list(also)
    for path in root.glob("*.dist-info/METADATA"):
        for line in path.read_text(encoding="utf-8").splitlines():
            found = re.match(r"Requires-Dist: ([\w.-]+)(?!.*extra ==)", line)
            if found:
                required.append(found.group(1))
    return ModuleIndex(files, lambda file: (root / file).read_bytes(), required)


def machine(index: ModuleIndex, capability: str, cuda: str, environment: Mapping[str, str] = {}) -> Machine:
    """The evaluator for one simulated run."""
    major, minor = cuda.split(".")
    host = Host(archs.find(capability), (int(major), int(minor)), tuple(environment.items()))
    return Machine(host, index, Silent())


def argument(m: Machine, recorded: Any) -> Value:
    """The argument that the recorded call was given; a device is an object that says ``cuda``."""
    if recorded == "cuda:0":
        attributes = {"type": Value("cuda"), "index": Value(0)}
        return m.call(Value(library.MODELS["types.SimpleNamespace"]), [], attributes, SITE)
    if isinstance(recorded, str) and recorded.startswith("torch."):
        return Value(External(recorded))
    return lift(recorded)


def outcome(m: Machine, compute: Callable[[], Value]) -> Value | Raised:
    """What a computation gives, or what it raises; each may take as long as a walk may."""
    m.steps = 0
    m.may_raise = False
    try:
        value = compute()
        if isinstance(value.data, Instance) and expressions.namedtuple_fields(m, value.data.of):
            return Value(tuple(expressions.iterate(m, value, SITE) or ()))
        return value
    except Raised as error:
        return error


def judge(got: Value | Raised, want: Any) -> str:
    """``equal``, ``undecided`` or ``wrong``: a choice is wrong if no option is the recorded value."""
    raises = want["raises"]["type"] if isinstance(want, dict) and "raises" in want else None
    if isinstance(got, Raised):
        return "equal" if got.kind.rpartition(".")[2] == raises else "wrong"
    return _judge_data(got.data, want, raises)


def _judge_data(data: Any, want: Any, raises: str | None) -> str:
    if isinstance(data, (Free, Unknown, External)):
        return "undecided"
    if isinstance(data, Choice):
        found = {judge(option, want) for option in data.options}
        return found.pop() if len(found) == 1 else "undecided"
    if isinstance(data, Instance) and data.symbolic:
        return "undecided"
    if raises is not None:
        return "wrong"
    if isinstance(data, Dict):
        sure = {str(key): item for key, (_, item) in data.items.items() if key not in data.maybe}
        return _keyed(sure, data.open, want)
    if isinstance(data, (List, tuple)):
        items = data.items if isinstance(data, List) else data
        return _ordered(list(items), isinstance(data, List) and data.open, want)
    if isinstance(data, Set):
        return _ordered([Value(key) for key in sorted(data.items)], data.open, want)
    if isinstance(data, (Version, PurePosixPath)):
        data = str(data)
    if is_constant(data):
        return "equal" if type(data) is type(want) and data == want else "wrong"
    return "undecided"


def _keyed(items: dict[Any, Value], is_open: bool, want: Any) -> str:
    if not isinstance(want, dict) or not items.keys() <= want.keys():
        return "wrong"
    if is_open or items.keys() != want.keys():
        return "undecided" if is_open else "wrong"
    return _worst(judge(item, want[key]) for key, item in items.items())


def _ordered(items: list[Value], is_open: bool, want: Any) -> str:
    if is_open:
        return "undecided"
    if not isinstance(want, list) or len(items) != len(want):
        return "wrong"
    return _worst(judge(item, expected) for item, expected in zip(items, want, strict=True))


def _worst(found: Iterator[str]) -> str:
    every = {"equal", *found}
    return next(verdict for verdict in ("wrong", "undecided", "equal") if verdict in every)


@dataclass
class Tally:
    """Verdicts over many records, with what is worth reading when it fails."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    undecided: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, got: Value | Raised, want: Any) -> str:
        verdict = judge(got, want)
        self.counts[verdict] += 1
        if verdict == "wrong":
            self.wrong[f"{name}: {_shown(got)}, recorded {want!r}"] += 1
        elif verdict == "undecided":
            self.undecided[f"{name}: {_shown(got)}, recorded {want!r}"] += 1
        return verdict

    @property
    def known(self) -> float:
        """The share of records that are decided, in 0..1."""
        return self.counts["equal"] / max(1, self.counts["equal"] + self.counts["undecided"])

    def __str__(self) -> str:
        lines = [", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))]
        for title, found in (("wrong", self.wrong), ("undecided", self.undecided)):
            lines += [f"  {title} x{count}: {text}" for text, count in found.most_common(40)]
        return "\n".join(lines)


def _shown(got: Value | Raised) -> str:
    if isinstance(got, Raised):
        return f"raises {got} at {got.site.file}:{got.site.line}"
    data = got.data
    if isinstance(data, Choice):
        return "one of " + ", ".join(_shown(option) for option in data.options)
    if isinstance(data, (List, Dict, Set)):
        return f"{type(data).__name__}{list(data.items)[:4]}{'...' if data.open else ''}"
    return repr(data)
