"""Tables and coloured text, drawn by rich as wide as the terminal."""

from __future__ import annotations

import shutil
import sys
from io import StringIO
from typing import TYPE_CHECKING

from hlotool.cli.outputs import encode, print_bytes
from hlotool.cli.report import is_colourful

if TYPE_CHECKING:
    from rich.console import RenderableType

NARROWEST, WIDEST = 40, 140
"""The columns that something drawn takes, whatever the terminal has."""
_USUAL_COLUMNS = 100


def terminal_columns() -> int:
    """Returns how many columns to draw on: those of the terminal, within limits."""
    columns = shutil.get_terminal_size((_USUAL_COLUMNS, 24)).columns
    return max(NARROWEST, min(WIDEST, columns))


def drawn(*parts: RenderableType, columns: int, colour: bool) -> str:
    """Returns the lines of what rich draws; with `colour` they hold escape sequences."""
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=columns,
        color_system="standard" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        # The caller has decided about colour by the same variables.
        _environ={},
    )
    for part in parts:
        console.print(part)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def print_drawn(*parts: RenderableType) -> None:
    """Draws on standard output, in colours where it is a terminal that shows them.

    Text from modules must have its control characters escaped already.
    """
    colour = sys.stdout is not None and is_colourful(sys.stdout)
    print_bytes(encode(drawn(*parts, columns=terminal_columns(), colour=colour)))
