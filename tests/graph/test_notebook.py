from html.parser import HTMLParser

import pytest

from hlotool.graph import notebook
from hlotool.graph.html import module_page
from hlotool.text.notebook import MOST_CHARACTERS
from hlotool.text.parser import parse
from tests.conftest import MODELS


class Words(HTMLParser):
    """Collects tags and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.frame: dict[str, str | None] = {}
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "iframe":
            self.frame = dict(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_module_shows_what_it_takes_and_yields_and_its_text() -> None:
    module = parse((MODELS / "jax" / "attention.hlo").read_text())
    page = Words(module._repr_html_())
    assert module.name in page.text
    assert module.entry.parameters[0].shape.text in page.text
    assert f"ENTRY %{module.entry.name}" in page.text


def test_names_and_strings_are_escaped() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n"
        '  ROOT x = f32[] parameter(0), metadata={op_name="<img src=x onerror=alert(1)>"}\n}'
    )
    # A proto may give a module any name.
    module.name = "<script>alert(1)</script>"
    page = Words(module._repr_html_())
    assert not page.tags & {"script", "img"}
    assert "<img src=x onerror=alert(1)>" in page.text


def test_long_text_is_cut_and_that_is_said() -> None:
    lines = "\n".join(f"  x{n} = f32[] parameter({n})" for n in range(8000))
    module = parse(f"HloModule m\nENTRY e {{\n{lines}\n  ROOT r = f32[] negate(x0)\n}}")
    shown = Words(module._repr_html_()).text
    assert "more characters" in shown
    assert len(shown) < 3 * MOST_CHARACTERS


def test_the_page_stands_in_a_frame_that_may_run_scripts_alone() -> None:
    module = parse((MODELS / "jax" / "attention.hlo").read_text())
    frame = Words(module._repr_html_()).frame
    assert frame["srcdoc"] == module_page(module)
    assert frame["sandbox"] == "allow-scripts allow-downloads"


def test_a_module_that_is_too_large_has_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "MOST_INSTRUCTIONS", 1)
    module = parse((MODELS / "jax" / "attention.hlo").read_text())
    shown = Words(module._repr_html_())
    assert "iframe" not in shown.tags
    assert module.name in shown.text
