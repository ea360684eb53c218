"""The pages of a diff and of a history in a browser: readable by everybody, on wide and narrow screens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analyzer import model
from analyzer.ci.diff import diff
from analyzer.ci.history import history
from analyzer.report.sheets import diff as sheets
from analyzer.report.sheets import history as histories
from analyzer.report.sheets import views
from tests.report import hostile, sample

pytestmark = pytest.mark.browser
OLD = msgspec.structs.replace(
    sample.REPORT,
    gates=sample.GATES[:4],
    matrix=sample.MATRIX[:1],
    inputs=(model.Input("servekit", "0.5.8", "servekit"),),
)
PAGES = {
    "diff": lambda: views.as_html(sheets.sheet(diff(OLD, sample.REPORT))),
    "hostile": lambda: views.as_html(sheets.sheet(diff(OLD, hostile.report()))),
    "history": lambda: histories.as_html(history("servekit", [OLD, sample.REPORT, OLD])),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(
    open_page: Callable[..., Any], tmp_path: Path, shots: Path, name: str, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")
    file = tmp_path / f"{name}.html"
    file.write_bytes(PAGES[name]())
    page = open_page(file, color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    page.evaluate(axe.AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [
        (fault["id"], fault["nodes"][0]["html"][:200], fault["nodes"][0]["failureSummary"])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing runs off the screen"
    assert page.title() != hostile.MARKER
    page.screenshot(path=shots / f"{name}-{scheme}.png", full_page=True)
