"""Every just-in-time build of flashinfer 0.6.3 against its real generators, run under simulated devices.

One record is one generator with one set of arguments on one simulated host (nine capabilities from the
device, eight architecture lists from the environment, two toolkits): whether it raises and what, the build's
name, sources, architecture flags, macros and include folders. Left out, by rule: an outcome that only
complains about the content of a file that a real run downloads, as the recorded runs had a stand-in for it
(``artifacts_stubbed``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from analyzer.python import contracts
from analyzer.python.library import HOLE
from analyzer.python.machine import STEPS, Budget, Machine
from analyzer.python.modules import ROOT, ModuleIndex
from analyzer.python.survey import BUILD_STEPS, HELPER_STEPS
from analyzer.python.values import Function, Instance, List, Raised, Value
from tests.oracle.records import PACKAGES, SITE, argument, index_of, machine, outcome, records

pytestmark = pytest.mark.slow
PACKAGE = "flashinfer_python-0.6.3"


@pytest.fixture(scope="module")
def index(demo: Path) -> ModuleIndex:
    return index_of(demo, [name for package in PACKAGES for name in records(package)["stubs_used"]])


def _generators() -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, call)
        for name, record in records(PACKAGE)["jit"]["generators"].items()
        for call in record["calls"]
    ]


def _follow(function: Function, args: list[Value], keywords: dict[str, Value], tainted: bool) -> int:
    """What a call is worth, as in a survey: what makes a build is followed farther than its helpers."""
    makes = function.name in contracts.build_words() or function.name.startswith("gen_")
    return STEPS if tainted else BUILD_STEPS if makes else HELPER_STEPS


def _holds(runs: dict[str, list[str]], run: str) -> bool:
    kind, cuda, arch = run.split("@")
    return arch in runs.get(f"{kind}@{cuda}", ())


def _recorded(call: dict[str, Any], run: str) -> tuple[dict[str, Any], list[str]] | None:
    """What a generator did in one run: its outcome and the architecture flags."""
    for found in call["outcomes"]:
        if _holds(found["runs"], run):
            gencode = next((row["flags"] for row in found.get("gencode", ()) if _holds(row["runs"], run)), [])
            return found, gencode
    return None


def _stand_in(found: dict[str, Any]) -> bool:
    """Whether an outcome is only that of the stand-in for a downloaded file."""
    raised = found.get("raises", {}).get("type")
    return "artifacts_stubbed" in found and raised in ("AssertionError", "KeyError")


def _texts(value: Value | None) -> list[str | None] | None:
    """The items of a list as text, None for those that are not known; None if the list is not."""
    if value is not None and value.data is None:
        return []
    if value is None or not isinstance(value.data, List) or value.data.open:
        return None
    return [str(i.data) if isinstance(i.data, (str, PurePosixPath)) else None for i in value.data.items]


def _agree(got: list[str | None] | None, want: list[str]) -> str:
    """``equal``, ``undecided`` or ``wrong``: what is known must be there, as often as it is recorded."""
    if got is None:
        return "undecided"
    known = Counter(text for text in got if text is not None and HOLE not in text)
    open_ones = len(got) - known.total()
    if known - Counter(want) or known.total() + open_ones < len(want):
        return "wrong"
    if known == Counter(want):
        return "undecided" if open_ones else "equal"
    return "undecided" if open_ones else "wrong"


def _compare(got: Value, found: dict[str, Any], gencode: list[str]) -> Iterator[tuple[str, str]]:
    """What of a described build agrees with the recorded one."""
    spec = found["spec"]
    attributes = got.data.attributes
    name = attributes["name"].data
    yield "name", "undecided" if not isinstance(name, str) else "equal" if name == spec["name"] else "wrong"
    sources = _texts(attributes["sources"])
    own = sources and [text.removeprefix(ROOT) if text else text for text in sources]
    # What is written into the user's cache is recorded by its number alone.
    inside = own and [text for text in own if text is None or not text.startswith("/<")]
    yield "sources", _agree(inside, spec["sources"]) if own is not None else "undecided"
    if own is not None:
        made = sum(text is not None and text.startswith("/<") for text in own)
        wanted = sum(spec.get("generated_sources", {}).values())
        missing = sum(text is None for text in own)
        yield "generated", "equal" if made == wanted else "undecided" if missing else "wrong"
    flags = _texts(attributes["extra_cuda_cflags"])
    if flags is not None and None not in flags:
        written = [text for text in flags if text]
        yield "gencode", _agree([text for text in written if "-gencode" in text], gencode)
        macros = [text for text in written if text.startswith("-D")]
        yield "defines", _agree(list(macros), spec["defines"])
        others = [
            text.replace(ROOT, "") for text in written if "-gencode" not in text and not text.startswith("-D")
        ]
        yield "flags", _agree(list(others), spec["other_cuda_flags"])
    else:
        yield from ((what, "undecided") for what in ("gencode", "defines", "flags"))
    folders = _texts(attributes["extra_include_dirs"])
    # A folder outside the tree has another name there.
    kept = folders and [text for text in folders if text is None or text.startswith(ROOT)]
    wanted_folders = [path for path in spec["include_dirs"] if not path.startswith("<")]
    yield "include_dirs", _agree(kept and [t and t.removeprefix(ROOT) for t in kept], wanted_folders)


def _judge(m: Machine, name: str, call: dict[str, Any], run: str) -> Iterator[tuple[str, str, str]]:
    """What was compared, the verdict, and what was found."""
    recorded = _recorded(call, run)
    if recorded is None or _stand_in(recorded[0]):
        return
    found, gencode = recorded
    given = {key: argument(m, value) for key, value in (call["args"] or {}).items()}
    try:
        got = outcome(m, lambda: m.call(m.named(name), [], given, SITE))
    except Budget:
        yield "outcome", "undecided", "too many steps"
        return
    wanted = found.get("raises")
    if isinstance(got, Raised):
        same = wanted is not None and got.kind.rpartition(".")[2] == wanted["type"]
        same = same and (HOLE in got.message or got.message == wanted["message"])
        yield "outcome", "equal" if same else "wrong", f"raises {got.kind}: {got.message}"
    elif not isinstance(got.data, Instance) or "spec" not in found:
        yield "outcome", "undecided", repr(got.data)[:200]
    elif wanted is not None:
        yield "outcome", "wrong", "a build"
    else:
        yield "outcome", "equal", "a build"
        for what, verdict in _compare(got, found, gencode):
            yield what, verdict, str(_texts(got.data.attributes.get(what)))[:600]


def _runs() -> list[str]:
    try:
        return list(records(PACKAGE)["jit"]["context"])
    except pytest.skip.Exception:
        return []


def test_every_generator_agrees(index: ModuleIndex, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    shown: dict[str, Counter[str]] = {"wrong": Counter(), "undecided": Counter()}
    whole: Counter[str] = Counter()
    for run in _runs():
        kind, cuda, arch = run.split("@")
        environment = {"FLASHINFER_CUDA_ARCH_LIST": arch} if kind == "env" else {}
        m = machine(index, arch.removesuffix("a"), cuda, environment)
        m.follow = _follow
        for name, call in _generators():
            told = list(_judge(m, name, call, run))
            verdicts = {verdict for _, verdict, _ in told}
            for verdict in ("wrong", "undecided", "equal"):
                if verdict in verdicts:
                    whole[verdict] += 1
                    break
            for what, verdict, seen in told:
                counts[what, verdict] += 1
                if verdict != "equal":
                    shown[verdict][f"{name.rpartition('.')[2]} {what}: {seen}"] += 1
    text = f"{dict(whole)}; " + ", ".join(f"{w} {v} {n}" for (w, v), n in sorted(counts.items()))
    detail = "\n".join(
        f"  {title} x{count}: {line}"
        for title, found in shown.items()
        for line, count in found.most_common(30)
    )
    with capsys.disabled():
        print(f"\nbuilds: {text}\n{detail}")
    assert sum(whole.values()) > 3000
    assert not whole["wrong"], detail
    facts = Counter[str]()
    for (_, verdict), count in counts.items():
        facts[verdict] += count
    assert facts["equal"] / facts.total() >= 0.95, detail
