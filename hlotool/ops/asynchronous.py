"""The three steps of a computation that runs beside others: start, update, done."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.attribute import ALIASING, TEXT
from hlotool.ir.computation import MAIN_THREAD
from hlotool.ir.frame import Frame, Value
from hlotool.ir.op import Op, Role
from hlotool.ir.record import attr
from hlotool.ir.shape import ProgramShape, Shape, TupleShape
from hlotool.ops.shape_checks import check_exact_signature, check_operand_aliasing
from hlotool.ops.tuple_values import with_contexts


class AsyncStart(Op, opcode="async-start"):
    """Starts its computation on the operands; yields them, the result to come, and contexts."""

    category = Category.CONTROL
    drawn = Drawn.CALL
    runs_code = False
    arity = None
    roles = (Role("calls"),)
    infers_shape = False

    async_execution_thread: str = attr(TEXT, default=MAIN_THREAD)
    output_to_operand_aliasing: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = attr(
        ALIASING, default=()
    )

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless shape and computation fit the operands."""
        wrapped = started_signature(declared, "async-start: shape")
        (callee,) = calls
        check_exact_signature(callee, operands, wrapped.result, "async-start: calls")
        check_exact_signature(wrapped, operands, None, "async-start: shape")
        check_operand_aliasing(
            self.output_to_operand_aliasing, operands, wrapped.result, "async-start"
        )

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operands and the result, which is computed at once."""
        return with_contexts((tuple(operands), frame.calls[0](*operands)), frame.shape)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand that the part is in, for the first part of the start."""
        return (index[1], index[2:]) if len(index) > 1 and index[0] == 0 else None


class AsyncContinuation(Op):
    """Base of the steps that follow a start.

    The text may repeat thread and computation of the start; they must be the same, and are
    not printed.
    """

    category = Category.CONTROL
    runs_code = False
    roles = (Role("calls", optional=True),)
    arity = 1
    infers_shape = False

    async_execution_thread: str | None = attr(TEXT, default=None, read_only=True)

    def printed_roles(self, operands: Sequence[Shape]) -> tuple[Role, ...]:
        """Returns no roles: the computation is the start's."""
        return ()


class AsyncUpdate(AsyncContinuation, opcode="async-update"):
    """Stands between start and done of a computation that runs beside others."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the step before."""
        (started,) = operands
        started_signature(started, "async-update: operand 0")
        return started

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the value of the step before."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the step before."""
        return 0, index


class AsyncDone(AsyncContinuation, opcode="async-done"):
    """Waits for a computation that runs beside others; yields what it yields."""

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the result, the second part of the start's."""
        return started_signature(operands[0], "async-done: operand 0").result

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the result that the start has computed."""
        (started,) = operands
        return started[1]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns where the result is in the start."""
        return 0, (1, *index)


def started_signature(shape: Shape, what: str) -> ProgramShape:
    """Returns what a started computation takes and yields, by the shape of its start.

    Raises `ShapeError` where this is no shape of a start; `what` begins the message.
    """
    elements = shape.elements if isinstance(shape, TupleShape) else ()
    if len(elements) < 2 or not isinstance(elements[0], TupleShape):
        raise ShapeError(f"{what} is {shape.plain_text}, ((operands), result, contexts) is wanted")
    return ProgramShape(elements[0].elements, elements[1])
