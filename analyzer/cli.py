"""The command line: parses arguments, calls, prints."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
import msgspec

from analyzer import __version__, archs
from analyzer.console import display
from analyzer.model import SEVERITIES, Report
from analyzer.model import decode as decode_report
from analyzer.report import evaluation, explain, lookup, terminal
from analyzer.report.formats import FORMATS
from analyzer.report.screen import Screen
from analyzer.report.source import Source, no_source
from analyzer.scan import ScanOptions
from analyzer.scan import evaluate as evaluate_names
from analyzer.scan import scan as scan_tree
from analyzer.tree.environment import default_root
from analyzer.tree.errors import TreeError
from analyzer.tree.facts import default_jobs
from analyzer.tree.fetch import fetched
from analyzer.tree.files import UnreadableFileError, decode, read
from analyzer.tree.packages import site_packages

_TERMINAL = "terminal"
_SUFFIXES = {".json": "json", ".html": "html", ".htm": "html", ".sarif": "sarif", ".md": "markdown"}
_INTERRUPTED = 130

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


def _destinations(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[tuple[str, Path], ...]:
    """Formats, and the file to write each to."""
    result: list[tuple[str, Path]] = []
    for text in value:
        form, equals, file = text.partition("=")
        if not equals or not file or form not in (_TERMINAL, *FORMATS):
            raise click.BadParameter(f"{text!r} is not FORMAT=FILE; formats: {', '.join(FORMATS)}")
        result.append((form, Path(file)))
    return tuple(result)


def _common(command: Command) -> Command:
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
        click.option("--no-cache", is_flag=True, help="neither keep nor use facts of other scans"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _options(
    root: Path | None,
    target: str,
    reference: tuple[str, ...],
    cuda: str,
    env: dict[str, str],
    packages: tuple[str, ...],
    jobs: int | None,
    no_cache: bool,
) -> ScanOptions:
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


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="smgate")
def smgate() -> None:
    """Find what an installed Python tree denies a GPU architecture, where, and why.

    \b
    smgate scan                                   the environment of the python on PATH
    smgate scan /path/to/site-packages --format html --output report.html
    smgate explain flashinfer/jit/comm.py         the gates of a file, or what was read there
    smgate evaluate sglang.srt.utils.is_sm90_supported --root /path/to/venv

    Nothing that is scanned is imported or run. Exit codes: 0 done, 1 findings as bad as --fail-on,
    2 wrong use or unreadable input, 130 interrupted.
    """


@smgate.command()
@click.argument("root", type=click.Path(path_type=Path), required=False)
@_common
@click.option(
    "--format", "form", type=click.Choice([_TERMINAL, *FORMATS]), help="what to write  [default: terminal]"
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="where to write it, instead of standard output"
)
@click.option(
    "--report",
    "reports",
    callback=_destinations,
    multiple=True,
    metavar="FORMAT=FILE",
    help="also write this; repeatable",
)
@click.option("--fail-on", type=click.Choice(SEVERITIES[:3]), help="exit 1 if a finding is this bad or worse")
@click.option(
    "--fetch", multiple=True, metavar="NAME==VERSION", help="scan this wheel instead of ROOT; repeatable"
)
def scan(
    root: Path | None,
    form: str | None,
    output: Path | None,
    reports: tuple[tuple[str, Path], ...],
    fail_on: str | None,
    fetch: tuple[str, ...],
    quiet: bool,
    **common: Any,
) -> int:
    """Analyse a tree and report what excludes or degrades the target.

    ROOT is a site-packages folder, a virtual environment or a folder of unpacked wheels; without it, the
    environment of the python on PATH.

    \b
    smgate scan .venv --target sm_120 --reference sm_90,sm_100
    smgate scan --format json --output report.json
    smgate scan --report html=report.html --report sarif=report.sarif --fail-on error
    smgate scan --fetch flashinfer-python==0.6.3 --fetch sglang==0.5.8.post1
    """
    if root and fetch:
        raise click.UsageError("give ROOT or --fetch, not both")
    main = form or (_SUFFIXES.get(output.suffix, _TERMINAL) if output else _TERMINAL)
    for _, file in (*reports, *([(main, output)] if output else [])):
        _check_destination(file)
    with _tree(root, fetch) as place:
        options = _options(place, **common)
        with display(sys.stderr, quiet) as progress:
            report = scan_tree(options, progress)
        source = _source(options.root)
        for kind, file in reports:
            _write(file, _render(report, kind, source, None))
        _write(output, _render(report, main, source, None if output else Screen.of(sys.stdout)))
    return int(fail_on is not None and _reaches(report, fail_on))


def _saved(file: Path) -> Report:
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


@smgate.command(name="explain")
@click.argument("gate")
@click.option(
    "--from",
    "saved",
    type=click.Path(path_type=Path),
    metavar="REPORT",
    help="a JSON report of an earlier scan, instead of a new scan",
)
@click.option(
    "--root", type=click.Path(path_type=Path), help="the tree  [default: that of the python on PATH]"
)
@_common
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
        report = _saved(saved)
        source, name = (_source(root) if root is not None else no_source), []
    else:
        options = _options(root, **common)
        with display(sys.stderr, quiet) as progress:
            report = scan_tree(options, progress)
        source, name = _source(options.root), _scanned(options.root, gate)
    screen = Screen.of(sys.stdout)
    try:
        found = lookup.find(report, gate, name)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    if found.file is not None:
        click.echo(explain.file(report, found.file, source, screen), nl=False)
    click.echo("\n".join(explain.gate(report, one, source, screen) for one in found.gates), nl=False)
    return 0


@smgate.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--root", type=click.Path(path_type=Path), help="the tree  [default: that of the python on PATH]"
)
@_common
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
        _check_destination(output)
    results = evaluate_names(names, _options(root, **common))
    text = evaluation.as_json(results) if form == "json" else evaluation.as_text(results)
    _write(output, text.encode())
    return 0


@contextmanager
def _tree(root: Path | None, fetch: tuple[str, ...]) -> Iterator[Path | None]:
    if not fetch:
        yield root
        return
    with fetched(fetch) as folder:
        yield folder


def _render(report: Report, kind: str, source: Source, screen: Screen | None) -> bytes:
    if kind == _TERMINAL:
        return terminal.summary(report, screen).encode()
    return FORMATS[kind](report, source)


def _source(root: Path) -> Source:
    """Lines of scanned files, for the views that show code."""

    def lines(path: str) -> list[str] | None:
        try:
            return decode(read(root, path)).splitlines()
        except UnreadableFileError:
            return None

    return lines


def _scanned(root: Path, text: str) -> list[str]:
    """The path as it is given, if such a file lies in the tree: the report may not mention it."""
    path = re.sub(r":[0-9]+(:[0-9]+)?$", "", text)
    return [path] if not path.startswith("/") and ".." not in path and (root / path).is_file() else []


def _reaches(report: Report, severity: str) -> bool:
    bad = SEVERITIES[: [str(known) for known in SEVERITIES].index(severity) + 1]
    return any(gate.severity in bad for gate in report.findings)


def _check_destination(file: Path) -> None:
    """Refuse, before the work starts, a file that cannot be written after it."""
    if file.is_dir():
        raise click.UsageError(f"cannot write {file}: it is a folder")
    if not file.parent.is_dir():
        raise click.UsageError(f"cannot write {file}: no such folder: {file.parent}")


def _write(file: Path | None, content: bytes) -> None:
    if file is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise TreeError(f"cannot write {file}: {error.strerror or error}") from error


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


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
        if os.environ.get("SMGATE_TRACEBACK"):
            raise
        hint = "set SMGATE_TRACEBACK=1 and run again to see where"
        return _fail(f"internal error: {type(error).__name__}: {error} ({hint})")


def _fail(message: str) -> int:
    click.echo("smgate: " + " ".join(message.split()), err=True)
    return 2
