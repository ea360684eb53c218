"""Replacements and the unified diff, with patch as the judge."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analyzer.judge.edits.text import Planned, Splice, apply, patch
from tests.judge.opened import apply as apply_patch
from tests.judge.opened import reader


def test_the_same_replacement_twice_is_one() -> None:
    assert apply("[9, 10]", [Splice("a", 6, 6, ", 12"), Splice("a", 6, 6, ", 12")]) == "[9, 10, 12]"


LINES = st.lists(st.text(alphabet="ab \t\r\f\x0b\u2028é", max_size=4), max_size=9)


@given(lines=LINES, at=st.integers(0, 40), last=st.booleans(), text=st.text(alphabet="xy\n", max_size=5))
def test_patch_gives_what_the_replacement_gives(
    tmp_path_factory: object, lines: list[str], at: int, last: bool, text: str
) -> None:
    root: Path = tmp_path_factory.mktemp("tree")  # type: ignore[attr-defined]
    before = "\n".join(lines) + ("\n" if last else "")
    (root / "lib").mkdir()
    (root / "lib/a.txt").write_bytes(before.encode())
    start = min(at, len(before))
    splices = (Splice("lib/a.txt", start, min(start + 2, len(before)), text),)
    diff = patch([Planned("", splices)], reader(root))
    after = apply(before, splices)
    if not before or not after or before == after:
        return  # creating and deleting files is nothing that an edit does
    apply_patch(root, diff)
    assert (root / "lib/a.txt").read_bytes().decode() == after
