"""The documents: where their links lead, and the pictures in them."""

import re
import struct
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
WALK = ROOT / "docs" / "looking-at-modules.md"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MOST_BYTES = 150_000


def targets(text: str) -> list[str]:
    """Returns the targets of links to files, without the part behind `#`; code does not count."""
    shown = re.sub(r"(?m)^    .*$|`[^`\n]*`", "", text)
    found = [link.partition("#")[0] for link in LINK.findall(shown) if "://" not in link]
    return [link for link in found if link]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    found = targets(path.read_text("utf-8"))
    assert [link for link in found if not (path.parent / link).exists()] == []


def test_links_that_lead_nowhere_are_found() -> None:
    assert targets("a [b](c.md#d), `[e](f)`, ![g](h.png)\n    [i](j)\n[k](https://l)") == [
        "c.md", "h.png",
    ]  # fmt: skip


def test_the_walk_shows_every_picture() -> None:
    shown = {link for link in targets(WALK.read_text("utf-8")) if link.endswith(".png")}
    assert shown == {f"pictures/{path.name}" for path in PICTURES.glob("*.png")}


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*.png")), ids=lambda path: path.stem)
def test_pictures_are_small_and_have_one_size(path: Path) -> None:
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1280, 800)
    assert len(data) < MOST_BYTES
