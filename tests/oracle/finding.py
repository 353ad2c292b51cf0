"""An array of a result in which elements differ, and what can be asked about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hlotool.errors import HloError
from hlotool.evaluation.comparison.compare import LeafComparison
from hlotool.evaluation.comparison.differences import _Errors
from hlotool.evaluation.comparison.number_text import Side
from hlotool.evaluation.comparison.unspecified import unspecified_elements
from hlotool.evaluation.interpreter.run import evaluate_on_devices
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array, Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.tuples import Tuple
from tests.oracle.value_cases import Case

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One array of the result for one set of arguments on one device.

    `folded` says that both agree where constants are given as arguments.
    """

    case: Case
    number: int
    device: int
    leaf: LeafComparison
    shape: ArrayShape
    ours: Array
    theirs: Array
    folded: bool = False

    @property
    def key(self) -> tuple[str, int, int, tuple[int, ...]]:
        """What findings of two variants of a case have in common."""
        return self.case.name, self.number, self.device, self.leaf.index

    @property
    def element_type(self) -> ElementType:
        """The element type of the array."""
        return self.shape.element_type

    @property
    def instruction(self) -> Instruction:
        """The instruction that yields the array, as far as the root tells."""
        root = self.case.module.entry.root
        for position in self.leaf.index:
            if not isinstance(root.op, Tuple):
                break
            root = root.operands[position]
        return root

    @property
    def operands(self) -> list[Array]:
        """The operands that have the dimensions of the array, if arguments alone are operands."""
        given = self.case.arguments[self.number][self.device]
        numbers = [operand.op.parameter_number for operand in self.instruction.operands]
        arrays = [np.asarray(given[number]) for number in numbers if number is not None]
        alike = [array for array in arrays if array.shape == self.ours.shape]
        return alike if len(alike) == len(numbers) else []

    def operand(self, number: int) -> Array | None:
        """Returns an operand of the instruction, if it is an argument."""
        place = self.instruction.operands[number].op.parameter_number
        return (
            None
            if place is None
            else np.asarray(self.case.arguments[self.number][self.device][place])
        )

    def wrong(self) -> Array:
        """Returns which elements differ beyond the tolerance."""
        if self.leaf.fault:
            return np.ones(self.ours.shape, bool)
        found = ~self.alike(self.ours)
        left_out = unspecified_elements(self.case.module, None).get(self.leaf.index)
        return found if left_out is None else found & ~left_out.mask

    def alike(self, values: Array) -> Array:
        """Returns which elements of other values are within the tolerance of theirs."""
        errors = _Errors(values.reshape(-1), self.theirs.reshape(-1), self.element_type)
        size = self.leaf.differences.size
        return np.asarray(~errors.fail(self.leaf.tolerance, size)).reshape(self.theirs.shape)

    def with_arguments(self, change: Any) -> Array | None:
        """Returns this array as ours computes it for changed arguments."""
        case = self.case
        devices = [[_changed(value, change) for value in d] for d in case.arguments[self.number]]
        try:
            results = evaluate_on_devices(case.module, devices, case.replicas, case.partitions)
        except HloError:
            return None
        found = results[self.device]
        for position in self.leaf.index:
            assert isinstance(found, tuple)
            found = found[position]
        assert isinstance(found, np.ndarray)
        return found if found.shape == self.ours.shape else None

    def text(self, mask: Array) -> str:
        """Returns a line about the elements of a mask."""
        places = [tuple(int(i) for i in place) for place in np.argwhere(mask)[:_SHOWN]]
        shown = [
            f"{place}: {[str(a[place]) for a in self.operands]} ->"
            f" {Side.of(self.ours[place].reshape(1), self.element_type).text} here,"
            f" {Side.of(self.theirs[place].reshape(1), self.element_type).text} there"
            for place in places
        ]
        where = f"{self.case.key} {self.instruction.opcode} set {self.number} {self.leaf.shape}"
        return f"{where} {self.leaf.fault} {int(mask.sum())} of {mask.size}: {'; '.join(shown)}"


def _changed(value: Value, change: Any) -> Value:
    if isinstance(value, tuple):
        return tuple(_changed(part, change) for part in value)
    return value if value is None else change(value)
