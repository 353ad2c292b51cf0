"""Calls, loops, branches, fusions, and the ops that only restrain the compiler."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.errors import ShapeError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.attribute import ALIASING, BOOLEAN, choice
from hlotool.ir.element_type import PRED, S32
from hlotool.ir.frame import Frame, Value
from hlotool.ir.op import Op, Role, at_least
from hlotool.ir.record import attr
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape
from hlotool.ir.sharding import DOMAIN
from hlotool.ir.sharding import Domain as ShardingDomain
from hlotool.ops.shape_checks import check_exact_signature, check_operand_aliasing

_FLAG = ArrayShape(PRED)
_BRANCH_NUMBER = ArrayShape(S32)


class Call(Op, opcode="call"):
    """Yields what its computation yields for the operands.

    `is_composite` marks a computation that stands for one operation with a name and
    attributes of its own; frontend attributes hold them.
    """

    category = Category.CONTROL
    drawn = Drawn.CALL
    runs_code = False
    arity = None
    roles = (Role("to_apply"),)

    is_composite: bool = attr(BOOLEAN, default=False, after_calls=True)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the computation's root."""
        (callee,) = calls
        check_exact_signature(callee, operands, None, "call: to_apply")
        return callee.result

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the computation yields."""
        return frame.calls[0](*operands)


class While(Op, opcode="while"):
    """Applies `body` to a state as long as `condition` holds for it; yields the last state."""

    category = Category.CONTROL
    drawn = Drawn.WHILE
    runs_code = False
    visits_last_call_first = True
    roles = (Role("condition"), Role("body"))
    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the state."""
        (state,) = operands
        condition, body = calls
        check_exact_signature(condition, operands, _FLAG, "while: condition")
        check_exact_signature(body, operands, state, "while: body")
        return state

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the first state that the condition does not hold for."""
        (state,) = operands
        condition, body = frame.calls
        while condition(state):
            frame.device.count_iteration()
            state = body(state)
        return state


class Conditional(Op, opcode="conditional"):
    """Runs one of its computations, that on its own operand, and yields what it yields.

    The first operand selects. A flag takes the first of two computations where it is true, a
    number the one in that place, or the last one where there is none.
    """

    category = Category.CONTROL
    drawn = Drawn.CONDITIONAL
    runs_code = False
    arity = at_least(2)
    roles = (
        Role("true_computation", optional=True),
        Role("false_computation", optional=True),
        Role("branch_computations", many=True, optional=True),
    )

    def printed_roles(self, operands: Sequence[Shape]) -> tuple[Role, ...]:
        """Returns the two roles of a flag, or the list of branches of a number."""
        is_flag = bool(operands) and operands[0].compatible(_FLAG)
        return self.roles[:2] if is_flag else self.roles[2:]

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the first branch's root."""
        if not operands:
            raise ShapeError("conditional: there is no selector")
        selector, *arguments = operands
        names = self._branch_names(selector, len(calls))
        if len(arguments) != len(calls):
            raise ShapeError(
                f"conditional: {len(arguments)} operands follow the selector,"
                f" {len(calls)} are wanted: one a branch"
            )
        for name, branch, argument in zip(names, calls, arguments, strict=True):
            check_exact_signature(branch, [argument], calls[0].result, f"conditional: {name}")
        return calls[0].result

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the selected computation yields; the others do not run."""
        selector, *arguments = operands
        last = len(frame.calls) - 1
        if frame.operand_shapes[0].compatible(_FLAG):
            number = 0 if selector else last
        else:
            number = int(selector) if 0 <= selector <= last else last
        return frame.calls[number](arguments[number])

    @staticmethod
    def _branch_names(selector: Shape, count: int) -> Sequence[str]:
        if selector.compatible(_FLAG):
            if count != 2:
                raise ShapeError(
                    f"conditional: a pred[] selects between 2 computations, {count} are given"
                )
            return ("true_computation", "false_computation")
        if not selector.compatible(_BRANCH_NUMBER):
            raise ShapeError(
                f"conditional: the selector is {selector.plain_text}, pred[] or s32[] is wanted"
            )
        if not count:
            raise ShapeError("conditional: there are no branch_computations")
        return [f"branch {number}" for number in range(count)]


class Fusion(Op, opcode="fusion"):
    """Computes its computation as one kernel.

    `kind` tells what the kernel is built around: a loop over the result, a reduction of the
    input, a product whose output is worked on, or something that the backend knows.
    """

    category = Category.CONTROL
    drawn = Drawn.FUSION
    arity = None
    is_fusion = True
    roles = (Role("calls"),)
    infers_shape = False

    kind: str = attr(choice(("kLoop", "kInput", "kOutput", "kCustom")))
    output_to_operand_aliasing: tuple[tuple[tuple[int, ...], int, tuple[int, ...]], ...] = attr(
        ALIASING, default=()
    )

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the fused computation's root."""
        (fused,) = calls
        check_exact_signature(fused, operands, None, "fusion: calls")
        return fused.result

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the fused computation yields."""
        return frame.calls[0](*operands)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where the fused computation or the aliasing does not fit."""
        super().check_shape(operands, calls, declared)
        check_operand_aliasing(self.output_to_operand_aliasing, operands, declared, "fusion")


class Domain(Op, opcode="domain"):
    """Yields its operand, and parts regions of the graph with another sharding each."""

    category = Category.CONTROL
    runs_code = False
    arity = 1

    domain: ShardingDomain = attr(DOMAIN)

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape."""
        return operands[0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the operand."""
        return 0, index


class OptBarrier(Op, opcode="opt-barrier"):
    """Yields its operand, of any shape, and lets no computation move past it."""

    category = Category.CONTROL
    runs_code = False
    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the operand's shape."""
        return operands[0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the operand."""
        return 0, index
