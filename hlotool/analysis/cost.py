"""What instructions, computations and modules take to run: kernels, operations, bytes.

A *kernel* is an instruction that runs code of its own: a fusion, a dot, a reduction, a copy, a
custom call. Parameters, constants, tuples and their elements, bitcasts, the second halves of
asynchronous pairs, barriers are none, nor are loops, branches and calls themselves: the
computations that they call count, a body or condition once however often it runs, each branch,
and a computation that is called in several places once a place. A reshape of row-major arrays
moves nothing, and is none either.

Bytes are those of memory traffic if no cache keeps anything between kernels: each kernel reads
its operands and writes its result. A slice, gather or `dynamic-slice` reads the elements that it
takes; `dynamic-update-slice` and `scatter` write their updates into the array that is there. A
fusion reads of each operand no more than its body uses, writes what it yields, and nothing of
what lies between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.ir.computation import Computation
from hlotool.ir.cost import NO_COST, Access, Cost, byte_count, element_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import TupleShape
from hlotool.ops.tuples import GetTupleElement, Tuple

_FOLDS = (Access.SAME, Access.FOLDED)
"""How ops that call a computation for each element read operands."""


@dataclass(frozen=True, slots=True)
class Total:
    """The cost of a computation with all that it calls."""

    kernels: int
    cost: Cost

    def __add__(self, other: Total) -> Total:
        return Total(self.kernels + other.kernels, self.cost + other.cost)


class CostAnalysis:
    """The costs of a module as it is; each computation is looked at once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._totals: dict[Computation, Total] = {}
        self._per_element: dict[Computation, Cost] = {}

    @property
    def total(self) -> Total:
        """The cost of one run of the entry."""
        return self.computation_total(self._module.entry)

    def computation_total(self, computation: Computation) -> Total:
        """Returns the cost of one run of a computation, with what it calls."""
        waiting = [computation]
        while waiting:
            current = waiting[-1]
            if current in self._totals:
                waiting.pop()
                continue
            called = list(run_by(current.instructions))
            missing = [one for one in called if one not in self._totals]
            if missing:
                waiting += missing
                continue
            total = Total(0, NO_COST)
            for instruction in current.instructions:
                if is_kernel(instruction):
                    total += Total(1, self.instruction_cost(instruction))
            for one in called:
                total += self._totals[one]
            self._totals[current] = total
        return self._totals[computation]

    def instruction_cost(self, instruction: Instruction) -> Cost:
        """Returns the cost of one run of an instruction, without loops and branches it calls."""
        if instruction.op.is_fusion:
            return self._fusion_cost(instruction)
        shapes = [operand.shape for operand in instruction.operands]
        cost = instruction.op.cost(shapes, instruction.shape)
        if instruction.calls and instruction.op.access in _FOLDS:
            each = self._element_cost(instruction.calls[0])
            calls = cost.flops
            return Cost(
                calls * each.flops,
                calls * each.transcendentals,
                cost.bytes_read,
                cost.bytes_written,
            )
        return cost

    def _element_cost(self, computation: Computation) -> Cost:
        found = self._per_element.get(computation)
        if found is None:
            found = sum(map(self.instruction_cost, computation.instructions), NO_COST)
            self._per_element[computation] = found
        return found

    def _fusion_cost(self, fusion: Instruction) -> Cost:
        (body,) = fusion.calls
        inside = sum(map(self.instruction_cost, body.instructions), NO_COST)
        used = used_bytes(body)
        read = sum(used[parameter] for parameter in body.parameters)
        written = sum(map(_written_bytes, roots_of(body)))
        return Cost(inside.flops, inside.transcendentals, read, written)


def is_kernel(instruction: Instruction) -> bool:
    """Whether an instruction runs code of its own."""
    shapes = [operand.shape for operand in instruction.operands]
    return not instruction.op.is_free(shapes, instruction.shape)


def run_by(instructions: Iterable[Instruction]) -> Iterable[Computation]:
    """Yields the computations that instructions run as such: no fusions, no reducers."""
    for instruction in instructions:
        if instruction.calls and not instruction.op.runs_code:
            yield from instruction.calls


def running_computations(module: Module) -> list[Computation]:
    """Returns the computations that run as such, callers first: the entry, loops, branches."""
    found = {module.entry}
    order: list[Computation] = []
    # Callers stand behind what they call.
    for computation in reversed(module.computations):
        if computation in found:
            found.update(run_by(computation.instructions))
            order.append(computation)
    return order


def roots_of(body: Computation) -> tuple[Instruction, ...]:
    """Returns what the body of a fusion yields: the elements where the root is a tuple."""
    root = body.root
    return root.operands if isinstance(root.op, Tuple) else (root,)


def used_bytes(body: Computation) -> dict[Instruction, int]:
    """Returns how many bytes of each instruction of a fusion's body are needed."""
    shares: dict[Instruction, tuple[float, float]] = {}
    for root in (*roots_of(body), body.root):
        shares[root] = (element_count(root.shape), 0)
    used: dict[Instruction, int] = {}
    for instruction in reversed(body.instructions):
        aligned, parts = shares.get(instruction, (0, 0))
        count = element_count(instruction.shape)
        needed = min(aligned + parts, count)
        share = needed / count if count else 0.0
        used[instruction] = round(byte_count(instruction.shape) * share)
        is_aligned = instruction.op.access is Access.SAME or isinstance(
            instruction.op, GetTupleElement
        )
        reads = _elements_read(instruction)
        for operand, read in zip(instruction.operands, reads, strict=True):
            aligned, parts = shares.get(operand, (0, 0))
            if is_aligned:
                shares[operand] = (max(aligned, read * share), parts)
            else:
                shares[operand] = (aligned, parts + read * share)
    return used


def _elements_read(instruction: Instruction) -> list[int]:
    """Returns how many elements of each operand the whole of an instruction takes."""
    shapes = [operand.shape for operand in instruction.operands]
    if isinstance(instruction.op, GetTupleElement):
        return [element_count(instruction.shape)]
    counts = [element_count(shape) for shape in shapes]
    if not counts or isinstance(shapes[0], TupleShape) or not is_kernel(instruction):
        return counts
    # Only the first operand is ever read in part.
    read = instruction.op.cost(shapes, instruction.shape).bytes_read
    first = max(0, read - sum(map(byte_count, shapes[1:])))
    whole = byte_count(shapes[0])
    counts[0] = min(counts[0], counts[0] * first // whole if whole else 0)
    return counts


def _written_bytes(root: Instruction) -> int:
    """Returns what a fusion writes for a root: of an array updated in place, the update."""
    while not is_kernel(root) and len(root.operands) == 1:
        root = root.operands[0]
    if root.op.access is Access.UPDATED and _is_given(root.operands[0]):
        return byte_count(root.operands[1].shape)
    return byte_count(root.shape)


def _is_given(instruction: Instruction) -> bool:
    while not is_kernel(instruction) and len(instruction.operands) == 1:
        instruction = instruction.operands[0]
    return instruction.op.parameter_number is not None
