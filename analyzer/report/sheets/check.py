"""The sheet of a check: what is new or worse than the baseline, what is gone, what is put up with."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.ci.check import Result
from analyzer.ci.compare import Change
from analyzer.ci.known import Known
from analyzer.ci.suppress import Rule
from analyzer.report import words
from analyzer.report.sheets import changes
from analyzer.report.sheets.sheet import Item, Sheet, sections
from analyzer.report.words import Code


def sheet(result: Result, baseline: str) -> Sheet:
    """Draw up the sheet; ``baseline`` is the name of the file."""
    target = result.report.target.arch
    gates = result.gates

    def items(some: Iterable[Change]) -> list[Item]:
        return [
            changes.item(change, target, None, gates.get(change.new.id) if change.new is not None else None)
            for change in some
        ]

    failing = {change.known.id for change in (*result.failing, *result.put_up_with)}
    other = [c for c in result.changes if c.new is not None and c.known.id not in failing]
    number = len(result.failing)
    found = words.counted(number, "gate") + (" is" if number == 1 else " are") if number else "nothing is"
    return Sheet(
        f"{target}: {found} new or worse than {baseline} allows",
        _lead(result),
        sections(
            ("New or worse", items(result.failing), False),
            ("Put up with by a suppression", items(result.put_up_with), False),
            ("Suppressions that are over", [_rule(rule) for rule in result.suppressed.expired], False),
            ("Suppressions that fit nothing", [_rule(rule) for rule in result.suppressed.unused], False),
            ("Gates of the baseline whose day is over", [_expired(k) for k in result.expired], False),
            ("Gone: the baseline still holds them", items(result.gone), True),
            ("Changed, but no worse", items(c for c in other if c.kind == "changed"), True),
            ("New, but below the limit", items(c for c in other if c.kind == "added"), True),
            ("Rewritten, with the same verdicts", items(c for c in other if c.kind == "rewritten"), True),
            ("Moved, with the same verdicts", items(c for c in other if c.kind == "moved"), True),
        ),
    )


def _lead(result: Result) -> tuple[str, ...]:
    report = result.report
    packages = ", ".join(f"{i.package} {i.version}" for i in report.inputs) or "no package"
    same = sum(change.kind == "same" for change in result.changes)
    return (
        f"{packages}; against {words.listed(report.references)}, CUDA {report.target.cuda}.",
        f"{words.counted(same, 'gate')} as in the baseline, {len(result.gone)} gone.",
    )


def _rule(rule: Rule) -> Item:
    until = f"until {rule.expires.isoformat()}; " if rule.expires is not None else ""
    return Item((Code(rule.text),), detail=(f"{until}reason: {rule.reason}",))


def _expired(known: Known) -> Item:
    until = known.expires.isoformat() if known.expires is not None else ""
    return Item((Code(known.id),), detail=(f"until {until}; reason: {known.reason or 'none given'}",))
