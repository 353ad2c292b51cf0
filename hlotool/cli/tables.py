"""Tables and coloured text, drawn by rich as wide as the terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from hlotool.cli.outputs import encode, print_bytes
from hlotool.cli.report import is_colourful

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

NARROWEST, WIDEST = 40, 140
"""The columns that something drawn takes, whatever the terminal has."""
GLUE = "\ue000"
"""A space at which no line is broken, in what is drawn: rich breaks at no-break spaces too."""
_USUAL_COLUMNS = 100
_FRAME = 3
"""The columns that each column of a table takes beside its text; the table takes one more."""
_TEXT_COLUMNS = 16
"""The least that a text is given before it is broken into lines."""


def terminal_columns() -> int:
    """Returns how many columns to draw on: those of the terminal, within limits."""
    columns = shutil.get_terminal_size((_USUAL_COLUMNS, 24)).columns
    return max(NARROWEST, min(WIDEST, columns))


def fitted_table(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    texts: Collection[str],
    *,
    columns: int,
    goes_first: Sequence[str] = (),
) -> Table:
    """Returns a table with columns of `texts`, and others of numbers and single words.

    Texts are broken into lines where they are too long, others stand whole. Columns in which
    nothing stands are left out. Where there is no room, so are those of `goes_first`, one after
    the other.
    """
    from rich.table import Table
    from rich.text import Text

    shown = [n for n, _ in enumerate(titles) if any(row[n] for row in rows)]
    widths = [max([len(titles[n]), *(len(row[n]) for row in rows)]) for n, _ in enumerate(titles)]
    least = [min(widths[n], _TEXT_COLUMNS) if titles[n] in texts else widths[n] for n in shown]
    taken = dict(zip(shown, least, strict=True))
    for title in goes_first:
        if sum(taken.values()) + _FRAME * len(taken) + 1 > columns:
            taken.pop(titles.index(title), None)
    table = Table()
    for n in taken:
        is_text = titles[n] in texts
        is_number = not is_text and any(cell.isdigit() for row in rows for cell in row[n])
        table.add_column(
            titles[n],
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=not is_text,
            min_width=None if is_text else widths[n],
        )
    for row in rows:
        table.add_row(*(Text(row[n]) for n in taken))
    return table


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
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().replace(GLUE, " ").splitlines())


def print_drawn(*parts: RenderableType) -> None:
    """Draws on standard output, in colours where it is a terminal that shows them.

    Text from modules must have its control characters escaped already.
    """
    colour = sys.stdout is not None and is_colourful(sys.stdout)
    print_bytes(encode(drawn(*parts, columns=terminal_columns(), colour=colour)))
