"""The plan that makes an entry work on the target: which gates to open, in which order, with which edits."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.judge.edits import gate as edits
from analyzer.judge.edits.predicates import Predicates
from analyzer.judge.edits.text import Edit, NoEditError, Planned, Text
from analyzer.judge.edits.text import patch as unified
from analyzer.model import Effect, Gate, Justification, Path, Report, Value, When

_ORDER: tuple[When, ...] = ("always", "default", "ahead_of_time")


class Opening(Value, frozen=True):
    """A gate to open. ``edit`` is None where none can be given; ``why`` then says the reason."""

    gate: str
    file: str
    line: int
    when: When
    effect: Effect
    justification: Justification
    edit: Edit | None
    why: str | None = None


class Remaining(Value, frozen=True):
    """A gate that no edit of its own text opens: the hardware stands behind it."""

    gate: str
    file: str
    line: int
    when: When
    effect: Effect
    justification: Justification


class Plan(Value, frozen=True):
    """What stands between the target and an entry that works as on the references."""

    entry: str
    target: str
    opens: tuple[Opening, ...]
    remains: tuple[Remaining, ...]


@dataclass(frozen=True, slots=True)
class Unlocking:
    """A plan, and its edits as one unified diff for ``patch -p0``."""

    plan: Plan
    patch: str


_NOT_JUDGED = Justification("unknown", ())


def unlock(report: Report, entry: str, text: Text) -> Unlocking:
    """The least set of gates to open for an entry, in the order in which a user would meet them.

    Args:
        report: of a scan.
        entry: the name of an entry, or the end of one name only.
        text: the scanned files; where one is not at hand, there are no edits in it.

    Raises:
        LookupError: no entry has that name; the message names those that are like it.
    """
    paths = _paths(report, entry)
    predicates = Predicates(report)
    opens: list[Opening] = []
    remains: list[Remaining] = []
    planned: list[Planned] = []
    for gate, when in _barriers(report, paths):
        judged = gate.justification or _NOT_JUDGED
        if judged.kind == "hardware":
            remains.append(Remaining(gate.id, gate.file, gate.line, when, gate.effect, judged))
            continue
        edit, why = None, None
        try:
            one = edits.edit(gate, predicates, text)
            planned.append(one)
            edit = one.edit(text)
        except NoEditError as error:
            why = str(error)
        opens.append(Opening(gate.id, gate.file, gate.line, when, gate.effect, judged, edit, why))
    name = paths[0].entry.name
    return Unlocking(
        Plan(name, report.target.arch, tuple(opens), tuple(remains)),
        unified(planned, text) if planned else "",
    )


def _paths(report: Report, entry: str) -> list[Path]:
    """The paths of an entry."""
    names = list(dict.fromkeys(path.entry.name for path in report.paths))
    wanted = " ".join(entry.split())
    if wanted not in names:
        ends = [name for name in names if name.endswith((f".{wanted}", f" {wanted}"))]
        if len(ends) > 1:
            raise LookupError(f"{entry!r} fits {len(ends)} entries, among them {ends[0]} and {ends[1]}")
        if not ends:
            raise LookupError(f"the report has no entry {entry!r}{_like(wanted, names)}")
        wanted = ends[0]
    return [path for path in report.paths if path.entry.name == wanted]


def _like(wanted: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f"; there is {', '.join(near)}" if near else ""


def _barriers(report: Report, paths: Sequence[Path]) -> list[tuple[Gate, When]]:
    """The gates that stop the target on these paths, each once, in the order of meeting.

    A gate that always counts on one path counts always.
    """
    known = {gate.id: gate for gate in report.gates}
    when: dict[str, When] = {}
    for path in paths:
        for barrier in path.barriers:
            if barrier.gate in known:
                before = when.get(barrier.gate, barrier.when)
                when[barrier.gate] = min(before, barrier.when, key=_ORDER.index)
    return [(known[gate], when[gate]) for gate in sorted(when, key=lambda gate: _ORDER.index(when[gate]))]
