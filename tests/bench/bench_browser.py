"""The page in Chromium: when it is ready, frames a second, long tasks, memory.

Prints what it finds. Asserted are wide margins alone, since the machine may be busy: three seconds
to be ready, ten frames a second, half a second for one task, 100 MB.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.bench.bench_layout import in_a_row, training_step
from tests.browser.window import Window, launched
from tests.conftest import corpus_directory

pytestmark = pytest.mark.bench

PAN = """async ([dx, dy, time]) => {
  const canvas = document.getElementById("marks"), start = performance.now();
  let count = 0;
  while (performance.now() - start < time) {
    const sign = (count >> 5) % 2 ? -1 : 1;
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaX: sign * dx, deltaY: sign * dy,
      bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
    count++;
  }
  return count * 1000 / time;
}"""
SECONDS = 1500


def text_of(name: str) -> str:
    """Returns the text of a big module; skips where the corpus does not have it."""
    if name == "training step":
        return training_step(1200)
    path = corpus_directory() / "tf" / "keras_inceptionv3.opt.hlo"
    if not path.is_file():
        pytest.skip("the corpus has no tf/keras_inceptionv3.opt.hlo")
    return in_a_row(path.read_text("utf-8"), 8 if name.startswith("eight") else 1)


def frames(window: Window, dx: int, dy: int) -> float:
    """Returns frames a second while the wheel turns."""
    found: float = window.page.evaluate(PAN, [dx, dy, SECONDS])
    return found


def figures(window: Window) -> dict[str, Any]:
    """Returns what a page takes, from opening it to searching in it."""
    found = {"ready, ms": window.value("hlotool.readyAt")}
    window.page.wait_for_timeout(800)
    start = window.value("performance.now()")
    window.keys("Escape")
    found["frames a second, reading"] = frames(window, 0, 40)
    window.keys("0")
    found["frames a second, all in sight"] = frames(window, 3, 3)
    window.keys("x")
    window.page.wait_for_timeout(1500)
    root = window.value("hlotool.model.computations[hlotool.model.entry].root")
    name = window.value(f"hlotool.model.name(hlotool.model.entry, {root})")
    window.page.evaluate("(name) => { location.hash = name; }", name)
    window.wait("hlotool.selected !== ''")
    found["frames a second, the result selected"] = frames(window, 0, 10)
    window.keys("v", "t", "/")
    window.page.keyboard.type("op:dot")
    window.page.keyboard.press("Enter")
    window.page.wait_for_timeout(800)
    tasks = window.value(f"longTasks.filter(([at]) => at > {start}).map(([, time]) => time)")
    found["longest task, ms"] = max(tasks, default=0)
    session = window.page.context.new_cdp_session(window.page)
    session.send("HeapProfiler.collectGarbage")
    found["heap, MB"] = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    return found


@pytest.mark.parametrize("name", ["inception", "eight inceptions in a row", "training step"])
def test_the_page_in_a_browser(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.html"
    path.write_text(module_page(parse(text_of(name))), "utf-8")
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        window = Window(page).open(path)
        found = figures(window)
    with capsys.disabled():
        lines = [f"  {key}: {value:.0f}" for key, value in found.items()]
        sys.stdout.write("\n".join([f"\n{name}", *lines, ""]))
    assert window.errors == []
    assert found["ready, ms"] < 3000
    assert min(value for key, value in found.items() if key.startswith("frames")) > 10
    assert found["longest task, ms"] < 500
    assert found["heap, MB"] < 100
