"""What pictures of a module show, apart from the form that they have.

A `ModuleGraph` says of each instruction what its box says, in which colour, what it costs, and
which computations stand inside it; of each computation what it is to its callers. Dot files,
trees on a terminal, JSON and pages are made from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hlotool.analysis.cost import CostAnalysis, roots_of
from hlotool.analysis.trip_count import noted_trip_count, trip_count
from hlotool.analysis.updates_in_place import updated_parameter
from hlotool.graph.module_text import ModuleText
from hlotool.graph.titles import applied_title, leading, weights
from hlotool.ir.appearance import Category, Drawn
from hlotool.ir.cost import Access, Cost
from hlotool.ops.control_flow import While
from hlotool.ops.tuples import GetTupleElement

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module

_KINDS = {
    "condition": "condition",
    "body": "body",
    "branch_computations": "branch",
    "true_computation": "branch",
    "false_computation": "branch",
}
"""What a computation that runs as such is to its caller, by the part that it plays; else a call."""

Face = tuple[str, Category]
"""What a box says first, and the category that its colour is of."""
_TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Called:
    """A computation that an instruction calls, and the part that it plays: `branch 0`."""

    part: str
    kind: str
    computation: Computation

    @property
    def is_inside(self) -> bool:
        """Whether pictures draw it inside the caller: it is no function of single elements."""
        return self.kind != "applied"


class ModuleGraph:
    """The computations of a module as pictures show them; the module must not change."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.text = ModuleText(module)
        self.computations = self.text.computations
        """In the order of the text, called ones before their callers."""
        self.costs = CostAnalysis(module)
        self._costs: dict[Instruction, Cost] = {}
        self._faces: dict[Instruction, Face] = {}
        self._kinds: dict[Computation, str] | None = None

    def instructions(self, computation: Computation) -> list[Instruction]:
        """Returns the instructions of a computation in the order of the text."""
        return self.text.instructions[computation]

    def kind(self, computation: Computation) -> str:
        """Returns what a computation is: entry, fusion, body, condition, branch, call, applied.

        One that nothing calls is `call`; of several parts the first that is drawn counts.
        """
        if self._kinds is None:
            self._kinds = {self.module.entry: "entry"}
            for one in self.computations:
                for instruction in self.instructions(one):
                    for called in called_by(instruction):
                        known = self._kinds.get(called.computation, "applied")
                        if known == "applied":
                            self._kinds[called.computation] = called.kind
        return self._kinds.get(computation, "call")

    def title(self, instruction: Instruction) -> str:
        """Returns what the box of an instruction says first.

        It is the opcode or what the op shows for it, of a fusion its weightiest opcodes,
        `reduce add` for an op that applies a function of one instruction, and of a loop
        how often it turns, where that is known.
        """
        return self.face(instruction)[0]

    def category(self, instruction: Instruction) -> Category:
        """Returns the category of the op, for a fusion that of its weightiest instruction."""
        return self.face(instruction)[1]

    def take_known(self, fusion: Instruction, cost: Cost, face: Face) -> None:
        """Takes what is known of a fusion, since its body was looked at in another module."""
        self._costs[fusion] = cost
        self._faces[fusion] = face

    def face(self, instruction: Instruction) -> Face:
        """Returns title and category."""
        if not instruction.calls:
            return instruction.op.title, instruction.op.category
        found = self._faces.get(instruction)
        if found is None:
            found = self._faces[instruction] = self._face_of_caller(instruction)
        return found

    def _face_of_caller(self, caller: Instruction) -> Face:
        op = caller.op
        if op.is_fusion:
            weighed = weights(caller.calls[0].instructions, self.cost)
            if weighed:
                heaviest = max(weighed, key=lambda title: weighed[title].weight)
                return leading(weighed), weighed[heaviest].category
        if op.runs_code:
            return applied_title(caller), op.category
        if isinstance(op, While):
            noted = noted_trip_count(caller)
            turns = trip_count(caller) if noted is None else noted
            return op.title if turns is None else f"{op.title} {_TIMES}{turns:,}", op.category
        return op.title, op.category

    def cost(self, instruction: Instruction) -> Cost:
        """Returns what one run of an instruction takes, with loops run once and all branches."""
        found = self._costs.get(instruction)
        if found is None:
            found = self.costs.instruction_cost(instruction)
            if instruction.calls and not instruction.op.runs_code:
                totals = [self.costs.computation_total(one).cost for one in instruction.calls]
                found = sum(totals, found)
            self._costs[instruction] = found
        return found


def called_by(instruction: Instruction) -> Iterator[Called]:
    """Yields the computations that an instruction calls with the parts that they play."""
    if not instruction.calls:
        return
    op = instruction.op
    rest = list(instruction.calls)
    for role in op.printed_roles([operand.shape for operand in instruction.operands]):
        taken = rest if role.many else rest[:1]
        rest = rest[len(taken) :]
        kind = _kind(instruction, role.name)
        for number, computation in enumerate(taken):
            part = f"{_KINDS.get(role.name, role.name)} {number}" if role.many else role.name
            yield Called(part, kind, computation)


def _kind(caller: Instruction, part: str) -> str:
    if caller.op.is_fusion:
        return "fusion"
    return "applied" if caller.op.runs_code else _KINDS.get(part, "call")


def is_folded(instruction: Instruction) -> bool:
    """Whether pictures show an instruction inside the boxes of its users.

    They do with a constant, and with one that is repeated over an array.
    """
    if instruction.is_root:
        return False
    drawn = instruction.op.drawn
    if drawn is Drawn.BROADCAST:
        (operand,) = instruction.operands
        return operand.op.drawn is Drawn.CONSTANT
    return drawn is Drawn.CONSTANT


def unrepeated(instruction: Instruction) -> Instruction:
    """Returns what is repeated over an array, and else the instruction itself."""
    while instruction.op.drawn is Drawn.BROADCAST:
        (instruction,) = instruction.operands
    return instruction


def updated_in_place(instruction: Instruction) -> Iterator[int]:
    """Yields the positions of operands whose memory the result is written into.

    That is what the instruction says and what follows from what it computes; whether a buffer
    is really shared is for the assignment of buffers to say.
    """
    op = instruction.op
    found = [operand for _, operand, _ in getattr(op, "output_to_operand_aliasing", ())]
    if op.access is Access.UPDATED:
        found.append(0)
    elif op.is_fusion:
        updates = map(updated_parameter, roots_of(instruction.calls[0]))
        numbers = [one.op.parameter_number for one in updates if one is not None]
        found += [number for number in numbers if number is not None]
    yield from dict.fromkeys(found)


def part_number(instruction: Instruction) -> int | None:
    """Returns the number of a parameter, or which part of a tuple is taken."""
    op = instruction.op
    return op.index if isinstance(op, GetTupleElement) else op.parameter_number
