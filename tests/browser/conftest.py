"""A browser for the tests of this folder; they are skipped where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hlotool.graph.html import module_page, page
from hlotool.graph.page_data import page_data
from hlotool.graph.pass_data import decisions_page, passes_page
from hlotool.passes.history import HistoryHook
from hlotool.passes.pipelines import platform_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from tests.browser.window import Window, launched
from tests.conftest import MODELS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Opened = Callable[..., Window]

LAYERS = 60
PER_LAYER = 10


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Returns the page of a module of `testdata/models`, made once; `layers` is a big one.

    Of `NAME:passes` and `NAME:decisions` it is the page over a run of the passes of CPUs.
    """
    folder = tmp_path_factory.mktemp("pages")

    def made(name: str) -> Path:
        path = folder / f"{re.sub('[/:]', '_', name)}.html"
        if not path.exists():
            path.write_text(_page_text(name), "utf-8")
        return path

    return made


def _page_text(name: str) -> str:
    stem, _, what = name.partition(":")
    module = parse(module_text(stem))
    if not what:
        return module_page(module)
    hook = HistoryHook()
    Runner([hook]).run(platform_pipeline("cpu"), module)
    text = passes_page(hook.history) if what == "passes" else decisions_page(hook.history)
    assert text is not None, f"no pass decided about fusions of {stem}"
    return text


def module_text(name: str) -> str:
    """Returns the text of a module of `testdata/models`, or of the one that is made up."""
    if name == "layers":
        return many_layers()
    if name == "names":
        return NAMES
    if name == "replaced":
        return REPLACED
    return (MODELS / f"{name}.hlo").read_text("utf-8")


def many_layers() -> str:
    """Returns a module of equal layers, too big to be shown whole at the start."""
    lines = ["HloModule layers", "", "ENTRY main {", "  x0 = f32[8,8] parameter(0)"]
    lines += ["  w = f32[8,8] parameter(1)"]
    for layer in range(LAYERS):
        value = f"x{layer}"
        lines.append(
            f"  d{layer} = f32[8,8] dot({value}, w),"
            " lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        )
        value = f"d{layer}"
        for step in range(PER_LAYER - 1):
            name = f"t{layer}_{step}" if step < PER_LAYER - 2 else f"x{layer + 1}"
            operation = ("tanh", "negate", "exponential")[step % 3]
            lines.append(f"  {name} = f32[8,8] {operation}({value})")
            value = name
    lines.append(f"  ROOT r = f32[8,8] add(x{LAYERS}, d0)")
    return "\n".join([*lines, "}", ""])


NAMES = """HloModule names

ENTRY main {
  p = f32[4] parameter(0), metadata={op_name="</script><script>window.stolen = 1</script>"}
  a = f32[4] negate(p), metadata={op_name="<!-- <img src=x onerror=\\"window.stolen = 1\\">"}
  ROOT r = f32[4] add(a, a), metadata={op_name="one\u2028two\u202ethree"}
}
"""


REPLACED = """HloModule replaced

ENTRY main {
  p = f32[4,8] parameter(0)
  w = f32[8,8] parameter(1)
  one = f32[] constant(1)
  ones = f32[4,8] broadcast(one), dimensions={}
  gone = f32[4,8] multiply(p, ones)
  product = f32[4,8] dot(gone, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[4,8] exponential(product)
}
"""


@pytest.fixture
def opened(browser: Browser, page_of: Callable[[str], Path], tmp_path: Path) -> Iterator[Opened]:
    """Opens pages; when the test ends, none of them may have said or asked for anything."""
    windows: list[Window] = []

    def open_page(name: str | Path, address: str = "", **settings: Any) -> Window:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        windows.append(Window(context.new_page()))
        return windows[-1].open(_path(name), address)

    def _path(name: str | Path) -> Path:
        if isinstance(name, Path):
            return name
        if "+" not in name:
            return page_of(name)
        first, *others = [page_data(parse(module_text(one))) for one in name.split("+")]
        path = tmp_path / "several.html"
        path.write_text(page({**first, "modules": others}), "utf-8")
        return path

    yield open_page
    for window in windows:
        window.page.context.close()
        assert window.errors == []
        assert window.requests == []
