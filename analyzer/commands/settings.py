"""Settings of the project as defaults of the options, and ``smgate config``, which shows them."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from analyzer.ci.config import Found, find, load
from analyzer.ci.suppress import Suppressed, suppress
from analyzer.commands.options import common_options
from analyzer.model import Report

_SOURCES: dict[ParameterSource | None, str] = {
    ParameterSource.COMMANDLINE: "command line",
    ParameterSource.DEFAULT: "default",
    ParameterSource.DEFAULT_MAP: "settings",
}


def install(ctx: click.Context, file: Path | None) -> None:
    """Read the settings, and let every verb take its defaults from them.

    Raises:
        TreeError: a settings file is not in order.
    """
    found = load(file) if file is not None else find(Path.cwd())
    ctx.obj = found
    group = ctx.command
    verbs = group.list_commands(ctx) if isinstance(group, click.Group) else []
    defaults = _defaults(found)
    # A scan fails on findings only where that is asked for on its own command line.
    fits = {"scan": {name: value for name, value in defaults.items() if name != "fail_on"}}
    ctx.default_map = {verb: fits.get(verb, defaults) for verb in verbs}


def _defaults(found: Found) -> dict[str, Any]:
    """The settings under the names of the options' parameters, as they would be typed."""
    settings = found.settings
    typed: dict[str, Any] = {
        "root": settings.root and str(found.beside(settings.root)),
        "target": settings.target,
        "reference": settings.reference and ",".join(settings.reference),
        "cuda": settings.cuda,
        "env": settings.env and [f"{name}={value}" for name, value in settings.env.items()],
        "packages": settings.package,
        "jobs": settings.jobs,
        "baseline": settings.baseline and str(found.beside(settings.baseline)),
        "fail_on": settings.fail_on,
        "strict": settings.strict,
    }
    return {name: value for name, value in typed.items() if value is not None}


def current() -> Found:
    """The settings that are in force."""
    return click.get_current_context().find_object(Found) or Found()


def given(name: str) -> bool:
    """Whether a parameter was named on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def suppressed(report: Report) -> Suppressed:
    """What the settings suppress in a report, today."""
    return suppress(report, current().settings.suppress, today())


def today() -> datetime.date:
    """The day by which suppressions and entries of a baseline are held to be over."""
    return datetime.datetime.now(datetime.UTC).date()


@click.command()
@click.argument("root", type=click.Path(path_type=Path), required=False)
@common_options
@click.option("--baseline", type=click.Path(path_type=Path), metavar="FILE", help="as for check")
@click.option("--fail-on", default="error", help="as for check")
@click.option("--strict", is_flag=True, help="as for check")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config(form: str, **values: Any) -> int:
    """Show every setting, its value, and where it came from.

    Settings stand in smgate.toml, or in pyproject.toml under [tool.smgate]; options go before them.

    \b
    smgate config
    smgate config --target sm_121 --format json
    """
    found = current()
    context = click.get_current_context()
    rows = []
    for name, parameter in _NAMES.items():
        source = context.get_parameter_source(parameter)
        origin = str(found.file) if source is ParameterSource.DEFAULT_MAP else _SOURCES.get(source, "default")
        rows.append({"name": name, "value": _plain(values[parameter]), "from": origin})
    for rule in found.settings.suppress:
        until = f" until {rule.expires.isoformat()}" if rule.expires else ""
        rows.append(
            {"name": "suppress", "value": f"{rule.text}{until}: {rule.reason}", "from": str(found.file)}
        )
    if form == "json":
        click.echo(json.dumps(rows, indent=2))
        return 0
    width = max(len(_shown(row["value"])) for row in rows)
    for row in rows:
        click.echo(f"{row['name']:<9}  {_shown(row['value']):<{min(width, 60)}}  {row['from']}")
    return 0


_NAMES = {
    "root": "root",
    "target": "target",
    "reference": "reference",
    "cuda": "cuda",
    "env": "env",
    "package": "packages",
    "jobs": "jobs",
    "baseline": "baseline",
    "fail-on": "fail_on",
    "strict": "strict",
}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if value is None or value == [] or value == {}:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{name}={content}" for name, content in value.items())
    return (
        ", ".join(value)
        if isinstance(value, list)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )
