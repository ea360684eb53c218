"""The architecture that a traced kernel is compiled for, held against the language's own enumeration."""

from __future__ import annotations

import operator
import re
import runpy
from itertools import product

import pytest

from analyzer import archs
from analyzer.python.device import Host, doors
from analyzer.python.machine import Machine
from analyzer.python.modules import ModuleIndex
from analyzer.python.observe import Observer
from analyzer.python.values import Site, Unknown, Value, plain
from tests.cases.measure import CACHE
from tests.python.surveys import gates_of

REAL = (
    CACHE / "trees/flashinfer-python-0.6.17/flashinfer/data/cutlass/python/CuTeDSL/cutlass/base_dsl/arch.py"
)
SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
HEAD = """
import cutlass
from cutlass.base_dsl.arch import Arch
from cutlass.cutlass_dsl import BaseDSL
"""


def evaluated(arch: str, expression: str) -> Value:
    texts = {"pkg/__init__.py": f"{HEAD}def ask(): return {expression}\n".encode()}
    index = ModuleIndex(list(texts), texts.__getitem__, ["nvidia-cutlass-dsl"])
    m = Machine(Host(archs.find(arch), (13, 0)), index, Observer())
    return m.call(m.named("pkg.ask"), [], {}, Site("pkg/__init__.py", 1, 1, 1))


def members() -> list[str]:
    """All that are described, in the order of the table."""
    found = (re.fullmatch(r"cutlass\.base_dsl\.arch\.Arch\.(\w+)", path) for path in doors())
    return [match[1] for match in found if match is not None]


@pytest.mark.skipif(not REAL.is_file(), reason="needs an unpacked wheel that carries the language")
@pytest.mark.parametrize("sign", SIGNS)
def test_members_compare_as_the_language_has_it(sign: str) -> None:
    real = runpy.run_path(str(REAL))["Arch"]
    names = [name for name in members() if name in real.__members__]  # the others came later
    assert names == [member.name for member in real]
    pairs = list(product(names, repeat=2))
    told = evaluated("sm_90", f"[{', '.join(f'Arch.{a} {sign} Arch.{b}' for a, b in pairs)}]")
    assert plain(told) == [SIGNS[sign](real[a], real[b]) for a, b in pairs]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("arch == Arch.sm_120a", True),
        ("arch == Arch.sm_120f", False),
        ("Arch.sm_100 <= arch <= Arch.sm_100f", False),
        ("arch >= Arch.sm_120f", True),
        ("arch in (Arch.sm_100a, Arch.sm_120a)", True),
        ("(arch.major, arch.minor, arch.name)", (12, 0, "sm_120a")),
    ],
)
def test_what_a_kernel_sees_on_the_target(expression: str, wanted: object) -> None:
    told = evaluated("sm_120", re.sub(r"(?<!\.)\barch\b", "BaseDSL._get_dsl().get_arch_enum()", expression))
    assert plain(told) == wanted
    assert told.tainted


def test_what_is_not_described_is_unknown() -> None:
    told = evaluated("sm_120", "BaseDSL._get_dsl().get_arch_enum().is_family_of(Arch.sm_100f)")
    assert isinstance(told.data, Unknown)


KERNEL = """
class Kernel:
    @cutlass.cute.jit
    def softmax(self, row):
        arch = BaseDSL._get_dsl().get_arch_enum()
        if cutlass.const_expr(arch >= Arch.sm_100 and arch <= Arch.sm_100f):
            row.slow()
        elif cutlass.const_expr(arch >= Arch.sm_103 and arch <= Arch.sm_103f):
            row.fast()
"""


def test_branches_of_a_traced_kernel_are_gates() -> None:
    found = {gate.line: gate for gate in gates_of({"pkg/__init__.py": HEAD + KERNEL})}
    assert {arch for arch, verdict in found[10].verdict.items() if verdict == "admit"} == {"sm_100"}
    assert {arch for arch, verdict in found[12].verdict.items() if verdict == "admit"} == {"sm_103"}
    assert found[10].effect == "excluded"


@pytest.mark.parametrize(
    ("arch", "within"), [("sm_100", True), ("sm_103", True), ("sm_110", False), ("sm_120", False)]
)
def test_members_that_came_later_are_in_order(arch: str, within: bool) -> None:
    told = evaluated(arch, "BaseDSL._get_dsl().get_arch_enum() <= getattr(Arch, 'sm_107f', Arch.sm_103f)")
    assert plain(told) is within
