"""``smgate explain``: how the verdicts of a gate or file were reached."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import click

from analyzer.commands.options import common_options, root_option, saved_option
from analyzer.commands.output import saved_report, source_of
from analyzer.commands.reports import analysed
from analyzer.report import explain, lookup
from analyzer.report.screen import Screen
from analyzer.report.source import no_source


@click.command(name="explain")
@click.argument("gate")
@saved_option
@root_option
@common_options
def explain_gate(gate: str, saved: Path | None, root: Path | None, quiet: bool, **common: Any) -> int:
    """Show how each verdict was reached, step by step.

    GATE is the id of a gate, FILE:LINE, or FILE: for a file without gates,
    what was read and found to be none.

    \b
    smgate explain flashinfer/jit/comm.py:42 --root .venv
    smgate explain communicator.py
    smgate explain communicator.py --from report.json
    """
    if saved is not None:
        report = saved_report(saved)
        source, name = (source_of(root) if root is not None else no_source), []
    else:
        report, lies = analysed(root, quiet, common)
        source, name = source_of(lies), _scanned(lies, gate)
    screen = Screen.of(sys.stdout)
    try:
        found = lookup.find(report, gate, name)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    if found.file is not None:
        click.echo(explain.file(report, found.file, source, screen), nl=False)
    click.echo("\n".join(explain.gate(report, one, source, screen) for one in found.gates), nl=False)
    return 0


def _scanned(root: Path, text: str) -> list[str]:
    """The path as it is given, if such a file lies in the tree: the report may not mention it."""
    path = re.sub(r":[0-9]+(:[0-9]+)?$", "", text)
    return [path] if not path.startswith("/") and ".." not in path and (root / path).is_file() else []
