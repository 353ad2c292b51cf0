"""Pages: one file each, that needs neither a network nor a server.

The scripts, the style and the shell of a page are the files of `hlotool/graph/assets`; they are
pasted into one text with the palette and the data. Nothing of a module gets into the page but
its name, which is escaped, and the data, which are base64.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files
from itertools import chain
from typing import Any

from hlotool.graph import palette
from hlotool.graph.overlays import Datum
from hlotool.graph.page_data import page_data
from hlotool.ir.module import Module

_MARK = re.compile(r"\{\{(title|palette|style|data|scripts)\}\}")
_STANDING = re.compile(
    r"""
    (?P<alone> ^[ \t]* /\* (?:[^*]|\*(?!/))* \*/ [ \t]*\n)
    | /\* (?:[^*]|\*(?!/))* \*/
    | ` (?:[^`\\]|\\.)* `
    | " (?:[^"\\\n]|\\.)* "
    | ' (?:[^'\\\n]|\\.)* '
    | //[^\n]*
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""Comments that have lines of their own, and all else in which there can be the marks of one."""
_LEVEL = 9
_MOST_BYTES = 1 << 28
"""Of the data of a page that is read: it may be from anywhere."""


def module_page(
    module: Module, given: Mapping[str, Mapping[str, Datum]] | None = None, title: str = ""
) -> str:
    """Returns a page over one module; `title` is shown on top, by default the module's name.

    `given` are more overlays by their names: numbers or words by the names of instructions.
    """
    document = page_data(module, given)
    return page(document | {"title": title or module.name})


def page(document: Mapping[str, Any]) -> str:
    """Returns a page that shows a document as `docs/viewer_data.md` describes it."""
    pieces = {
        "title": escape(str(document["title"])),
        "palette": palette.style(),
        "style": "".join(pasted(name) for name in ("style.css", *_styles(document))),
        "data": packed(document),
        "scripts": _scripts(document),
    }
    # A comment tells the authors of the shell about the marks; readers of a page need none.
    shell = re.sub(r"<!--.*?-->\n?", "", asset("page.html"), flags=re.DOTALL)
    return _MARK.sub(lambda match: pieces[match[1]], shell)


def packed(document: Mapping[str, Any]) -> str:
    """Returns a document as a page holds it: JSON, deflated, in base64."""
    return base64.b64encode(zlib.compress(as_json(document).encode(), _LEVEL)).decode()


def as_json(document: Mapping[str, Any]) -> str:
    """Returns a document as the shortest JSON; bytes that were no UTF-8 have become `?`."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def unpacked(data: str) -> dict[str, Any]:
    """Returns the document that `packed` has made this of; raises `ValueError` for a huge one."""
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(base64.b64decode(data), _MOST_BYTES)
    if unpacking.unconsumed_tail:
        raise ValueError(f"the data are larger than {_MOST_BYTES >> 20} MiB")
    found: dict[str, Any] = json.loads(text)
    return found


def asset(name: str) -> str:
    """Returns the text of a file that pages are made of."""
    return (files("hlotool.graph") / "assets" / name).read_text("utf-8")


def pasted(name: str) -> str:
    """Returns a script or a style as pages have it: without comments that have own lines."""
    return without_comments(asset(name))


def without_comments(text: str) -> str:
    """Returns a script or a style without comments in `/* */` that have lines of their own.

    What is in strings and templates stays. A quote in a regular expression counts as the beginning
    of a string, which then ends with the line; a backtick must not be in one.
    """
    return _STANDING.sub(lambda match: "" if match["alone"] else match[0], text)


def _styles(document: Mapping[str, Any]) -> list[str]:
    return _each_once(part["styles"] for part in _parts(document))


def _scripts(document: Mapping[str, Any]) -> str:
    """Returns the script elements; those that a worker loads too are marked `data-pure`."""
    listed = json.loads(asset("scripts.json"))
    more = _each_once(part["scripts"] for part in _parts(document))
    return "".join(
        f"<script{' data-pure' if name in listed['pure'] else ''}>\n{pasted(name)}</script>\n"
        for name in (*listed["pure"], *listed["page"], *more, *listed["start"])
    )


def _parts(document: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """Returns what a page needs for the parts of its document beside modules."""
    parts: dict[str, dict[str, list[str]]] = json.loads(asset("scripts.json"))["parts"]
    return [part for name, part in parts.items() if document.get(name)]


def _each_once(lists: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(lists)))
