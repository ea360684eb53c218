"""Verdicts on sets of images, unit by unit and kernel by kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import archs
from analyzer.binary import gates
from analyzer.tree.files import open_tree
from tests.binary import made


def image(name: str, *kernels: str) -> bytes:
    """Machine code (``sm_90a``) or PTX (``compute_90``) with kernels."""
    number = int(name.rpartition("_")[2].rstrip("af"))
    suffix = name.lstrip("smcopute_0123456789")
    if name.startswith("compute"):
        return made.image(1, number, suffix, b".version 8.0")
    return made.image(2, number, suffix, made.cubin(number, suffix, kernels))


def found(root: Path, *units: bytes, target: str = "sm_120") -> gates.BinaryGates:
    (root / "pkg").mkdir()
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "ops.so").write_bytes(made.shared(b"".join(units), b"\0act(Tensor x) -> ()\0"))
    return gates.analyse(open_tree(root), target, ("sm_90", "sm_100"), archs.names())


def test_no_image(tmp_path: Path) -> None:
    told = found(tmp_path, made.fatbin(image("sm_80", "k"), image("sm_90a", "k", "_Z1mIiEvv")))
    (gate,) = told.gates
    assert (gate.layer, gate.file, gate.line, gate.effect) == ("binary", "pkg/ops.so", 1, "no_image")
    assert gate.code == "sm_80, sm_90a"
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {
        "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"
    }  # fmt: skip
    assert [(loss.what, loss.kind) for loss in gate.loses] == [("k", "kernel"), ("m<…>", "kernel")]
    assert "sm_120 can run none of it" in gate.because[0].what
    assert [library.path for library, _ in told.lost] == ["pkg/ops.so"]


@pytest.mark.parametrize("name", ["sm_120a", "sm_120f", "sm_120", "compute_90", "compute_120a"])
def test_an_image_that_the_target_runs(tmp_path: Path, name: str) -> None:
    told = found(tmp_path, made.fatbin(image("sm_90a", "k"), image(name, "k")))
    assert [gate.effect for gate in told.gates] == ["none"]
    assert told.lost == ()


@pytest.mark.parametrize(("target", "effect"), [("sm_120", "none"), ("sm_121", "no_image")])
def test_code_for_one_gpu_is_not_for_the_next(tmp_path: Path, target: str, effect: str) -> None:
    told = found(tmp_path, made.fatbin(image("sm_90"), image("sm_120a")), target=target)
    assert [gate.effect for gate in told.gates] == [effect]


def test_what_no_reference_runs_is_no_finding(tmp_path: Path) -> None:
    assert [gate.effect for gate in found(tmp_path, made.fatbin(image("sm_80"))).gates] == ["none"]


def test_what_all_run_is_no_gate(tmp_path: Path) -> None:
    told = found(tmp_path, made.fatbin(image("compute_75")))
    assert told.gates == ()
    assert [(facts.file, facts.expressions, facts.gates) for facts in told.read] == [("pkg/ops.so", 1, 0)]


def test_a_mixed_library_is_judged_by_unit_and_kernel(tmp_path: Path) -> None:
    both = made.fatbin(image("sm_90a", "shared", "mine"), image("sm_120a", "shared", "mine"))
    one = made.fatbin(image("sm_90a", "shared", "theirs"))
    told = found(tmp_path, both, one, one)
    lost, kept = sorted(told.gates, key=lambda gate: gate.effect == "none")
    assert (lost.effect, lost.code, lost.count) == ("no_image", "sm_90a", 2)
    assert [loss.what for loss in lost.loses] == ["theirs"]  # "shared" is there in another unit
    assert (kept.effect, kept.code, kept.count) == ("none", "sm_90a, sm_120a", 1)
    assert told.lost == ()
    assert [item.what for item in told.unresolved] == ["operators of ops.so"]


def test_kernels_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    told = found(tmp_path, made.fatbin(made.image(2, 90, "a", b"not a cubin")))
    assert [gate.effect for gate in told.gates] == ["no_image"]
    assert [item.what for item in told.unresolved] == ["kernels of 1 image for sm_90"]


def test_an_unreadable_library_is_skipped(tmp_path: Path) -> None:
    told = found(tmp_path, b"\x01" * 64)
    assert told.gates == ()
    assert [item.file for item in told.skipped] == ["pkg/ops.so"]
    assert told.skipped[0].why.startswith("no fat binary at offset")


def test_bare_machine_code_is_one_gate_for_each_folder_and_gpu(tmp_path: Path) -> None:
    folder = tmp_path / "pkg" / "cubins"
    folder.mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    for name, number, suffix in (("a", 100, "a"), ("b", 100, "a"), ("c", 120, "a"), ("d", 90, "")):
        (folder / f"{name}.cubin").write_bytes(made.cubin(number, suffix, [f"kernel_{name}"]))
    (folder / "pointer.cubin").write_bytes(b"version https://example.org/a-large-file")
    told = gates.analyse(open_tree(tmp_path), "sm_120", ("sm_90", "sm_100"), archs.names())
    assert [(gate.file, gate.code, gate.effect, gate.count) for gate in told.gates] == [
        ("pkg/cubins/a.cubin", "sm_100a", "no_image", 2),
        ("pkg/cubins/c.cubin", "sm_120a", "none", 1),
        ("pkg/cubins/d.cubin", "sm_90", "no_image", 1),
    ]
    assert [loss.what for loss in told.gates[0].loses] == ["kernel_a", "kernel_b"]
    assert [item.file for item in told.skipped] == ["pkg/cubins/pointer.cubin"]
