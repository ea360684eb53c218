"""``smgate diff``: what one release changes for the target against another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from analyzer.ci.diff import Diff
from analyzer.ci.diff import diff as differences
from analyzer.commands.options import common_options
from analyzer.commands.output import (
    TERMINAL,
    check_destination,
    format_of,
    format_option,
    output_option,
    write,
)
from analyzer.commands.reports import named
from analyzer.report import comparison
from analyzer.report.screen import Screen
from analyzer.report.sheets import diff as sheets
from analyzer.report.sheets import views

_FORMATS = ("json", "markdown", "html")


@click.command()
@click.argument("old")
@click.argument("new")
@common_options
@format_option(_FORMATS)
@output_option
def diff(old: str, new: str, form: str | None, output: Path | None, quiet: bool, **common: Any) -> int:
    """Show the gates that NEW adds, drops, moves, rewrites or decides otherwise than OLD.

    Each is a folder, a wheel, a JSON report of an earlier scan, or releases as NAME==VERSION,... from the
    package index.

    \b
    smgate diff old.json new.json
    smgate diff flashinfer_python-0.6.3-py3-none-any.whl flashinfer_python-0.6.4-py3-none-any.whl
    smgate diff flashinfer-python==0.6.3 flashinfer-python==0.6.4 --format html --output diff.html
    """
    main = format_of(form, output)
    if main not in (TERMINAL, *_FORMATS):
        raise click.UsageError(f"a diff cannot be written as {main}: name one of {', '.join(_FORMATS)}")
    if output:
        check_destination(output)
    found = differences(named(old, quiet, common), named(new, quiet, common))
    write(output, _rendered(found, main, None if output else Screen.of(sys.stdout)))
    return 0


def _rendered(found: Diff, kind: str, screen: Screen | None) -> bytes:
    if kind == "json":
        return comparison.of_diff(found)
    sheet = sheets.sheet(found)
    if kind == TERMINAL:
        return views.terminal(sheet, screen).encode()
    return views.as_markdown(sheet) if kind == "markdown" else views.as_html(sheet)
