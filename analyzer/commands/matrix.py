"""``smgate matrix``: which API works with which back end on which architecture."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from analyzer.commands.options import arch_list, common_options, saved_option
from analyzer.commands.output import saved_report
from analyzer.commands.reports import analysed
from analyzer.report import matrix
from analyzer.report.screen import Screen


@click.command(name="matrix")
@click.argument("root", type=click.Path(path_type=Path), required=False)
@click.option("--api", "pattern", metavar="PATTERN", help="rows whose name fits, with * and ?, or holds it")
@click.option(
    "--arch", "shown", callback=arch_list, metavar="ARCH,...", help="columns  [default: every architecture]"
)
@click.option("--format", "form", type=click.Choice(list(matrix.FORMATS)), default="table", show_default=True)
@saved_option
@common_options
def show_matrix(
    root: Path | None,
    pattern: str | None,
    shown: tuple[str, ...],
    form: str,
    saved: Path | None,
    quiet: bool,
    **common: Any,
) -> int:
    """Show which API works with which back end on which architecture, and the gates that decide.

    ROOT is as for scan. What is compiled is compared for the target: where a guard takes something from it,
    another architecture that the same guard rejects is taken to lose the same.

    \b
    smgate matrix .venv --api 'flashinfer.*mla*'
    smgate matrix --from report.json --arch sm_100,sm_120,sm_121 --format markdown
    smgate matrix .venv --api 'sglang --*'
    """
    if root is not None and saved is not None:
        raise click.UsageError("give ROOT or --from, not both")
    report = saved_report(saved) if saved is not None else analysed(root, quiet, common)[0]
    chosen = matrix.view(report, pattern, shown)
    click.echo(matrix.FORMATS[form](chosen, Screen.of(sys.stdout)), nl=False)
    return 0
