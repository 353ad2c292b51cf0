"""Tuples that loops and branches take and yield: taking elements out, putting new ones in.

An instruction, the parameter of a computation and its root change one by one here; who calls
these functions keeps the three in step.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import Shape, TupleShape
from hlotool.ir.sharding import ArraySharding, TupleSharding
from hlotool.ops.tuples import GetTupleElement
from hlotool.rewriting.builder import Builder, tuple_shape
from hlotool.rewriting.rewriter import remove_dead

_VARIABLE = "known_induction_variable"
_INDEX = "tuple_index"


def remove_unused_elements(instruction: Instruction) -> None:
    """Removes the instructions that take elements of a tuple for nobody."""
    computation = instruction.parent
    assert computation is not None, f"{instruction.name} is in no computation"
    taken = [user for user in instruction.users if isinstance(user.op, GetTupleElement)]
    remove_dead(computation, taken)


def used_elements(instruction: Instruction) -> set[int]:
    """Returns the elements of a tuple that anything uses; all where it is used as a whole."""
    found: set[int] = set()
    everything = set(range(len(tuple_shape(instruction).elements)))
    if instruction.is_root:
        return everything
    for user in instruction.users:
        match user.op:
            case GetTupleElement(index=index):
                if user.users or user.is_root:
                    found.add(index)
            case _:
                return everything
    return found


def taken_elements(instruction: Instruction) -> dict[int, list[Instruction]]:
    """Returns the instructions that take elements of a tuple, by the number of the element."""
    found: dict[int, list[Instruction]] = {}
    for user in instruction.users:
        if isinstance(user.op, GetTupleElement):
            found.setdefault(user.op.index, []).append(user)
    return found


def replace_elements(source: Instruction, values: Mapping[int, Instruction]) -> None:
    """Lets what uses elements of a tuple use other values, by the numbers of the elements."""
    computation = source.parent
    assert computation is not None, f"{source.name} is in no computation"
    for index, taken in taken_elements(source).items():
        if index in values:
            for one in taken:
                computation.replace_uses(one, values[index])
            remove_dead(computation, taken)


def take_apart(instruction: Instruction) -> None:
    """Lets what uses a tuple as a whole use a new tuple of its elements."""
    computation = instruction.parent
    assert computation is not None, f"{instruction.name} is in no computation"
    whole = [user for user in instruction.users if not isinstance(user.op, GetTupleElement)]
    if not whole and not instruction.is_root:
        return
    builder = Builder(computation, instruction)
    count = len(tuple_shape(instruction).elements)
    elements = [builder.element(instruction, index) for index in range(count)]
    joined = builder.tuple(*elements)
    for user in whole:
        user.operands = tuple(joined if one is instruction else one for one in user.operands)
    if instruction.is_root:
        computation.root = joined


def drop_elements(instruction: Instruction, dropped: Collection[int]) -> None:
    """Takes elements out of the tuple that an instruction yields; nobody uses these."""
    elements = tuple_shape(instruction).elements
    kept = [index for index in range(len(elements)) if index not in dropped]
    _keep_shardings(instruction, kept)
    instruction.shape = TupleShape([elements[index] for index in kept])
    numbers = {index: number for number, index in enumerate(kept)}
    _renumber_variable(instruction, numbers)
    for user in instruction.users:
        assert isinstance(user.op, GetTupleElement), f"{user.name} uses the whole tuple"
        user.op = user.op.replace(index=numbers[user.op.index])


def append_elements(instruction: Instruction, added: Sequence[Shape]) -> None:
    """Adds elements to the tuple that an instruction yields.

    What uses the whole tuple goes on with a tuple of the elements that were there.
    """
    take_apart(instruction)
    _append_shapes(instruction, added)


def append_operands(joined: Instruction, added: Sequence[Instruction]) -> None:
    """Adds operands to a tuple that nothing uses yet but as a root."""
    joined.operands = (*joined.operands, *added)
    _append_shapes(joined, [operand.shape for operand in added])


def _append_shapes(instruction: Instruction, added: Sequence[Shape]) -> None:
    annotations = instruction.annotations
    if annotations.origin is not None:
        instruction.annotations = annotations = annotations.replace(origin=None)
    found = annotations.sharding
    if isinstance(found, TupleSharding):
        more = ArraySharding("replicated").for_shape(TupleShape(added))
        assert isinstance(more, TupleSharding), "a tuple has a sharding for each leaf"
        sharding = TupleSharding((*found.elements, *more.elements))
        instruction.annotations = annotations.replace(sharding=sharding)
    instruction.shape = TupleShape([*tuple_shape(instruction).elements, *added])


def keep_operands(joined: Instruction, kept: Sequence[int]) -> None:
    """Takes all other operands out of a tuple that nothing uses yet but as a root."""
    _keep_shardings(joined, kept)
    joined.operands = tuple(joined.operands[index] for index in kept)
    joined.shape = TupleShape([operand.shape for operand in joined.operands])


def _keep_shardings(instruction: Instruction, kept: Sequence[int]) -> None:
    annotations = instruction.annotations
    if annotations.origin is not None:
        instruction.annotations = annotations = annotations.replace(origin=None)
    found = annotations.sharding
    if not isinstance(found, TupleSharding):
        return
    wanted = set(kept)
    leaves = tuple_shape(instruction).leaves()
    pairs = zip(leaves, found.elements, strict=False)
    shardings = [sharding for (index, _), sharding in pairs if index[0] in wanted]
    left = TupleSharding(tuple(shardings)) if shardings else None
    instruction.annotations = annotations.replace(sharding=left)


def _renumber_variable(instruction: Instruction, numbers: dict[int, int]) -> None:
    """Lets the configuration of a loop name the induction variable by its new number."""
    annotations = instruction.annotations
    if _VARIABLE not in annotations.backend_config:
        return
    config = json.loads(annotations.backend_config)
    number = numbers.get(int(config[_VARIABLE][_INDEX]))
    if number is None:
        del config[_VARIABLE]
    else:
        config[_VARIABLE][_INDEX] = str(number)
    text = json.dumps(config, separators=(",", ":"))
    instruction.annotations = annotations.replace(backend_config=text)
