"""A summary in Markdown, fit for a job summary or a pull request comment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from analyzer.ci.marks import Marks
from analyzer.model import Cell, Gate, Path, Report
from analyzer.report import tally, words
from analyzer.report.source import one_line
from analyzer.report.words import Code, Phrase

SIGN = {"error": "🔴", "warning": "🟡", "note": "🔵", "none": "⚪"}
_STATUS = {"supported": "✅ yes", "degraded": "🟡 degraded", "unsupported": "❌ no", "unknown": "❔ unknown"}
_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|!~$&]|(?<!\w)_|_(?!\w))")
_LIMIT = 1000
"""Characters of a single code span."""


def render(report: Report, limit: int = 20) -> bytes:
    """Counts, worst ways in, worst findings, the part of the matrix where the target differs.

    ``limit`` bounds the lists (0: all); what is left out is counted. GitHub cuts a comment at 65,536
    characters: the default stays far below.
    """
    return ("\n".join(_lines(report, limit)).rstrip() + "\n").encode("utf-8", "replace")


def changed(report: Report, marks: Marks, limit: int = 20) -> bytes:
    """Counts; ways in and rows of the matrix that gates decide which the baseline has not, or otherwise."""
    fresh = {gate for gate, state in (marks.states or {}).items() if state != "unchanged"}
    target = report.target.arch
    paths = [path for path in report.paths if any(barrier.gate in fresh for barrier in path.barriers)]
    rows = [cell for cell in report.matrix if not fresh.isdisjoint(cell.reasons.get(target, ()))]
    ways = _ways(report, paths, "What these gates stop", limit)
    counts = ["### All findings", "", *_counts(report)] if report.findings else []
    lines = ["", *ways, *_matrix(report, rows, "What they decide in the matrix"), *counts]
    return ("\n".join(lines).rstrip() + "\n").encode("utf-8", "replace")


def escape(text: str) -> str:
    """Text from outside, so that Markdown shows it as it is: no markup, no HTML, no mention, no link."""
    plain = _SPECIAL.sub(r"\\\1", one_line(text))
    return plain.replace("@", "&#64;").replace("://", "&#58;//")


def code(text: str) -> str:
    """A code span, safe inside a table; fenced by more backticks than the text holds."""
    plain = one_line(text, _LIMIT).replace("|", "\\|")
    if not plain:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def phrase(pieces: Phrase) -> str:
    """A sentence with its code in code spans."""
    return "".join(code(piece) if isinstance(piece, Code) else escape_words(piece) for piece in pieces)


def escape_words(text: str) -> str:
    """As :func:`escape`, keeping the blanks at both ends."""
    body = text.strip()
    if not body:
        return text
    return text.replace(body, escape(body), 1)


def _lines(report: Report, limit: int) -> Iterator[str]:
    target = report.target
    yield f"## {target.arch}: {escape(words.headline(report))}"
    yield ""
    packages = ", ".join(f"{code(i.package)} {escape(i.version)}" for i in report.inputs) or "no package"
    yield f"{packages}; against {words.listed(report.references)}, CUDA {escape(target.cuda)}."
    yield ""
    for notice in report.notices:
        yield f"> **Note:** {escape(notice.what)}"
        yield ""
    yield from _counts(report)
    stopped = f"What cannot be used as on {words.listed(report.references, 'or')}"
    yield from _ways(report, report.paths, stopped, limit)
    yield from _findings(report, limit)
    yield from _matrix(report, _differing(report), f"Where the matrix differs for {report.target.arch}")
    yield from _coverage(report)


def _counts(report: Report) -> Iterator[str]:
    layers = tally.by_layer(report)
    if not layers:
        return
    yield "| | " + " | ".join(layers) + " | **all** |"
    yield "|:--" + "|--:" * (len(layers) + 1) + "|"
    for severity, total in tally.by_severity(report).items():
        cells = [str(row[severity] or "") for row in layers.values()]
        yield f"| {SIGN[severity]} {severity} | " + " | ".join(cells) + f" | **{total}** |"
    yield ""


def _ways(report: Report, some: Iterable[Path], title: str, limit: int) -> Iterator[str]:
    paths = [p for p in tally.paths_worst_first(some) if p.severity != "none"]
    if not paths:
        return
    gates = {gate.id: gate for gate in report.gates}
    shown = paths[:limit] if limit else paths
    yield f"### {title}"
    yield ""
    yield "| | entry | first gate | today | behind it | the gravest |"
    yield "|:--|:--|:--|:--|--:|:--|"
    for path in shown:
        yield _way(path, gates)
    yield from _left_out(len(paths) - len(shown), "more way", "more ways")
    yield ""


def _way(path: Path, gates: Mapping[str, Gate]) -> str:
    first = gates.get(path.barriers[0].gate) if path.barriers else None
    place = code(f"{first.file}:{first.line}") if first else "none"
    today = words.met(first) if first else ""
    behind = max(0, len(path.barriers) - 1)
    backends = f" ({escape(words.listed(path.backends))})" if path.backends else ""
    return (
        f"| {SIGN[path.severity]} | {code(path.entry.name)}{backends} | {place} | {today} | {behind} "
        f"| {words.EFFECTS[path.effect]} |"
    )


def _findings(report: Report, limit: int) -> Iterator[str]:
    groups = tally.alike(report.findings)
    if not groups:
        return
    shown = groups[:limit] if limit else groups
    yield "### Findings, worst first"
    yield ""
    for group in shown:
        gate = group.first
        more = f" and {len(group.gates) - 1} alike" if len(group.gates) > 1 else ""
        yield f"- {SIGN[gate.severity]} {phrase(words.sentence(gate, report.target.arch))}  "
        yield f"  {code(f'{gate.file}:{gate.line}')}{more}: {code(one_line(gate.code, 200))}"
    yield from _left_out(sum(len(g.gates) for g in groups[len(shown) :]), "more finding", "more findings")
    yield ""


def _differing(report: Report) -> list[Cell]:
    """The rows of the matrix in which the target's status is not that of every reference."""
    columns = [*report.references, report.target.arch]
    return [cell for cell in report.matrix if len({cell.status.get(arch) for arch in columns}) > 1]


def _matrix(report: Report, rows: Sequence[Cell], title: str) -> Iterator[str]:
    columns = [*report.references, report.target.arch]
    if not rows:
        return
    yield f"### {title}"
    yield ""
    yield "| API | backend | " + " | ".join(columns) + " |"
    yield "|:--|:--" + "|:--" * len(columns) + "|"
    for api, cells in groupby(rows, key=lambda cell: cell.api):
        yield from _rows(api, cells, columns)
    yield ""


def _rows(api: str, cells: Iterable[Cell], columns: list[str]) -> Iterator[str]:
    for index, cell in enumerate(cells):
        states = [_STATUS[cell.status[arch]] if arch in cell.status else "" for arch in columns]
        yield f"| {code(api) if not index else ''} | {code(cell.backend)} | " + " | ".join(states) + " |"


def _coverage(report: Report) -> Iterator[str]:
    files = report.coverage.files
    undecided = report.coverage.unresolved
    yield (
        f"Read {files.read:,} of {words.counted(files.seen, 'file')} ({len(files.skipped):,} skipped); "
        f"{words.counted(len(report.gates), 'gate')}; "
        f"{words.counted(len(undecided), 'place')} left undecided."
    )
    if not undecided:
        return
    yield ""
    yield "<details><summary>Why places were left undecided</summary>"
    yield ""
    for why, count in tally.unresolved_reasons(report)[:10]:
        yield f"- {count}: {escape(why)}"
    yield ""
    yield "</details>"


def _left_out(count: int, one: str, many: str) -> Iterator[str]:
    if count > 0:
        yield ""
        yield f"… and {words.counted(count, one, many)}; the HTML report holds all."
