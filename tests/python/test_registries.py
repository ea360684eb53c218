"""Entries of registries that say by data on which devices they may be used."""

from __future__ import annotations

import pytest

from analyzer.model import Gate, Report
from tests.judge.opened import scanned, write

SPEC = """\
from enum import Enum
from typing import FrozenSet, Optional, Tuple

import msgspec


class DeviceType(str, Enum):
    CUDA = "cuda"
    HIP = "hip"


class PlatformInfo(msgspec.Struct, frozen=True):
    device_type: str = "cpu"
    major: Optional[int] = None
    minor: Optional[int] = None

    @property
    def device(self):
        return DeviceType(self.device_type)

    @classmethod
    def detect(cls):
        import torch

        if torch.version.hip is not None:
            return cls(device_type="hip")
        major, minor = torch.cuda.get_device_capability()
        return cls(device_type="cuda", major=major, minor=minor)


class CapabilityRequirement(msgspec.Struct, frozen=True):
    device: DeviceType
    least: Optional[Tuple[int, int]] = None
    most: Optional[Tuple[int, int]] = None

    @classmethod
    def cuda(cls, min_sm=None, max_sm=None):
        return cls(device=DeviceType.CUDA, least=min_sm, most=max_sm)

    def is_satisfied_by(self, platform):
        if self.device != platform.device:
            return False
        own = (platform.major, platform.minor)
        if self.least is not None and own < self.least:
            return False
        if self.most is not None and own > self.most:
            return False
        return True


def satisfied(capabilities, platform):
    if isinstance(capabilities, CapabilityRequirement):
        capabilities = (capabilities,)
    return (not capabilities) or any(c.is_satisfied_by(platform) for c in capabilities)


class KernelSpec(msgspec.Struct, frozen=True):
    op: str
    target: str
    capabilities: FrozenSet[CapabilityRequirement] = frozenset()

    def is_available(self, platform):
        return satisfied(self.capabilities, platform)
"""
OPS = """\
from sglang.kernels.spec import CapabilityRequirement, DeviceType, KernelSpec

KERNELS = []
AMD = CapabilityRequirement(device=DeviceType.HIP)
to = CapabilityRequirement.cuda
HOPPER = frozenset({CapabilityRequirement.cuda(min_sm=(9, 0), max_sm=(9, 0))})
SM12X = frozenset({CapabilityRequirement.cuda(min_sm=(12, 0), max_sm=(12, 9))})


def register(spec):
    KERNELS.append(spec)
    return spec


register(KernelSpec(op="gemv", target="ops.hopper:gemv", capabilities=HOPPER))
register(KernelSpec(op="mm", target="ops.fast:mm", capabilities=frozenset({to((9, 0), (10, 9))})))
register(KernelSpec(op="mm", target="ops.any:mm"))
register(KernelSpec(op="both", target="ops.both:run", capabilities=HOPPER | SM12X))
register(KernelSpec(op="own", target="ops.own:run", capabilities=SM12X))
register(KernelSpec(op="newer", target="ops.newer:run", capabilities=frozenset({to((9, 0))})))
register(KernelSpec(op="amd", target="ops.amd:run", capabilities=frozenset({AMD})))
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    files = {
        "sglang/__init__.py": "",
        "sglang/kernels/__init__.py": "",
        "sglang/kernels/spec.py": SPEC,
        "sglang/kernels/ops.py": OPS,
    }
    return scanned(write(tmp_path_factory.mktemp("registry"), files))


def told(report: Report) -> dict[str, Gate]:
    return {
        gate.code.partition(":")[0]: gate for gate in report.gates if gate.file == "sglang/kernels/ops.py"
    }


def test_an_entry_that_tells_architectures_apart_is_a_gate(report: Report) -> None:
    """Not one for every device, or for other hardware."""
    assert sorted(told(report)) == ["both", "gemv", "mm", "newer", "own"]
    assert {gate.layer for gate in told(report).values()} == {"api"}


@pytest.mark.parametrize(
    ("name", "effect", "instead"),
    [
        ("gemv", "excluded", None),
        ("mm", "degraded", "ops.any:mm"),
        ("both", "none", None),
        ("own", "none", None),
        ("newer", "none", None),
    ],
)
def test_what_it_costs_the_target(report: Report, name: str, effect: str, instead: str | None) -> None:
    gate = told(report)[name]
    assert (gate.effect, gate.falls_back_to) == (effect, instead)


def test_it_stands_at_the_argument_and_answers_for_every_architecture(report: Report) -> None:
    gate = told(report)["gemv"]
    assert gate.line == 1 + next(i for i, line in enumerate(OPS.split("\n")) if '"gemv"' in line)
    assert gate.verdict["sm_90"] == "admit"
    assert {arch for arch, verdict in gate.verdict.items() if verdict == "admit"} == {"sm_90"}
    both = told(report)["both"]
    assert {arch for arch, verdict in both.verdict.items() if verdict == "admit"} == {
        "sm_90",
        "sm_120",
        "sm_121",
    }
