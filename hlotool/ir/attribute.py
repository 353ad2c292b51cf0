"""The kinds of attribute values that several opcodes share: numbers, words, lists, slices.

Each kind stands with its grammar rule and its text. Kinds with a structure of their own have
files of their own: window, sharding, replica_groups, literal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from hlotool.ir.record import AttributeKind
from hlotool.ir.shape import Shape, join_marked
from hlotool.ir.strings import quote, write_text_or_dictionary

T = TypeVar("T")


def near_names(word: str, known: Sequence[str]) -> str:
    """Returns `; did you mean a or b?` for known words like `word`, or nothing."""
    # difflib is quadratic in the length of the words.
    near = get_close_matches(word, known, n=3, cutoff=0.6) if len(word) < 100 else []
    return f"; did you mean {' or '.join(near)}?" if near else ""


def choice(words: Sequence[str], *, any_case: bool = False) -> AttributeKind[str]:
    """Returns the kind of one word out of `words`."""

    def read(word: str) -> str:
        found = word.lower() if any_case else word
        if found not in words:
            shown = ", ".join(words)
            raise ValueError(f"{word} is not one of {shown}{near_names(word, words)}")
        return found

    return AttributeKind("word", "one of " + ", ".join(words), read=read)


def choices(words: Sequence[str], *, any_case: bool = False) -> AttributeKind[tuple[str, ...]]:
    """Returns the kind of a list of words out of `words`, in braces."""
    one = choice(words, any_case=any_case)
    return AttributeKind(
        "words",
        "a list of " + ", ".join(words),
        read=lambda found: tuple(one.read(word) for word in found),
        write=braced(str),
    )


def by_name(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Returns the values of `name=value` pairs; raises `ValueError` for a name given twice."""
    given: dict[str, T] = {}
    for name, value in pairs:
        if name in given:
            raise ValueError(f"{name} is given twice")
        given[name] = value
    return given


def braced(write: Callable[[Any], str]) -> Callable[[Sequence[Any]], str]:
    """Returns a writer of lists: `{a,b}` with each element through `write`."""

    def write_all(values: Sequence[Any]) -> str:
        return "{" + ",".join(map(write, values)) + "}"

    return write_all


def _write_boolean(value: bool) -> str:
    return "true" if value else "false"


def _write_slices(slices: Sequence[tuple[int, int, int]]) -> str:
    strided = any(stride != 1 for _, _, stride in slices)
    shown = (f"[{low}:{high}:{stride}]" if strided else f"[{low}:{high}]"
             for low, high, stride in slices)  # fmt: skip
    return "{" + ", ".join(shown) + "}"


def _read_one(values: Sequence[int]) -> int:
    if len(values) != 1:
        raise ValueError(f"one dimension expected, {len(values)} given")
    return values[0]


def _write_aliasing(pairs: Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]) -> str:
    shown = (
        f"{INTEGERS.write(output)}: ({operand}, {INTEGERS.write(inner)})"
        for output, operand, inner in pairs
    )
    return "{" + ", ".join(shown) + "}"


_PRECISION_WORDS = choices(("default", "high", "highest", "packed_nibble"), any_case=True)


def _read_precisions(words: Sequence[str]) -> tuple[str, ...]:
    found = _PRECISION_WORDS.read(words)
    return () if set(found) == {"default"} else found


BOOLEAN = AttributeKind[bool]("boolean", "true or false", write=_write_boolean)
BOOLEANS = AttributeKind[tuple[bool, ...]](
    "booleans", "a list of true and false", write=braced(_write_boolean)
)
INTEGER = AttributeKind[int]("integer", "an integer")
INTEGERS = AttributeKind[tuple[int, ...]](
    "integers", "a list of integers, as {0,1}", write=braced(str)
)
INTEGER_LISTS = AttributeKind[tuple[tuple[int, ...], ...]](
    "integer_lists", "a list of lists of integers, as {{0,1},{2,3}}", write=braced(braced(str))
)
ONE_DIMENSION = AttributeKind[int](
    "integers", "one dimension, as {0}", read=_read_one, write=lambda value: f"{{{value}}}"
)
REAL = AttributeKind[float]("real", "a number", write=lambda value: f"{value:g}")
TEXT = AttributeKind[str]("text", "a string", write=quote)
TEXT_OR_DICTIONARY = AttributeKind[str](
    "text_or_dictionary", "a string or a dictionary in braces", write=write_text_or_dictionary
)
SLICES = AttributeKind[tuple[tuple[int, int, int], ...]](
    "slices", "slices, as {[0:2], [0:8:2]}", write=_write_slices
)
SHAPE = AttributeKind[Shape]("shape", "a shape", write=lambda shape: shape.text)
SHAPES = AttributeKind[tuple[Shape, ...]](
    "shapes",
    "a list of shapes, in braces",
    write=lambda shapes: "{" + join_marked([shape.text for shape in shapes]) + "}",
)
ALIASING = AttributeKind[tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...]](
    "aliasing", "pairs as {{0}: (1, {})}", write=_write_aliasing
)
"""Output index, operand number, operand index: which operand's buffer an output takes."""
PRECISIONS = AttributeKind[tuple[str, ...]](
    _PRECISION_WORDS.rule, _PRECISION_WORDS.words, read=_read_precisions, write=braced(str)
)
"""A word for each operand; empty where all are the default."""
