"""``smgate check``: fail on what is new or worse than a baseline, and only on that."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from analyzer.ci import baseline as baselines
from analyzer.ci import marks
from analyzer.ci.baseline import Baseline
from analyzer.ci.check import Result
from analyzer.ci.check import check as held_against
from analyzer.ci.compare import compare
from analyzer.ci.known import remembered
from analyzer.commands.options import common_options, fetch_option, saved_option
from analyzer.commands.output import (
    TERMINAL,
    Destinations,
    check_destination,
    format_of,
    format_option,
    output_option,
    report_option,
    saved_report,
    write,
)
from analyzer.commands.reports import scanned
from analyzer.commands.settings import current, given, today
from analyzer.model import SEVERITIES, Report, Severity
from analyzer.report import comparison, html, markdown, words
from analyzer.report.formats import FORMATS
from analyzer.report.screen import Screen
from analyzer.report.sheets import check as sheets
from analyzer.report.sheets import views
from analyzer.report.source import Source, no_source
from analyzer.tree.errors import TreeError

_FORMATS = ("json", "markdown", "html", "sarif", "junit", "gitlab", "github")


@click.command()
@click.argument("root", type=click.Path(path_type=Path), required=False)
@click.option(
    "--baseline", type=click.Path(path_type=Path), metavar="FILE", help="the gates that are put up with"
)
@click.option("--update", is_flag=True, help="write the baseline as the gates are now")
@click.option("--accept-new", is_flag=True, help="with --update: also take in what would fail")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES[:3]),
    default="error",
    show_default=True,
    help="the mildest that fails",
)
@click.option("--strict", is_flag=True, help="a verdict that became unknown on a path fails too")
@fetch_option
@saved_option
@common_options
@format_option(_FORMATS)
@output_option
@report_option(_FORMATS)
def check(
    root: Path | None,
    baseline: Path | None,
    update: bool,
    accept_new: bool,
    fail_on: Severity,
    strict: bool,
    fetch: tuple[str, ...],
    saved: Path | None,
    form: str | None,
    output: Path | None,
    reports: Destinations,
    quiet: bool,
    **common: Any,
) -> int:
    """Fail if a gate is new, or worse for the target, than a baseline says.

    The baseline is a file that you commit; --update makes it, and brings it up to date. Whatever moved or was
    rewritten with the same verdicts does not fail, nor does what the settings suppress.

    \b
    smgate check .venv --baseline gates.jsonl --update
    smgate check .venv --baseline gates.jsonl
    smgate check --fetch flashinfer-python==0.6.4 --baseline gates.jsonl --fail-on warning
    smgate check .venv --baseline gates.jsonl --report sarif=new.sarif --report junit=gates.xml
    """
    if baseline is None:
        raise click.UsageError("name the baseline: --baseline FILE, or baseline in the settings")
    _refuse(update, accept_new, (bool(fetch), saved is not None, given("root")))
    main = format_of(form, output)
    for _, file in (*reports, *([(main, output)] if output else [])):
        check_destination(file)
    known = _known(baseline, update)
    rules = current().settings.suppress

    def judged(report: Report, source: Source) -> int:
        if known is None:
            return _created(report, baseline)
        _same_question(known, report, baseline)
        result = held_against(report, known, fail_on=fail_on, strict=strict, rules=rules, today=today())
        for kind, file in reports:
            write(file, _rendered(result, kind, source, baseline, None))
        screen = None if output else Screen.of(sys.stdout)
        write(output, _rendered(result, main, source, baseline, screen))
        if update and (accept_new or not result.failing):
            return _updated(report, known, baseline)
        if update:
            click.echo("smgate: the baseline stays as it is; --accept-new takes these in", err=True)
        return int(bool(result.failing))

    if saved is not None:
        return judged(saved_report(saved), no_source)
    with scanned(root, fetch, quiet, common) as (report, source):
        return judged(report, source)


def _refuse(update: bool, accept_new: bool, inputs: tuple[bool, ...]) -> None:
    if accept_new and not update:
        raise click.UsageError("--accept-new goes with --update")
    if sum(inputs) > 1:
        raise click.UsageError("give one of ROOT, --fetch and --from")


def _known(file: Path, update: bool) -> Baseline | None:
    """The baseline; None if it is about to be made."""
    if not file.exists() and update:
        check_destination(file)
        return None
    if not file.exists():
        raise TreeError(f"no such baseline: {file}; make it with --update")
    return baselines.load(file)


def _same_question(known: Baseline, report: Report, file: Path) -> None:
    asked = baselines.header(report)
    for name in ("target", "references", "cuda"):
        was, now = (getattr(header, name) for header in (known.header, asked))
        if was != now:
            shown = [", ".join(value) if isinstance(value, tuple) else value for value in (was, now)]
            raise TreeError(f"{file} is for {name} {shown[0]}, the check for {shown[1]}")


def _created(report: Report, file: Path) -> int:
    gates = remembered(report)
    write(file, baselines.encode(Baseline(baselines.header(report), gates)))
    count = words.counted(len(gates), "gate")
    errors = words.counted(sum(gate.severity == "error" for gate in gates), "error")
    click.echo(f"{file}: {count}, {errors} of {report.target.arch} among them")
    return 0


def _updated(report: Report, known: Baseline, file: Path) -> int:
    """Rewrite the baseline; whoever is in it keeps the reason and the day that was given."""
    gates = baselines.kept(compare(known.gates, remembered(report)))
    write(file, baselines.encode(Baseline(baselines.header(report), gates)))
    click.echo(f"{file}: {words.counted(len(gates), 'gate')}, {len(known.gates)} before", err=True)
    return 0


def _rendered(result: Result, kind: str, source: Source, baseline: Path, screen: Screen | None) -> bytes:
    if kind == "json":
        return comparison.of_check(result)
    told = marks.of_check(result)
    if kind in (TERMINAL, "markdown", "html"):
        sheet = sheets.sheet(result, baseline.name)
        if kind == TERMINAL:
            return views.terminal(sheet, screen).encode()
        if kind == "html":
            return html.render(result.report, source, told, sheet)
        return views.as_markdown(sheet) + markdown.changed(result.report, told)
    return FORMATS[kind](result.report, source, told)
