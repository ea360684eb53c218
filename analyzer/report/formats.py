"""The formats in which a report can be written, by name."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.ci.marks import Marks
from analyzer.model import Report
from analyzer.report import github, gitlab, html, json, junit, markdown, sarif
from analyzer.report.source import Source

#: Writes a report in one format. The source gives code to formats that show it; the marks say which gates
#: fail a check, for formats that tell that.
Writer = Callable[[Report, Source, Marks], bytes]

FORMATS: dict[str, Writer] = {
    "json": lambda report, source, marks: json.render(report),
    "html": lambda report, source, marks: html.render(report, source, marks),
    "markdown": lambda report, source, marks: markdown.render(report),
    "sarif": lambda report, source, marks: sarif.render(report, marks),
    "junit": lambda report, source, marks: junit.render(report, marks),
    "gitlab": lambda report, source, marks: gitlab.render(report, marks),
    "github": lambda report, source, marks: github.render(report, marks),
}
