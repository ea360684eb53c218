"""The options that every verb with a tree has, and what they make."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from analyzer import archs
from analyzer.scan import ScanOptions
from analyzer.tree.environment import default_root
from analyzer.tree.facts import default_jobs
from analyzer.tree.packages import site_packages

Command = TypeVar("Command", bound=Callable[..., Any])


def _arch(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """One architecture, by any of its usual spellings."""
    try:
        return archs.find(value).name
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _archs(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """Several architectures, separated by commas."""
    names = [_arch(ctx, param, part) for part in value.split(",") if part.strip()]
    if not names:
        raise click.BadParameter("no architecture named")
    return tuple(dict.fromkeys(names))


def arch_list(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Several architectures, separated by commas; none where the option is not given."""
    return _archs(ctx, param, value) if value is not None else ()


def _cuda(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A toolkit release."""
    if not re.fullmatch(r"[0-9]+\.[0-9]+", value):
        raise click.BadParameter(f"{value!r} is not a CUDA release such as 12.8")
    return value


def _variables(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Environment variables that are fixed."""
    result: dict[str, str] = {}
    for text in value:
        name, equals, content = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        result[name] = content
    return result


saved_option = click.option(
    "--from",
    "saved",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="a JSON report of an earlier scan, instead of a new scan",
)
root_option = click.option(
    "--root", type=click.Path(path_type=Path), help="the tree  [default: that of the python on PATH]"
)
fetch_option = click.option(
    "--fetch", multiple=True, metavar="NAME==VERSION", help="scan this wheel instead of ROOT; repeatable"
)


def common_options(command: Command) -> Command:
    """The options that every verb with a tree has."""
    options = [
        click.option(
            "--target",
            callback=_arch,
            default="sm_120",
            show_default=True,
            metavar="ARCH",
            help="architecture in question",
        ),
        click.option(
            "--reference",
            callback=_archs,
            default="sm_90,sm_100",
            show_default=True,
            metavar="ARCH,...",
            help="architectures to compare with",
        ),
        click.option(
            "--cuda",
            callback=_cuda,
            default="13.0",
            show_default=True,
            metavar="X.Y",
            help="toolkit and torch.version.cuda to assume",
        ),
        click.option(
            "--env",
            callback=_variables,
            multiple=True,
            metavar="NAME=VALUE",
            help="fix an environment variable; others are unset; repeatable",
        ),
        click.option(
            "--package", "packages", multiple=True, metavar="NAME", help="only this one; repeatable"
        ),
        click.option(
            "--jobs", type=click.IntRange(1), metavar="N", help="processes  [default: all processors]"
        ),
        click.option("--quiet", "-q", is_flag=True, help="no progress on standard error"),
        click.option("--no-cache", is_flag=True, help="neither keep nor use what other scans found out"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def scan_options(
    root: Path | None,
    target: str,
    reference: tuple[str, ...],
    cuda: str,
    env: dict[str, str],
    packages: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
) -> ScanOptions:
    """The options of a scan, from those of :func:`common_options`."""
    if target in reference:
        raise click.UsageError(f"{target} is the target: it cannot be a reference as well")
    return ScanOptions(
        root=site_packages(root or default_root()),
        target=target,
        references=reference,
        cuda=cuda,
        env=env,
        packages=packages,
        jobs=jobs or default_jobs(),
        cache=not no_cache,
    )
