"""What any instruction may carry, as messages: sharding, metadata, origin and the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite

from hlotool.errors import ParseError
from hlotool.ir.annotations import Annotations
from hlotool.ir.metadata import (
    ACCURACY_MODES,
    DEFAULT_ACCURACY,
    NO_FRONTEND_ATTRIBUTES,
    NO_STATISTICS,
    FrontendAttributes,
    Origin,
    OriginalArray,
    OriginTree,
    ResultAccuracy,
    Statistics,
    Tolerance,
)
from hlotool.proto.metadata import read_metadata, read_payload, write_metadata
from hlotool.proto.schema import Proto
from hlotool.proto.shardings import read_sharding, write_sharding
from hlotool.proto.strings import as_bytes, as_text, write_string

_STATISTIC = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_MOST_PARTS = 1 << 16
"""More parts than any tuple has: a guard against sizes that a broken file claims."""


def read_annotations(proto: Proto, payloads: Sequence[bytes]) -> Annotations:
    """Returns the annotations of an `HloInstructionProto`."""
    sharding = None
    if proto.HasField("sharding"):
        sharding = read_sharding(proto.sharding, payloads)
    origin = _read_origin(proto.original_value) if proto.HasField("original_value") else None
    backend_config = proto.backend_config
    if proto.HasField("backend_config_payload"):
        backend_config = read_payload(proto.backend_config_payload, payloads)
    return Annotations(
        sharding=sharding,
        frontend_attributes=read_frontend_attributes(proto.frontend_attributes),
        statistics=_read_statistics(proto.statistics_viz),
        result_accuracy=_read_accuracy(proto.result_accuracy),
        origin=origin,
        metadata=read_metadata(proto.metadata, payloads),
        backend_config=as_text(backend_config),
    )


def write_annotations(proto: Proto, annotations: Annotations, payloads: dict[bytes, int]) -> None:
    """Adds annotations to an `HloInstructionProto`, and to `payloads` what stands there."""
    if annotations.sharding is not None:
        write_sharding(proto.sharding, annotations.sharding)
    write_frontend_attributes(proto.frontend_attributes, annotations.frontend_attributes)
    _write_statistics(proto.statistics_viz, annotations.statistics)
    if annotations.result_accuracy != DEFAULT_ACCURACY:
        _write_accuracy(proto.result_accuracy, annotations.result_accuracy)
    if annotations.origin is not None:
        _write_origin(proto.original_value, annotations.origin)
    write_metadata(proto.metadata, annotations.metadata, payloads)
    proto.backend_config = as_bytes(annotations.backend_config)


def read_frontend_attributes(proto: Proto) -> FrontendAttributes:
    """Returns the attributes of a `FrontendAttributes` message."""
    return FrontendAttributes(dict(proto.map)) if proto.map else NO_FRONTEND_ATTRIBUTES


def write_frontend_attributes(proto: Proto, attributes: FrontendAttributes) -> None:
    """Fills an empty `FrontendAttributes` message."""
    proto.SetInParent()
    for name, value in attributes.items():
        proto.map[name] = value


def _read_statistics(proto: Proto) -> Statistics:
    if not proto.ListFields():
        return NO_STATISTICS
    values = tuple((value.stat_name, value.stat_val) for value in proto.statistics)
    for name, value in values:
        if _STATISTIC.fullmatch(name) is None or not isfinite(value):
            raise ParseError(f'"{name}" with value {value:g} is no statistic')
    return Statistics(values, proto.stat_index_to_visualize)


def _write_statistics(proto: Proto, statistics: Statistics) -> None:
    proto.SetInParent()
    proto.stat_index_to_visualize = statistics.visualizing_index
    for name, value in statistics.values:
        write_string(proto.statistics.add(stat_val=value), "stat_name", name)


def _read_accuracy(proto: Proto) -> ResultAccuracy:
    if proto.WhichOneof("specs") == "tolerance":
        tolerance = proto.tolerance
        return ResultAccuracy(tolerance=Tolerance(tolerance.atol, tolerance.rtol, tolerance.ulps))
    if not 0 <= proto.mode < len(ACCURACY_MODES):
        raise ParseError(f"unknown mode {proto.mode} of result_accuracy")
    return ResultAccuracy(ACCURACY_MODES[proto.mode])


def _write_accuracy(proto: Proto, accuracy: ResultAccuracy) -> None:
    tolerance = accuracy.tolerance
    if tolerance is None:
        proto.mode = ACCURACY_MODES.index(accuracy.mode)
    else:
        proto.tolerance.atol = tolerance.atol
        proto.tolerance.rtol = tolerance.rtol
        proto.tolerance.ulps = tolerance.ulps


def _read_origin(proto: Proto) -> Origin:
    if proto.is_synthetic_call:
        return Origin(is_synthetic_call=True)
    leaves: dict[tuple[int, ...], OriginalArray | None] = {}
    for element in proto.elements:
        index = tuple(element.shape_index)
        if index in leaves:
            raise ParseError(f"the origin of part {index} is given twice")
        array = element.original_array if element.HasField("original_array") else None
        leaves[index] = None if array is None else OriginalArray(*read_original_array(array))
    return Origin(_tree(leaves))


def _tree(leaves: dict[tuple[int, ...], OriginalArray | None]) -> OriginTree:
    if set(leaves) == {()}:
        return leaves[()]
    parts: dict[int, dict[tuple[int, ...], OriginalArray | None]] = {}
    for index, leaf in leaves.items():
        if not index or not 0 <= index[0] < _MOST_PARTS:
            raise ParseError("the parts of an origin form no tree")
        parts.setdefault(index[0], {})[index[1:]] = leaf
    # A part without arrays is an empty tuple.
    return tuple(_tree(parts.get(number, {})) for number in range(max(parts, default=-1) + 1))


def read_original_array(proto: Proto) -> tuple[str, tuple[int, ...]]:
    """Returns instruction name and tuple index of an `OriginalArrayProto`."""
    return proto.instruction_name, tuple(proto.shape_index)


def write_original_array(proto: Proto, instruction: str, index: Sequence[int]) -> None:
    """Fills an empty `OriginalArrayProto`."""
    write_string(proto, "instruction_name", instruction)
    proto.shape_index.extend(index)


def _write_origin(proto: Proto, origin: Origin) -> None:
    proto.SetInParent()
    proto.is_synthetic_call = origin.is_synthetic_call
    if not origin.is_synthetic_call:
        _write_tree(proto, origin.tree, ())


def _write_tree(proto: Proto, tree: OriginTree, index: tuple[int, ...]) -> None:
    if isinstance(tree, tuple):
        for number, part in enumerate(tree):
            _write_tree(proto, part, (*index, number))
        return
    element = proto.elements.add(shape_index=index)
    if tree is not None:
        write_original_array(element.original_array, tree.instruction, tree.index)
