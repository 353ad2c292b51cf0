"""Where an instruction comes from, and other notes that do not change what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from hlotool.ir.attribute import INTEGER, INTEGERS, TEXT, braced, by_name, near_names
from hlotool.ir.record import AttributeKind, Record, attr
from hlotool.ir.strings import quote, write_text_or_dictionary

Pairs = Sequence[tuple[str, Any]]
"""Names and values as the grammar yields them, in text order."""

PROFILE_TYPES = range(4)
"""Invalid, window, flag, integer: what a value of `profile_type` may be."""
INT_32 = range(-(1 << 31), 1 << 31)
"""What a number in metadata or a stack table may be."""


class Metadata(Record):
    """Which operation and which line of which source an instruction was made for.

    `stack_frame_id` counts the frames of the module's stack tables from 1; 0 is none.
    """

    op_type: str = attr(TEXT, default="")
    op_name: str = attr(TEXT, default="")
    source_file: str = attr(TEXT, default="")
    source_line: int = attr(INTEGER, default=0)
    source_end_line: int = attr(INTEGER, default=0)
    source_column: int = attr(INTEGER, default=0)
    source_end_column: int = attr(INTEGER, default=0)
    profile_type: tuple[int, ...] = attr(INTEGERS, default=())
    deduplicated_name: str = attr(TEXT, default="")
    scheduling_name: str = attr(TEXT, default="")
    stack_frame_id: int = attr(INTEGER, default=0)
    metadata_payload: str = attr(TEXT, default="")

    @property
    def is_shown(self) -> bool:
        """Whether there is anything that the text of an instruction shows metadata for."""
        return bool(
            self.op_type
            or self.op_name
            or self.source_file
            or self.scheduling_name
            or self.stack_frame_id
            or self.metadata_payload
        )

    @property
    def dropped(self) -> tuple[str, ...]:
        """The attributes of older texts that were read and not kept."""
        names: tuple[str, ...] = self.__dict__.get("_dropped", ())
        return names


NO_METADATA = Metadata()
REMOVED_METADATA = (
    "creation_pass_id", "logical_creation_pass_id", "preserve_layout",
    "size_of_generated_code_in_bytes", "size_of_memory_working_set_in_bytes",
)  # fmt: skip
"""What metadata of older texts has and today's has not."""


def read_metadata(pairs: Pairs) -> Metadata:
    """Returns the metadata of `name=value` pairs; raises `ValueError` where they are amiss."""
    given = by_name(pairs)
    dropped = tuple(name for name in REMOVED_METADATA if given.pop(name, None) is not None)
    for name, value in given.items():
        _check_metadata(name, value)
    metadata = Metadata(**given)
    if dropped:
        metadata.__dict__["_dropped"] = dropped
    return metadata


def _check_metadata(name: str, value: Any) -> None:
    field = Metadata.readable.get(name)
    if field is None:
        raise ValueError(f"metadata has no {name}{near_names(name, list(Metadata.readable))}")
    if type(value) is not type(field.default):
        raise ValueError(f"{name} takes {field.kind.words}")
    if isinstance(value, int) and value not in INT_32:
        raise ValueError(f"{name}={value} does not fit 32 bits")
    if isinstance(value, tuple) and not all(number in PROFILE_TYPES for number in value):
        raise ValueError(f"{name} takes numbers from 0 to {PROFILE_TYPES[-1]}")


def write_metadata(metadata: Metadata) -> str:
    """Returns the metadata in braces; what is zero or empty is left out."""
    return "{" + " ".join(f"{name}={text}" for name, text in metadata.written()) + "}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers that a profile has for an instruction; one of them is for a viewer to show."""

    values: tuple[tuple[str, float], ...] = ()
    visualizing_index: int = 0

    @property
    def is_shown(self) -> bool:
        """Whether there is a number at all."""
        return bool(self.values)


NO_STATISTICS = Statistics()


def read_statistics(pairs: Pairs) -> Statistics:
    """Returns the statistics of `name=value` pairs; raises `ValueError` where they are amiss."""
    if not pairs:
        return NO_STATISTICS
    (first, index), *values = pairs
    if first != "visualizing_index" or not isinstance(index, int):
        raise ValueError(f"visualizing_index=, an integer, must come first, not {first}={index:g}")
    for name, value in values:
        if not isfinite(value):
            raise ValueError(f"{name}={value:g} is not finite")
    return Statistics(tuple((name, float(value)) for name, value in values), index)


def write_statistics(statistics: Statistics) -> str:
    """Returns the statistics in braces, the index first."""
    values = "".join(f",{name}={value:g}" for name, value in statistics.values)
    return f"{{visualizing_index={statistics.visualizing_index}{values}}}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a result may be off: absolutely, relatively, in units in the last place."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


@dataclass(frozen=True, slots=True)
class ResultAccuracy:
    """How accurate a transcendental function must be: a mode, or a tolerance."""

    mode: str = "default"
    tolerance: Tolerance | None = None


DEFAULT_ACCURACY = ResultAccuracy()
ACCURACY_MODES = ("default", "highest")


def read_result_accuracy(given: tuple[str, str | Pairs]) -> ResultAccuracy:
    """Returns the accuracy of `mode=word` or `tolerance={…}`; raises `ValueError` for others."""
    name, value = given
    if isinstance(value, str):
        if name != "mode" or value.lower() not in ACCURACY_MODES:
            raise ValueError(f"{name}={value} is not mode=default or mode=highest")
        return ResultAccuracy(value.lower())
    if name != "tolerance":
        raise ValueError(f"{name}={{}} is not tolerance={{}}")
    for part, number in value:
        if part not in ("atol", "rtol", "ulps"):
            raise ValueError(f"{part} is not one of atol, rtol, ulps")
        if not (isfinite(number) and number >= 0):
            raise ValueError(f"{part}={number:g} is no tolerance")
        if part == "ulps" and not isinstance(number, int):
            raise ValueError(f"ulps={number:g} is no integer")
    parts = dict(value)
    atol, rtol, ulps = (parts.get(part, 0) for part in ("atol", "rtol", "ulps"))
    return ResultAccuracy(tolerance=Tolerance(float(atol), float(rtol), ulps))


def write_result_accuracy(accuracy: ResultAccuracy) -> str:
    """Returns the mode or the tolerance in braces."""
    tolerance = accuracy.tolerance
    if tolerance is None:
        return f"{{mode={accuracy.mode}}}"
    shown = f"atol={tolerance.atol:g},rtol={tolerance.rtol:g},ulps={tolerance.ulps}"
    return f"{{tolerance={{{shown}}}}}"


class FrontendAttributes(Mapping[str, str]):
    """What a front end notes for passes that know its words; immutable, sorted by name."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, str] | None = None) -> None:
        self._items = dict(sorted((items or {}).items()))

    def __getitem__(self, name: str) -> str:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrontendAttributes) and self._items == other._items

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return f"FrontendAttributes({self._items})"


NO_FRONTEND_ATTRIBUTES = FrontendAttributes()


def read_frontend_attributes(pairs: Pairs) -> FrontendAttributes:
    """Returns the attributes of `name=value` pairs; raises `ValueError` for a repeated name."""
    return FrontendAttributes(by_name(pairs)) if pairs else NO_FRONTEND_ATTRIBUTES


def _write_frontend_attribute(item: tuple[str, str]) -> str:
    return f"{item[0]}={write_text_or_dictionary(item[1])}"


def write_frontend_attributes(attributes: FrontendAttributes) -> str:
    """Returns the attributes in braces, sorted by name."""
    return braced(_write_frontend_attribute)(tuple(attributes.items()))


@dataclass(frozen=True, slots=True)
class OriginalArray:
    """An array of the module as it was before passes: an instruction, and where in its tuple."""

    instruction: str
    index: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The array in braces: `{"x" {0}}`."""
        index = f" {braced(str)(self.index)}" if self.index else ""
        return f"{{{quote(self.instruction)}{index}}}"


OriginTree = OriginalArray | tuple["OriginTree", ...] | None
"""A tuple of trees, an array, or `None` for a part that nothing is known about."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Which arrays of the original module the value of an instruction holds.

    `is_synthetic_call` marks a call that passes made; it has no tree.
    """

    tree: OriginTree = ()
    is_synthetic_call: bool = False


def read_origin(given: Any) -> Origin:
    """Returns the origin: a tree, or the word for a call that passes made."""
    if isinstance(given, str):
        if given != "synthetic_call":
            raise ValueError(f"{given} is not synthetic_call")
        return Origin(is_synthetic_call=True)
    (tree,) = given
    return Origin(tree)


def write_origin(origin: Origin) -> str:
    """Returns the origin in braces."""
    inside = "[synthetic_call]" if origin.is_synthetic_call else _write_tree(origin.tree)
    return f"{{{inside}}}"


def _write_tree(tree: OriginTree) -> str:
    if tree is None:
        return "{}"
    if isinstance(tree, OriginalArray):
        return tree.text
    return f"({', '.join(map(_write_tree, tree))})"


METADATA = AttributeKind[Metadata](
    "metadata", 'metadata, as {op_name="f"}', read=read_metadata, write=write_metadata
)
STATISTICS = AttributeKind[Statistics](
    "statistics",
    "statistics, as {visualizing_index=0,time=1.5}",
    read=read_statistics,
    write=write_statistics,
)
RESULT_ACCURACY = AttributeKind[ResultAccuracy](
    "result_accuracy",
    "an accuracy, as {mode=highest}",
    read=read_result_accuracy,
    write=write_result_accuracy,
)
FRONTEND_ATTRIBUTES = AttributeKind[FrontendAttributes](
    "frontend_attributes",
    'attributes, as {name="value"}',
    read=read_frontend_attributes,
    write=write_frontend_attributes,
)
ORIGIN = AttributeKind[Origin](
    "origin", 'an origin, as {{"x"}}', read=read_origin, write=write_origin
)
