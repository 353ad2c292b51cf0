"""Making one fusion of several instructions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hlotool.analysis.equal_computations import meaning_of_annotations
from hlotool.ir.annotations import NO_ANNOTATIONS, Annotations
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, TupleShape
from hlotool.ops.control_flow import Fusion
from hlotool.ops.source import Constant, Parameter
from hlotool.ops.tuples import GetTupleElement, Tuple
from hlotool.rewriting.builder import Builder
from hlotool.rewriting.rewriter import remove_dead

FUSED_NAME = "fused_computation"


@dataclass(frozen=True)
class Outline:
    """The body of a fusion that is in no module yet.

    `outputs` are the instructions outside whose values it yields, `arguments` those that it
    takes, in the order of its parameters.
    """

    body: Computation
    outputs: tuple[Instruction, ...]
    arguments: tuple[Instruction, ...]
    roots: tuple[Instruction, ...]
    """What in the body yields each of the outputs."""


def is_scalar_constant(instruction: Instruction) -> bool:
    """Whether the instruction is a constant of one element: fusions have their own copy.

    One with control edges stays: with it edges of others would go.
    """
    shape = instruction.shape
    return (
        isinstance(instruction.op, Constant)
        and not instruction.has_control_edges
        and isinstance(shape, ArrayShape)
        and shape.element_count == 1
    )


def outlined(members: Sequence[Instruction], outputs: Sequence[Instruction]) -> Outline:
    """Returns a body that computes `outputs` with copies of `members`, operands before users.

    Of members that are fusions the bodies are copied; of those with several results the elements
    are members too. Equal values are computed once, and constants of one element come along.
    Outputs are arrays, or it is one that is a tuple.
    """
    writer = _BodyWriter()
    for member in members:
        writer.copy(member)
    return writer.finished(outputs)


class Fuser:
    """Puts fusions in the place of instructions of one computation, all together in `finish`."""

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        self._replaced: dict[Instruction, Instruction] = {}

    def fuse(
        self, outline: Outline, kind: str, name: str = "", body_name: str = FUSED_NAME
    ) -> Instruction:
        """Returns a new fusion of a body, which will take the place of the outputs."""
        last = outline.outputs[-1]
        builder = Builder(self._computation, like=last)
        module = builder.module
        body = outline.body
        body.name = module.computation_name(body_name)
        body.execution_thread = self._computation.execution_thread
        module.add_computation(body)
        for instruction in body.instructions:
            instruction.name = module.instruction_name(instruction.name)
        fusion = builder.add(
            Fusion(kind=kind),
            *outline.arguments,
            calls=[body],
            shape=body.root.shape,
            name=name or fusion_name(body),
        )
        if len(outline.outputs) == 1:
            self._replace(last, fusion)
            return fusion
        for number, output in enumerate(outline.outputs):
            self._replace(output, builder.add(GetTupleElement(number), fusion))
        return fusion

    def finish(self) -> bool:
        """Lets users take the fusions, and removes what nothing uses; returns whether it did."""
        # An instruction with many operands is changed once, however many of them are replaced.
        users = dict.fromkeys(user for old in self._replaced for user in old.users)
        for user in users:
            user.operands = tuple(self._replaced.get(one, one) for one in user.operands)
        root = self._computation.root
        self._computation.root = self._replaced.get(root, root)
        remove_dead(self._computation, self._replaced)
        return bool(self._replaced)

    def _replace(self, old: Instruction, new: Instruction) -> None:
        self._replaced[old] = new
        if old.has_metadata_alone:
            new.take_metadata(old)
            return
        annotations = old.annotations
        if old.op.opcode != new.op.opcode:
            annotations = annotations.replace(
                backend_config=NO_ANNOTATIONS.backend_config,
                result_accuracy=NO_ANNOTATIONS.result_accuracy,
            )
        new.annotations = annotations


def fusion_name(body: Computation) -> str:
    """Returns the name of a fusion: the opcodes of the last two instructions that compute."""
    computing = [
        one.opcode for one in body.instructions if not isinstance(one.op, (Parameter, Constant))
    ]
    if computing and isinstance(body.root.op, Tuple):
        computing.pop()
    return "_".join([*computing[-2:], "fusion"])


class _BodyWriter:
    """Copies instructions into a body; `_copies` has what stands for each outside."""

    def __init__(self) -> None:
        self._instructions: list[Instruction] = []
        self._copies: dict[Instruction, Instruction] = {}
        self._elements: dict[Instruction, tuple[Instruction, ...]] = {}
        self._arguments: dict[Instruction, Instruction] = {}
        self._known: dict[Hashable, Instruction] = {}

    def copy(self, member: Instruction) -> None:
        """Takes a copy of an instruction in, of a fusion one of its body."""
        if member.op.is_fusion:
            self._copy_body(member)
        elif isinstance(member.op, GetTupleElement) and member.operands[0] in self._elements:
            self._copies[member] = self._elements[member.operands[0]][member.op.index]
        else:
            operands = tuple([self._taken(operand) for operand in member.operands])
            self._copies[member] = self._added(member, operands)

    def _copy_body(self, fusion: Instruction) -> None:
        (body,) = fusion.calls
        arguments = [self._taken(operand) for operand in fusion.operands]
        inside = dict(zip(body.parameters, arguments, strict=True))
        for instruction in body.instructions:
            if instruction in inside:
                continue
            operands = tuple([inside[operand] for operand in instruction.operands])
            if instruction is body.root and isinstance(instruction.op, Tuple):
                self._elements[fusion] = operands
                return
            inside[instruction] = self._added(instruction, operands)
        self._copies[fusion] = inside[body.root]

    def _taken(self, operand: Instruction) -> Instruction:
        found = self._copies.get(operand)
        if found is None and is_scalar_constant(operand):
            found = self._copies[operand] = self._added(operand, ())
        if found is None:
            found = Instruction("", operand.shape, _UNNUMBERED)
            self._arguments[operand] = found
            self._copies[operand] = found
        return found

    def _added(self, member: Instruction, operands: tuple[Instruction, ...]) -> Instruction:
        meaning = meaning_of_annotations(member)
        key = (member.op, member.shape.text, meaning, operands, member.calls)
        found = self._known.get(key)
        if found is None:
            found = member.copied(operands)
            if meaning is not None:
                found.annotations = _without_placement(member.annotations)
            self._known[key] = found
            self._instructions.append(found)
        return found

    def finished(self, outputs: Sequence[Instruction]) -> Outline:
        """Returns the body, without what no output needs."""
        roots = tuple(self._copies[output] for output in outputs)
        root = roots[0]
        if len(roots) > 1:
            shape = TupleShape([one.shape for one in roots])
            root = Instruction("tuple", shape, Tuple(), roots)
        needed = _needed(root)
        parameters: list[Instruction] = []
        arguments: list[Instruction] = []
        for argument, parameter in self._arguments.items():
            if parameter in needed:
                parameter.op = Parameter(len(parameters))
                parameter.name = f"param_{len(parameters)}"
                parameters.append(parameter)
                arguments.append(argument)
        inside = [one for one in self._instructions if one in needed]
        instructions = [*parameters, *inside, *([root] if len(roots) > 1 else [])]
        body = Computation(FUSED_NAME, instructions, root)
        body.parameters = tuple(parameters)
        return Outline(body, tuple(outputs), tuple(arguments), roots)


_UNNUMBERED = Parameter(0)
"""The op of parameters until it is known which are needed."""


def _without_placement(annotations: Annotations) -> Annotations:
    """Returns what holds of an instruction also in the body of a fusion."""
    kept = NO_ANNOTATIONS
    if annotations.sharding == kept.sharding and annotations.backend_config == kept.backend_config:
        return annotations
    return annotations.replace(sharding=kept.sharding, backend_config=kept.backend_config)


def _needed(root: Instruction) -> set[Instruction]:
    needed = {root}
    waiting = [root]
    while waiting:
        for operand in waiting.pop().operands:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return needed
