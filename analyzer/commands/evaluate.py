"""``smgate evaluate``: the value of names on every architecture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from analyzer import pipeline
from analyzer.commands.options import common_options, root_option, scan_options
from analyzer.commands.output import check_destination, write
from analyzer.report import evaluation


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@root_option
@common_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="where to write, instead of standard output"
)
def evaluate(
    names: tuple[str, ...], root: Path | None, form: str, output: Path | None, quiet: bool, **common: Any
) -> int:
    """Give the value of functions (called without arguments) and module variables for each architecture.

    \b
    smgate evaluate sglang.srt.utils.is_sm90_supported --root .venv
    smgate evaluate package.module.NAME package.module.function --format json
    """
    if output:
        check_destination(output)
    results = pipeline.evaluate(names, scan_options(root, **common))
    text = evaluation.as_json(results) if form == "json" else evaluation.as_text(results)
    write(output, text.encode())
    return 0
