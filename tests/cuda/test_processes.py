"""Chunks on several processes: order of results, one worker a process, failures, processes that die."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from analyzer.cuda.processes import _spread, parallel


def doubling() -> Callable[[int], int]:
    return lambda number: 2 * number


def failing() -> Callable[[int], int]:
    def work(number: int) -> int:
        raise ValueError(f"chunk {number}")

    return work


def dying(parent: int) -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 3 and os.getpid() != parent:
            os._exit(1)
        return number

    return work


def test_results_come_in_order() -> None:
    assert list(parallel(range(9), doubling, 2)) == [0, 2, 4, 6, 8, 10, 12, 14, 16]


def test_a_failure_is_raised() -> None:
    with pytest.raises(ValueError, match="chunk 0"):
        list(parallel(range(3), failing, 2))


def test_what_a_dead_process_leaves_is_done_here() -> None:
    assert list(parallel(range(6), partial(dying, os.getpid()), 2)) == list(range(6))


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("chunks", [1, 2, 5, 19, 20])
def test_every_chunk_is_submitted_once(chunks: int, jobs: int) -> None:
    assert sorted(_spread(chunks, min(jobs, chunks))) == list(range(chunks))


def test_each_process_keeps_to_its_part() -> None:
    assert _spread(6, 2) == [0, 3, 1, 4, 2, 5]
