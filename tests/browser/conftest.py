"""A headless Chromium, if there is one, and pages that note what goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def _executable() -> str:
    candidates = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for name in candidates if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on PATH: install it (Debian: apt-get install chromium) or set CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = _executable()
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file; when the test ends, no error may have been logged and nothing may have been requested."""
    faults: list[str] = []
    contexts: list[Any] = []

    def opener(file: Path, hash_: str = "", **options: Any) -> Any:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # the machine may be busy
        page.on(
            "console", lambda m: faults.append(f"console {m.type}: {m.text}") if m.type == "error" else None
        )
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("request", lambda r: None if r.url.startswith(file.as_uri()) else faults.append(r.url))
        page.goto(file.as_uri() + hash_)
        return page

    yield opener
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go: the folder in SMGATE_SHOTS, else a temporary one."""
    folder = os.environ.get("SMGATE_SHOTS")
    path = Path(folder) if folder else tmp_path_factory.mktemp("shots")
    path.mkdir(parents=True, exist_ok=True)
    return path
