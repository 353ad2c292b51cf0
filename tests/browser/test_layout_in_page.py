"""The invariants of the layout in a real page: with its fonts, its worker, and its own engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hlotool.graph.html import module_page
from hlotool.graph.page_data import page_data
from hlotool.text.parser import parse
from tests.conftest import modules_below

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHECKS = [
    Path(__file__).with_name(name)
    for name in ("layout_check.js", "layout_properties.js", "random_modules.js")
]
MODULES = [
    "jax/gpt_forward.opt.hlo", "jax/transformer_scan_layers.opt.hlo", "jax/gpt_train_step.opt.hlo",
    "tf/keras_inceptionv3.opt.hlo",
]  # fmt: skip
FOLDERS = ["models", "cases", "ops", "passes", "bench", "compiled", "differences", "aot"]
"""Those of `testdata` with modules that can be read."""
WAIT = """async () => {
  while (!window.hlotool.ready) await new Promise((done) => setTimeout(done, 20));
}"""


def opened_with_checks(browser: Browser, folder: Path, text: str) -> Page:
    """A page over a module, with the checks loaded, once its first picture is there."""
    file = folder / "page.html"
    file.write_text(module_page(parse(text)), "utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(file.as_uri())
    for check in CHECKS:
        page.add_script_tag(content=check.read_text("utf-8"))
    page.evaluate(WAIT)
    return page


@pytest.mark.parametrize("name", MODULES)
def test_invariants_hold_in_the_page(
    browser: Browser, corpus: Path, tmp_path: Path, name: str
) -> None:
    path = corpus / name
    if not path.is_file():
        pytest.skip(f"the corpus has no {name}")
    text = path.read_text()
    page = opened_with_checks(browser, tmp_path, text)
    assert page.evaluate("Hlo.checkPicture(hlotool.picture)") == []
    assert page.evaluate("hlotool.stats.layouter") == "worker"
    document = json.dumps(page_data(parse(text)))
    assert page.evaluate("(text) => Hlo.layoutFindings(JSON.parse(text))", document) == []
    page.close()


@pytest.mark.parametrize("folder", FOLDERS)
def test_invariants_hold_for_all_modules_of_a_folder(
    browser: Browser, root: Path, tmp_path: Path, folder: str
) -> None:
    paths = sorted((root / "testdata" / folder).rglob("*.hlo"))
    check_all(browser, tmp_path, [path for path in paths if not path.name.startswith("error_")])


def test_invariants_hold_for_all_real_modules(
    browser: Browser, corpus: Path, tmp_path: Path
) -> None:
    check_all(browser, tmp_path, modules_below(corpus))


def check_all(browser: Browser, folder: Path, paths: list[Path]) -> None:
    """Lays out several modules, open and closed, in one page; equal texts once."""
    assert paths
    texts: dict[str, Path] = {}
    for path in paths:
        texts.setdefault(path.read_text("utf-8"), path)
    page = opened_with_checks(
        browser, folder, "HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }"
    )
    found = {}
    for text, path in texts.items():
        document = json.dumps(page_data(parse(text, lenient=True)))
        findings = page.evaluate("(text) => Hlo.layoutFindings(JSON.parse(text))", document)
        if findings:
            found[path.as_posix()] = findings
    page.close()
    assert found == {}


def test_random_modules_in_the_page(browser: Browser, tmp_path: Path) -> None:
    text = "HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }"
    page = opened_with_checks(browser, tmp_path, text)
    for seed in range(40):
        found = page.evaluate("(seed) => Hlo.layoutFindings(Hlo.randomDocument(seed))", seed)
        assert found == [], seed
    page.close()
