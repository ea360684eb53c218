"""``smgate scan``: analyse a tree and write the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from analyzer.ci.marks import of_scan
from analyzer.commands.options import common_options, fetch_option
from analyzer.commands.output import (
    check_destination,
    format_of,
    format_option,
    output_option,
    render,
    report_option,
    write,
)
from analyzer.commands.reports import scanned
from analyzer.commands.settings import given, suppressed
from analyzer.model import SEVERITIES, Severity
from analyzer.profile import Profile
from analyzer.report.formats import FORMATS
from analyzer.report.screen import Screen
from analyzer.report.spent import profile_text


@click.command()
@click.argument("root", type=click.Path(path_type=Path), required=False)
@common_options
@format_option(FORMATS)
@output_option
@report_option(FORMATS)
@click.option("--fail-on", type=click.Choice(SEVERITIES[:3]), help="exit 1 if a finding is this bad or worse")
@fetch_option
@click.option("--profile", "profiled", is_flag=True, help="print where the time went to standard error")
def scan(
    root: Path | None,
    form: str | None,
    output: Path | None,
    reports: tuple[tuple[str, Path], ...],
    fail_on: Severity | None,
    fetch: tuple[str, ...],
    profiled: bool,
    quiet: bool,
    **common: Any,
) -> int:
    """Analyse a tree and report what excludes or degrades the target.

    ROOT is a site-packages folder, a virtual environment or a folder of unpacked wheels; without it, the
    environment of the python on PATH.

    \b
    smgate scan .venv --target sm_120 --reference sm_90,sm_100
    smgate scan --format json --output report.json
    smgate scan --report html=report.html --report sarif=report.sarif --fail-on error
    smgate scan --fetch flashinfer-python==0.6.3 --fetch sglang==0.5.8.post1
    """
    if fetch and given("root"):
        raise click.UsageError("give ROOT or --fetch, not both")
    main = format_of(form, output)
    for _, file in (*reports, *([(main, output)] if output else [])):
        check_destination(file)
    profile = Profile()
    with scanned(root, fetch, quiet, common, profile) as (report, source):
        rules = suppressed(report)
        marks = of_scan(report, fail_on or "error", rules)
        for kind, file in reports:
            write(file, render(report, kind, source, None, marks))
        write(output, render(report, main, source, None if output else Screen.of(sys.stdout), marks))
    if profiled:
        click.echo(profile_text(profile), err=True)
    return int(fail_on is not None and bool(marks.failing))
