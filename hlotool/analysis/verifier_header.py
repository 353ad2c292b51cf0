"""Checks what the header of a module says against its entry computation."""

from __future__ import annotations

from hlotool.analysis.faults import Faults
from hlotool.errors import ShapeError
from hlotool.ir.attribute import INTEGERS
from hlotool.ir.header import Alias
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.shape_checks import check_layouts


def check_header(module: Module, faults: Faults) -> None:
    """Adds where the header does not fit the entry computation."""
    for name in ("replica_count", "num_partitions"):
        count = getattr(module.header, name)
        if count < 1:
            faults.add(None, f"{name} is {count}, at least 1 is wanted")
    _check_entry_layout(module, faults)
    _check_aliases(module, faults)
    _check_donors(module, faults)


def _check_entry_layout(module: Module, faults: Faults) -> None:
    layout = module.header.entry_computation_layout
    if layout is None:
        return
    what = "entry_computation_layout"
    parameters = module.entry.parameters
    if len(layout.parameters) != len(parameters):
        faults.add(
            None,
            f"{what}: {len(layout.parameters)} parameters are given,"
            f" the entry has {len(parameters)}",
        )
    else:
        for parameter, shape in zip(parameters, layout.parameters, strict=True):
            _check_entry_shape(f"parameter {parameter.name}", shape, parameter.shape, faults)
    _check_entry_shape("the result", layout.result, module.entry.root.shape, faults)


def _check_entry_shape(what: str, given: Shape, actual: Shape, faults: Faults) -> None:
    try:
        # A layout that follows from the entry is checked there.
        if given is not actual:
            check_layouts(given, f"entry_computation_layout: {what}")
    except ShapeError as error:
        faults.add_error(None, error)
    if not given.compatible(actual):
        faults.add(
            None,
            f"entry_computation_layout: {what} is {given.plain_text},"
            f" in the entry it is {actual.plain_text}",
        )


def _check_aliases(module: Module, faults: Faults) -> None:
    taken: dict[tuple[int, tuple[int, ...]], Alias] = {}
    for alias in module.header.input_output_alias:
        what = "input_output_alias"
        shown = f"output {INTEGERS.write(alias.output_index)}"
        output = module.entry.root.shape.subshape(alias.output_index)
        if output is None:
            faults.add(None, f"{what}: the entry has no {shown}")
        source = _input(module, what, alias.parameter, alias.parameter_index, faults)
        if output is not None and source is not None and _differ_in_size(output, source):
            faults.add(
                None,
                f"{what}: {shown} is {output.plain_text},"
                f" parameter {alias.parameter} has {source.plain_text}",
            )
        first = taken.setdefault((alias.parameter, alias.parameter_index), alias)
        if first is not alias:
            faults.add(
                None,
                f"{what}: {shown} and output {INTEGERS.write(first.output_index)} share"
                f" parameter {alias.parameter} {INTEGERS.write(alias.parameter_index)}",
            )


def _check_donors(module: Module, faults: Faults) -> None:
    aliased = {(a.parameter, a.parameter_index) for a in module.header.input_output_alias}
    for donor in module.header.buffer_donor:
        what = "buffer_donor"
        _input(module, what, donor.parameter, donor.parameter_index, faults)
        if (donor.parameter, donor.parameter_index) in aliased:
            faults.add(
                None,
                f"{what}: parameter {donor.parameter} {INTEGERS.write(donor.parameter_index)}"
                " is in input_output_alias too",
            )


def _input(
    module: Module, what: str, number: int, index: tuple[int, ...], faults: Faults
) -> Shape | None:
    parameters = module.entry.parameters
    if not 0 <= number < len(parameters):
        faults.add(
            None, f"{what}: the entry has {len(parameters)} parameters, none with number {number}"
        )
        return None
    shape = parameters[number].shape.subshape(index)
    if shape is None:
        faults.add(None, f"{what}: parameter {number} has no index {INTEGERS.write(index)}")
    return shape


def _differ_in_size(one: Shape, other: Shape) -> bool:
    # Padding of layouts with tiles, and the size of what is no array, are the backend's affair.
    if not isinstance(one, ArrayShape) or not isinstance(other, ArrayShape):
        return False
    if one.layout.has_tail or other.layout.has_tail:
        return False
    ours = one.element_count * one.element_type.storage_bytes
    return ours != other.element_count * other.element_type.storage_bytes
