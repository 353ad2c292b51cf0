"""Measures the functions and writes the table of `docs/math.md`.

Run by hand: `python -m tests.codegen.math.table`, or with the names of functions to measure only
these. All take ten minutes.
"""

import sys
from pathlib import Path

from hlotool.codegen.math.functions import FUNCTIONS
from tests.codegen.math.references import LANES, largest_error
from tests.codegen.math.sweeps import is_swept, swept_error

PAGE = Path(__file__).parents[3] / "docs" / "math.md"
BEGIN, END = "| Function |", "\n\n"
POINTS = 1 << 22
EXACT_POINTS = 8000
LEFT_OUT = {("lgamma", "double"): " for x > 1/2", ("digamma", "double"): " for x > 1/2"}
"""What a figure does not say, because only points right of it were asked."""


def figure(name: str, lane: str) -> str:
    """Returns the largest error that is seen, to two digits."""
    if is_swept(name, lane):
        worst, _ = swept_error(name, lane, POINTS)
    else:
        worst, _ = largest_error(name, lane, EXACT_POINTS)
    return f"{worst:.2f}{LEFT_OUT.get((name, lane), '')}"


def rows(names: list[str], before: list[str]) -> str:
    """Returns the table; functions that are not named keep their rows."""
    kept = {line.split("`")[1]: line for line in before if "`" in line}
    lines = [f"{BEGIN} f32 | f64 |", "|---|---|---|"]
    for name in FUNCTIONS:
        if name in names or name not in kept:
            figures = [figure(name, lane) for lane in LANES]
            kept[name] = f"| {' | '.join([f'`{name}`', *figures])} |"
            sys.stderr.write(kept[name] + "\n")
        lines.append(kept[name])
    return "\n".join(lines)


def main(names: list[str]) -> None:
    """Puts the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin = text.index(BEGIN)
    end = text.index(END, begin)
    table = rows(names or [*FUNCTIONS], text[begin:end].splitlines())
    PAGE.write_text(text[:begin] + table + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
