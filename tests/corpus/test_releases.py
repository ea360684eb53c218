"""Updates of the real packages: a check names exactly what changed, and what did not change keeps its id.

Scanning two releases takes minutes. While working on the tests, ``SMGATE_RELEASES`` names a folder with a
report that was made beforehand (``new.json``).
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest

from analyzer import cli, model
from analyzer.ci.compare import Change, compare
from analyzer.ci.known import remembered
from analyzer.judge.severity import judged
from tests.cases import measure
from tests.cases.records import RECORDS, Release, cases
from tests.conftest import CACHE, wheel

pytestmark = pytest.mark.slow

OLD = (("flashinfer-python", "0.6.3"), ("sglang", "0.5.8.post1"))
NEW = (("flashinfer-python", "0.6.4"), ("sglang", "0.5.9"))
#: Function calls that ask for an architecture became attributes of one object, without another meaning.
REWRITTEN = {"old": Release("sglang", "0.5.18"), "new": Release("sglang", "0.5.19")}
LIST = Path(__file__).with_name("releases.txt")

Scan = Callable[[str, tuple[tuple[str, str], ...]], Path]
Row = tuple[str, str, str, str]


@pytest.fixture(scope="session")
def scanned(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Scan:
    """The report of releases as a file; test workers share one scan."""

    def scan(name: str, releases: tuple[tuple[str, str], ...]) -> Path:
        if "SMGATE_RELEASES" in os.environ:
            return Path(os.environ["SMGATE_RELEASES"], f"{name}.json")
        base = tmp_path_factory.getbasetemp()
        folder = base if worker_id == "master" else base.parent
        output = folder / f"{name}.json"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not output.exists():
                part = folder / f"{name}.part"
                fetch = [word for release in releases for word in ("--fetch", "==".join(release))]
                command = [sys.executable, "-m", "analyzer", "scan", *fetch, "--quiet", "--format", "json"]
                environment = {**os.environ, "PIP_FIND_LINKS": str(CACHE / "wheels")}
                done = subprocess.run(
                    [*command, "--output", str(part)], env=environment, timeout=2400, check=False
                )
                assert done.returncode == 0
                part.rename(output)
        return output

    return scan


@pytest.fixture(scope="session")
def new_file(scanned: Scan) -> Path:
    return scanned("new", NEW)


@pytest.fixture(scope="session")
def new(new_file: Path) -> model.Report:
    return model.decode(new_file.read_bytes())


@pytest.fixture(scope="session")
def changes(report: model.Report, new: model.Report) -> tuple[Change, ...]:
    return compare(remembered(report), remembered(new))


@cache
def texts(releases: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """The source files of wheels."""
    found = {}
    for name, version in releases:
        with zipfile.ZipFile(wheel(name, version, CACHE / "wheels")) as archive:
            for member in archive.namelist():
                if member.endswith((".py", ".cu", ".cuh", ".h", ".hpp", ".inc", ".jinja")):
                    found[member] = archive.read(member).decode("utf-8", "replace")
    return found


def row(change: Change, old: model.Report, new: model.Report) -> Row:
    report = new if change.new else old
    line = next(gate.line for gate in report.gates if gate.id == change.known.id)
    place = f"{change.known.file}:{line}"
    return change.kind, change.known.layer, place, " ".join(change.known.condition.split())


def expected() -> set[Row]:
    found: set[Row] = set()
    for line in LIST.read_text().splitlines():
        if not line.startswith("#"):
            kind, layer, place, condition = line.split("\t")
            found.add((kind, layer, place, condition))
    return found


@cache
def fresh(file: str, of: tuple[tuple[str, str], ...], against: tuple[tuple[str, str], ...]) -> frozenset[int]:
    """The lines of a file that the other releases do not have, as a text diff sees it: order aside."""
    known = Counter(line.strip() for line in texts(against).get(file, "").splitlines())
    lines = set()
    for number, line in enumerate(texts(of).get(file, "").splitlines(), 1):
        known[line.strip()] -= 1
        if known[line.strip()] < 0:
            lines.add(number)
    return frozenset(lines)


def touched(gate: model.Gate, of: tuple[tuple[str, str], ...], against: tuple[tuple[str, str], ...]) -> bool:
    """Whether the text of a gate, of its scope nearby, or of what decides it is not in the other releases."""
    places = [(gate.file, line) for line in range(gate.line - 12, gate.end_line + 13)]
    # What a step tells may stand a few lines below where its statement begins.
    steps = (*gate.because, *gate.uses, *gate.loses)
    places += [(step.file, step.line + below) for step in steps for below in range(4)]
    return any(line in fresh(file, of, against) for file, line in places)


#: Changes that come from afar, and why.
ELSEWHERE = {
    (
        "gone",
        "jit",
        "flashinfer/jit/attention/modules.py:1422",
        "extra_cuda_cflags=sm90a_nvcc_flags",
    ): "a build's images are a gate where some API surely loads it; no API of the new release does",
}


def test_an_update_gives_the_changes_that_were_verified_and_nothing_that_the_text_does_not_show(
    report: model.Report, new: model.Report, changes: tuple[Change, ...]
) -> None:
    found = {row(change, report, new): change for change in changes if change.kind != "same"}
    assert set(found) - set(ELSEWHERE) == expected()
    before = {gate.id: gate for gate in report.gates}
    after = {gate.id: gate for gate in new.gates}
    unexplained = [
        name
        for name, change in found.items()
        if name not in ELSEWHERE
        and not (change.new and touched(after[change.new.id], NEW, OLD))
        and not (change.old and touched(before[change.old.id], OLD, NEW))
    ]
    assert unexplained == []


def test_check_fails_on_those_of_them_that_are_errors(
    report: model.Report,
    report_file: Path,
    new: model.Report,
    new_file: Path,
    changes: tuple[Change, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    baseline, told = str(tmp_path / "gates.jsonl"), tmp_path / "junit.xml"
    assert cli.run(["check", "--from", str(report_file), "--baseline", baseline, "--update"]) == 0
    assert cli.run(["check", "--from", str(report_file), "--baseline", baseline, "--strict"]) == 0
    given = ["check", "--from", str(new_file), "--baseline", baseline, "--report", f"junit={told}"]
    assert cli.run(given) == 1
    failing = set(
        re.findall(
            r'name="([^"]+)" classname="[^"]*" file="[^"]*" line="[0-9]+">\s*<failure', told.read_text()
        )
    )
    errors = {c.new.id for c in changes if c.kind == "added" and c.new and c.new.severity == "error"}
    assert errors <= failing
    assert failing <= {c.new.id for c in changes if c.kind in ("added", "changed") and c.new}


DOORS = re.compile(
    r"is_sm\d+\w*_supported\(|is_blackwell\w*\(|is_hopper\w*\(|get_device_capability\(|get_compute_capability\("
    r"|__CUDA_ARCH__|supported_major_versions=|supported_compute_capability\(|CUDA_CAPABILITY\[|get_device_sm\("
    r"|device_support_pdl\(|is_arch_support_pdl\(|get_device_properties"
)
#: Lines of the new releases that ask for an architecture and are no gate, and why.
NO_GATE = {
    "sglang/jit_kernel/diffusion/triton/norm.py:25": "the width of a warp",
    "sglang/jit_kernel/flash_attention/cute/cute_dsl_utils.py:45": "a predicate that nobody asks",
    "sglang/jit_kernel/flash_attention/cute/interface.py:57": "a predicate",
    "sglang/jit_kernel/flash_attention/cute/interface.py:246": "a default that an argument replaces",
    "sglang/jit_kernel/flash_attention/cute/interface.py:302": "the number of multiprocessors",
    "sglang/jit_kernel/gptq_marlin.py:73": "the number of multiprocessors",
    "sglang/jit_kernel/utils.py:190": "a predicate, the spelling of an architecture",
    "sglang/multimodal_gen/runtime/platforms/npu.py:48": "another vendor's device",
    "sglang/multimodal_gen/runtime/platforms/npu.py:57": "another vendor's device",
    "sglang/srt/batch_overlap/operations_strategy.py:244": "the number of multiprocessors",
    "sglang/srt/layers/quantization/fp8_utils.py:89": "another vendor's device",
    "sglang/srt/models/bailing_moe_linear.py:89": "a predicate",
    "sglang/srt/models/bailing_moe_linear.py:112": "a predicate",
    "sglang/srt/utils/common.py:527": "whose memory it is",
    "sglang/srt/utils/common.py:593": "another vendor's device",
}
#: Sources of builds that are made by a loader of their own; whether these are followed is no matter here.
NOT_HERE = ("sglang/jit_kernel/csrc/", "sglang/jit_kernel/include/")


def test_every_new_line_that_asks_for_an_architecture_is_accounted_for(new: model.Report) -> None:
    """The other way round, from a text diff: nothing that came is missing from the report."""
    known = {(gate.file, line) for gate in new.gates for line in range(gate.line, gate.end_line + 1)}
    known |= {(step.file, step.line) for gate in new.gates for step in (*gate.because, *gate.uses)}
    missing = []
    for file, text in texts(NEW).items():
        if any(part in ("test", "tests", "testing", "benchmark") for part in file.split("/")):
            continue
        new_lines = fresh(file, NEW, OLD)
        for number, line in enumerate(text.splitlines(), 1):
            line = line.strip()
            asks = DOORS.search(line) and (
                line.startswith("#if") or not line.startswith(("#", "//", "import", "from"))
            )
            if number in new_lines and asks and (file, number) not in known:
                missing.append(f"{file}:{number}")
    assert {place for place in missing if not place.startswith(NOT_HERE)} <= set(NO_GATE)


def test_gates_in_code_that_only_shifted_keep_their_id(
    report: model.Report, new: model.Report, changes: tuple[Change, ...]
) -> None:
    """Code that only shifted: the gate and ten lines on both sides stand in the new file, elsewhere."""
    ids = {change.old.id: change.new.id if change.new else None for change in changes if change.old}
    total = kept = 0
    for gate in report.gates:
        old, after = texts(OLD)[gate.file].splitlines(), texts(NEW).get(gate.file)
        if gate.in_tests or after is None or after == texts(OLD)[gate.file]:
            continue
        around = "\n".join(old[max(0, gate.line - 11) : gate.end_line + 10])
        if around in after:
            total += 1
            kept += ids[gate.id] == gate.id
    assert total >= 100
    assert kept >= 0.99 * total, f"{kept} of {total}"


def _of_python(report: model.Report, release: Release) -> model.Report:
    """A report with what the Python stage tells of a release, which ``make cases-fixed`` takes over."""
    recorded = cases() if RECORDS.is_dir() else ()
    targets = sorted({"sm_120", *(case.target for case in recorded if case.release == release)})
    gates = tuple(judged(gate) for gate in measure.apart([release], targets)["sm_120"].gates)
    empty: dict[str, tuple[object, ...]] = dict.fromkeys(("builds", "nodes", "edges", "paths", "matrix"), ())
    return msgspec.structs.replace(report, gates=gates, archs=tuple(gates[0].verdict), **empty)


def test_conditions_that_were_rewritten_without_another_meaning_are_paired(
    report: model.Report, tmp_path: Path
) -> None:
    """In Python alone, and as its stage tells it by itself."""
    old, new = (_of_python(report, REWRITTEN[side]) for side in ("old", "new"))
    files = {"old": tmp_path / "old.json", "new": tmp_path / "new.json"}
    for side, each in (("old", old), ("new", new)):
        files[side].write_bytes(model.encode(each))
    before, after = ("\n".join(texts(((r.name, r.version),)).values()) for r in REWRITTEN.values())
    assert after.count("get_platform().is_sm") > before.count("get_platform().is_sm") + 100
    changes = compare(remembered(old), remembered(new))
    calls = [c for c in changes if c.old and c.new and "get_platform()." in c.new.condition and c.rewritten]
    same = [c for c in calls if c.kind == "rewritten"]
    assert len(same) >= 100
    assert len(same) >= 0.9 * len(calls)
    baseline, told = str(tmp_path / "gates.jsonl"), tmp_path / "annotations.txt"
    assert cli.run(["check", "--from", str(files["old"]), "--baseline", baseline, "--update"]) == 0
    cli.run(["check", "--from", str(files["new"]), "--baseline", baseline, "--report", f"github={told}"])
    places = set(re.findall(r"file=([^,]+),line=(\d+)", told.read_text()))
    lines = {gate.id: (gate.file, str(gate.line)) for gate in new.gates}
    assert not places & {lines[c.new.id] for c in same if c.new}
