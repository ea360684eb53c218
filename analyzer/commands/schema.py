"""``smgate schema``: the JSON Schema of what the program writes."""

from __future__ import annotations

import click

from analyzer.report import schema as schemas


@click.command()
@click.argument("name", type=click.Choice(list(schemas.NAMES)), default="report")
def schema(name: str) -> int:
    """Print the JSON Schema of a report, a comparison, or a line of a baseline.

    \b
    smgate schema report > smgate-report.schema.json
    smgate schema check
    """
    click.echo(schemas.text(name), nl=False)
    return 0
