"""Synchronisation intrinsics and traps, in every spelling of the table."""

from __future__ import annotations

import pytest

from analyzer import data
from analyzer.cuda.intrinsics import SYNCHRONISATION, sites
from tests.cuda.programs import file


def _found(body: str) -> list[tuple[str, str]]:
    text = file(f"void f() {{ {body} }}").text
    return [(s.spelled, s.intrinsic.kind) for s in sites(text.text, text.code, 0, len(text.text))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cudaGridDependencySynchronize();", ("cudaGridDependencySynchronize", "wait")),
        ("cutlass::arch::wait_on_dependent_grids();", ("cutlass::arch::wait_on_dependent_grids", "wait")),
        ("arch::launch_dependent_grids();", ("arch::launch_dependent_grids", "trigger")),
        ('asm volatile("griddepcontrol.wait;\\n" ::: "memory");', ("griddepcontrol.wait", "wait")),
        ('asm("{\\n\\tbar.sync %0, 32;\\n}" : : "r"(1));', ("bar.sync", "barrier")),
        ('asm("barrier.cluster.arrive.aligned;");', ("barrier.cluster.arrive.aligned", "barrier")),
        ('asm(R"(mbarrier.try_wait.parity.b64 p, [x];)");', ("mbarrier.try_wait.parity.b64", "mbarrier")),
        ('asm("fence.proxy.async.shared::cta;");', ("fence.proxy.async.shared::cta", "fence")),
        ("__syncthreads();", ("__syncthreads", "barrier")),
        ("cg::cluster_group c = cg::this_cluster(); c.sync();", ("cluster_group::sync", "barrier")),
        ("auto g = cooperative_groups::this_grid(); g.sync();", ("grid_group::sync", "barrier")),
        ("cg::this_grid().sync();", ("grid_group::sync", "barrier")),
        ("__trap();", ("__trap", "trap")),
        ("assert(false && message);", ("assert", "trap")),
        ('assert(0 && "no");', ("assert", "trap")),
        ('asm volatile("trap;");', ("trap", "trap")),
        ('printf("no");', ("printf", "message")),
    ],
)
def test_spellings(body: str, expected: tuple[str, str]) -> None:
    assert _found(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "assert(n > 0);",
        "stream.sync();",
        'log("griddepcontrol.wait");',
        "other::wait_on_dependent_grids();",
        "pipeline.wait();",
        "// __syncthreads();",
        'asm("mov.b32 %0, %1;");',
        "sync(1);",
        "int __trap;",
    ],
)
def test_what_is_none(body: str) -> None:
    assert _found(body) == []


def test_table_is_complete() -> None:
    rows = data.table("intrinsics")["intrinsic"]
    assert len({row["name"] for row in rows}) == len(rows)
    for row in rows:
        assert row["source"]
        assert row["consequence"]
        assert row["kind"] in SYNCHRONISATION | {"trap", "message"}
        assert row.get("call") or row.get("asm") or (row.get("member") and row.get("of"))
