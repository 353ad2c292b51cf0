"""Shows where two results differ: tables for a person, as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hlotool.cli.rendering import printable
from hlotool.cli.tables import NARROWEST, WIDEST, drawn, print_drawn, terminal_columns
from hlotool.errors import counted
from hlotool.evaluation.comparison.compare import Comparison, LeafComparison
from hlotool.evaluation.comparison.differences import Bucket, NotFinite, WorstElement
from hlotool.evaluation.comparison.origins import Origin
from hlotool.evaluation.comparison.tolerance import Tolerance

_ABREAST_COLUMNS = 100
"""From this width on, histograms stand side by side."""
_BAR_COLUMNS = 12
_NEGLIGIBLE = 1e-30
"""Bounds up to this say nothing to a person."""
_WRONG = "bold red"
_RIGHT = "green"
_DIM = "dim"


def mismatch_text(
    comparison: Comparison, *, columns: int | None = None, colour: bool = False
) -> str:
    """Returns the report of what differs; `columns` are those of the terminal unless given.

    With `colour` it holds escape sequences. Names from modules are shown with their control
    characters escaped.
    """
    width = terminal_columns() if columns is None else max(NARROWEST, min(WIDEST, columns))
    return drawn(*_parts(comparison, width), columns=width, colour=colour)


def show_mismatch(comparison: Comparison) -> None:
    """Prints the report of what differs."""
    print_drawn(*_parts(comparison, terminal_columns()))


def _parts(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    wrong = [leaf for leaf in comparison.leaves if not leaf.agrees]
    whole = f"result {printable(comparison.shape)}: {_share(comparison)}"
    yield Text(whole, style=_WRONG if wrong else _RIGHT)
    for leaf in wrong:
        yield from _leaf_parts(leaf, width)
    agreeing = [leaf for leaf in comparison.leaves if leaf.agrees]
    if wrong and agreeing:
        yield Text()
        indices = ", ".join(_index_text(leaf.index) for leaf in agreeing)
        yield Text(f"{counted(len(agreeing), 'array', ',')} agreeing: {indices}", style=_RIGHT)


def _share(comparison: Comparison) -> str:
    if not comparison.leaves:
        return "nothing to compare"
    text = _wrong_of(comparison.mismatches, comparison.elements)
    faults = sum(bool(leaf.fault) for leaf in comparison.leaves)
    return f"{text}, {counted(faults, 'array', ',')} of another shape" if faults else text


def _wrong_of(mismatches: int, elements: int) -> str:
    if not mismatches:
        return f"all of {counted(elements, 'element', ',')} agree"
    percent = 100 * mismatches / elements
    verb = "is" if mismatches == 1 else "are"
    return f"{mismatches:,} of {counted(elements, 'element', ',')} {verb} wrong ({percent:.3g} %)"


def _leaf_parts(leaf: LeafComparison, width: int) -> Iterator[RenderableType]:
    found = leaf.differences
    if leaf.index:
        yield Text()
        said = leaf.fault or _wrong_of(found.mismatches, found.elements)
        title = f"array {_index_text(leaf.index)} {leaf.shape}: {said}"
        yield Text(printable(title), style=_WRONG)
    yield Padding(_facts(leaf), (0, 0, 0, 2))
    if leaf.fault:
        return
    yield Text()
    yield Padding(_worst_table(found.worst), (0, 0, 0, 2))
    yield Text()
    histograms = [
        _histogram("relative error", found.relative_errors),
        _histogram("|expected|", found.magnitudes),
    ]
    yield Padding(_abreast(histograms, width), (0, 0, 0, 2))
    if found.suggestions:
        yield Text()
        yield Text("  bounds that would do (one of these lines):")
        for bounds in found.suggestions:
            pair = f"--abs-error-bound={bounds.absolute:g} --rel-error-bound={bounds.relative:g}"
            yield Text(f"    {pair}")


def _index_text(index: Sequence[int]) -> str:
    return "{" + ",".join(map(str, index)) + "}"


def _facts(leaf: LeafComparison) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style=_DIM, no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _fact_lines(leaf):
        table.add_row(Text(name), Text(printable(text)))
    return table


def _fact_lines(leaf: LeafComparison) -> Iterator[tuple[str, str]]:
    yield from _origin_lines(leaf.origin)
    found = leaf.differences
    if leaf.fault:
        yield "fault", leaf.fault
        return
    yield "allowed", _bounds_text(leaf.tolerance, found.size)
    if leaf.tolerance.reason:
        yield "because", leaf.tolerance.reason
    yield "largest", f"error {_error(found.largest_absolute)}, {_relative(found.largest_relative)}"
    if found.actual != NotFinite() or found.expected != NotFinite():
        yield "NaN", _both(found.actual.nan, found.expected.nan, found.nan_mismatches)
        yield "infinite", _both(found.actual.infinite, found.expected.infinite)
    if found.zero_signs:
        yield "zeros", f"{found.zero_signs:,} with another sign, which is no mismatch"
    if found.unspecified:
        yield "not counted", f"{counted(found.unspecified, 'element', ',')} that HLO leaves open"
        yield from (("", reason) for reason in leaf.unspecified)


def _origin_lines(origin: Origin) -> Iterator[tuple[str, str]]:
    where = f" at {origin.location}" if origin.location else ""
    yield "made by", f"{origin.instruction} = {origin.shape} {origin.opcode}{where}"
    if origin.op_name:
        yield "for", origin.op_name
    if origin.source:
        yield "source", origin.source
    for number, frame in enumerate(origin.frames):
        yield "" if number else "stack", frame


def _both(actual: int, expected: int, mismatches: int = 0) -> str:
    text = f"{actual:,} in actual, {expected:,} in expected"
    return f"{text}; {mismatches:,} on one side alone" if mismatches else text


def _bounds_text(tolerance: Tolerance, size: float) -> str:
    if tolerance.needs_both:
        return f"wrong where above {_error(tolerance.absolute)} and {_relative(tolerance.relative)}"
    if tolerance.is_exact:
        return "no difference"
    parts = []
    if tolerance.relative:
        parts.append(_relative(tolerance.relative))
    if tolerance.scaled:
        parts.append(
            f"{tolerance.scaled * size:.2g}"
            f" ({tolerance.scaled:.2g} of the typical size {size:.3g}, or of larger elements)"
        )
    if tolerance.absolute > _NEGLIGIBLE:
        parts.append(f"{tolerance.absolute:.1g}")
    return " + ".join(parts)


def _error(value: float) -> str:
    return "infinite" if value == inf else f"{value:.3g}"


def _relative(value: float) -> str:
    if value == inf:
        return "infinite relative"
    return f"{value:.3g} relative"


def _worst_table(worst: Sequence[WorstElement]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("worst", overflow="fold")
    for title in ("actual", "expected"):
        table.add_column(title, justify="right", overflow="fold")
    for title in ("absolute", "relative", "ULP"):
        table.add_column(title, justify="right", no_wrap=title != "ULP", overflow="fold")
    for element in worst:
        index = "[" + ",".join(map(str, element.index)) + "]"
        table.add_row(
            Text(index),
            _value_text(element.actual.text, element.actual.bits),
            _value_text(element.expected.text, element.expected.bits),
            Text("inf" if element.absolute == inf else f"{element.absolute:.3g}"),
            Text("inf" if element.relative == inf else f"{element.relative:.3g}"),
            Text("-" if element.ulps is None else _short_count(element.ulps)),
        )
    return table


def _value_text(value: str, bits: Sequence[str]) -> Group:
    return Group(Text(value, justify="right"), Text(" ".join(bits), style=_DIM, justify="right"))


def _short_count(count: int) -> str:
    return f"{count:,}" if count < 10_000_000 else f"{count:.2g}"


def _histogram(title: str, buckets: Sequence[Bucket]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column(title, no_wrap=True)
    table.add_column("elements", justify="right", no_wrap=True)
    table.add_column("wrong", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    most = max((bucket.count for bucket in buckets), default=0)
    start = 0.0
    for number, bucket in enumerate(buckets):
        if bucket.count:
            # Every bucket that holds anything shows.
            bar = "#" * max(1, _BAR_COLUMNS * bucket.count // most)
            wrong = Text(f"{bucket.mismatches:,}", style=_WRONG if bucket.mismatches else "")
            name = _bucket_name(start, bucket.end, is_first=number == 0)
            table.add_row(Text(name), Text(f"{bucket.count:,}"), wrong, Text(bar, style=_DIM))
        start = bucket.end
    return table


def _bucket_name(start: float, end: float, *, is_first: bool) -> str:
    if is_first:
        return "0"
    return f"> {start:g}" if end == inf else f"<= {end:g}"


def _abreast(tables: Sequence[Table], width: int) -> RenderableType:
    if width < _ABREAST_COLUMNS:
        parts: list[RenderableType] = []
        for table in tables:
            parts += [table, Text()]
        return Group(*parts[:-1])
    grid = Table.grid(padding=(0, 4, 0, 0))
    grid.add_row(*tables)
    return grid
