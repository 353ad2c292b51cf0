"""The colours of all pictures: one table for light and dark, for dot files and pages alike."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.ir.appearance import Category


@dataclass(frozen=True, slots=True)
class Tint:
    """The colours of one category: of a box, of its border, of the text in it."""

    fill: str
    line: str
    text: str


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of light or of dark pictures, as `#rrggbb`."""

    tints: dict[Category, Tint]
    named: dict[str, str]
    """What is no category: the paper, text on it, lines, marks of a selection, differences."""
    sequence: tuple[str, ...]
    """From little to much."""
    kinds: tuple[str, ...]
    """For words that have no order: shardings, buffers, scopes."""


LIGHT = Theme(
    {
        Category.CONTRACTION: Tint("#ffd8a8", "#c2620a", "#3d1f00"),
        Category.ELEMENTWISE: Tint("#dbe9fb", "#5b8bc9", "#12263f"),
        Category.REDUCTION: Tint("#e6dcf7", "#8a63c7", "#2a1650"),
        Category.MOVEMENT: Tint("#e9ecef", "#838c96", "#23282d"),
        Category.INDEXING: Tint("#d3f0ea", "#2f9482", "#06332b"),
        Category.CONTROL: Tint("#fff3bf", "#b08900", "#3a2c00"),
        Category.COLLECTIVE: Tint("#ffd6dc", "#c9324c", "#4a0612"),
        Category.EXTERNAL: Tint("#fbdcf0", "#b8448f", "#430a30"),
        Category.SOURCE: Tint("#dff3d8", "#5a9a44", "#173009"),
    },
    {
        "paper": "#ffffff",
        "surface": "#f6f7f9",
        "border": "#d5dae0",
        "ink": "#1c2127",
        "quiet": "#5b6570",
        "edge": "#8a939d",
        "control": "#8f6f00",
        "operand": "#d9480f",
        "user": "#8a3ffc",
        "selected": "#0b63ce",
        "hit": "#b8860b",
        "added": "#1a7f37",
        "removed": "#c9252d",
        "changed": "#9a6700",
        "below": "#2166ac",
        "above": "#b2182b",
    },
    ("#eff6ff", "#cfe3fa", "#a3caf0", "#6da9e0", "#3f86cb", "#1f64ab", "#0f4580"),
    (
        "#4e79a7", "#d9730d", "#3f8f46", "#c23b3b", "#7d5ab5", "#2a8f9a", "#a8670c", "#b8448f",
        "#5c6b7a", "#7a8c1e", "#8c564b", "#3c5fd0",
    ),
)  # fmt: skip
DARK = Theme(
    {
        Category.CONTRACTION: Tint("#6b3a08", "#f0a04b", "#ffeedd"),
        Category.ELEMENTWISE: Tint("#1f3a5c", "#6fa3e0", "#e3efff"),
        Category.REDUCTION: Tint("#3c2a61", "#a98be0", "#efe6ff"),
        Category.MOVEMENT: Tint("#2c3138", "#7d8792", "#e3e6ea"),
        Category.INDEXING: Tint("#12433a", "#4fbda8", "#dcfbf4"),
        Category.CONTROL: Tint("#4d3f06", "#e0bd3c", "#fff6d0"),
        Category.COLLECTIVE: Tint("#5f1522", "#f0788c", "#ffe6ea"),
        Category.EXTERNAL: Tint("#551a41", "#e383c0", "#ffe6f6"),
        Category.SOURCE: Tint("#22401a", "#84c46c", "#e8fae0"),
    },
    {
        "paper": "#14171b",
        "surface": "#1c2127",
        "border": "#363e48",
        "ink": "#e6e9ec",
        "quiet": "#a0a9b4",
        "edge": "#76808b",
        "control": "#c9a93a",
        "operand": "#ffb454",
        "user": "#c792ea",
        "selected": "#6cb2ff",
        "hit": "#e5c453",
        "added": "#56d364",
        "removed": "#ff7b72",
        "changed": "#e3b341",
        "below": "#6baed6",
        "above": "#f4776d",
    },
    ("#16263a", "#1b3a5e", "#215284", "#2f6fae", "#4d90d0", "#7fb5ea", "#b9d9fb"),
    (
        "#7fa8d6", "#f0a04b", "#72c27a", "#f0807f", "#b393e8", "#5fc3ce", "#d9a752", "#e383c0",
        "#9aa8b7", "#b4c653", "#c49a8c", "#8ba3f5",
    ),
)  # fmt: skip
LEGEND = {
    Category.CONTRACTION: "matmul, conv, fft, solve",
    Category.ELEMENTWISE: "elementwise",
    Category.REDUCTION: "reduce, window, sort",
    Category.MOVEMENT: "data movement, tuples",
    Category.INDEXING: "gather, scatter, dynamic slice",
    Category.CONTROL: "control",
    Category.COLLECTIVE: "collectives",
    Category.EXTERNAL: "custom call, random, host",
    Category.SOURCE: "inputs, constants",
}
"""What a legend says of each category."""
SHORT_LEGEND = LEGEND | {
    Category.CONTRACTION: "matmul, conv",
    Category.REDUCTION: "reduce, sort",
    Category.MOVEMENT: "data movement",
    Category.INDEXING: "gather, slice",
    Category.EXTERNAL: "custom call, random",
}
"""What one says where there is little room."""


def category_entries() -> dict[str, list[str]]:
    """Returns what the document of a page says of the categories, as lists in one order."""
    return {
        "categories": [category.value for category in Category],
        "legend": [LEGEND[category] for category in Category],
        "shortLegend": [SHORT_LEGEND[category] for category in Category],
    }


def style() -> str:
    """Returns the palette as CSS: custom properties by theme.

    They are `--contraction-fill`, `--contraction-line`, `--contraction-text` and so on,
    `--sequence-0` and up, `--kind-0` and up, and the names alone for the others: `--paper`.
    The attribute `data-theme` of the page, `light` or `dark`, counts more than the system.
    """
    light, dark = (_properties(theme) for theme in (LIGHT, DARK))
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{"
        f':root:not([data-theme="light"]){{{dark}}}}}\n'
        f'@media screen{{:root[data-theme="dark"]{{{dark}}}}}\n'
    )


def _properties(theme: Theme) -> str:
    found = {
        f"{category.value}-{part}": getattr(tint, part)
        for category, tint in theme.tints.items()
        for part in ("fill", "line", "text")
    }
    found |= theme.named
    found |= {f"sequence-{number}": colour for number, colour in enumerate(theme.sequence)}
    found |= {f"kind-{number}": colour for number, colour in enumerate(theme.kinds)}
    return "".join(f"--{name}:{colour};" for name, colour in found.items())


def contrast(one: str, other: str) -> float:
    """Returns the contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    """Returns a colour with this share of the other one in it."""
    return "#" + "".join(
        f"{round(_part(one, at) * (1 - share) + _part(other, at) * share):02x}" for at in (1, 3, 5)
    )


def _part(colour: str, at: int) -> int:
    return int(colour[at : at + 2], 16)


def _luminance(colour: str) -> float:
    parts = [_part(colour, at) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
