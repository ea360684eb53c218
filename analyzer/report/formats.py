"""The formats in which a report can be written, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from analyzer.ci.marks import Marks
from analyzer.model import Report
from analyzer.report.source import Source

#: Writes a report in one format. The source gives code to formats that show it; the marks say which gates
#: fail a check, for formats that tell that.
Writer = Callable[[Report, Source, Marks], bytes]


def _of_report(name: str) -> Writer:
    """A format that shows the report alone; its module is loaded when it is written."""
    return lambda report, source, marks: _module(name).render(report)


def _of_marks(name: str) -> Writer:
    return lambda report, source, marks: _module(name).render(report, marks)


def _of_all(name: str) -> Writer:
    return lambda report, source, marks: _module(name).render(report, source, marks)


def _module(name: str) -> Any:
    return importlib.import_module(f"analyzer.report.{name}")


FORMATS: dict[str, Writer] = {
    "json": _of_report("json"),
    "html": _of_all("html"),
    "markdown": _of_report("markdown"),
    "sarif": _of_marks("sarif"),
    "junit": _of_marks("junit"),
    "gitlab": _of_marks("gitlab"),
    "github": _of_marks("github"),
}
