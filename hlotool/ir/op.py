"""The base class of opcodes and the table they enter themselves in."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar, Self

from hlotool.errors import ShapeError, UnsupportedError
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.cost import Access, Cost, byte_count, traffic
from hlotool.ir.frame import Frame, Value
from hlotool.ir.record import AttributeKind, Record
from hlotool.ir.shape import ArrayShape, ProgramShape, Shape, same_but_float_width

OPCODES: dict[str, type[Op]] = {}
"""Every opcode by its spelling in the text."""
_MOST_OPERANDS = 1 << 31
"""A range of operand counts that ends here has no end."""


def at_least(count: int, *, step: int = 1) -> range:
    """Returns the arity of an op that takes `count` operands or more, in steps of `step`."""
    return range(count, _MOST_OPERANDS, step)


class LargeConstants(Enum):
    """Which constants show their value in a print."""

    ELIDED = "elided"  # those of at most ten elements; the others print {...}
    PRINTED = "printed"  # all
    EXACT = "exact"  # all, and so that they read as they are: negative zero as -0.0
    ESSENTIAL = "essential"  # all zeros as 0, all ones as 1, integers; the others print {...}


class Role:
    """A part that called computations play: `to_apply=f`, or `branch_computations={f, g}`.

    A role with `many` takes a list. `aliases` are other spellings of the same part that are
    read but not printed. `name_of_body` is what prints in front of a computation written out.
    """

    __slots__ = ("aliases", "many", "name", "name_of_body", "optional")

    def __init__(
        self,
        name: str,
        *,
        many: bool = False,
        optional: bool = False,
        aliases: Sequence[str] = (),
        name_of_body: str = "",
    ) -> None:
        self.name = name
        self.name_of_body = name_of_body or name
        self.many = many
        self.optional = optional
        self.aliases = tuple(aliases)


class Op(Record):
    """An opcode with its attributes: an immutable value that instructions share.

    A class for each opcode says what HLO means by it. Operands and called computations are
    edges of the graph and stand on the `Instruction`.
    """

    opcode: ClassVar[str] = ""
    roles: ClassVar[tuple[Role, ...]] = ()
    """The parts of called computations, in print order."""
    arity: ClassVar[int | range | None] = None
    """How many operands; `None` for any number."""
    payload: ClassVar[AttributeKind[Any] | None] = None
    """The kind of the first field where parentheses hold it in place of operands."""
    payload_needs_shape: ClassVar[bool] = False
    """Whether the payload can be read only with the declared shape, as a literal."""
    infers_shape: ClassVar[bool] = True
    """Whether the text may leave the shape out."""
    allows_mixed_precision: ClassVar[bool] = False
    """Whether the declared shape may have float elements of another width than inferred."""
    takes_result_accuracy: ClassVar[bool] = False
    """Whether the `result_accuracy` annotation is allowed."""
    has_side_effect: ClassVar[bool] = False
    """Whether the instruction must stay even when nothing uses it, and be run just once."""
    is_fusion: ClassVar[bool] = False
    """Whether the called computation is the body of a fusion: it is not scheduled by itself."""
    visits_last_call_first: ClassVar[bool] = False
    """Whether the reference holds called computations in the order opposite to their roles'.

    It is the order of their texts and of their messages.
    """
    adapts: ClassVar[bool] = False
    """Whether `adapted` may change the op."""
    access: ClassVar[Access] = Access.WHOLE
    """Which elements of operands an element of the result needs: whether the op can be fused."""
    moved_operands: ClassVar[slice] = slice(0)
    """The operands whose elements the result has, of whatever type; none where it makes them."""
    category: ClassVar[Category]
    """What the op does, as pictures tell ops apart."""
    drawn: ClassVar[Drawn] = Drawn.BOX
    """What a node of it is in a picture."""
    runs_code: ClassVar[bool] = True
    """Whether an instruction takes time of its own, beside that of computations it calls."""

    def __init_subclass__(cls, opcode: str = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if opcode:
            if opcode in OPCODES:
                raise TypeError(f"opcode {opcode} is defined twice")
            cls.opcode = opcode
            OPCODES[opcode] = cls
        cls.adapts = cls.adapted is not Op.adapted

    @property
    def parameter_number(self) -> int | None:
        """Which parameter of its computation the instruction is, if it is one."""
        return None

    @property
    def payload_shape(self) -> Shape | None:
        """The shape that the payload has, which then is the instruction's."""
        return None

    @property
    def title(self) -> str:
        """What a picture says first of an instruction."""
        return self.opcode

    @property
    def short_value(self) -> str:
        """What a picture shows of the op in the boxes of its users, beside or for its name."""
        return ""

    def payload_text(self, large_constants: LargeConstants) -> str:
        """Returns what the parentheses hold in place of operands."""
        assert self.payload is not None
        return self.payload.write(getattr(self, self.fields[0].name))

    @classmethod
    def arity_words(cls) -> str:
        """Returns how many operands the op takes, in words: `2`, `1 to 3`, `1 or more`."""
        arity = cls.arity
        if arity is None:
            return "any number"
        if isinstance(arity, int):
            return str(arity)
        if arity.stop < _MOST_OPERANDS:
            return f"{arity.start} to {arity.stop - 1}"
        steps = f", in steps of {arity.step}" if arity.step > 1 else ""
        return f"{arity.start} or more{steps}"

    def check_arity(self, count: int) -> None:
        """Raises `ShapeError` where the op does not take `count` operands."""
        arity = self.arity
        if arity is None or count == arity or (isinstance(arity, range) and count in arity):
            return
        operands = "operand" if arity == 1 else "operands"
        raise ShapeError(f"{self.opcode}: {self.arity_words()} {operands} expected, {count} given")

    def check_call_count(self, count: int) -> None:
        """Raises `ShapeError` where the op has no roles for `count` called computations."""
        least = sum(not role.optional for role in self.roles)
        has_list = any(role.many for role in self.roles)
        if count < least or (count > len(self.roles) and not has_list):
            names = " and ".join(role.name for role in self.roles) or "no called computations"
            computations = "computation" if count == 1 else "computations"
            raise ShapeError(f"{self.opcode}: {names} expected, {count} {computations} given")

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the result; raises `ShapeError` where there is none.

        `calls` has the signature of each called computation, in role order. Result layouts are
        as the reference makes them when a text leaves the shape out.
        """
        raise ShapeError(f"{self.opcode}: the shape cannot be inferred; write it out")

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where operands, attributes and `declared` do not fit together."""
        inferred = self.infer_shape(operands, calls)
        if not self.fits(declared, inferred):
            raise ShapeError(
                f"{self.opcode}: shape {declared.plain_text} is declared,"
                f" {inferred.plain_text} is inferred"
            )

    def fits(self, declared: Shape, inferred: Shape) -> bool:
        """Whether the declared shape may stand for the inferred one."""
        if declared.compatible(inferred):
            return True
        return self.allows_mixed_precision and same_but_float_width(declared, inferred)

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the value of the result, as HLO says what it is.

        Raises `EvaluationError` for operands that have none, `UnsupportedError` where the op
        means something outside HLO.
        """
        raise UnsupportedError(f"{self.opcode} cannot be evaluated")

    def cost(self, operands: Sequence[Shape], result: Shape) -> Cost:
        """Returns what one run takes by itself: operands are read and the result is written.

        Of an op that folds with a computation, `flops` counts the calls of it.
        """
        if self.is_free(operands, result):
            return Cost()
        return traffic(sum(map(byte_count, operands)), result)

    def kept_dimensions(
        self, number: int, operands: Sequence[Shape], result: Shape
    ) -> tuple[int | None, ...]:
        """Returns for each dimension of an operand which one of the result has the same index.

        It is `None` where the index is another or runs through a range.
        """
        operand = operands[number]
        return (None,) * operand.rank if isinstance(operand, ArrayShape) else ()

    def is_free(self, operands: Sequence[Shape], result: Shape) -> bool:
        """Whether an instruction takes no time of its own."""
        return not self.runs_code

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns which of `count` operands has this part of the result as it is, and where in it.

        It is `None` where there is none: the part is made here.
        """
        return None

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns this op with attributes that follow from shapes filled in or dropped.

        The parser calls it once an instruction, so that printing needs no operands.
        """
        return self

    def printed_roles(self, operands: Sequence[Shape]) -> tuple[Role, ...]:
        """Returns the roles that the called computations of an instruction play, in order."""
        return self.roles
