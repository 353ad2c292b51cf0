"""A page in a browser, used as a person would use it: by mouse and keys."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

PATIENCE = 20.0
"""Seconds that a test waits for something to come true."""
PAUSE = 0.03

# The page forbids evaluated code, so what watches it is there before it.
WATCHER = """
window.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) =>
  window.longTasks.push([entry.startTime, entry.duration])))
  .observe({ type: "longtask", buffered: true });
"""


@contextmanager
def launched() -> Iterator[Browser]:
    """Starts Debian's Chromium; skips the test where it or playwright is missing."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(
            executable_path=program, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        yield found
        found.close()


class Window:
    """One page of the viewer; collects errors and requests, of which there should be none."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.add_init_script(WATCHER)
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._see(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.errors.append(text)

    def _see(self, url: str) -> None:
        if not url.startswith(("file:", "blob:", "data:")):
            self.requests.append(url)

    def open(self, path: Path, address: str = "") -> Window:
        """Opens a file, with an address behind it like `#add.3`, and waits till it is drawn."""
        self.page.goto(f"{path.as_uri()}{address}")
        self.wait("Boolean(window.hlotool && hlotool.ready)")
        return self

    def value(self, expression: str) -> Any:
        """Returns what an expression in the page comes to, as far as JSON can say it."""
        return json.loads(self.page.evaluate(f"JSON.stringify({expression})"))

    def wait(self, expression: str) -> None:
        """Waits until an expression in the page is true."""
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {expression}; errors: {self.errors}")
            time.sleep(PAUSE)

    def settle(self) -> None:
        """Waits until the picture stands still."""
        self.wait("!hlotool.camera.moving")
        self.page.wait_for_timeout(60)

    def box(self, name: str) -> dict[str, Any]:
        """Returns where the box of an instruction is in the window."""
        found: dict[str, Any] | None = self.value(f"hlotool.boxNamed({json.dumps(name)})")
        assert found is not None, f"no box shows {name}"
        return found

    def _point(self, name: str) -> tuple[float, float]:
        box = self.box(name)
        return box["x"] + min(30, box["width"] / 2), box["y"] + min(8, box["height"] / 2)

    def click(self, name: str) -> None:
        """Clicks on the box of an instruction, near its title."""
        self.page.mouse.click(*self._point(name))
        self.settle()

    def double_click(self, name: str) -> None:
        """Double-clicks on the box of an instruction."""
        self.page.mouse.dblclick(*self._point(name))
        self.settle()

    def keys(self, *names: str) -> None:
        """Presses keys, one after the other."""
        for name in names:
            self.page.keyboard.press(name)
            self.settle()

    def choose_all(self) -> None:
        """Drags with Shift over all that is in sight."""
        view = self.page.locator("#marks").bounding_box()
        assert view is not None
        right, bottom = view["x"] + view["width"], view["y"] + view["height"]
        self.page.keyboard.down("Shift")
        self.page.mouse.move(view["x"] + 2, view["y"] + 2)
        self.page.mouse.down()
        self.page.mouse.move(right - 2, bottom - 2, steps=4)
        self.page.mouse.up()
        self.page.keyboard.up("Shift")

    def text(self, selector: str) -> str:
        """Returns the text of an element."""
        found: str = self.page.inner_text(selector)
        return found

    def is_shown(self, name: str) -> bool:
        """Returns whether an instruction has a box of its own in the picture."""
        found = self.value(f"hlotool.boxNamed({json.dumps(name)})")
        return bool(found and found["exact"])

    def pixel(self, x: float, y: float) -> tuple[int, int, int]:
        """Returns the colour of a point of the window, red, green, blue."""
        picture = self.page.screenshot(clip={"x": int(x), "y": int(y), "width": 1, "height": 1})
        data, at = b"", 8
        while at < len(picture):
            length = int.from_bytes(picture[at : at + 4], "big")
            if picture[at + 4 : at + 8] == b"IDAT":
                data += picture[at + 8 : at + 8 + length]
            at += 12 + length
        # One row of one pixel: the number of its filter, then its bytes.
        row = zlib.decompress(data)
        return row[1], row[2], row[3]
