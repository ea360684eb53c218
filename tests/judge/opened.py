"""A small tree scanned, opened by its own edits with ``patch -p0``, and scanned again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from analyzer.judge.edits import gate as edits
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import Edit, Text, patch
from analyzer.model import Gate, Report
from analyzer.scan import ScanOptions, scan


def write(root: Path, program: Mapping[str, str]) -> Path:
    """Put the files of a program under a folder."""
    for file, text in program.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(text.encode())
    return root


def scanned(root: Path) -> Report:
    """The report of a tree for sm_120."""
    return scan(ScanOptions(root, "sm_120", ("sm_90", "sm_100"), "13.0", {}, (), 1, False))


def reader(root: Path) -> Text:
    """The text of the files under a folder."""

    def text(file: str) -> str | None:
        path = root / file
        return path.read_bytes().decode() if path.is_file() else None

    return text


def opened(root: Path, wanted: Callable[[Gate], bool] = lambda gate: True) -> tuple[list[Edit], Report]:
    """The edits of the findings that are wanted, and the report of the tree after they are applied."""
    report = scanned(root)
    predicates, text = Predicates(report), reader(root)
    planned = [edits.edit(gate, predicates, text) for gate in report.findings if wanted(gate)]
    told = [one.edit(text) for one in planned]
    apply(root, patch(planned, text))
    return told, scanned(root)


def apply(root: Path, diff: str) -> None:
    """Apply a unified diff as users do."""
    command = ["patch", "-p0", "--silent", "--forward", "--fuzz=0"]
    done = subprocess.run(command, input=diff.encode(), cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
