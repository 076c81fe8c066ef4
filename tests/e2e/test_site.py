"""The site: its pages build without a warning, are found by its search, and read wide and narrow, without network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

ROOT = Path(__file__).resolve().parents[2]


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test reads the browser's own words."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site, built and served on loopback."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


def opened(browser: Any, site: str, page: str, width: int = 1280) -> Any:
    """A page, which must load without an error and without asking another host for anything."""
    tab = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: None if request.url.startswith((site, "data:")) else said.append(request.url))
    tab.goto(site + page, wait_until="networkidle")
    assert said == []
    return tab


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("page", ["", "tutorial/", "reference/shardwright/", "errors/", "from-pytorch/", "coverage/"])
def test_pages_are_as_wide_as_the_window(browser: Any, site: str, page: str, width: int) -> None:
    tab = opened(browser, site, page, width)
    assert tab.locator("h1").first.is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.close()


def test_search_finds_a_function_and_leads_to_it(browser: Any, site: str) -> None:
    tab = opened(browser, site, "")
    tab.keyboard.press("/")
    tab.keyboard.type("relayout_like")
    found = tab.locator(".md-search-result__link").filter(has_text="relayout_like").first
    found.wait_for()
    found.click()
    tab.wait_for_url("**/?*relayout_like*")
    assert "relayout_like" in tab.locator("article").inner_text()
    tab.close()


def test_the_reference_shows_what_docstrings_say(browser: Any, site: str) -> None:
    tab = opened(browser, site, "reference/shardwright/")
    heading = tab.locator("#relayout")
    assert heading.is_visible()
    following = heading.evaluate(
        "e => { let t = ''; while ((e = e.nextElementSibling) && e.tagName != 'H3') t += e.innerText; return t }"
    )
    assert ">>>" in following
    assert "Layout" in following
    tab.close()
