"""``smgate history``: a package over its releases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from analyzer.ci.history import history as over_releases
from analyzer.commands.options import common_options
from analyzer.commands.output import (
    TERMINAL,
    check_destination,
    format_of,
    format_option,
    output_option,
    saved_report,
    write,
)
from analyzer.commands.reports import released
from analyzer.report import comparison
from analyzer.report.screen import Screen
from analyzer.report.sheets import history as views
from analyzer.tree.errors import TreeError
from analyzer.tree.fetch import versions

_FORMATS = ("json", "markdown", "html")


@click.command()
@click.argument("package")
@click.option(
    "--last", type=click.IntRange(1), default=5, show_default=True, metavar="N", help="newest releases"
)
@click.option(
    "--from",
    "saved",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="REPORT",
    help="a JSON report of an earlier scan, oldest first, instead of releases; repeatable",
)
@common_options
@format_option(_FORMATS)
@output_option
def history(
    package: str,
    last: int,
    saved: tuple[Path, ...],
    form: str | None,
    output: Path | None,
    quiet: bool,
    **common: Any,
) -> int:
    """Show what the target loses in each of the newest releases of a package.

    Wheels come from the package index and are kept, and so are their reports: asking again next week scans
    only what is new.

    \b
    smgate history flashinfer-python --last 6 --output history.html
    smgate history sglang --from old.json --from new.json
    """
    main = format_of(form, output)
    if main not in (TERMINAL, *_FORMATS):
        raise click.UsageError(f"a history cannot be written as {main}: name one of {', '.join(_FORMATS)}")
    if output:
        check_destination(output)
    if saved:
        reports = [saved_report(file) for file in saved]
    else:
        found = versions(package, last)
        if not found:
            raise TreeError(f"no release of {package} has a wheel in the index")
        reports = [released(f"{package}=={version}", quiet, common) for version in found]
    told = over_releases(package, reports)
    if main == TERMINAL:
        content = views.terminal(told, None if output else Screen.of(sys.stdout)).encode()
    elif main == "json":
        content = comparison.of_history(told)
    else:
        content = views.as_markdown(told) if main == "markdown" else views.as_html(told)
    write(output, content)
    return 0
