"""What verbs read and write: saved reports, scanned files, formats and their destinations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from analyzer.ci.marks import UNMARKED, Marks
from analyzer.model import Report
from analyzer.model import decode as decode_report
from analyzer.report import terminal
from analyzer.report.formats import FORMATS
from analyzer.report.screen import Screen
from analyzer.report.source import Source
from analyzer.tree.errors import TreeError
from analyzer.tree.files import UnreadableFileError, decode, kind_of, read

Command = TypeVar("Command", bound=Callable[..., Any])

TERMINAL = "terminal"
#: The format that a file's name asks for.
SUFFIXES = {
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".sarif": "sarif",
    ".md": "markdown",
    ".xml": "junit",
}
#: Formats, and the file to write each to.
Destinations = tuple[tuple[str, Path], ...]


output_option = click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="where to write it, instead of standard output"
)


def format_option(formats: Iterable[str]) -> Callable[[Command], Command]:
    """The option that names one of these formats, or ``terminal``."""
    return click.option(
        "--format", "form", type=click.Choice([TERMINAL, *formats]), help="what to write  [default: terminal]"
    )


def report_option(formats: Iterable[str]) -> Callable[[Command], Command]:
    """The option that writes a further report in one of these formats."""
    return click.option(
        "--report",
        "reports",
        callback=destinations(formats),
        multiple=True,
        metavar="FORMAT=FILE",
        help="also write this; repeatable",
    )


def format_of(form: str | None, output: Path | None) -> str:
    """The format that is asked for, by name or by the ending of the file."""
    return form or (SUFFIXES.get(output.suffix, TERMINAL) if output else TERMINAL)


def destinations(formats: Iterable[str]) -> Callable[[click.Context, click.Parameter, Any], Destinations]:
    """The callback of an option that takes FORMAT=FILE, for these formats and ``terminal``."""
    known = (TERMINAL, *formats)

    def parse(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> Destinations:
        result: list[tuple[str, Path]] = []
        for text in value:
            form, equals, file = text.partition("=")
            if not equals or not file or form not in known:
                raise click.BadParameter(f"{text!r} is not FORMAT=FILE; formats: {', '.join(known)}")
            result.append((form, Path(file)))
        return tuple(result)

    return parse


def saved_report(file: Path) -> Report:
    """A report written by an earlier scan.

    Raises:
        TreeError: the file cannot be read, or is no such report.
    """
    try:
        return decode_report(file.read_bytes())
    except OSError as error:
        raise TreeError(f"cannot read {file}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise TreeError(f"{file} is not a report that this program wrote: {error}") from error


def render(
    report: Report, kind: str, source: Source, screen: Screen | None, marks: Marks = UNMARKED
) -> bytes:
    """The report in one of the formats, or as the summary for a terminal."""
    if kind == TERMINAL:
        return terminal.summary(report, screen).encode()
    return FORMATS[kind](report, source, marks)


def source_of(root: Path) -> Source:
    """Lines of scanned files, for the views that show code."""

    def lines(path: str) -> list[str] | None:
        try:
            return decode(read(root, path)).splitlines() if kind_of(path) != "binary" else None
        except UnreadableFileError:
            return None

    return lines


def check_destination(file: Path) -> None:
    """Refuse, before the work starts, a file that cannot be written after it."""
    if file.is_dir():
        raise click.UsageError(f"cannot write {file}: it is a folder")
    if not file.parent.is_dir():
        raise click.UsageError(f"cannot write {file}: no such folder: {file.parent}")


def write(file: Path | None, content: bytes) -> None:
    """Write to a file, or to standard output.

    Raises:
        TreeError: the file cannot be written.
    """
    if file is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise TreeError(f"cannot write {file}: {error.strerror or error}") from error
