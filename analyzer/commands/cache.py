"""``smgate cache``: where results of earlier scans are kept, and how to be rid of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from analyzer.tree.cache import default_folder
from analyzer.tree.errors import TreeError


@click.group(invoke_without_command=True)
@click.pass_context
def cache(ctx: click.Context) -> None:
    """Show where results of earlier scans and fetched wheels are kept, and how much.

    \b
    smgate cache
    smgate cache clear
    """
    if ctx.invoked_subcommand is None:
        folder = default_folder()
        click.echo(f"{folder}: {_size(folder) / 2**20:.1f} MiB")


@cache.command()
def clear() -> None:
    """Delete them; the next scan computes everything anew.

    \b
    smgate cache clear
    """
    folder = default_folder()
    freed = _size(folder)
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise TreeError(f"cannot delete {folder}: {error.strerror or error}") from error
    click.echo(f"{folder}: {freed / 2**20:.1f} MiB freed")


def _size(folder: Path) -> int:
    """Bytes of all files in a folder; of one that goes away meanwhile, nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
