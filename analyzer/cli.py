"""The command line: its verbs, and what becomes of their failures."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from analyzer import __version__, faults
from analyzer.commands.settings import install
from analyzer.tree.errors import TreeError

_INTERRUPTED = 130
#: So many new objects are worth a look for those that only hold each other: most live to the end of a scan.
_GARBAGE = 1_000_000

#: The verbs: each in a module of :mod:`analyzer.commands`, by the name that it has there.
_VERBS = {
    "cache": ("cache", "cache"),
    "check": ("check", "check"),
    "config": ("settings", "config"),
    "diff": ("diff", "diff"),
    "evaluate": ("evaluate", "evaluate"),
    "explain": ("explain", "explain_gate"),
    "history": ("history", "history"),
    "matrix": ("matrix", "show_matrix"),
    "scan": ("scan", "scan"),
    "schema": ("schema", "schema"),
    "unlock": ("unlock", "unlock"),
    "whatif": ("unlock", "whatif"),
}


class Verbs(click.Group):
    """The verbs; only the one that is asked for is loaded."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all."""
        return sorted(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them; nothing if there is none of that name."""
        if cmd_name not in _VERBS:
            return None
        module, name = _VERBS[cmd_name]
        found: click.Command = getattr(importlib.import_module(f"analyzer.commands.{module}"), name)
        return found


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="smgate")
@click.option(
    "--config",
    "settings",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="settings  [default: the nearest smgate.toml, or pyproject.toml with [tool.smgate]]",
)
@click.pass_context
def smgate(ctx: click.Context, settings: Path | None) -> None:
    """Find what an installed Python tree denies a GPU architecture, where, and why.

    \b
    smgate scan                                   the environment of the python on PATH
    smgate scan /path/to/site-packages --format html --output report.html
    smgate explain flashinfer/jit/comm.py         the gates of a file, or what was read there
    smgate matrix --api 'flashinfer.*' --arch sm_100,sm_120
    smgate evaluate sglang.srt.utils.is_sm90_supported --root /path/to/venv
    smgate unlock 'sglang --enable-flashinfer-allreduce-fusion' --patch open.diff
    smgate check .venv --baseline gates.jsonl     fail on what is new or worse, and only on that
    smgate diff old.json new.json                 what one release changes against another

    Nothing that is scanned is imported or run. Exit codes: 0 done, 1 findings as bad as --fail-on,
    2 wrong use or unreadable input, 130 interrupted.
    """
    install(ctx, settings)


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    gc.set_threshold(_GARBAGE)
    code = run(sys.argv[1:])
    gc.freeze()  # what is left is not looked through at the end: the system takes it back
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line; every failure is one line on standard error and a code of the contract."""
    try:
        return int(smgate.main(arguments, prog_name="smgate", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2
    except click.ClickException as error:
        return _fail(error.format_message())
    except TreeError as error:
        return _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("smgate: interrupted", err=True)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if faults.fatal():
            raise
        return _fail(f"{faults.told(error)} (set {faults.VARIABLE}=1 and run again to see the way to it)")


def _fail(message: str) -> int:
    click.echo("smgate: " + " ".join(message.split()), err=True)
    return 2
