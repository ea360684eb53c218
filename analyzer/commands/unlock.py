"""``smgate unlock`` and ``smgate whatif``: what to open, and what opening would bring."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from analyzer.commands.options import common_options, root_option, saved_option
from analyzer.commands.output import check_destination, output_option, render, saved_report, source_of, write
from analyzer.commands.reports import analysed
from analyzer.judge import unlock as judge
from analyzer.judge.edits.text import Text
from analyzer.judge.whatif import advances
from analyzer.judge.whatif import whatif as opened_report
from analyzer.model import Gate, Report
from analyzer.report import lookup
from analyzer.report import plan as view
from analyzer.report.formats import FORMATS
from analyzer.report.screen import Screen
from analyzer.report.source import no_source
from analyzer.tree.environment import default_root
from analyzer.tree.errors import TreeError
from analyzer.tree.files import UnreadableFileError, read
from analyzer.tree.packages import site_packages


@click.command()
@click.argument("entry")
@saved_option
@root_option
@click.option(
    "--patch",
    "diff",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="write the edits as a unified diff; apply it in the root with patch -p0",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@common_options
def unlock(
    entry: str,
    saved: Path | None,
    root: Path | None,
    diff: Path | None,
    form: str,
    quiet: bool,
    **common: Any,
) -> int:
    """Tell which gates to open so that an entry works on the target as on the references.

    ENTRY is a public API by its dotted name, or an option of a server. The scanned tree is never changed.

    \b
    smgate unlock 'sglang --enable-flashinfer-allreduce-fusion' --root .venv
    smgate unlock flashinfer.comm.trtllm_custom_all_reduce --from report.json --root .venv --patch open.diff
    """
    if diff is not None:
        check_destination(diff)
    report, place = _report(saved, root, quiet, common, needs_root=diff is not None)
    try:
        found = judge.unlock(report, entry, _text(place))
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    if diff is not None:
        write(diff, found.patch.encode())
    if form == "json":
        write(None, msgspec.json.format(msgspec.json.encode(found.plan), indent=2) + b"\n")
    else:
        click.echo(view.plan(found.plan, report, Screen.of(sys.stdout)), nl=False)
    return 0


@click.command()
@click.option(
    "--open", "gates", multiple=True, required=True, metavar="GATE", help="id or FILE:LINE; repeatable"
)
@saved_option
@root_option
@click.option("--format", "form", type=click.Choice(["text", *FORMATS]), default="text", show_default=True)
@output_option
@common_options
def whatif(
    gates: tuple[str, ...],
    saved: Path | None,
    root: Path | None,
    form: str,
    output: Path | None,
    quiet: bool,
    **common: Any,
) -> int:
    """Show the report as it would be with these gates open for the target.

    As text: what the target reaches then, and what stops it next. In the other formats: the whole report.

    \b
    smgate whatif --open communicator.py:93 --open flashinfer/jit/comm.py:61 --from report.json
    smgate whatif --open flashinfer/jit/comm.py:61 --root .venv --format html --output opened.html
    """
    if output is not None:
        check_destination(output)
    report, place = _report(saved, root, quiet, common, needs_root=False)
    opened = _gates(report, gates)
    after = opened_report(report, frozenset(gate.id for gate in opened))
    if form == "text":
        screen = None if output else Screen.of(sys.stdout)
        write(output, view.advances(advances(report, after), opened, report, screen).encode())
    else:
        write(output, render(after, form, source_of(place) if place is not None else no_source, None))
    return 0


def _report(
    saved: Path | None, root: Path | None, quiet: bool, common: dict[str, Any], *, needs_root: bool
) -> tuple[Report, Path | None]:
    """A saved report or that of a new scan, and the tree if it is at hand."""
    if saved is not None:
        report = saved_report(saved)
        if root is None and not needs_root:
            return report, None
        place = site_packages(root or default_root())
        missing = [one.root for one in report.inputs if not (place / one.root).exists()]
        if missing:
            raise TreeError(f"{place} is not the tree of {saved}: it has no {missing[0]}; give --root")
        return report, place
    return analysed(root, quiet, common)


def _gates(report: Report, names: tuple[str, ...]) -> list[Gate]:
    found: dict[str, Gate] = {}
    for name in names:
        try:
            gates = lookup.find(report, name).gates
        except LookupError as error:
            raise click.UsageError(str(error.args[0])) from error
        if not gates:
            raise click.UsageError(f"no gate of the report stands at {name!r}")
        found.update({gate.id: gate for gate in gates})
    return list(found.values())


def _text(root: Path | None) -> Text:
    """The text of scanned files, line ends as they are; what is not UTF-8 is not edited."""

    def content(path: str) -> str | None:
        if root is None:
            return None
        try:
            return read(root, path).decode()
        except (UnreadableFileError, UnicodeDecodeError):
            return None

    return content
