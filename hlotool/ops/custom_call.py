"""Custom calls: operations that a backend or a plug-in gives under a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from hlotool.ir.appearance import Category
from hlotool.ir.attribute import ALIASING, BOOLEAN, INTEGER, PRECISIONS, SHAPES, TEXT, choice
from hlotool.ir.frame import Frame, Value
from hlotool.ir.literal import LITERAL_WITH_SHAPE, Literal
from hlotool.ir.op import Op, Role
from hlotool.ir.record import REQUIRED, attr
from hlotool.ir.shape import ProgramShape, Shape
from hlotool.ir.window import DIMENSION_LABELS, WINDOW, DimensionLabels, Window
from hlotool.ops.custom_calls.registry import Yields, evaluate_custom_call, yields_of
from hlotool.ops.shape_checks import check_length, check_operand_aliasing, check_same

_PADDING_TYPES = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
_SCHEDULES = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
_API_VERSIONS = (
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)


class CustomCall(Op, opcode="custom-call"):
    """Calls what the backend has under the name `custom_call_target`.

    What the target computes, and with which of the attributes, HLO does not know. With
    `operand_layout_constraints` the target wants operands in just these layouts, one shape an
    operand; an empty list on a call without operands is not the same as none.
    """

    category = Category.EXTERNAL
    arity = None
    roles = (Role("called_computations", many=True, optional=True, aliases=("to_apply",)),)
    infers_shape = False

    window: Window | None = attr(WINDOW, default=None)
    dim_labels: DimensionLabels | None = attr(DIMENSION_LABELS, default=None)
    feature_group_count: int = attr(INTEGER, default=1)
    batch_group_count: int = attr(INTEGER, default=1)
    operand_precision: tuple[str, ...] = attr(PRECISIONS, default=())
    padding_type: str = attr(choice(_PADDING_TYPES), default="PADDING_INVALID")
    custom_call_target: str = attr(TEXT, default=REQUIRED)
    operand_layout_constraints: tuple[Shape, ...] | None = attr(SHAPES, default=None)
    custom_call_has_side_effect: bool = attr(BOOLEAN, default=False)
    literal: Literal | None = attr(LITERAL_WITH_SHAPE, default=None)
    output_to_operand_aliasing: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = attr(
        ALIASING, default=()
    )
    schedule: str = attr(choice(_SCHEDULES), default="SCHEDULE_NONE")
    api_version: str = attr(choice(_API_VERSIONS), default="API_VERSION_ORIGINAL")

    @property
    def has_side_effect(self) -> bool:  # type: ignore[override]  # a call says it of itself
        """Whether the call must stay even when nothing uses it."""
        return self.custom_call_has_side_effect

    @property
    def title(self) -> str:
        """The target."""
        return self.custom_call_target

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where layout constraints or aliasing do not fit the operands."""
        constraints = self.operand_layout_constraints
        if constraints is not None:
            what = "custom-call: operand_layout_constraints"
            check_length(constraints, len(operands), what)
            for number, (found, wanted) in enumerate(zip(constraints, operands, strict=True)):
                check_same(found, wanted, f"{what}: entry {number}")
        check_operand_aliasing(self.output_to_operand_aliasing, operands, declared, "custom-call")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the function known for `custom_call_target` yields."""
        return evaluate_custom_call(operands, frame)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand that the part is in, for a target that changes nothing."""
        if yields_of(self.custom_call_target) is not Yields.THE_SAME or not count:
            return None
        if count == 1:
            return 0, index
        return (index[0], index[1:]) if index else None

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns the call without operand precisions where all are the default."""
        if self.operand_precision and set(self.operand_precision) == {"default"}:
            return self.replace(operand_precision=())
        return self
