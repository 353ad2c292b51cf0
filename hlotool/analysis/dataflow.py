"""Which value each part of an instruction holds: through tuples, calls, loops and bitcasts.

Parts are named by tuple indices, the inner nodes of tuples among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from hlotool.analysis.updates_in_place import updated_parameter
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import Shape, TupleShape
from hlotool.ops.asynchronous import AsyncStart, AsyncUpdate
from hlotool.ops.collective import AllReduceStart
from hlotool.ops.control_flow import Call, Conditional, Domain, Fusion, OptBarrier, While
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.host import AddDependency, CopyStart, Send
from hlotool.ops.indexing import DynamicUpdateSlice, Scatter
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.ops.unary import Copy

Index: TypeAlias = tuple[int, ...]
Place: TypeAlias = tuple[Instruction, Index]
"""A part of what an instruction yields."""

_MAKES_BYTES = (Copy, CustomCall)
"""Ops that yield an operand's value in memory of their own."""
_READS_NOTHING = (Tuple, GetTupleElement, Bitcast, OptBarrier, Domain, AddDependency, AsyncUpdate)
"""Ops that only name what is there already."""
_READS_UNTIL_DONE = (AllReduceStart, Send)
"""Ops that read operands which they do not hand to the op that ends them."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A computation that runs as a part of its caller: operand `operands[i]` is parameter `i`.

    What it yields is the part `result` of the caller's result; `None` for a loop's condition.
    """

    computation: Computation
    operands: Sequence[int]
    result: Index | None = ()


def bindings(instruction: Instruction) -> tuple[Binding, ...]:
    """Returns the computations that run where the instruction stands, in the order they run in.

    Those that are run for elements, and bodies of fusions, are not among them.
    """
    calls = instruction.calls
    if not calls:
        return ()
    count = len(instruction.operands)
    match instruction.op:
        case While():
            return Binding(calls[0], (0,), None), Binding(calls[1], (0,))
        case Call():
            return (Binding(calls[0], range(count)),)
        case AsyncStart():
            return (Binding(calls[0], range(count), (1,)),)
        case Conditional():
            return tuple(Binding(branch, (n,)) for n, branch in enumerate(calls, 1))
    return ()


@lru_cache(maxsize=4096)
def indices(shape: Shape) -> tuple[tuple[Index, Shape], ...]:
    """Returns every part of a shape, inner nodes of tuples before what is in them."""
    found: list[tuple[Index, Shape]] = [((), shape)]
    if isinstance(shape, TupleShape):
        for number, element in enumerate(shape.elements):
            found += [((number, *index), part) for index, part in indices(element)]
    return tuple(found)


def array_indices(shape: Shape) -> list[Index]:
    """Returns the indices of the arrays in a shape."""
    if not shape.is_tuple:
        return [()]
    return [index for index, part in indices(shape) if not part.is_tuple]


def shared_operand(instruction: Instruction, index: Index) -> tuple[int, Index] | None:
    """Returns the operand part that is this part of the result, in the same memory."""
    op = instruction.op
    if isinstance(op, Bitcast):
        return 0, ()
    if isinstance(op, _MAKES_BYTES) or (isinstance(op, CopyStart) and index[:1] == (0,)):
        return None
    return op.passes(index, len(instruction.operands))


def updated_operand(instruction: Instruction, index: Index) -> tuple[int, Index] | None:
    """Returns the operand part whose memory this part of the result is written into."""
    op = instruction.op
    found: tuple[int, Index] | None = None
    if isinstance(op, DynamicUpdateSlice):
        found = 0, ()
    elif isinstance(op, Scatter):
        if isinstance(instruction.shape, TupleShape):
            found = (index[0], ()) if index else None
        else:
            found = 0, ()
    elif isinstance(op, Fusion | CustomCall | AsyncStart):
        found = _aliased_operand(op, index)
    if found is None and isinstance(op, Fusion):
        found = _operand_updated_in(instruction.calls[0].root, index)
    if found is None:
        return None
    number, within = found
    source = instruction.operands[number].shape.subshape(within)
    return found if source == instruction.shape.subshape(index) else None


def _aliased_operand(
    op: Fusion | CustomCall | AsyncStart, index: Index
) -> tuple[int, Index] | None:
    prefix = (1,) if isinstance(op, AsyncStart) else ()
    for output, number, within in op.output_to_operand_aliasing:
        if (*prefix, *output) == index:
            return number, tuple(within)
    return None


def _operand_updated_in(root: Instruction, index: Index) -> tuple[int, Index] | None:
    """Returns the operand of a fusion whose parameter the root, or a part of it, updates."""
    for part in index:
        if not isinstance(root.op, Tuple):
            return None
        root = root.operands[part]
    parameter = updated_parameter(root)
    if parameter is None:
        return None
    number = parameter.op.parameter_number
    assert number is not None
    return number, ()


@dataclass(frozen=True, slots=True)
class Use:
    """A read of a value: a part of an operand of `user`; `None` is the end of the computation."""

    user: Instruction | None
    operand_number: int = 0
    index: Index = ()


class Dataflow:
    """Values of the computations that run one at a time: the entry and what it calls so.

    `shared` lists the computations that several instructions call: for them nothing of this
    holds.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.callers: dict[Computation, Instruction] = {}
        self.shared: list[Computation] = []
        self.computations = self._sequential()
        self.position: dict[Instruction, int] = {}
        """The place of each instruction in its computation."""
        self._origins: dict[Place, Place] = {}
        self.uses: dict[Place, list[Use]] = {}
        """The reads of each value, by the place where it was made."""
        for computation in self.computations:
            for number, instruction in enumerate(computation.instructions):
                self.position[instruction] = number
                self._find_origins(instruction)
                self._find_uses(instruction)
            self._use(computation.root, Use(None))

    def origin(self, place: Place) -> Place:
        """Returns where in the computation the value of a place was made."""
        found = self._origins[place]
        while (further := self._origins[found]) != found:
            found = further
        return found

    def places(self) -> Iterator[tuple[Place, Shape]]:
        """Yields every place with its shape, called computations first."""
        for computation in self.computations:
            for instruction in computation.instructions:
                for index, shape in indices(instruction.shape):
                    yield (instruction, index), shape

    def merge(self, copy: Instruction) -> Callable[[], None]:
        """Makes the value of a copy that of its operand; returns what undoes it."""
        (operand,) = copy.operands
        old: Place = (copy, ())
        new = self.origin((operand, ()))
        ours, theirs = self.uses.get(old, []), self.uses.get(new, [])
        self._origins[old] = new
        self.uses[old] = []
        self.uses[new] = [use for use in theirs if use.user is not copy] + ours

        def undo() -> None:
            self._origins[old] = old
            self.uses[old], self.uses[new] = ours, theirs

        return undo

    def passes_through(self, loop: Instruction, index: Index) -> bool:
        """Whether a loop leaves this part of its state as it is."""
        body = loop.calls[1]
        return self.origin((body.root, index)) == (body.parameters[0], index)

    def _sequential(self) -> list[Computation]:
        found = {self.module.entry}
        for computation in reversed(self.module.computations):
            if computation not in found:
                continue
            for instruction in computation.instructions:
                for binding in bindings(instruction):
                    if binding.computation in self.callers:
                        self.shared.append(binding.computation)
                    self.callers[binding.computation] = instruction
                    found.add(binding.computation)
        return [computation for computation in self.module.computations if computation in found]

    def _find_origins(self, instruction: Instruction) -> None:
        bound = bindings(instruction)
        for index, _ in indices(instruction.shape):
            place = (instruction, index)
            source = shared_operand(instruction, index)
            if source is None and len(bound) > 0:
                source = self._through(instruction, bound, index)
            if source is None:
                self._origins[place] = place
                continue
            number, within = source
            self._origins[place] = self.origin((instruction.operands[number], within))

    def _through(
        self, instruction: Instruction, bound: Sequence[Binding], index: Index
    ) -> tuple[int, Index] | None:
        if isinstance(instruction.op, While):
            return (0, index) if self.passes_through(instruction, index) else None
        binding = bound[0]
        prefix = binding.result
        if isinstance(instruction.op, Conditional) or prefix is None:
            return None
        if index[: len(prefix)] != prefix:
            return None
        maker, within = self.origin((binding.computation.root, index[len(prefix) :]))
        number = maker.op.parameter_number
        return None if number is None else (binding.operands[number], within)

    def _find_uses(self, instruction: Instruction) -> None:
        if isinstance(instruction.op, _READS_NOTHING):
            return
        readers = [instruction]
        if isinstance(instruction.op, _READS_UNTIL_DONE):
            readers += instruction.users
        for number, operand in enumerate(instruction.operands):
            for reader in readers:
                self._use(operand, Use(reader, number if reader is instruction else -1))

    def _use(self, operand: Instruction, use: Use) -> None:
        for index in array_indices(operand.shape):
            origin = self.origin((operand, index))
            made = Use(use.user, use.operand_number, index)
            self.uses.setdefault(origin, []).append(made)
