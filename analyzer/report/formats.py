"""The formats in which a report can be written, by name."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.model import Report
from analyzer.report import html, json, markdown, sarif
from analyzer.report.source import Source

#: Writes a report in one format. The source gives code to formats that show it.
Writer = Callable[[Report, Source], bytes]

FORMATS: dict[str, Writer] = {
    "json": lambda report, source: json.render(report),
    "html": html.render,
    "sarif": lambda report, source: sarif.render(report),
    "markdown": lambda report, source: markdown.render(report),
}
