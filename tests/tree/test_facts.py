"""Facts of many files: order, processes, failures, and the cache between runs."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from analyzer.model import Skipped
from analyzer.python.words import words
from analyzer.tree import cache as cache_module
from analyzer.tree import facts
from analyzer.tree.cache import Cache, default_folder
from analyzer.tree.facts import compute
from analyzer.tree.files import Tree, open_tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    folder = tmp_path / "site" / "lib"
    folder.mkdir(parents=True)
    for number in range(40):
        (folder / f"m{number:02}.py").write_text(f"name{number} = 1\n" + "# filler\n" * number)
    return open_tree(tmp_path / "site")


def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_CHUNK", 500)
    monkeypatch.setattr(facts, "_WORTH", 0)


def test_results_do_not_depend_on_the_number_of_processes(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_chunks(monkeypatch)
    steps: list[tuple[int, int]] = []
    alone = compute(tree, tree.files, words, name="words")
    together = compute(
        tree, tree.files, words, name="words", jobs=2, progress=lambda *step: steps.append(step)
    )
    assert alone == together
    assert [
        f"name{number}" in found for number, found in enumerate(alone) if isinstance(found, frozenset)
    ] == [True] * 40
    assert steps[0] == (0, 40)
    assert steps[-1] == (40, 40)


def test_little_is_read_without_other_processes(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_pool", None)
    assert len(compute(tree, tree.files, words, name="words", jobs=2)) == 40


def test_unreadable_files_are_listed_and_the_rest_goes_on(tree: Tree) -> None:
    (tree.root / "lib" / "m03.py").unlink()
    (tree.root / "lib" / "m04.py").unlink()
    (tree.root / "lib" / "m04.py").mkdir()
    results = compute(tree, tree.files, words, name="words")
    assert results[3] == Skipped("lib/m03.py", "No such file or directory")
    assert results[4] == Skipped("lib/m04.py", "Is a directory")
    assert sum(isinstance(result, Skipped) for result in results) == 2


def fails(data: bytes) -> int:
    if b"name7 " in data:
        raise ValueError("cannot cope")
    return len(data)


def test_a_failing_function_costs_one_file(tree: Tree) -> None:
    results = compute(tree, tree.files, fails, name="fails")
    skipped = results[7]
    assert isinstance(skipped, Skipped)
    assert skipped.file == "lib/m07.py"
    assert skipped.why.startswith("internal error: ValueError: cannot cope at analyzer/tree/facts.py:")
    assert isinstance(results[8], int)


def dies(data: bytes) -> int:
    if b"name7 " in data:
        os._exit(3)
    return len(data)


def test_a_dying_process_costs_one_file(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    small_chunks(monkeypatch)
    results = compute(tree, tree.files, dies, name="dies", jobs=2)
    assert results[7] == Skipped("lib/m07.py", "the process that read it died")
    assert sum(isinstance(result, int) for result in results) == 39


def test_interrupt_passes_through(tree: Tree) -> None:
    def interrupted(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    for jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            compute(tree, tree.files, words, name="words", jobs=jobs, progress=interrupted)


def count(data: bytes) -> int:
    with Path(os.environ["SMGATE_TEST_CALLS"]).open("a") as file:
        file.write("x")
    return len(data)


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "calls"
    path.write_text("")
    monkeypatch.setenv("SMGATE_TEST_CALLS", str(path))
    return path


def run(tree: Tree, folder: Path) -> list[int | Skipped]:
    cache = Cache(folder)
    try:
        return compute(tree, tree.files, count, name="count", cache=cache)
    finally:
        cache.close()


def test_cache_answers_until_content_changes(tree: Tree, tmp_path: Path, calls: Path) -> None:
    first = run(tree, tmp_path / "cache")
    assert len(calls.read_text()) == 40
    assert run(tree, tmp_path / "cache") == first
    assert len(calls.read_text()) == 40
    (tree.root / "lib" / "m05.py").write_text("changed")
    assert run(tree, tmp_path / "cache")[5] == 7
    assert len(calls.read_text()) == 41


def test_cache_is_not_used_by_another_state_of_the_program(
    tree: Tree, tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tree, tmp_path / "cache")
    monkeypatch.setattr(cache_module, "fingerprint", lambda code: b"another")
    run(tree, tmp_path / "cache")
    assert len(calls.read_text()) == 80


def test_damaged_entries_and_files_are_rebuilt(tree: Tree, tmp_path: Path, calls: Path) -> None:
    first = run(tree, tmp_path / "cache")
    (file,) = (tmp_path / "cache").glob("*.sqlite")
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE facts SET value = x'00' WHERE rowid % 2 = 0")
    connection.close()
    assert run(tree, tmp_path / "cache") == first
    assert len(calls.read_text()) == 60
    for damage in (b"garbage" * 1000, b"", file.read_bytes()[:5000]):
        before = len(calls.read_text())
        for extra in file.parent.glob("*.sqlite-*"):
            extra.unlink()
        file.write_bytes(damage)
        assert run(tree, tmp_path / "cache") == first
        assert run(tree, tmp_path / "cache") == first
        assert len(calls.read_text()) - before <= 80


def test_cache_that_cannot_be_written_is_done_without(tree: Tree, tmp_path: Path, calls: Path) -> None:
    (tmp_path / "file").write_text("")
    assert len(run(tree, tmp_path / "file")) == 40


def test_cache_that_another_scan_holds_is_done_without(tmp_path: Path) -> None:
    key = b"0" * 16
    Cache(tmp_path).put("kind", {key: "kept"})
    cache, writer = Cache(tmp_path), Cache(tmp_path)
    other = sqlite3.connect(next(tmp_path.glob("*.sqlite")), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for one in (cache, writer):
        assert one._connection is not None
        one._connection.execute("PRAGMA busy_timeout = 1")
    assert cache.get("kind", [key]) == {}
    writer.put("kind", {key: "other"})
    other.execute("ROLLBACK")
    assert Cache(tmp_path).get("kind", [key]) == {key: "kept"}


def test_cache_stays_within_its_limit(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=20_000)
    contents = {bytes([number]) * 20: os.urandom(1000) for number in range(30)}
    for digest, content in contents.items():
        cache.put("noise", {digest: content})
        cache.get("noise", [bytes([0]) * 20])
    found = cache.get("noise", contents)
    assert bytes([0]) * 20 in found, "what is used is kept"
    assert bytes([29]) * 20 in found
    assert 5 < len(found) < 25
    assert all(found[digest] == contents[digest] for digest in found)
    cache.close()


def test_two_scans_at_once(tree: Tree, tmp_path: Path, calls: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: run(tree, tmp_path / "cache"), range(8)))
    assert all(result == results[0] for result in results)
    assert [fact for fact in results[0] if isinstance(fact, Skipped)] == []


def test_folder_follows_the_specification(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "smgate"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_folder() == Path.home() / ".cache" / "smgate"
