"""One gate or one file explained on the terminal: condition, each part on each architecture, way back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.model import Gate, Predicate, Report, Step, Verdict
from analyzer.report import words
from analyzer.report.screen import SEVERITY_STYLE, VERDICT_STYLE, Screen, phrase, text
from analyzer.report.source import Source, elide, no_source, one_line

_VALUE_STYLE: dict[str, str] = {
    **{str(verdict): style for verdict, style in VERDICT_STYLE.items()},
    "true": "green",
    "false": "red",
    "free": "blue",
}


def gate(report: Report, gate: Gate, source: Source = no_source, screen: Screen | None = None) -> str:
    """How the verdict of one gate was reached, step by step, for every architecture."""
    screen = screen or Screen()
    return screen.render(_gate(report, gate, source, screen))


def file(report: Report, file: str, source: Source = no_source, screen: Screen | None = None) -> str:
    """The gates and predicates of one file; for a file without any, what was read and found to be none."""
    screen = screen or Screen()
    return screen.render(_file(report, file, source, screen))


def _gate(report: Report, gate: Gate, source: Source, screen: Screen) -> Iterator[RenderableType]:
    target = report.target.arch
    yield Text.assemble(text(f"{gate.file}:{gate.line}", "bold cyan"), f"  {gate.layer} gate")
    yield phrase(words.sentence(gate, target))
    yield _facts(gate)
    yield ""
    yield Padding(text(one_line(gate.code, 400), "bold"), (0, 0, 0, 2))
    yield ""
    yield _values(report, gate)
    if gate.because:
        yield ""
        yield Text("Because", "bold underline")
        yield from _steps(gate.because, source, screen)
    yield from _losses(gate)
    yield from _justification(gate, source, screen)
    yield from _by_build(gate, report)
    if gate.uses:
        places = ", ".join(f"{place.file}:{place.line}" for place in gate.uses)
        yield text(f"Used at {places}", "dim")
    for fact in gate.verified_by:
        yield text(f"Verified by: {fact}", "dim")
    yield text(f"id: {gate.id}", "dim")


def _facts(gate: Gate) -> Text:
    line = Text.assemble((gate.severity, SEVERITY_STYLE[gate.severity]), f" · {words.EFFECTS[gate.effect]}")
    if gate.effect != "none":
        line.append(" · silent" if gate.silent else " · announced")
    if gate.falls_back_to:
        line.append_text(text(f" · falls back to {gate.falls_back_to}"))
    if gate.justification:
        line.append(f" · {gate.justification.kind}")
    return line


def _values(report: Report, gate: Gate) -> Table:
    """One row for each architecture: the value of every part, then the verdict."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    for part in gate.parts:
        table.add_column(text(one_line(part.code, 40), "dim"), overflow="fold")
    table.add_column("verdict", style="bold")
    for arch in report.archs:
        marked = arch == report.target.arch or arch in report.references
        cells = [_value(part.value.get(arch, "")) for part in gate.parts]
        table.add_row(Text(arch, "bold" if marked else ""), *cells, _value(gate.verdict.get(arch, "")))
    return table


def _value(value: str) -> Text:
    return text(one_line(value, 40) or "·", _VALUE_STYLE.get(value.lower(), ""))


def _steps(steps: Iterable[Step], source: Source, screen: Screen) -> Iterator[RenderableType]:
    for number, step in enumerate(steps, 1):
        yield Text.assemble(f"{number:>3}. ", text(step.what))
        yield Padding(text(f"{step.file}:{step.line}", "cyan"), (0, 0, 0, 5))
        lines = source(step.file)
        code = lines[step.line - 1].strip() if lines is not None and 0 < step.line <= len(lines) else ""
        if code and code != step.what:
            yield Padding(text(elide(code, screen.width - 7), "dim"), (0, 0, 0, 7))


def _losses(gate: Gate) -> Iterator[RenderableType]:
    if gate.loses:
        yield ""
        yield Text("Lost", "bold underline")
    for loss in gate.loses:
        kind, place = text(f" ({loss.kind})  "), text(f"{loss.file}:{loss.line}", "cyan")
        yield Text.assemble("  ", text(loss.what, "bold"), kind, place)


def _justification(gate: Gate, source: Source, screen: Screen) -> Iterator[RenderableType]:
    if gate.justification is None:
        return
    meaning = {
        "hardware": "hardware: every way through needs something that the target lacks",
        "liftable": "liftable: all code behind the gate was followed and is legal on the target",
        "unknown": "unknown: not followed to the end",
    }
    yield ""
    yield Text.assemble(("Justification", "bold underline"), f"  {meaning[gate.justification.kind]}")
    yield from _steps(gate.justification.evidence, source, screen)


def _by_build(gate: Gate, report: Report) -> Iterator[RenderableType]:
    verdicts = [entry.verdict for entry in gate.verdict_by_build]
    if len({tuple(sorted(v.items())) for v in verdicts}) < 2:
        return
    yield ""
    yield Text("By build", "bold underline")
    target = report.target.arch
    for entry in gate.verdict_by_build:
        yield Text.assemble("  ", text(entry.build), "  ", _value(entry.verdict.get(target, "unknown")))


def _file(report: Report, file: str, source: Source, screen: Screen) -> Iterator[RenderableType]:
    gates = sorted((g for g in report.gates if g.file == file), key=lambda g: (g.line, g.column, g.id))
    predicates = [p for p in report.predicates if p.file == file]
    unresolved = [place for place in report.coverage.unresolved if place.file == file]
    yield Text.assemble(text(file, "bold cyan"), f"  {_what_was_read(report, file, len(gates))}")
    for gate in gates:
        yield Text.assemble(
            text(f"{gate.line:>6}  ", "cyan"),
            (f"{gate.severity:<8}", SEVERITY_STYLE[gate.severity]),
            phrase(words.sentence(gate, report.target.arch)),
        )
    for predicate in predicates:
        yield _predicate(predicate, report.archs)
    for place in unresolved:
        yield text(f"{place.line:>6}  undecided: {one_line(place.what, 80)}: {place.why}", "magenta")
    if gates:
        yield text(f"One of them in full: smgate explain {file}:LINE", "dim")


def _what_was_read(report: Report, file: str, gates: int) -> str:
    """``read, 3 architecture-dependent expressions, no gate``; or why it was not read."""
    for skipped in report.coverage.files.skipped:
        if skipped.file == file:
            return f"not read: {one_line(skipped.why)}"
    found = words.counted(gates, "gate") if gates else "no gate"
    for facts in report.coverage.read:
        if facts.file == file:
            return f"read, {words.counted(facts.expressions, 'architecture-dependent expression')}, {found}"
    return f"read, {found}" if gates else "not among the files of this report"


def _predicate(predicate: Predicate, archs: Iterable[str]) -> Text:
    values = _grouped(predicate.value, archs)
    return Text.assemble(
        text(f"{predicate.line:>6}  ", "cyan"),
        "predicate ",
        text(predicate.name, "bold"),
        text(f": {values}"),
    )


def _grouped(values: Mapping[str, str] | Mapping[str, Verdict], archs: Iterable[str]) -> str:
    """``true on sm_90; false on sm_80, sm_120``."""
    groups: dict[str, list[str]] = {}
    for arch in archs:
        if arch in values:
            groups.setdefault(values[arch], []).append(arch)
    return "; ".join(f"{one_line(value, 40)} on {', '.join(names)}" for value, names in groups.items())
