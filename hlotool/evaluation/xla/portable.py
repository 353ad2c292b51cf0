"""Modules in the words that XLA takes from outside, whatever pass they were dumped after.

XLA reads modules through StableHLO, which has no layouts, no fusions, no asynchronous steps. A
module is rewritten so that it keeps its meaning:

- a fusion becomes a call, and so does a computation that is started;
- a bitcast becomes the transposes and the reshape that its layouts stand for;
- starts yield what they start, and what waits for them is left out;
- markers of shardings go, and with several partitions each device becomes a replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.errors import UnsupportedError
from hlotool.evaluation.xla.flat_devices import flat_collective, flat_number
from hlotool.ir.annotations import Annotations
from hlotool.ir.cloning import computation_of
from hlotool.ir.computation import Computation
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants, Op
from hlotool.ir.shape import ArrayShape, Layout, Shape, TupleShape
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.collective import (
    AllGather,
    AllGatherStart,
    AllReduce,
    AllReduceDone,
    AllReduceStart,
)
from hlotool.ops.collective_groups import GroupedCollective, StartedDone
from hlotool.ops.control_flow import Call, Domain, Fusion
from hlotool.ops.conversion import BitcastConvert
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.host import AddDependency, CopyDone, CopyStart
from hlotool.ops.permuting import CollectivePermute, CollectivePermuteStart
from hlotool.ops.shape_changing import Bitcast, Reshape, Transpose
from hlotool.ops.source import PartitionId, ReplicaId
from hlotool.ops.unary import Copy
from hlotool.text.print_options import PrintOptions
from hlotool.text.printer import print_module

MARKERS = ("Sharding", "xla.sdy.")
"""How the names of custom calls begin that only say where their operand lies."""
_PRINT = PrintOptions(metadata=False, large_constants=LargeConstants.EXACT)


def portable_text(module: Module, replicas: int = 1, partitions: int = 1) -> str:
    """Returns the text of a module that means the same on `replicas * partitions` replicas.

    Raises `UnsupportedError` where a bitcast cannot be said in other words.
    """
    return print_module(portable(module, replicas, partitions), _PRINT)


def portable(module: Module, replicas: int = 1, partitions: int = 1) -> Module:
    """Returns the rewritten module; see `portable_text`."""
    rewriting = _Rewriting(module, replicas, partitions)
    computations = [rewriting.rewritten(computation) for computation in module.computations]
    entry = rewriting.computations[module.entry]
    return Module(
        module.name, computations, entry, ModuleHeader(replica_count=replicas * partitions)
    )


class _Rewriting:
    """The new computations and instructions of one module, by the old ones."""

    def __init__(self, module: Module, replicas: int, partitions: int) -> None:
        self.replicas = replicas
        self.partitions = partitions
        self.computations: dict[Computation, Computation] = {}
        self.values: dict[Instruction, Instruction] = {}
        self.made: list[Instruction] = []
        self._given: set[str] = set()
        self._names = {instruction.name for instruction in module.instructions()}

    def rewritten(self, computation: Computation) -> Computation:
        """Returns the new computation; those that it calls must be there."""
        self.made = []
        self._given = set()
        for instruction in computation.instructions:
            self.values[instruction] = _rule(instruction.op)(self, instruction)
        root = self.values[computation.root]
        found = computation_of(computation.name, self.made, root)
        self.computations[computation] = found
        return found

    def add(
        self, old: Instruction, op: Op, shape: Shape, operands: Sequence[Instruction]
    ) -> Instruction:
        """Returns a new instruction in place of `old`."""
        name = old.name
        if name in self._given:
            name = self._fresh(name)
        self._given.add(name)
        calls = tuple(self.computations[called] for called in old.calls)
        made = Instruction(name, shape, op, tuple(operands), calls, _annotations(old))
        self.made.append(made)
        return made

    def operands(self, old: Instruction) -> list[Instruction]:
        """Returns what the operands of `old` have become."""
        return [self.values[operand] for operand in old.operands]

    def _fresh(self, name: str) -> str:
        number = 1
        while f"{name}.step{number}" in self._names:
            number += 1
        fresh = f"{name}.step{number}"
        self._names.add(fresh)
        return fresh


_Rule = Callable[[_Rewriting, Instruction], Instruction]


def _annotations(old: Instruction) -> Annotations:
    kept = Annotations(result_accuracy=old.annotations.result_accuracy)
    if isinstance(old.op, CustomCall):
        # What a pass notes on other ops is for later passes; a custom call is told its options.
        return kept.replace(backend_config=old.annotations.backend_config)
    return kept


def _rule(op: Op) -> _Rule:
    for kind in type(op).__mro__:
        if kind in _RULES:
            return _RULES[kind]
    return _kept


def _kept(rewriting: _Rewriting, old: Instruction) -> Instruction:
    return rewriting.add(old, old.op, old.shape, rewriting.operands(old))


def _first_operand(rewriting: _Rewriting, old: Instruction) -> Instruction:
    return rewriting.values[old.operands[0]]


def _copied(rewriting: _Rewriting, old: Instruction) -> Instruction:
    # XLA copies no tuple of floats of several widths; a copy means nothing without buffers.
    return _first_operand(rewriting, old) if old.shape.is_tuple else _kept(rewriting, old)


def _called(rewriting: _Rewriting, old: Instruction) -> Instruction:
    (called,) = old.calls
    return rewriting.add(old, Call(), called.root.shape, rewriting.operands(old))


def _custom_call(rewriting: _Rewriting, old: Instruction) -> Instruction:
    assert isinstance(old.op, CustomCall)
    is_marker = old.op.custom_call_target.startswith(MARKERS) and len(old.operands) == 1
    if is_marker and old.shape.compatible(old.operands[0].shape):
        return rewriting.values[old.operands[0]]
    return _kept(rewriting, old)


def _finished_collective(rewriting: _Rewriting, old: Instruction) -> Instruction:
    """Rewrites a start whose shape is `(operands, result, contexts)` to the op that waits."""
    kind = AllGather if isinstance(old.op, AllGatherStart) else CollectivePermute
    shape = old.shape
    if isinstance(shape, TupleShape) and len(shape.elements) >= 2:
        shape = shape.elements[1]
    return _collective(rewriting, old, _same_fields(old.op, kind), shape)


def _finished_all_reduce(rewriting: _Rewriting, old: Instruction) -> Instruction:
    return _collective(rewriting, old, _same_fields(old.op, AllReduce), old.shape)


def _same_fields(op: Op, kind: type[Op]) -> Op:
    return kind(**{field.name: getattr(op, field.name) for field in kind.fields})


def _any_collective(rewriting: _Rewriting, old: Instruction) -> Instruction:
    return _collective(rewriting, old, old.op, old.shape)


def _collective(rewriting: _Rewriting, old: Instruction, op: Op, shape: Shape) -> Instruction:
    if rewriting.partitions > 1:
        op = flat_collective(op, rewriting.replicas, rewriting.partitions)
    return rewriting.add(old, op, shape, rewriting.operands(old))


def _device_number(rewriting: _Rewriting, old: Instruction) -> Instruction:
    if rewriting.partitions == 1:
        return _kept(rewriting, old)
    made = flat_number(old.op, old.shape, rewriting.partitions)
    previous: list[Instruction] = []
    for op, shape in made:
        # The last step is on what the two before it yield.
        operands = previous[-2:] if len(previous) == 2 else []
        previous.append(rewriting.add(old, op, shape, operands))
    return previous[-1]


def _plain_bitcast(rewriting: _Rewriting, old: Instruction) -> Instruction:
    operand = rewriting.values[old.operands[0]]
    source, target = old.operands[0].shape, old.shape
    if not isinstance(source, ArrayShape) or not isinstance(target, ArrayShape):
        raise UnsupportedError(f"a bitcast of {source.text} means nothing to XLA", old.location)
    # Dimensions from major to minor, as the elements lie in memory.
    source_order, target_order = _major_to_minor(source), _major_to_minor(target)
    elements = _row_major(source, [source.dimensions[d] for d in source_order])
    found = rewriting.add(old, Transpose(dimensions=source_order), elements, [operand])
    stored = _row_major(target, [target.dimensions[d] for d in target_order])
    found = _with_type(rewriting, old, found, stored)
    back = tuple(target_order.index(d) for d in range(target.rank))
    return rewriting.add(old, Transpose(dimensions=back), target, [found])


def _with_type(
    rewriting: _Rewriting, old: Instruction, found: Instruction, stored: ArrayShape
) -> Instruction:
    """Returns a row-major array read as another one, of elements of any width."""
    shape = found.shape
    assert isinstance(shape, ArrayShape)
    ours, theirs = shape.element_type, stored.element_type
    if shape.element_count * ours.storage_bytes != stored.element_count * theirs.storage_bytes:
        raise UnsupportedError(
            f"a bitcast of {shape.plain_text} to {stored.plain_text} changes the number of bytes",
            old.location,
        )
    if ours is not theirs:
        sizes = [stored.element_count]
        if ours.storage_bytes < theirs.storage_bytes:
            pieces = theirs.storage_bytes // ours.storage_bytes
            grouped = _row_major(shape, [stored.element_count, pieces])
            found = rewriting.add(old, Reshape(), grouped, [found])
        else:
            found = rewriting.add(old, Reshape(), _row_major(shape, [shape.element_count]), [found])
            if ours.storage_bytes > theirs.storage_bytes:
                sizes = [shape.element_count, ours.storage_bytes // theirs.storage_bytes]
        found = rewriting.add(old, BitcastConvert(), _row_major(stored, sizes), [found])
    return rewriting.add(old, Reshape(), stored, [found])


def _major_to_minor(shape: ArrayShape) -> tuple[int, ...]:
    return tuple(reversed(shape.layout.minor_to_major or Layout.default(shape.rank).minor_to_major))


def _row_major(shape: ArrayShape, sizes: Sequence[int]) -> ArrayShape:
    return ArrayShape(shape.element_type, sizes)


_RULES: dict[type, _Rule] = {
    Fusion: _called,
    Call: _called,
    AsyncStart: _called,
    AsyncContinuation: _first_operand,
    CopyStart: _first_operand,
    CopyDone: _first_operand,
    Domain: _first_operand,
    Copy: _copied,
    AddDependency: _first_operand,
    Bitcast: _plain_bitcast,
    CustomCall: _custom_call,
    AllReduceStart: _finished_all_reduce,
    AllReduceDone: _first_operand,
    AllGatherStart: _finished_collective,
    CollectivePermuteStart: _finished_collective,
    StartedDone: _first_operand,
    GroupedCollective: _any_collective,
    CollectivePermute: _any_collective,
    ReplicaId: _device_number,
    PartitionId: _device_number,
}
"""How an op is rewritten; the rule of the nearest base counts."""
