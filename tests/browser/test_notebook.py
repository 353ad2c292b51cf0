"""The frame that a notebook shows for a module works in a page of somebody else."""

from pathlib import Path
from typing import TYPE_CHECKING

from hlotool.text.parser import parse
from tests.browser.conftest import module_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OUTER = "<!doctype html><meta charset=utf-8><title>notebook</title><body>"


def test_the_frame_shows_the_graph_and_cannot_reach_the_notebook(
    browser: "Browser", tmp_path: Path
) -> None:
    module = parse(module_text("jax/attention"))
    path = tmp_path / "notebook.html"
    path.write_text(f"{OUTER}<p id=cell>mine</p>{module._repr_html_()}", "utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    assert page.locator("iframe").get_attribute("title") == f"graph of {module.name}"
    frame.locator("#title", has_text=module.name).wait_for()
    frame.locator("#counts", has_text="box").wait_for()
    assert not frame.locator("#starting").is_visible()
    frame.locator("#query").fill("op:dot")
    frame.locator("#query").press("Enter")
    frame.locator("#panel h2").wait_for()
    assert frame.locator("#panel .shape").inner_text().startswith("dot")
    inside = page.frames[1]
    assert inside.evaluate("hlotool.stats.nodes") > 5
    # A frame without an origin of its own would see this page.
    reach = "(() => { try { return parent.document.title; } catch ({ name }) { return name; } })()"
    assert inside.evaluate(reach) == "SecurityError"
    assert page.locator("#cell").inner_text() == "mine"
    assert errors == []
    context.close()
