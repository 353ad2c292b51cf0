"""What a person does on the pages, one control after the other, and how long tasks take then."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tests.browser.window import Window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Control = tuple[str, Callable[[Window], object]]
"""What is done, in words, and the call that does it."""

TASKS = {"RunTask", "ThreadControllerImpl::RunTask"}
MARK = "control: "
SETTLED = 900
ROOT = "hlotool.model.computations[hlotool.model.entry].root"


def pressed(*keys: str, wait: int = 450) -> Callable[[Window], None]:
    """Returns a call that presses keys and waits so many milliseconds after each."""

    def press(window: Window) -> None:
        for key in keys:
            window.page.keyboard.press(key)
            window.page.wait_for_timeout(wait)

    return press


def held(key: str, times: int = 30) -> Callable[[Window], None]:
    """Returns a call that holds a key down till it has come so many times."""

    def hold(window: Window) -> None:
        for _ in range(times):
            window.page.keyboard.down(key)
            window.page.wait_for_timeout(30)
        window.page.keyboard.up(key)
        window.page.wait_for_timeout(SETTLED)

    return hold


def typed(selector: str, *texts: str) -> Callable[[Window], None]:
    """Returns a call that types texts into a field, one for the other, a letter at a time."""

    def write(window: Window) -> None:
        window.page.click(selector)
        for text in texts:
            window.page.keyboard.press("Control+a")
            for letter in text:
                window.page.keyboard.type(letter)
                window.page.wait_for_timeout(250)
        window.page.fill(selector, "")
        window.page.keyboard.press("Escape")
        window.page.wait_for_timeout(250)

    return write


def scrolled(selector: str) -> Callable[[Window], None]:
    """Returns a call that turns the wheel over an element, then goes to its end."""

    def scroll(window: Window) -> None:
        window.page.hover(selector, position={"x": 40, "y": 40})
        for _ in range(20):
            window.page.mouse.wheel(0, 400)
            window.page.wait_for_timeout(20)
        window.page.locator(selector).evaluate("(place) => { place.scrollTop = 1e9; }")
        window.page.wait_for_timeout(250)

    return scroll


def jumped(*shares: float) -> Callable[[Window], None]:
    """Returns a call that goes to instructions of the entry, at shares of the way to its root."""

    def jump(window: Window) -> None:
        for share in shares:
            name = window.value(f"hlotool.model.name(hlotool.model.entry, {ROOT} * {share} | 0)")
            shown(f"{name}")(window)

    return jump


def shown(*places: str) -> Callable[[Window], None]:
    """Returns a call that goes to addresses, given without the #."""

    def show(window: Window) -> None:
        for place in places:
            window.page.evaluate("(place) => { location.hash = place; }", place)
            window.page.wait_for_timeout(SETTLED)

    return show


def all_paths(window: Window) -> None:
    """Shows the paths between the result and a box in sight at the beginning."""
    jumped(1)(window)
    pressed("p", "Home")(window)
    place = window.page.locator("#marks").bounding_box()
    box = window.value("hlotool.shown.map(hlotool.box).find(({x, y}) => x > 250 && y > 90)")
    if place is not None and box is not None:
        window.page.mouse.click(box["x"] + 10, box["y"] + 8)
    window.page.wait_for_timeout(SETTLED)


def each_pass(window: Window) -> None:
    for number in window.value("hlotool.passes.shown"):
        shown(f"pass={number}")(window)


def each_place(window: Window) -> None:
    """Shows what a directory has of its first module: passes, lines, texts, memory, tables."""
    passes = window.value("hlotool.directory.data.modules[0].passes")
    changed = [(p, one["before"], one["after"]) for p, one in enumerate(passes)
               if one["before"] != one["after"]][:6]  # fmt: skip
    texts = window.value("hlotool.directory.data.modules[0].texts")[:4]
    places = [f"before:0:{p}" for p, _, _ in changed]
    places += [f"compare:0:{before}:{after}:{p}" for p, before, after in changed]
    places += [f"compare:0:{before}:{changed[-1][2]}" for _, before, _ in changed[:1]]
    places += [f"text:{number}" for number in texts] + ["memory:0", "decisions:0", "files"]
    shown(*[f"show={place}" for place in places])(window)
    pressed("Escape")(window)


GRAPH: list[Control] = [
    ("overview", pressed("o", "o", "Escape")),
    ("outline", pressed("b", "b")),
    ("all in sight, reading", pressed("0", "1", "Home")),
    ("open all", pressed("x", wait=2500)),
    ("all in sight, open", pressed("0")),
    ("jump", jumped(1, 0.5, 0.9)),
    ("search", typed("#query", "conv", "op:add", "/a.*b/")),
    ("next hit", pressed("/", "a", "Enter", "Enter", "Escape", "n", "N")),
    ("overlays", pressed(*"vvvvvvvv")),
    ("theme", pressed("l", "l")),
    ("text", pressed("t")),
    ("text, scrolled", scrolled("#text")),
    ("text, jump", jumped(1, 0.3)),
    ("close all", pressed("t", "x", wait=SETTLED)),
    ("select", pressed("Escape", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight")),
    ("open one, close one", pressed("Enter", "Enter", wait=SETTLED)),
    ("cone", pressed("c", "c", "c", "c", wait=SETTLED)),
    ("all paths", all_paths),
    ("show all, hide", pressed("Escape", "Escape", "Escape", "ArrowDown", "h", wait=SETTLED)),
    ("back", pressed(*["Backspace"] * 5, wait=SETTLED)),
    ("forward", pressed(*["Alt+ArrowRight"] * 3, wait=SETTLED)),
    ("SVG", pressed("e", wait=SETTLED)),
    ("help", pressed("?", "Escape")),
]
PASSES: list[Control] = [
    ("next pass", pressed(*"jjjjj", wait=SETTLED)),
    ("j held", held("j", 50)),
    ("k held", held("k", 50)),
    ("each pass", each_pass),
    ("before, after", pressed("r", "r", wait=SETTLED)),
    ("diff, next change", pressed("D", "D", "g", "g")),
    ("decisions", pressed("J", "J", "J", "K", wait=SETTLED)),
    ("J held", held("J")),
    ("list, filter", typed("#passes .find", "fus", "dce")),
    ("list, unchanged ones", lambda window: [
        window.page.click("#passes input[type=checkbox]") for _ in range(2)]),
    ("back to passes before", pressed(*["Backspace"] * 4, wait=SETTLED)),
]  # fmt: skip
DIFFERENCE: list[Control] = [
    ("next difference", pressed(*"nnnN", wait=SETTLED)),
    ("n held", held("n")),
    ("list, scrolled", scrolled("#differences .entries")),
    ("open all on both sides", pressed("x", wait=2500)),
    ("overlay, theme", pressed("v", "l", "l")),
    ("text", pressed("t", "t")),
]
DIRECTORY: list[Control] = [
    ("next entry", pressed(*"jjjjjjkk", wait=SETTLED)),
    ("j held", held("j", 50)),
    ("k held", held("k", 50)),
    ("each place", each_place),
    ("list, filter", typed("#directory input", "fus", "dce")),
]


def longest_tasks(
    browser: Browser, window: Window, controls: Iterable[Control]
) -> dict[str, tuple[float, float]]:
    """Returns for each control the longest task of the page: milliseconds of CPU, and passed.

    What the task itself computed is the first; the second grows with what else the machine does.
    """
    browser.start_tracing(page=window.page, categories=["toplevel", "blink.user_timing"])
    for name, do in controls:
        window.page.evaluate("(name) => { performance.mark(name); }", f"{MARK}{name}")
        do(window)
    window.page.evaluate("(name) => { performance.mark(name); }", f"{MARK}end")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    marks = [event for event in events if event.get("name", "").startswith(MARK)]
    marks.sort(key=lambda event: float(event["ts"]))
    thread = (marks[0]["pid"], marks[0]["tid"])
    tasks = [event for event in events if event["name"] in TASKS and event["ph"] == "X"
             and (event["pid"], event["tid"]) == thread]  # fmt: skip
    found = {}
    for start, end in itertools.pairwise(marks):
        own = [(task.get("tdur", task["dur"]) / 1000, task["dur"] / 1000) for task in tasks
               if start["ts"] <= task["ts"] < end["ts"]]  # fmt: skip
        found[start["name"].removeprefix(MARK)] = max(own, default=(0.0, 0.0))
    return found
