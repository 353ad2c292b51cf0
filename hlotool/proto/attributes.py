"""Where each attribute of each opcode stands in an instruction message.

An attribute is looked up by its name, and by `opcode.name` where an opcode has a place of its
own for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hlotool.errors import ParseError, UnsupportedError
from hlotool.ir.attribute import ONE_DIMENSION
from hlotool.ir.computation import MAIN_THREAD
from hlotool.ir.literal import Literal
from hlotool.ir.op import Op
from hlotool.ir.record import Field
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.elementwise import comparison_type
from hlotool.proto.devices import REPLICA_GROUPS, SLICE_SIZES, SOURCE_TARGET_PAIRS
from hlotool.proto.forms import (
    NOT_STORED,
    Form,
    enumerated,
    first,
    listed,
    name_of_value,
    number_of_name,
    optional_number,
    scalar,
    single,
    text,
    where_present,
    word,
)
from hlotool.proto.literals import read_literal, write_literal
from hlotool.proto.schema import Proto
from hlotool.proto.shapes import read_shape, write_shape
from hlotool.proto.shardings import DOMAIN
from hlotool.proto.windows import (
    ALIASING,
    LABELS,
    OPTIONAL_WINDOW,
    PADDING,
    SLICES,
    WINDOW,
)


def _dots(message: str) -> dict[str, Form]:
    sides = ("lhs", "rhs")
    return {
        f"{side}_{role}_dims": listed(f"{message}.{side}_{role}_dimensions")
        for side in sides
        for role in ("batch", "contracting")
    }


def _fields_of(message: str, *names: str) -> dict[str, Form]:
    return {name: listed(f"{message}.{name}") for name in names}


def _read_precisions(proto: Proto) -> tuple[str, ...]:
    config = proto.precision_config
    words = [
        name_of_value(config, "operand_precision", value=value)
        for value in config.operand_precision
    ]
    # Messages spell out the default for every operand, the text for none.
    return () if set(words) <= {"DEFAULT"} else tuple(words)


def _write_precisions(proto: Proto, value: tuple[str, ...]) -> None:
    config = proto.precision_config
    config.SetInParent()
    config.operand_precision.extend(
        number_of_name(config, "operand_precision", name) for name in value
    )


def _write_literal(proto: Proto, value: Literal) -> None:
    write_literal(proto.literal, value)


def _write_outfeed_shape(proto: Proto, value: Shape) -> None:
    write_shape(proto.outfeed_shape, value)


def _read_constraints(proto: Proto) -> tuple[Shape, ...] | None:
    if not proto.constrain_layout:
        return None
    return tuple(read_shape(shape) for shape in proto.operand_shapes_with_layout)


def _write_constraints(proto: Proto, value: tuple[Shape, ...] | None) -> None:
    if value is not None:
        proto.constrain_layout = True
        for shape in value:
            write_shape(proto.operand_shapes_with_layout.add(), shape)


def _read_prefetch_index(proto: Proto) -> int | None:
    if proto.HasField("cross_program_prefetch_index"):
        return int(proto.cross_program_prefetch_index)
    return 0 if proto.is_cross_program_prefetch else None


def _write_default_precisions(proto: Proto, operands: Sequence[Shape]) -> None:
    # Products have two factors, whatever else they take.
    count = len(operands) if proto.opcode == "custom-call" else 2
    proto.precision_config.operand_precision.extend([0] * count)


def _write_default_type(proto: Proto, operands: Sequence[Shape]) -> None:
    operand = operands[0]
    if isinstance(operand, ArrayShape):
        proto.comparison_type = comparison_type(operand.element_type)


_ASSOCIATIVITY = (None, True, False)


def _read_associativity(proto: Proto) -> bool | None:
    if not 0 <= proto.is_associative < len(_ASSOCIATIVITY):
        raise ParseError(f"unknown value {proto.is_associative} of is_associative")
    return _ASSOCIATIVITY[proto.is_associative]


def _write_associativity(proto: Proto, value: bool | None) -> None:  # noqa: FBT001  # as the text
    proto.is_associative = _ASSOCIATIVITY.index(value)


def _refuse_sparsity(_: Proto, value: tuple[Any, ...]) -> None:
    if value:
        raise UnsupportedError("dot: sparsity has no place in a proto of today")


_SAME_NAME = (
    "constrain_layout", "use_global_device_ids", "is_host_transfer", "is_stable", "is_composite",
    "exponent_bits", "mantissa_bits", "feature_index", "k", "largest", "delta", "num_carries",
    "is_reverse", "indices_are_sorted", "unique_indices", "custom_call_target",
    "custom_call_has_side_effect",
)  # fmt: skip

FORMS: dict[str, Form] = {
    **{name: scalar(name) for name in _SAME_NAME},
    **_dots("dot_dimension_numbers"),
    **_fields_of(
        "gather_dimension_numbers", "offset_dims", "collapsed_slice_dims", "start_index_map",
        "operand_batching_dims", "start_indices_batching_dims",
    ),
    **_fields_of(
        "scatter_dimension_numbers", "update_window_dims", "inserted_window_dims",
        "scatter_dims_to_operand_dims", "input_batching_dims", "scatter_indices_batching_dims",
    ),
    "algorithm": enumerated("precision_config.algorithm", "ALG_"),
    "api_version": enumerated("custom_call_api_version"),
    "async_execution_thread": scalar(
        "async_execution_thread", absent=MAIN_THREAD, unset=MAIN_THREAD
    ),
    "batch_group_count": scalar("batch_group_count", absent=1),
    "channel_id": optional_number("channel_id", older="all_reduce_id"),
    "convolution_kind": enumerated("conv_kind", "CONVOLUTION_KIND_"),
    "cross_program_prefetch_index": Form(
        _read_prefetch_index, scalar("cross_program_prefetch_index").write
    ),
    "dim_labels": LABELS,
    "dimensions": listed("dimensions"),
    "direction": word("comparison_direction"),
    "distribution": enumerated("distribution"),
    "domain": DOMAIN,
    "dynamic_slice_sizes": listed("dynamic_slice_sizes"),
    "epsilon": single("epsilon"),
    "feature_group_count": scalar("feature_group_count", absent=1),
    "fft_length": listed("fft_length"),
    "fft_type": enumerated("fft_type"),
    "index": scalar("tuple_index"),
    "infeed_config": text("infeed_config"),
    "inferred_dimension": first("dimensions"),
    "iota_dimension": first("dimensions"),
    "is_associative": Form(_read_associativity, _write_associativity),
    "kind": word("fusion_kind"),
    "left_side": scalar("triangular_solve_options.left_side"),
    "lhs_ragged_dims": listed("ragged_dot_dimension_numbers.lhs_ragged_dimensions"),
    "literal": where_present(
        Form(lambda proto: read_literal(proto.literal), _write_literal), "literal"
    ),
    "number": scalar("parameter_number"),
    "operand_layout_constraints": Form(_read_constraints, _write_constraints),
    "operand_precision": Form(_read_precisions, _write_precisions, is_plain=True),
    "outfeed_config": text("outfeed_config"),
    "outfeed_shape": where_present(
        Form(lambda proto: read_shape(proto.outfeed_shape), _write_outfeed_shape), "outfeed_shape"
    ),
    "output_to_operand_aliasing": ALIASING,
    "padding": PADDING,
    "padding_type": enumerated("padding_type"),
    "parameter_replication": where_present(
        listed("parameter_replication.replicated_at_leaf_buffers"), "parameter_replication"
    ),
    "replica_groups": REPLICA_GROUPS,
    "rhs_group_dims": listed("ragged_dot_dimension_numbers.rhs_group_dimensions"),
    "schedule": enumerated("custom_call_schedule"),
    "slice": SLICES,
    "source_target_pairs": SOURCE_TARGET_PAIRS,
    "sparsity": Form(lambda _: None, _refuse_sparsity),
    "transpose_a": enumerated("triangular_solve_options.transpose_a"),
    "type": word("comparison_type"),
    "unit_diagonal": scalar("triangular_solve_options.unit_diagonal"),
    "window": WINDOW,
}  # fmt: skip
"""Attributes that stand in the same place for every opcode that has them."""

OWN_FORMS: dict[str, Form] = {
    **{
        f"ragged-dot.{name}": form
        for name, form in _dots("ragged_dot_dimension_numbers.dot_dimension_numbers").items()
    },
    "all-reduce-start.mode": NOT_STORED,
    "all-reduce.mode": NOT_STORED,
    "async-done.async_execution_thread": NOT_STORED,
    "async-update.async_execution_thread": NOT_STORED,
    "cholesky.lower": scalar("cholesky_options.lower"),
    "collective-permute-start.slice_sizes": SLICE_SIZES,
    "collective-permute.slice_sizes": SLICE_SIZES,
    "custom-call.window": OPTIONAL_WINDOW,
    "gather.index_vector_dim": scalar("gather_dimension_numbers.index_vector_dim"),
    "gather.slice_sizes": listed("gather_slice_sizes"),
    "rng-bit-generator.algorithm": enumerated("rng_algorithm"),
    "scatter.index_vector_dim": scalar("scatter_dimension_numbers.index_vector_dim"),
    "triangular-solve.lower": scalar("triangular_solve_options.lower"),
}
"""Attributes with a place of their own for one opcode."""

_IMPLIED = {"operand_precision": _write_default_precisions, "type": _write_default_type}
"""What a message says of attributes that the text leaves out because operands imply them."""


def forms(op_class: type[Op]) -> Iterator[tuple[Field, Form]]:
    """Yields the attributes of an opcode with their forms."""
    for field in op_class.fields:
        own = OWN_FORMS.get(f"{op_class.opcode}.{field.name}")
        form = own or FORMS.get(field.name)
        if form is None:
            raise UnsupportedError(
                f"{op_class.opcode}: attribute {field.text_name} has no place in a proto"
            )
        yield field, form


def read_op(op_class: type[Op], proto: Proto) -> Op:
    """Returns the op of an instruction message; raises `ParseError` where attributes are amiss."""
    values = {}
    for field, form in forms(op_class):
        value = form.read(proto)
        if form.is_plain and value is not None:
            value = _typed(field, value)
        if value is not None:
            values[field.name] = value
        elif field.is_required:
            raise ParseError(f"{op_class.opcode}: attribute {field.text_name} is missing")
    return op_class(**values)


def _typed(field: Field, value: Any) -> Any:
    if field.kind is ONE_DIMENSION and not value:
        return None
    try:
        return field.kind.read(value)
    except ValueError as error:
        raise ParseError(f"{field.text_name}: {error}") from None


def write_op(proto: Proto, op: Op, operands: Sequence[Shape]) -> None:
    """Adds opcode and attributes to an instruction message, those too that the text implies."""
    proto.opcode = op.opcode
    for field, form in forms(type(op)):
        value = getattr(op, field.name)
        form.write(proto, value)
        if value == field.default and field.name in _IMPLIED:
            _IMPLIED[field.name](proto, operands)


def call_order(op: Op, count: int) -> tuple[int, ...]:
    """Returns, for each place in a message, the number of the called computation that has it."""
    numbers = range(count)
    return tuple(reversed(numbers) if op.visits_last_call_first else numbers)
