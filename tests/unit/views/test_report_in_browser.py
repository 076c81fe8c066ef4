"""The report in a browser: it loads, is searched, folded and read, by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.stages import Partitioned
from shardwright.views.explanation.entries import Collective
from shardwright.views.explanation.explanation import Explanation
from shardwright.views.report.collectives import collective_table, script_data

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="needs Chromium")]

MESH = sw.Mesh(data=2, model=4)
MANY = 5_000
READABLE = 4.5
"""The contrast that WCAG 2 asks for at level AA."""

Page = Any


def laid(shape: tuple[int, ...], *specs: str | None) -> sw.dtensor.DTensor:
    """Ones, laid out so."""
    return sw.relayout(np.ones(shape, np.float32), sw.Layout(list(specs), MESH))


def model(x: sw.dtensor.DTensor, weights: list[sw.dtensor.DTensor]) -> sw.dtensor.DTensor:
    """Equal layers, and a sum whose line sends less."""
    for weight in weights:
        x = sw.tanh(sw.relayout(x @ weight, sw.Layout([None, None], MESH)))
        x = sw.relayout(x, sw.Layout([None, "model"], MESH))
    return sw.sum(x)


def partitioned() -> Partitioned:
    """The model's program."""
    return sw.function(model).trace(laid((8, 16), None, "model"), [laid((16, 16), "model")] * 3).partition()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a small model."""
    path = tmp_path_factory.mktemp("report") / "page.html"
    partitioned().report(path)
    return path


def opened(browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> Page:
    """The page, which must load without a word on the console and without asking the network for anything."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request", lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:")) else 0
    )
    page.goto(path.as_uri())
    assert said == []
    return page


def headings() -> list[str]:
    """What the page lists, by `explain`: each with its number and its heading."""
    return [f"#{entry.first.number} {entry.heading}" for entry in partitioned().explain().entries]


def test_search_and_folding(browser: Any, report: Path) -> None:
    page = opened(browser, report)
    entries = page.locator("#entries details")
    assert entries.count() == len(headings())
    page.fill("#search", "all_reduce data")
    assert page.locator("#found").inner_text() == f"0 of {len(headings())} entries"
    page.fill("#search", "reduce_scatter")
    (scattered,) = [heading for heading in headings() if "3 times reduce_scatter" in heading]
    assert [re.sub(r"\s+", " ", text) for text in entries.all_inner_texts()] == [scattered]
    assert not page.locator("#entries dl").count()
    page.click("#entries summary")
    assert "f32[8@data, 16]{sum@model}" in page.locator("#entries dl").inner_text()
    page.click("#clear")
    assert entries.count() == len(headings())
    page.locator("button[data-place]").first.click()
    assert page.input_value("#search").startswith("at:test_report_in_browser.py:")
    assert 0 < entries.count() < len(headings())
    layers = page.locator("#program summary", has_text="3 times")
    first = page.locator("#program details li").first
    assert not first.is_visible()
    layers.click()
    assert first.is_visible()


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_sticks_out(browser: Any, report: Path, width: int) -> None:
    page = opened(browser, report, width)
    for summary in page.locator("main summary").all():
        if summary.is_visible():
            summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 15


def test_keyboard(browser: Any, report: Path) -> None:
    page = opened(browser, report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "search":
            break
    page.keyboard.type("reduce_scatter")
    page.keyboard.press("Enter")
    assert page.locator("#entries details").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("#entries details[open] dd", timeout=10_000)
    assert page.locator("#entries details[open] dd").count() > 2


CONTRASTS = """
() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const parts = rgb.slice(0, 3).map((v) => linear(v / 255));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return light(colour);
    }
    return light([255, 255, 255]);
  };
  const found = {};
  for (const element of document.querySelectorAll("main *, header *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("svg") || !element.checkVisibility() || element.disabled) continue;
    const pair = [light(numbers(getComputedStyle(element).color)), ground(element)].sort((a, b) => b - a);
    found[`${element.tagName}.${element.className}`] = (pair[0] + 0.05) / (pair[1] + 0.05);
  }
  return found;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(browser: Any, report: Path, scheme: str) -> None:
    page = opened(browser, report, scheme=scheme)
    for summary in page.locator("#passes summary").all():
        summary.click()
    found = page.evaluate(CONTRASTS)
    assert len(found) > 15
    assert {what: ratio for what, ratio in found.items() if ratio < READABLE} == {}
    assert (
        page.evaluate("getComputedStyle(document.body).backgroundColor")
        == {
            "light": "rgb(255, 255, 255)",
            "dark": "rgb(20, 22, 26)",
        }[scheme]
    )


def test_five_thousand_collectives(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many entries, each with a tensor of its own, so that none are alike."""
    stage = partitioned()
    first = Explanation(stage.planned).collectives[0]
    many = [
        Collective(number, first.op, replace(first.row, tensors=(f"f32[{number}, 16]",)))
        for number in range(1, MANY + 1)
    ]
    monkeypatch.setattr(Explanation, "collectives", many)
    path = tmp_path / "page.html"
    stage.report(path)
    assert path.stat().st_size < 3_000_000
    page = opened(browser, path)
    assert page.locator("#found").inner_text() == "5000 entries"
    assert page.locator("#entries details").count() == 100
    for _ in range(2):
        page.click("#after")
    assert page.locator("#page").inner_text() == "201 to 300 of 5000"
    page.fill("#search", "f32[4321,")
    assert page.locator("#found").inner_text() == "1 of 5000 entries"
    page.click("#entries summary")
    assert "f32[4321, 16]" in page.locator("#entries dl").inner_text()


def test_hostile_names_run_nothing(browser: Any, tmp_path: Path) -> None:
    evil = "</script><script>window.bad=1</script><img src=x onerror=window.bad=1>'\"\u2028"
    mesh = sw.Mesh([(evil, 2)])

    def named(values: dict[str, sw.dtensor.DTensor]) -> sw.dtensor.DTensor:
        return sw.sum(values[evil])

    named.__name__ = evil
    x = sw.relayout(np.ones(4, "float32"), sw.Layout([evil], mesh))
    sw.function(named).trace({evil: x}).partition().report(tmp_path / "page.html")
    page = opened(browser, tmp_path / "page.html")
    for summary in page.locator("summary").all():
        summary.click()
    assert page.evaluate("window.bad") is None
    assert evil.splitlines()[0] in page.locator("#entries").inner_text()


def test_data_for_the_script() -> None:
    table = collective_table(Explanation(partitioned().planned).entries, "")
    assert script_data(table).count("<") == 0
