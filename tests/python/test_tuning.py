"""Settings that are looked up by the GPU's product name, as whole scans tell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.judge.edits import gate as edits
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import NoEditError
from analyzer.model import Gate
from tests.judge.opened import reader, scanned
from tests.judge.test_justification import write

HERE = """\
import json
import logging
import os

import torch

logger = logging.getLogger(__name__)


def _product():
    return torch.cuda.get_device_name(0).replace(" ", "_")


def file_name(rows, kind):
    product = _product()
    suffix = f",kind={kind}" if kind else ""
    return NAME


def settings(rows, kind):
    path = os.path.join(os.path.dirname(__file__), "tuned", file_name(rows, kind))
    if os.path.exists(path):
        with open(path) as file:
            return json.load(file)
    TELL
    return None
"""
FORMED = 'f"rows={rows},product={product}{suffix}.json"'


def told(root: Path, *files: str, name: str = FORMED, tell: str = "pass") -> list[Gate]:
    text = HERE.replace("NAME", name).replace("TELL", tell)
    tree = {"kit/__init__.py": "", "kit/settings.py": text}
    found = scanned(write(root, {**tree, **{f"kit/tuned/{file}": "{}" for file in files}}))
    return [gate for gate in found.gates if gate.file == "kit/settings.py"]


def test_files_for_the_products_of_references_alone(tmp_path: Path) -> None:
    (gate,) = told(
        tmp_path, "rows=8,product=NVIDIA_H100_80GB_HBM3.json", "rows=8,product=NVIDIA_B200,kind=a.json"
    )
    assert (gate.line, gate.scope, gate.code) == (15, "file_name", "_product()")
    assert (gate.effect, gate.silent, gate.severity) == ("degraded", True, "warning")
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {"sm_90", "sm_100"}
    assert "none for products of sm_120, 1 for sm_90, 1 for sm_100" in gate.because[0].what
    assert gate.justification is not None
    assert gate.justification.kind == "unknown"


def test_a_warning_is_heard(tmp_path: Path) -> None:
    (gate,) = told(
        tmp_path, "rows=8,product=NVIDIA_H100.json", tell='logger.warning("no settings in %s", path)'
    )
    assert (gate.silent, gate.severity) == (False, "note")


@pytest.mark.parametrize(
    "file",
    [
        "rows=8,product=NVIDIA_GeForce_RTX_5090.json",
        "rows=9,product=NVIDIA_RTX_PRO_6000_Blackwell_Server_Edition,kind=b.json",
    ],
)
def test_a_file_for_a_product_of_the_target(file: str, tmp_path: Path) -> None:
    (gate,) = told(tmp_path, "rows=8,product=NVIDIA_H100.json", file)
    assert (gate.effect, gate.verdict["sm_120"], gate.justification) == ("none", "admit", None)


def test_a_sum_of_texts(tmp_path: Path) -> None:
    (gate,) = told(tmp_path, "a-NVIDIA-H200-b.json", name='"deep/folder/a-" + product + "-b" + ".json"')
    assert gate.effect == "degraded"


def test_of_versions_the_newest_counts(tmp_path: Path) -> None:
    """Where no product of the target has settings for the newest version, those of an older one are used."""
    old = ("for_9_1/rows=8,product=NVIDIA_H100.json", "for_9_1/rows=8,product=NVIDIA_GeForce_RTX_5090.json")
    (gate,) = told(tmp_path / "old", *old)
    assert gate.effect == "none"
    (gate,) = told(tmp_path / "new", *old, "for_10_0/rows=8,product=NVIDIA_H100.json")
    assert gate.effect == "degraded"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ((), FORMED),
        (("rows=8,maker=NVIDIA_H100.json",), FORMED),
        (("rows=8,product=AMD_Instinct_MI300X.json",), FORMED),
        (("rows=8,product=NVIDIA_H100.json",), 'f"runs on {product}"'),
        (("rows=8,product=NVIDIA_H100.json",), 'f"rows={rows},product=any{suffix}.json"'),
    ],
)
def test_what_names_no_file_of_the_tree(files: tuple[str, ...], name: str, tmp_path: Path) -> None:
    assert told(tmp_path, *files, name=name) == []


def test_no_edit_of_the_text_makes_such_a_file(tmp_path: Path) -> None:
    (gate,) = told(tmp_path, "rows=8,product=NVIDIA_H100.json")
    with pytest.raises(NoEditError):
        edits.edit(gate, Predicates(scanned(tmp_path)), reader(tmp_path))
