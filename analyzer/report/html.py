"""The report as one HTML file that opens from disk: no network, readable without script."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from analyzer import data
from analyzer.ci.marks import UNMARKED, Marks
from analyzer.model import Report
from analyzer.report import words
from analyzer.report.anchors import entry_anchor, gate_anchor, path_anchor
from analyzer.report.glossary import glossary
from analyzer.report.opening import Openings
from analyzer.report.page import DETAILS, Page
from analyzer.report.scripted import script_data
from analyzer.report.sheets.sheet import Sheet
from analyzer.report.source import Source, elide, elide_start, no_source, one_line, visible
from analyzer.report.words import Code, Phrase

LARGEST = 14_000_000
"""Bytes of a page that browsers open within two seconds and filter without delay."""
_TICKS = re.compile(r"`([^`\n]+)`")


def render(
    report: Report, source: Source = no_source, marks: Marks = UNMARKED, sheet: Sheet | None = None
) -> bytes:
    """The whole page, UTF-8. ``source`` gives the code that is shown; without it places are only named.

    ``marks`` tell what is new against a baseline, ``sheet`` lists it. A page that would be larger than
    :data:`LARGEST` tells less of what matters least. Equal arguments give equal bytes.
    """
    openings = Openings(report, source)
    for detail in DETAILS:
        written = _written(Page(report, source, marks, detail, openings), sheet)
        if len(written) <= LARGEST:
            break
    return written


def _written(page: Page, sheet: Sheet | None) -> bytes:
    template = environment().get_template("report.html.j2")
    text = template.render(
        page=page,
        report=page.report,
        words=words,
        script=script_data(page),
        sheet=sheet,
        glossary=glossary(page.report),
    )
    return text.encode("utf-8")


@cache
def environment() -> Environment:
    """The templates of all pages; what comes from outside is escaped and made visible."""
    reports = data.folder("reports")
    environment = Environment(
        loader=FileSystemLoader(reports / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "phrase": phrase,
        "ticks": ticks,
        "one_line": one_line,
        "path": path,
        "dotted": dotted,
        "elide": elide,
        "elide_start": elide_start,
        "script_json": script_json,
        "counted": words.counted,
    }
    environment.globals |= {
        "gate_anchor": gate_anchor,
        "path_anchor": path_anchor,
        "entry_anchor": entry_anchor,
    }
    environment.globals["asset"] = lambda name: Markup((reports / "assets" / name).read_text("utf-8"))
    return environment


def _finalize(value: Any) -> Any:
    """Every text from outside passes here before it is escaped: nothing invisible reaches the page."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible(value)


def phrase(pieces: Phrase) -> Markup:
    """A sentence with its code in ``<code>``."""
    return Markup("").join(_code(p) if isinstance(p, Code) else escape(visible(p)) for p in pieces)


def ticks(text: str) -> Markup:
    """A text in which code stands between backticks."""
    out: list[Markup] = []
    for index, piece in enumerate(_TICKS.split(text)):
        out.append(_code(piece) if index % 2 else escape(visible(piece)))
    return Markup("").join(out)


def path(text: str) -> Markup:
    """A path that may break after a slash."""
    return Markup("/<wbr>").join(escape(visible(part)) for part in text.split("/"))


def dotted(text: str) -> Markup:
    """A dotted name that may break after a dot."""
    return Markup(".<wbr>").join(escape(visible(part)) for part in text.split("."))


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(visible(text))


def script_json(value: object) -> Markup:
    """JSON that may stand inside a ``<script>`` element: no ``<``, ``>`` or ``&`` is left in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)
