"""Calls and what they call: who calls what, copies of computations, bodies in place of calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hlotool.ir.cloning import copied_by
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import Shape
from hlotool.ops.asynchronous import AsyncContinuation, AsyncStart
from hlotool.ops.control_flow import Call, Conditional, While
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.inlining import inlined

RUNNING_OPS = (AsyncStart, Call, Conditional, While)
"""Ops that run computations as a part of the program, not once for each element."""


def asynchronous_computations(module: Module) -> set[Computation]:
    """Returns what runs between a start and a done: one operation each, as backends take them."""
    return {
        called
        for instruction in module.instructions()
        if instruction.calls and isinstance(instruction.op, AsyncStart | AsyncContinuation)
        for called in instruction.calls
    }


def call_counts(module: Module) -> Counter[Computation]:
    """Returns how often instructions call each computation; steps after a start call nothing."""
    return Counter(
        called
        for instruction in module.instructions()
        if instruction.calls and not isinstance(instruction.op, AsyncContinuation)
        for called in instruction.calls
    )


def copied_computation(computation: Computation, suffix: str = "clone") -> Computation:
    """Returns a new computation of the same module that does the same, with names of its own.

    What both call is shared.
    """
    module = computation.parent
    assert module is not None, "a computation belongs to a module"
    computation.settle()

    def renamed(instruction: Instruction, operands: Sequence[Instruction]) -> Instruction:
        copied = instruction.copied(operands)
        copied.name = module.instruction_name(instruction.name)
        return copied

    made = copied_by(computation, renamed)
    made.name = module.computation_name(f"{computation.name}.{suffix}")
    return module.add_computation(made)


def own_called(caller: Instruction, counts: Counter[Computation]) -> None:
    """Gives an instruction computations that nothing else calls.

    `counts` says how often computations are called, and is kept up.
    """
    calls = list(caller.calls)
    for number, called in enumerate(calls):
        if counts[called] > 1:
            calls[number] = copied_computation(called)
            counts[called] -= 1
            # The copy calls what the original calls, once more.
            inner = [one for made in calls[number].instructions for one in made.calls]
            counts.update([calls[number], *inner])
    caller.calls = tuple(calls)


def inline_call(
    call: Instruction,
    body: Computation,
    arguments: Sequence[Instruction],
    builder: Builder,
) -> None:
    """Puts the instructions of a computation in the place of an instruction that yields its root.

    They keep their own annotations, and wait for what the call has waited for. The root takes
    over the sharding of the call where it has none.
    """
    body.settle()
    start = len(builder.made)
    pairs = zip(arguments, body.parameters, strict=True)
    given = [in_layout(argument, parameter.shape, builder) for argument, parameter in pairs]
    root = in_layout(inlined(body, given, builder), call.shape, builder)
    made = builder.made[start:]
    sharding = call.annotations.sharding
    if sharding is not None and root.annotations.sharding is None and root in made:
        root.annotations = root.annotations.replace(sharding=sharding)
    for instruction in made if call.control_predecessors else ():
        before = (*instruction.control_predecessors, *call.control_predecessors)
        instruction.control_predecessors = tuple(dict.fromkeys(before))
    for successor in call.control_successors:
        successor.control_predecessors = (*successor.control_predecessors, *made)
    builder.computation.replace_uses(call, root)
    builder.computation.remove(call)


def in_layout(value: Instruction, shape: Shape, builder: Builder) -> Instruction:
    """Returns an array in the layout of a shape, copied where it has another one."""
    is_other_layout = value.shape != shape and value.shape.plain_text == shape.plain_text
    if is_other_layout and value.shape.is_array:
        return builder.in_layout(value, shape)
    return value
