"""Chunks on several processes: all results, one worker a process, failures, processes that die."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from analyzer.cuda.processes import Shares, parallel


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


def test_every_result_comes_once() -> None:
    assert sorted(parallel(range(9), doubling, 2)) == [(i, 2 * i) for i in range(9)]


def test_a_failure_is_raised() -> None:
    with pytest.raises(ValueError, match="chunk"):
        list(parallel(range(3), failing, 2))


def test_what_a_dead_process_leaves_is_done_here() -> None:
    assert sorted(parallel(range(6), partial(dying, os.getpid()), 2)) == [(i, i) for i in range(6)]


@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("chunks", [1, 2, 5, 19, 20])
def test_every_chunk_is_taken_once(chunks: int, jobs: int) -> None:
    shares = Shares(chunks, jobs)
    taken = [shares.take(at % jobs) for at in range(chunks)]
    assert len(taken) == chunks
    assert set(taken) == set(range(chunks))
    assert shares.take(0) is None


def test_each_process_keeps_to_its_part() -> None:
    shares = Shares(6, 2)
    assert [shares.take(job) for job in (0, 1, 0, 1, 0)] == [0, 3, 1, 4, 2]


def test_who_is_done_takes_the_last_of_who_has_most_left() -> None:
    shares = Shares(6, 2)
    assert [shares.take(0) for _ in range(6)] == [0, 1, 2, 5, 4, 3]


def test_all_is_done_here_when_every_process_dies() -> None:
    def make() -> Callable[[int], int]:
        return lambda number: number if os.getpid() == parent else os._exit(1)

    parent = os.getpid()
    assert sorted(parallel(range(5), make, 2)) == [(i, i) for i in range(5)]
