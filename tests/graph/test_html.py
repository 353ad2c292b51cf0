import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hlotool.graph.html import (
    asset,
    module_page,
    packed,
    page,
    pasted,
    unpacked,
    without_comments,
)
from hlotool.graph.page_data import page_data
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from tests.conftest import ROOT

ASSETS = ROOT / "hlotool" / "graph" / "assets"
SCRIPTS = sorted(ASSETS.glob("*.js"))
STYLES = sorted(ASSETS.glob("*.css"))
NASTY = (
    "</script><script>alert(1)</script>",
    "<!--",
    "]]>",
    "line\N{LINE SEPARATOR}separator\N{PARAGRAPH SEPARATOR}",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    "\N{RIGHT-TO-LEFT MARK}\N{ZERO WIDTH JOINER}",
    "tab\tnewline\nquote\"'&amp;",
    "{{data}}{{scripts}}",
    "\\u003c \\",
)


class Page(HTMLParser):
    """Collects elements with their attributes, and the text in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open, []).append(data)


def named(name: str) -> Module:
    module = parse(
        'HloModule m\nENTRY e {\n  x = f32[] parameter(0), metadata={op_name="s"}\n'
        "  ROOT n = f32[] negate(x)\n}\n"
    )
    # A proto may give all of them any name.
    module.name = name
    module.entry.name = name
    for instruction in module.instructions():
        instruction.name += name
        metadata = instruction.annotations.metadata.replace(op_name=name, source_file=name)
        instruction.annotations = instruction.annotations.replace(metadata=metadata)
    return module


def without_data(text: str) -> str:
    text = re.sub(r'id="data">[^<]*<', "", text)
    return re.sub(r"<title>[^<]*<", "", text)


def data_of(text: str) -> dict[str, object]:
    found = re.search(r'id="data">([^<]*)</script>', text)
    assert found is not None
    return unpacked(found[1])


@pytest.mark.parametrize("name", NASTY)
def test_a_name_stays_a_name(name: str) -> None:
    plain, text = module_page(named("x")), module_page(named(name))
    document = data_of(text)
    assert document["title"] == name
    strings = document["strings"]
    assert isinstance(strings, list)
    assert f"x{name}" in strings
    assert Page(text).texts["title"][0] == name
    # But for the title and the data, pages of all modules are the same.
    assert without_data(text) == without_data(plain)


def test_a_name_that_is_no_text_becomes_one() -> None:
    assert data_of(module_page(named("a\udcffb")))["title"] == "a?b"


def test_the_data_are_those_of_the_module() -> None:
    document = page_data(named("x"))
    assert data_of(page(document)) == json.loads(json.dumps(document))


def test_packing() -> None:
    document = {"text": "é</script>", "numbers": [1, -1]}
    data = packed(document)
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", data)
    assert unpacked(data) == document
    assert json.loads(zlib.decompress(base64.b64decode(data))) == document


def test_a_page_needs_nothing_from_anywhere() -> None:
    found = Page(module_page(named("x")))
    for tag, attributes in found.elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base"}
        assert not {"src", "srcset", "action", "background"} & set(attributes), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert (attributes.get("href") or "#").startswith("#")
    policies = [a["content"] for _, a in found.elements if a.get("http-equiv")]
    (policy,) = policies
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'unsafe-inline' blob:; ")
    for rule in policy.split("; "):
        assert not re.search(r"https?:|\*|unsafe-eval|connect-src", rule)


def test_a_page_holds_the_scripts_and_styles_of_what_it_shows() -> None:
    listed = json.loads(asset("scripts.json"))
    used = {*listed["pure"], *listed["page"], *listed["start"]}
    styles = {"style.css"}
    for part in listed["parts"].values():
        used.update(part["scripts"])
        styles.update(part["styles"])
    assert sorted(used) == [path.name for path in SCRIPTS]
    assert sorted(styles) == sorted(path.name for path in STYLES)
    document = page_data(named("x"))
    for shown in ((), ("passes",), ("directory",), ("passes", "difference")):
        text = page(document | {name: [{}] if name in shown else [] for name in listed["parts"]})
        parts = [part for name, part in listed["parts"].items() if name in shown]
        names = [*listed["pure"], *listed["page"], *listed["start"]]
        more = {name for part in parts for name in part["scripts"]}
        assert {name for name in used if pasted(name) in text} == {*names, *more}
        places = [text.index(pasted(name)) for name in names]
        assert places == sorted(places)
        wanted = {"style.css", *(name for part in parts for name in part["styles"])}
        assert {name for name in styles if pasted(name) in text} == wanted
        assert "{{" not in re.sub(r"<script.*", "", text, flags=re.DOTALL)
        marked = [a for tag, a in Page(text).elements if tag == "script" and "data-pure" in a]
        assert len(marked) == len(listed["pure"])


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=lambda path: path.name)
def test_a_script_can_stand_in_a_page(path: object) -> None:
    text = asset(getattr(path, "name", ""))
    assert not re.search(r"</(script|style)|<!--", text, re.IGNORECASE)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\s*\(", text)
    assert not re.search(r"\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write", text)


@pytest.mark.parametrize("path", [*SCRIPTS, *STYLES], ids=lambda path: path.name)
def test_a_page_has_no_comments_but_those_beside_code(path: Path) -> None:
    text, shown = path.read_text("utf-8"), pasted(path.name)
    assert not re.search(r"^\s*/\*", shown, re.MULTILINE)
    assert [line for line in shown.split("\n") if line] == [
        line for line in re.sub(r"(?sm)^[ \t]*/\*.*?\*/[ \t]*\n", "", text).split("\n") if line
    ]


@pytest.mark.parametrize(
    "text",
    [
        "const a = `\n/* kept */\n`;\n",
        "const a = `\\`\n  /* kept */\n`;\n",
        "const a = \"/*\";\n/* gone */\nconst b = '*/';\n",
        "// it's `kept`\n/* gone\n * here */\nx();\n",
        "/* gone: it's \" ` */\nx(); /* kept */\n  /** gone */\ny(); /* kept\n*/\n",
        "/* kept */ x();\n",
    ],
)
def test_comments_go_and_texts_stay(text: str) -> None:
    shown = without_comments(text)
    assert "gone" not in shown
    assert shown.count("kept") == text.count("kept")
    assert shown == re.sub(r"(?s)(?m:^)[ ]*/\*[* ]*gone.*?\*/\n", "", text)


def test_same_module_same_page() -> None:
    assert module_page(named("x")) == module_page(named("x"))
