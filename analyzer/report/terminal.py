"""The summary on the terminal: what the target loses, worst first, short enough for one look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.model import SEVERITIES, Gate, Notice, Path, Report, Severity
from analyzer.report import tally, words
from analyzer.report.screen import SEVERITY_STYLE, Screen, phrase, text
from analyzer.report.source import elide, elide_start, one_line


def summary(report: Report, screen: Screen | None = None, limit: int = 12) -> str:
    """The report in one or two screens of text.

    ``limit`` bounds the findings and, at half its size, the ways in (0: all); what is left out is counted.
    """
    screen = screen or Screen()
    return screen.render(_parts(report, screen, limit))


def _parts(report: Report, screen: Screen, limit: int) -> Iterator[RenderableType]:
    yield from _head(report)
    if report.findings:
        yield ""
        yield _counts(report)
    yield from _ways(report, screen, limit and max(1, limit // 2))
    yield from _findings(report, screen, limit)
    yield ""
    yield from _coverage(report)
    yield from _notices(report.notices[1:])
    if report.findings:
        yield ""
        yield Text("Why, for one of them: smgate explain FILE:LINE", "dim")
        yield Text("All of it, with code: smgate scan --format html --output report.html", "dim")


def _head(report: Report) -> Iterator[Text]:
    target = report.target
    products = ", ".join(words.products(target.arch))
    title = text(target.arch, "bold")
    title.append(f" ({products})" if products else "")
    title.append(f" against {words.listed(report.references)}, CUDA {target.cuda}")
    yield title
    yield text(" · ".join(f"{i.package} {i.version}" for i in report.inputs) or "no package", "dim")
    yield from _notices(report.notices[:1])
    yield Text("")
    yield text(words.headline(report), "bold")


def _notices(notices: Sequence[Notice]) -> Iterator[Text]:
    for notice in notices:
        yield Text.assemble(("! ", "yellow"), text(notice.what, "yellow"))


def _counts(report: Report) -> Table:
    """Severity by layer; layers without a finding are left out."""
    layers = tally.by_layer(report)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    for layer in layers:
        table.add_column(layer, justify="right")
    table.add_column("all", justify="right")
    for severity, total in tally.by_severity(report).items():
        cells = [Text(str(row[severity] or "·")) for row in layers.values()]
        style = SEVERITY_STYLE[severity] if total else "dim"
        table.add_row(Text(severity, style), *cells, Text(str(total), style))
    return table


def _tag(severity: Severity) -> Text:
    return Text(f"{severity:<9}", SEVERITY_STYLE[severity])


def _place(file: str, line: int, room: int) -> Text:
    return text(elide_start(f"{file}:{line}", room), "cyan")


def _ways(report: Report, screen: Screen, limit: int) -> Iterator[RenderableType]:
    """Entry points that the target cannot use as the references do, with what stops it."""
    paths = [p for p in tally.paths_worst_first(report.paths) if p.severity != "none"]
    if not paths:
        return
    gates = {gate.id: gate for gate in report.gates}
    groups = tally.ways(paths)
    shown = groups[:limit] if limit else groups
    yield ""
    yield Text(f"What cannot be used as on {words.listed(report.references, 'or')}", "bold underline")
    for group in shown:
        names = list(dict.fromkeys(path.entry.name for path in group))
        more = f"  (+{words.counted(len(names) - 1, 'more way')} in)" if len(names) > 1 else ""
        name = elide(names[0], max(24, screen.width - 9 - len(more)))
        yield Text.assemble(_tag(group[0].severity), text(name, "bold"), (more, "dim"))
        yield from _barriers(group[0], gates, screen)
    left = sum(len(group) for group in groups[len(shown) :])
    if left:
        yield Text(f"         … and {words.counted(left, 'more way')} in", "dim")


def _barriers(path: Path, gates: Mapping[str, Gate], screen: Screen, limit: int = 4) -> Iterator[Text]:
    for number, barrier in enumerate(path.barriers[:limit], 1):
        gate = gates.get(barrier.gate)
        line = Text(f"         {number}. ")
        if gate is None:
            yield line.append_text(text(one_line(barrier.gate, screen.width - 13)))
            continue
        tail = f"  {words.EFFECTS[gate.effect]}"
        if barrier.when != "always":
            tail += f", {words.WHEN[barrier.when]}"
        line.append_text(_place(gate.file, gate.line, max(24, screen.width - 13 - len(tail))))
        yield line.append(tail)
    rest = len(path.barriers) - limit
    if rest > 0:
        yield Text(f"         {words.counted(rest, 'more gate')} behind these", "dim")


def _findings(report: Report, screen: Screen, limit: int) -> Iterator[RenderableType]:
    groups = tally.alike(report.findings)
    if not groups:
        return
    shown = groups[:limit] if limit else groups
    yield ""
    yield Text("Findings, worst first", "bold underline")
    for group in shown:
        gate = group.first
        more = f" (+{len(group.gates) - 1} alike)" if len(group.gates) > 1 else ""
        room = max(24, screen.width - 9 - len(more))
        yield Text.assemble(_tag(gate.severity), _place(gate.file, gate.line, room), (more, "dim"))
        yield Padding(phrase(words.sentence(gate, report.target.arch)), (0, 0, 0, 9))
    left = sum(len(group.gates) for group in groups[len(shown) :])
    if left:
        graver = min((SEVERITIES.index(g.first.severity) for g in groups[len(shown) :]), default=0)
        yield Text(
            f"         … and {words.counted(left, 'more finding')}, {SEVERITIES[graver]} or milder", "dim"
        )


def _coverage(report: Report) -> Iterator[RenderableType]:
    files = report.coverage.files
    partly = f", {files.partly_parsed:,} of them in part" if files.partly_parsed else ""
    skipped = words.counted(len(files.skipped), "file") + " skipped"
    read = f"Read {files.read:,} of {words.counted(files.seen, 'file')}{partly}; {skipped}."
    yield Text.assemble(read, f" {words.counted(len(report.gates), 'gate')} in all.")
    for skip in files.skipped[:3]:
        yield Padding(text(f"skipped {skip.file}: {skip.why}", "yellow"), (0, 0, 0, 2))
    undecided = report.coverage.unresolved
    if not undecided:
        yield Text("Nothing that depends on the architecture was left undecided.")
        return
    places = words.counted(len(undecided), "place")
    yield Text(f"Not understood: {places}, left undecided rather than guessed:", "magenta")
    reasons = tally.unresolved_reasons(report)
    for why, count in reasons[:4]:
        yield Padding(text(f"{count:>4} {why}"), (0, 0, 0, 2))
    rest = sum(count for _, count in reasons[4:])
    if rest:
        yield Text(f"  {rest:>4} for other reasons", "dim")
