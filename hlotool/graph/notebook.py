"""A module as a notebook shows it: its page in a frame, and under it a table and the text."""

from __future__ import annotations

from html import escape

from hlotool.graph.html import module_page
from hlotool.ir.module import Module
from hlotool.text.notebook import module_html

MOST_INSTRUCTIONS = 30_000
"""Up to how many instructions a notebook holds a page, which it keeps with the cell."""
_STYLE = "width:100%;height:36em;border:1px solid #8884;border-radius:4px"


def module_view(module: Module) -> str:
    """Returns HTML: a frame with the page of the module, then what `module_html` shows.

    The frame has an origin of its own, so that scripts in it can neither see nor change the
    notebook. A module that is too large for it has only the table and the text.
    """
    shown = module_html(module)
    if sum(1 for _ in module.instructions()) > MOST_INSTRUCTIONS:
        return shown
    title = escape(f"graph of {module.name}")
    page = escape(module_page(module))
    return (
        f'<iframe title="{title}" sandbox="allow-scripts allow-downloads" loading="lazy"'
        f' style="{_STYLE}" srcdoc="{page}"></iframe>{shown}'
    )
