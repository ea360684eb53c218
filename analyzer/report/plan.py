"""What opening gates would bring, on the terminal: the plan of an entry, and how far the target then gets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from analyzer.judge.unlock import Opening, Plan, Remaining
from analyzer.judge.whatif import Advance
from analyzer.model import Gate, Justification, Report
from analyzer.report import words
from analyzer.report.screen import Screen, phrase, text
from analyzer.report.source import one_line

_KIND_STYLE = {"liftable": "green", "hardware": "red", "unknown": "magenta"}
#: Evidence that a plan shows of each gate; all of it is in the report.
EVIDENCE = 3


def plan(plan: Plan, report: Report, screen: Screen | None = None) -> str:
    """The gates to open, in the order of meeting, each with its edit; then what stays lost."""
    screen = screen or Screen()
    return screen.render(_plan(plan, {gate.id: gate for gate in report.gates}))


def _plan(plan: Plan, gates: dict[str, Gate]) -> Iterator[RenderableType]:
    yield Text.assemble(text(plan.entry, "bold"), f" on {plan.target}")
    if not plan.opens and not plan.remains:
        yield Text(f"Nothing stops {plan.target} on the ways that were followed.")
        return
    if plan.opens:
        yield ""
        yield Text(f"To open: {words.counted(len(plan.opens), 'gate')}", "bold underline")
    number = 1
    for alike in _alike(plan.opens):
        yield from _opening(number, alike, gates[alike[0].gate], plan.target)
        number += len(alike)
    yield ""
    if not plan.remains:
        yield Text("Stays lost: nothing.")
        return
    yield Text(f"Stays lost: {words.counted(len(plan.remains), 'gate')}", "bold underline")
    for remaining in plan.remains:
        yield from _remaining(remaining, gates[remaining.gate], plan.target)


def _alike(opens: Sequence[Opening]) -> list[list[Opening]]:
    """Openings that follow each other in one file with the same edit and effect: one row."""

    def key(opening: Opening) -> object:
        what = opening.edit.what if opening.edit is not None else opening.gate
        return opening.file, opening.when, opening.effect, opening.justification.kind, what

    return [list(group) for _, group in groupby(opens, key=key)]


def _opening(number: int, alike: Sequence[Opening], gate: Gate, target: str) -> Iterator[RenderableType]:
    opening, judged = alike[0], alike[0].justification
    head = Text.assemble(f"{number:>3}. ", text(f"{opening.file}:{opening.line}", "cyan"))
    head.append(f"  {words.WHEN[opening.when]}, ")
    head.append(judged.kind, _KIND_STYLE[judged.kind])
    yield head
    yield Padding(phrase(words.sentence(gate, target)), (0, 0, 0, 5))
    if len(alike) > 1:
        lines = words.listed([str(other.line) for other in alike[1:]])
        yield Padding(text(f"alike at {words.counted(len(alike) - 1, 'more line')}: {lines}"), (0, 0, 0, 5))
    if opening.edit is not None:
        yield Padding(text(one_line(opening.edit.what, 300), "bold"), (0, 0, 0, 5))
        for change in opening.edit.changes if len(opening.edit.changes) > 1 else ():
            more = one_line(change.after, 120).removeprefix(", ").removeprefix("or ")
            if more and more not in opening.edit.what:
                yield Padding(text(f"also at line {change.line}: {more}", "dim"), (0, 0, 0, 5))
    elif opening.why:
        yield Padding(text(f"no edit: {opening.why}", "yellow"), (0, 0, 0, 5))
    yield from _evidence(judged)


def _remaining(remaining: Remaining, gate: Gate, target: str) -> Iterator[RenderableType]:
    yield Text.assemble("  ", text(f"{remaining.file}:{remaining.line}", "cyan"), "  hardware")
    yield Padding(phrase(words.sentence(gate, target)), (0, 0, 0, 5))
    yield from _evidence(remaining.justification)


def _evidence(judged: Justification) -> Iterator[RenderableType]:
    for step in judged.evidence[:EVIDENCE]:
        line = Text.assemble(text(step.what, "dim"), "  ", text(f"{step.file}:{step.line}", "dim cyan"))
        yield Padding(line, (0, 0, 0, 5))
    rest = len(judged.evidence) - EVIDENCE
    if rest > 0:
        yield Padding(Text(f"… and {rest} more", "dim"), (0, 0, 0, 5))


def advances(
    found: Sequence[Advance], opened: Sequence[Gate], report: Report, screen: Screen | None = None
) -> str:
    """How far the target gets with these gates open."""
    screen = screen or Screen()
    return screen.render(_advances(found, opened, report))


def _advances(found: Sequence[Advance], opened: Sequence[Gate], report: Report) -> Iterator[RenderableType]:
    target = report.target.arch
    yield Text(f"With {words.counted(len(opened), 'gate')} open for {target}:", "bold")
    for gate in opened:
        yield Text.assemble("  ", text(f"{gate.file}:{gate.line}", "cyan"))
    if not found:
        yield ""
        yield Text("No way in of this report leads through them.")
    for advance in found:
        yield ""
        ways = words.counted(len(advance.paths), "way in", "ways in")
        if advance.next is None:
            yield Text(f"{ways} open:", "green")
        else:
            gate = advance.next
            yield Text.assemble(f"{ways} next stopped at ", text(f"{gate.file}:{gate.line}", "cyan"), ":")
            yield Padding(phrase(words.sentence(gate, target)), (0, 0, 0, 5))
        for name, path in {path.entry.name: path for path in advance.paths}.items():
            line = Text.assemble("  ", text(name, "bold"))
            rest = dict.fromkeys(words.WHEN[one.when] for one in path.barriers if one.when != "always")
            yield line.append(f"  (closed {words.listed(list(rest))})" if rest else "", "dim")
