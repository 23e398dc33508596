"""Reports in a browser: without a network, in dark and light, on a narrow screen, on paper, without JavaScript, and in
the frame of a notebook."""

import pathlib
import shutil

import pytest

import outcore as oc

HOSTILE = "</script><img src=x onerror=alert(1)>&'\""


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="no browser was asked: Playwright is not installed")
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    with api.sync_playwright() as started:
        own = pathlib.Path(started.chromium.executable_path)
        path = next((name for name in [*found, own if own.exists() else None] if name), None)
        if path is None:
            pytest.skip("no browser was asked: Chromium is not installed")
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page drawn of steps, and one of samples, which an image of a hostile name adds to."""
    folder = tmp_path_factory.mktemp("pages")
    oc.generate("kronecker", scale=12, output=folder / "web.oc")
    graph = oc.Graph(folder / "web.oc", memory="64MiB")
    found = oc.bfs(graph, 1).report(folder / "steps.html")
    assert found.data["timeline"]["of"] == "steps"
    hostile = folder / (HOSTILE.replace("/", "") + ".oc")
    oc.generate("kronecker", scale=15, output=hostile)
    iterations = 200
    while True:
        ranks = oc.pagerank(oc.Graph(hostile, memory="64MiB"), tol=0, alpha=0.99, max_iter=iterations)
        if ranks.report(folder / "samples.html").data["timeline"]["of"] == "samples":
            return folder
        iterations *= 4


def opened(browser, page, **options):
    """A page that says what goes wrong in it and what it asks for."""
    context = browser.new_context(offline=True, **options)
    tab = context.new_page()
    tab.wrong = []
    tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
    # That canvases are read back slowly is said to this test.
    is_wrong = lambda said: said.type in ("error", "warning") and not said.text.startswith("Canvas2D")
    tab.on("console", lambda said: tab.wrong.append(said.text) if is_wrong(said) else None)
    tab.on("request", lambda asked: tab.wrong.append(asked.url) if asked.url != page.as_uri() else None)
    tab.on("dialog", lambda shown: (tab.wrong.append("a dialog"), shown.dismiss()))
    tab.goto(page.as_uri())
    tab.wait_for_load_state()
    return tab


INK = """chart => {
  const canvas = chart.querySelector("canvas"), {width, height} = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let drawn = 0, darkest = 255, lightest = 0;
  for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] > 200) {
    const light = (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3;
    drawn += 1; darkest = Math.min(darkest, light); lightest = Math.max(lightest, light);
  }
  return [drawn / (width * height), darkest, lightest];
}"""


def ink(tab):
    """The share of each chart that is drawn on, and the darkest and lightest of that."""
    return [chart.evaluate(INK) for chart in tab.query_selector_all("figure")]


def is_light(chart):
    """Dark lines and light grids, for white paper."""
    return 70 < chart[1] < 120 and chart[2] > 200


def is_dark(chart):
    """Light lines and dark grids, for black paper."""
    return chart[1] < 70 and 140 < chart[2] < 200


@pytest.mark.parametrize("name", ["steps.html", "samples.html"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_drawn(browser, pages, name, scheme):
    tab = opened(browser, pages / name, color_scheme=scheme)
    titles = [figure.query_selector("figcaption").inner_text().split("\n")[0] for figure in tab.query_selector_all("figure")]
    assert [title.strip() for title in titles] == [
        "Read bandwidth", "Busy cores", "Memory", "Active vertices per step", "Wanted pages that were in the cache"
    ]
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
    for drawn, darkest, lightest in ink(tab):
        assert drawn > 0.005
        # Lines and numbers stand out from the paper.
        assert is_light([drawn, darkest, lightest]) == (scheme == "light")
        assert is_dark([drawn, darkest, lightest]) == (scheme == "dark")
    # What stands below the pointer is told.
    over = tab.query_selector("figure .u-over")
    over.scroll_into_view_if_needed()
    over = over.bounding_box()
    tab.mouse.move(over["x"] + over["width"] / 2, over["y"] + 10)
    told = [output.inner_text() for output in tab.query_selector_all("figcaption output")]
    assert all(told) and "/s" in told[0], told
    assert tab.wrong == []


def test_charts_follow_scheme_paper_and_width(browser, pages):
    tab = opened(browser, pages / "samples.html", color_scheme="light", viewport={"width": 1200, "height": 800})
    light = ink(tab)
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_timeout(100)
    dark = ink(tab)
    assert all(map(is_light, light)) and all(map(is_dark, dark)), (light, dark)
    tab.emulate_media(media="print")
    tab.wait_for_timeout(100)
    assert all(map(is_light, ink(tab)))
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": 360, "height": 700})
    tab.wait_for_timeout(200)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.evaluate("document.querySelector('figure .uplot').clientWidth") <= 360
    assert tab.wrong == []
    assert len(tab.pdf()) > 10_000


def test_without_javascript_there_are_tables(browser, pages):
    tab = opened(browser, pages / "samples.html", java_script_enabled=False)
    assert tab.locator("noscript").inner_text().startswith("Charts need JavaScript")
    assert not tab.locator("#charts").is_visible() and tab.locator("canvas").count() == 0
    shown = tab.locator("body").inner_text()
    for text in ("Planned, and what happened", "alpha", "Steps", "iteration", HOSTILE.replace("/", "")):
        assert text in shown
    assert tab.wrong == []


def test_a_frame_of_a_notebook_draws_too(browser, pages):
    graph = oc.Graph(pages / "web.oc", memory="64MiB")
    cell = pages / "cell.html"
    cell.write_text(f"<!doctype html><meta charset=utf-8><body>{oc.bfs(graph, 1).report()._repr_html_()}")
    context = browser.new_context(offline=True)
    tab, wrong = context.new_page(), []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.goto(cell.as_uri())
    frame = tab.query_selector("iframe").content_frame()
    frame.wait_for_selector("figure canvas")
    assert len(frame.query_selector_all("figure canvas")) == 5
    assert wrong == []
