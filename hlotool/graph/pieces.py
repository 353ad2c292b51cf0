"""Documents that are much alike, as pages hold them: each piece of their JSON is there once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any
from zlib import crc32

from hlotool.graph.numbering import differences

_ROWS = 64
"""How many instructions there are in a piece of a column, about; smaller computations are whole."""
_LINES = 4
"""How many lines the pieces of a text have, about."""
_COLUMNS = (
    "op", "names", "title", "shape", "lines", "index", "value", "attributes", "scope", "source",
    "frames", "sharding", "ends",
)  # fmt: skip
"""What computations have one entry of for each instruction."""
_Json = Mapping[str, Any]


class Pieces:
    """Texts of JSON that documents are put together of, each once.

    Where a piece ends depends on what is in it alone, not on how much stands in front of it: what
    documents have in common is cut at the same places. What is new in a document stands behind
    what it had in front of it, so close to what it has taken the place of; only then does
    deflating find what both have in common.
    """

    def __init__(self) -> None:
        self._documents: list[list[str]] = []
        self._next = {"": ""}
        """Which piece follows on which; the empty text stands for both ends."""

    def add(self, own: _Json) -> None:
        """Adds a document; `own` are the entries of one module."""
        pieces = list(_cut(own))
        before = ""
        for piece in pieces:
            if piece not in self._next:
                self._next[piece] = self._next[before]
                self._next[before] = piece
            before = piece
        self._documents.append(pieces)

    def listed(self) -> tuple[list[str], list[list[int]]]:
        """Returns all pieces, and of each document which it is put together of.

        These are numbers of pieces, each as the difference from the one before.
        """
        found = []
        piece = self._next[""]
        while piece:
            found.append(piece)
            piece = self._next[piece]
        numbers = {piece: number for number, piece in enumerate(found)}
        return found, [differences(map(numbers.__getitem__, one)) for one in self._documents]


def _cut(own: _Json) -> Iterator[str]:
    """Yields the JSON of a document in pieces."""
    computations = own["computations"]
    rows = [_rows(one) if _is_large(one) else [] for one in computations]
    rest = {key: own[key] for key in own if key not in {"text", "computations", "overlays"}}
    yield _json(rest)[:-1] + ',"text":"'
    yield from _cut_text(own["text"])
    yield '","computations":['
    for number, one in enumerate(computations):
        comma = "," if number else ""
        if rows[number]:
            yield from _cut_computation(one, rows[number], comma)
        else:
            yield comma + _json(one)
    yield '],"overlays":['
    for number, overlay in enumerate(own["overlays"]):
        yield from _cut_overlay(overlay, rows, "," if number else "")
    yield "]}"


def _cut_overlay(overlay: _Json, rows: list[list[int]], comma: str) -> Iterator[str]:
    rest = {key: overlay[key] for key in overlay if key != "values"}
    yield comma + _json(rest)[:-1] + ',"values":['
    for number, values in enumerate(overlay["values"]):
        comma = "," if number else ""
        if rows[number]:
            yield comma + "["
            yield from _cut_column(values, rows[number])
            yield "]"
        else:
            yield comma + _json(values)
    yield "]}"


def _is_large(computation: _Json) -> bool:
    return len(computation["op"]) > _ROWS


def _rows(computation: _Json) -> list[int]:
    """Returns where pieces of the columns of a computation begin, and how long they are."""
    names = list(accumulate(computation["names"]))
    return [0, *(row for row in range(1, len(names)) if names[row] % _ROWS == 0), len(names)]


def _cut_text(text: str) -> Iterator[str]:
    piece: list[str] = []
    for line in text.splitlines(keepends=True):
        piece.append(line)
        if crc32(line.encode("utf-8", "surrogatepass")) % _LINES == 0:
            yield _json("".join(piece))[1:-1]
            piece = []
    if piece:
        yield _json("".join(piece))[1:-1]


def _cut_computation(computation: _Json, rows: list[int], comma: str) -> Iterator[str]:
    cut = dict.fromkeys(_COLUMNS, rows)
    ends = [0, *accumulate(computation["ends"])]
    cut["operands"] = [ends[row] for row in rows]
    yield comma + _json({key: computation[key] for key in computation if key not in cut})[:-1]
    for key, places in cut.items():
        yield f',"{key}":['
        yield from _cut_column(computation[key], places)
        yield "]"
    yield "}"


def _cut_column(column: Sequence[Any], places: list[int]) -> Iterator[str]:
    for start, end in pairwise(places):
        if start < end:
            yield _json(column[start:end])[1:-1] + ("," if end < places[-1] else "")


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
