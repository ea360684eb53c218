"""A refusal that names an earlier member of the target's family alone forgets the target."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.scan import ScanOptions, scan
from tests.judge.opened import write

PROGRAM = """\
import torch


def number():
    major, minor = torch.cuda.get_device_capability()
    return major * 10 + minor


def raises(x, version):
    if number() == 120 and version < 9:
        raise ValueError("wrong results on this chip")
    return x.fast()


def answers(x):
    if number() == 120:
        return False
    return x.enabled()


def tries(x):
    if number() == 120:
        try:
            import fast_kernels
        except ImportError:
            return None
    return x.enabled()


def names_both(x):
    if number() in (120, 121):
        return False
    return x.enabled()


def names_the_later(x):
    if number() == 121:
        return False
    return x.enabled()


def names_others(x):
    if number() in (89, 120):
        return False
    return x.enabled()


def does_more(x):
    if number() == 120:
        return x.small()
    return x.enabled()
"""


def effects(root: Path, target: str) -> dict[str, str]:
    """The effect of each function's gate."""
    options = ScanOptions(root, target, ("sm_90", "sm_100"), "13.0", {}, (), 1, False)
    return {gate.scope: gate.effect for gate in scan(options).gates}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("kit"), {"kit/__init__.py": PROGRAM})


def test_the_later_member_is_let_through(root: Path) -> None:
    found = effects(root, "sm_121")
    assert {scope for scope, effect in found.items() if effect == "wrongly_admitted"} == {
        "raises",
        "answers",
        "tries",
    }


def test_the_earlier_member_is_not_held_against_the_later(root: Path) -> None:
    assert "wrongly_admitted" not in effects(root, "sm_120").values()
