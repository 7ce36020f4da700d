"""The distribution's Chromium, without a window and without anything that it would ask of the network by itself."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

AXE = Path(__file__).parents[2] / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class MissingBrowserError(RuntimeError):
    """No Chromium, no Playwright or no axe-core is installed; the message says which."""


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Start Chromium with a profile of its own; raises MissingBrowserError."""
    program = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingBrowserError("playwright is not installed: make test-browser") from error
    if program is None:
        raise MissingBrowserError("chromium is not installed: make test-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def axe() -> str:
    """Return the source of axe-core; raises MissingBrowserError."""
    try:
        return AXE.read_text()
    except OSError as error:
        raise MissingBrowserError(f"{AXE} is not there: make test-browser") from error
