"""Collectives as pairs of a start and a done."""

from __future__ import annotations

from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import TupleShape
from hlotool.ops.asynchronous import AsyncDone, AsyncStart
from hlotool.ops.collective import (
    AllGather,
    AllGatherDone,
    AllGatherStart,
    AllReduce,
    AllReduceDone,
    AllReduceStart,
    CollectiveBroadcast,
    ReduceScatter,
)
from hlotool.ops.permuting import (
    AllToAll,
    CollectivePermute,
    CollectivePermuteDone,
    CollectivePermuteStart,
    RaggedAllToAll,
)
from hlotool.ops.shape_checks import one_or_tuple
from hlotool.passes.collectives.device_groups import as_op
from hlotool.rewriting.builder import Builder

PAIRS: dict[type[Op], tuple[type[Op], type[Op]]] = {
    AllGather: (AllGatherStart, AllGatherDone),
    AllReduce: (AllReduceStart, AllReduceDone),
    CollectivePermute: (CollectivePermuteStart, CollectivePermuteDone),
}
"""The collectives that have a start and a done of their own."""
WRAPPED: tuple[type[Op], ...] = (AllToAll, CollectiveBroadcast, RaggedAllToAll, ReduceScatter)
"""Those that a computation of their own is made for, which then runs beside others."""


def has_async_form(instruction: Instruction) -> bool:
    """Whether a collective can be started first and waited for later."""
    op = instruction.op
    is_in_place = isinstance(op, CollectivePermute) and bool(op.slice_sizes)
    return (type(op) in PAIRS and not is_in_place) or type(op) in WRAPPED


def started(instruction: Instruction, builder: Builder) -> Instruction:
    """Returns a done that has the value of a collective."""
    op = instruction.op
    if type(op) not in PAIRS:
        return wrapped(instruction, builder)
    start_class, done_class = PAIRS[type(op)]
    operands = one_or_tuple([operand.shape for operand in instruction.operands])
    shape = instruction.shape
    start = builder.add(
        as_op(op, start_class),
        *instruction.operands,
        calls=instruction.calls,
        shape=shape if isinstance(op, AllReduce) else TupleShape([operands, shape]),
    )
    return builder.add(done_class(), start, shape=shape)


def wrapped(instruction: Instruction, builder: Builder) -> Instruction:
    """Returns the async-done of a computation of just an instruction."""
    shapes = [operand.shape for operand in instruction.operands]
    inside = builder.computation_named(f"async_computation_{instruction.opcode}", shapes)
    root = inside.add(
        instruction.op,
        *inside.computation.parameters,
        calls=instruction.calls,
        shape=instruction.shape,
    )
    root.annotations = instruction.annotations
    body = inside.finish(root)
    start = builder.add(
        AsyncStart(),
        *instruction.operands,
        calls=[body],
        shape=TupleShape([TupleShape(shapes), instruction.shape]),
    )
    return builder.add(AsyncDone(), start, shape=instruction.shape)


def finished(done: Instruction, builder: Builder) -> Instruction | None:
    """Returns a collective with the value of a done; `None` where it is not known what began."""
    (start,) = done.operands
    for synchronous, (start_class, done_class) in PAIRS.items():
        if isinstance(done.op, done_class) and type(start.op) is start_class:
            op = as_op(start.op, synchronous)
            return builder.add(op, *start.operands, calls=start.calls, shape=done.shape)
    if isinstance(done.op, AsyncDone) and isinstance(start.op, AsyncStart):
        return _unwrapped(start, done, builder)
    return None


def _unwrapped(start: Instruction, done: Instruction, builder: Builder) -> Instruction | None:
    (body,) = start.calls
    root = body.root
    if type(root.op) not in WRAPPED or root.operands != body.parameters:
        return None
    return builder.add(root.op, *start.operands, calls=root.calls, shape=done.shape)
