"""Makes arguments for a module: random numbers, but such that a run means something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hlotool.errors import EvaluationError
from hlotool.evaluation.constraints.flow import Wanted, wanted_of_parameters
from hlotool.evaluation.constraints.kinds import Constraint, Full
from hlotool.evaluation.generation.constrained_numbers import NumberMaker
from hlotool.evaluation.generation.random_numbers import Style
from hlotool.evaluation.values import check_size, too_large
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape

_UNBOUNDED_SIZE = 4
"""The most elements along a dimension whose size nothing limits."""
_LIVE_SIZES = 1 << 32
"""Stands in seeds where the number of a parameter may not."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Arguments, and in `notes` what was wanted of them and could not be had."""

    values: list[Value]
    notes: tuple[str, ...] = ()


def generated_arguments(
    module: Module, seed: int, *, large_range: bool = False, zeros: bool = False
) -> Generated:
    """Returns random arguments for a module, the same for the same seed.

    What the module does with a parameter limits its numbers: indices stay within arrays, loops
    end, functions have finite values. Each parameter has random numbers of its own, whatever
    others there are. `large_range` takes numbers of the whole range of their types, `zeros`
    zero, where the module lets them. Raises `EvaluationError` for a module whose computations
    are nested too deeply.
    """
    style = Style.ZERO if zeros else Style.LARGE if large_range else Style.PLAIN
    return _generated(module, seed, style)


def edge_arguments(module: Module, seed: int) -> Generated:
    """Returns arguments with NaN, infinities, ends of ranges and the like among them.

    They stand in parameters of which the module wants nothing; others are as generated.
    """
    return _generated(module, seed, Style.EDGES)


def _generated(module: Module, seed: int, style: Style) -> Generated:
    try:
        found = wanted_of_parameters(module)
    except RecursionError:
        message = "computations call one another too deep for arguments to be made"
        raise EvaluationError(message) from None
    values, notes = [], []
    for number, (parameter, wanted) in enumerate(zip(module.entry.parameters, found, strict=True)):
        check_size(parameter)
        maker = _Maker(parameter, wanted, seed, number, style)
        try:
            with np.errstate(all="ignore"):
                values.append(maker.value(parameter.shape, ()))
        except MemoryError:
            raise too_large(parameter) from None
        notes += maker.notes
    return Generated(values, tuple(notes))


class _Maker:
    """Makes the value of one parameter."""

    def __init__(
        self, parameter: Instruction, wanted: Wanted, seed: int, number: int, style: Style
    ) -> None:
        self.notes: list[str] = []
        self._parameter = parameter
        self._wanted = wanted
        self._seed = seed
        self._number = number
        self._style = style
        self._generator = np.random.default_rng([seed, number])

    def value(self, shape: Shape, index: tuple[int, ...]) -> Value:
        """Returns the value of the part at an index."""
        if isinstance(shape, TupleShape):
            return tuple(
                self.value(element, (*index, position))
                for position, element in enumerate(shape.elements)
            )
        if isinstance(shape, BufferShape):
            shape = shape.array
        if not isinstance(shape, ArrayShape):
            return None
        constraints = [wish for place, wish in self._wanted if place == index]
        part = f" at {{{','.join(map(str, index))}}}" if index else ""
        where = f"parameter {self._parameter.name}{part}"
        sizes = self._sizes(shape, constraints)
        maker = NumberMaker(shape.element_type, sizes, constraints, self._style, self._generator)
        made = maker.numbers()
        self.notes += [f"{where}: {note}" for note in maker.notes]
        return made

    def _sizes(self, shape: ArrayShape, constraints: Sequence[Constraint]) -> tuple[int, ...]:
        is_full = any(isinstance(wish, Full) for wish in constraints)
        pairs = zip(shape.dimensions, shape.dynamic_flags(), strict=True)
        return tuple(
            self._live_size(size) if is_dynamic and (size == UNBOUNDED or not is_full) else size
            for size, is_dynamic in pairs
        )

    def _live_size(self, bound: int) -> int:
        # Arrays with the same bound are likely to meet, and must then be of the same size.
        most = _UNBOUNDED_SIZE if bound == UNBOUNDED else bound
        generator = np.random.default_rng([self._seed, _LIVE_SIZES, most])
        return int(generator.integers(min(1, most), most, endpoint=True))
