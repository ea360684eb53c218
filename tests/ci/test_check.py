"""What fails a check: new or worse for the target, as grave as asked, not suppressed."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pytest

from analyzer.ci.baseline import Baseline, header
from analyzer.ci.check import Result, check
from analyzer.ci.known import Known
from analyzer.ci.suppress import Rule
from analyzer.model import Barrier, Entry, Path, Verdict
from tests.ci.gates import known, report
from tests.report.sample import REPORT

TODAY = datetime.date(2026, 6, 1)


def checked(old: list[Known], new: list[Known], **options: Any) -> Result:
    paths = options.pop("paths", ())
    baseline = Baseline(header(REPORT), tuple(old))
    return check(report(*new, paths=paths), baseline, **{"today": TODAY, **options})


def failing(old: list[Known], new: list[Known], **options: Any) -> int:
    return len(checked(old, new, **options).failing)


WARNING = {"effect": "excluded", "severity": "warning"}
NOTE = {"effect": "excluded", "severity": "note"}
FINE = known("is_new()", "sm_120")


@pytest.mark.parametrize(
    ("old", "new", "levels"),
    [
        ([], [known()], {"error", "warning", "note"}),
        ([], [known(**WARNING)], {"warning", "note"}),
        ([], [known(**NOTE)], {"note"}),
        ([], [FINE], set()),
        ([known()], [known()], set()),
        ([known()], [], set()),
        ([FINE], [known()], {"error", "warning", "note"}),
        ([known()], [FINE], set()),
        ([known(**WARNING)], [known()], {"error", "warning", "note"}),
        ([known()], [known(**WARNING)], set()),
        ([known()], [known(effect="empty_kernel")], {"error", "warning", "note"}),
        ([known(effect="empty_kernel")], [known()], set()),
        ([known()], [known(scope="other")], set()),
        ([known()], [known("platform().is_new()")], set()),
        ([known("is_new()", "sm_90")], [known("platform().is_new()", "sm_100")], set()),
        ([known("a()"), known("a()", order=1)], [known("a()")], set()),
        ([known("a()")], [known("a()"), known("a()", order=1)], {"error", "warning", "note"}),
    ],
)
def test_new_and_worse(old: list[Known], new: list[Known], levels: set[str]) -> None:
    assert {level for level in ("error", "warning", "note") if failing(old, new, fail_on=level)} == levels


def test_strict_counts_what_became_unknown_on_a_path() -> None:
    unknown: dict[str, Verdict] = {"sm_90": "admit", "sm_100": "admit", "sm_120": "unknown"}
    gate = msgspec.structs.replace(FINE, verdict=unknown)
    entry = Entry("p.run", "api", "p/a.py", 1)
    way = Path("way", entry, ("start", gate.id), (), "none", "none")
    barred = Path("way", entry, ("start",), (Barrier(gate.id, "always"),), "none", "none")
    for path in (way, barred):
        assert failing([FINE], [gate], paths=(path,), strict=True) == 1
        assert failing([], [gate], paths=(path,), strict=True) == 1
        assert failing([gate], [gate], paths=(path,), strict=True) == 0
        assert failing([FINE], [gate], paths=(path,)) == 0
    assert failing([FINE], [gate], strict=True) == 0, "no path leads there"


def test_an_entry_whose_day_is_over_is_new_again() -> None:
    old = msgspec.structs.replace(known(), expires=datetime.date(2026, 5, 31))
    result = checked([old], [known()])
    assert [change.known.id for change in result.failing] == [old.id]
    assert result.expired == (old,)
    assert failing([msgspec.structs.replace(old, expires=TODAY)], [known()]) == 0


def test_suppressed_gates_do_not_fail_and_are_named() -> None:
    rule = Rule("waiting for upstream", path="p/*")
    result = checked([], [known()], rules=[rule])
    assert result.failing == ()
    assert [change.known.id for change in result.put_up_with] == [known().id]
    over = Rule("waiting for upstream", path="p/*", expires=datetime.date(2026, 5, 31))
    assert failing([], [known()], rules=[over]) == 1


def test_gone_gates_are_named() -> None:
    result = checked([known(), known("b()", scope="other", file="q/b.py")], [known()])
    assert [change.known.condition for change in result.gone] == ["b()"]
    assert result.failing == ()
