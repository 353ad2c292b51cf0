"""Which parts of instructions share memory, and where that would destroy a value too early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from hlotool.analysis.dataflow import (
    Dataflow,
    Index,
    Place,
    Use,
    bindings,
    indices,
    shared_operand,
    updated_operand,
)
from hlotool.analysis.reads_in_place import Reads, lie_alike, reads_of
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Fusion, While
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.custom_calls.registry import Yields, yields_of
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.ordering import Sort
from hlotool.ops.source import Constant
from hlotool.ops.unary import Copy

_BEFORE_ALL = -1
_MOST_STEPS = 64
"""How many instructions are looked at to prove that one runs before another one."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A value of one computation in some memory: where it begins, and who reads it."""

    begin: int
    maker: Instruction | None
    """`None` for the parameters of the computation."""
    index: Index | None
    """The part of the maker's result; `None` where only what it calls writes."""
    uses: tuple[Use, ...]


class BufferClasses:
    """Places that must share memory, as sets that can be united.

    In a module that is not scheduled an order counts only where operands and control edges
    prove it, unless `in_order` says that instructions run as they stand.
    """

    def __init__(self, dataflow: Dataflow, *, in_order: bool = False) -> None:
        self.dataflow = dataflow
        self._is_scheduled = in_order or dataflow.module.is_scheduled
        self._parents: dict[Place, Place] = {}
        self.members: dict[Place, list[Place]] = {}
        """The places of each class, by the one that stands for it."""
        self._reads: dict[tuple[Computation, int], Reads] = {}
        for place, _ in dataflow.places():
            self._parents[place] = place
            self.members[place] = [place]
        self._unite_by_rules()

    def find(self, place: Place) -> Place:
        """Returns the place that stands for the class of a place."""
        parents = self._parents
        while (parent := parents[place]) is not place:
            parents[place] = parents[parent]
            place = parent
        return place

    def unite(self, one: Place, other: Place) -> Place:
        """Makes one class of two, and returns what stands for it."""
        kept, joined = self.find(one), self.find(other)
        if kept is joined:
            return kept
        if len(self.members[kept]) < len(self.members[joined]):
            kept, joined = joined, kept
        self._parents[joined] = kept
        self.members[kept] += self.members.pop(joined)
        return kept

    def arrays(self) -> Iterator[list[Place]]:
        """Yields the members of each class that holds elements."""
        for (instruction, index), members in list(self.members.items()):
            if isinstance(instruction.shape.subshape(index), ArrayShape):
                yield members

    def conflicts(self) -> list[list[Place]]:
        """Returns the classes in which a value is overwritten while it is still needed."""
        shared = (members for members in self.arrays() if len(members) > 1)
        return [members for members in shared if self.in_conflict(members)]

    def in_conflict(self, members: Iterable[Place]) -> bool:
        """Whether places cannot share memory: two of their values are needed at one time."""
        origins = self._origins(members)
        if _is_read_only_broken(origins, self.dataflow.module.entry, self._is_aliased):
            return True
        written = self._by_computation(origins)
        return any(self._overlap(values) for values in written.values())

    def is_read_only(self, origin: Place) -> bool:
        """Whether a value lies where nothing may be written: a constant or an input."""
        maker = origin[0]
        if isinstance(maker.op, Constant):
            return True
        is_parameter = maker.op.parameter_number is not None
        return (
            is_parameter
            and maker.parent is self.dataflow.module.entry
            and (origin not in self._aliased)
        )

    def breaks_result(self, members: Iterable[Place]) -> bool:
        """Whether memory that several results, or a result and an input or constant, would share.

        A result may lie in the memory of an input only where the header says so.
        """
        entry = self.dataflow.module.entry
        places = list(members)
        results = sum(instruction is entry.root for instruction, _ in places)
        if not results:
            return False
        return results > 1 or any(map(self.is_read_only, self._origins(places)))

    def runs_before(self, first: Instruction, second: Instruction) -> bool:
        """Whether an instruction runs before another one of its computation in every order."""
        position = self.dataflow.position
        if position[first] >= position[second]:
            return False
        if self._is_scheduled:
            return True
        seen = {second}
        waiting = [second]
        while waiting and len(seen) < _MOST_STEPS:
            for needed in waiting.pop().dependencies:
                if needed is first:
                    return True
                # What was added since has no place yet: it is looked through.
                place = position.get(needed, position[second])
                if needed not in seen and place > position[first]:
                    seen.add(needed)
                    waiting.append(needed)
        return False

    def writes_over(self, instruction: Instruction, operand_number: int, index: Index = ()) -> bool:
        """Whether a part of the result may be written over an operand while the operand is read.

        Each element of the result needs only the operand's element in the same place, or folds of
        the row that it stands in. A sort reads all of a line before it writes any of it.
        """
        operand = instruction.operands[operand_number].shape
        result = instruction.shape.subshape(index)
        if not isinstance(result, ArrayShape) or not lie_alike(result, operand):
            return False
        if isinstance(instruction.op, Sort):
            return index in ((), (operand_number,)) and _sorts_in_place(instruction)
        if index:
            return False
        if isinstance(instruction.op, Elementwise | Copy):
            return True
        if isinstance(instruction.op, CustomCall):
            return yields_of(instruction.op.custom_call_target) is Yields.THE_SAME
        if not isinstance(instruction.op, Fusion):
            return False
        return self._reads_of(instruction, operand_number) is not Reads.MORE

    def reads_rows(self, instruction: Instruction, operand_number: int) -> bool:
        """Whether a fusion folds rows of an operand that its result may be written over."""
        is_fusion = isinstance(instruction.op, Fusion)
        return is_fusion and self._reads_of(instruction, operand_number) is Reads.ROW

    def _reads_of(self, fusion: Instruction, operand_number: int) -> Reads:
        key = fusion.calls[0], operand_number
        if key not in self._reads:
            self._reads[key] = reads_of(*key)
        return self._reads[key]

    def _unite_by_rules(self) -> None:
        for computation in self.dataflow.computations:
            for instruction in computation.instructions:
                self._unite_within(instruction)
                self._unite_bound(instruction)
        module = self.dataflow.module
        self._aliased: set[Place] = set()
        for alias in module.header.input_output_alias:
            place = (module.entry.parameters[alias.parameter], tuple(alias.parameter_index))
            self._aliased.add(place)
            self.unite(place, (module.entry.root, tuple(alias.output_index)))

    def _is_aliased(self, place: Place) -> bool:
        return place in self._aliased

    def _unite_within(self, instruction: Instruction) -> None:
        for index, _ in indices(instruction.shape):
            source = shared_operand(instruction, index) or updated_operand(instruction, index)
            if source is not None:
                number, within = source
                self.unite((instruction.operands[number], within), (instruction, index))

    def _unite_bound(self, instruction: Instruction) -> None:
        for binding in bindings(instruction):
            parameters = binding.computation.parameters
            for parameter, number in zip(parameters, binding.operands, strict=True):
                operand = instruction.operands[number]
                for index, _ in indices(parameter.shape):
                    self.unite((operand, index), (parameter, index))
            if binding.result is None:
                continue
            root = binding.computation.root
            for index, _ in indices(root.shape):
                self.unite((root, index), (instruction, (*binding.result, *index)))
        if isinstance(instruction.op, While):
            for index, _ in indices(instruction.shape):
                self.unite((instruction.operands[0], index), (instruction, index))

    def _origins(self, members: Iterable[Place]) -> dict[Place, None]:
        origin = self.dataflow.origin
        return dict.fromkeys(origin(member) for member in members)

    def _by_computation(self, origins: Iterable[Place]) -> dict[Computation, list[_Written]]:
        found: dict[Computation, list[_Written]] = {}
        parameters: dict[Computation, list[Use]] = {}
        position = self.dataflow.position
        own: set[Instruction] = set()
        for origin in origins:
            maker, index = origin
            computation = maker.parent
            assert computation is not None, f"{maker.name} stands in no computation"
            uses = self.dataflow.uses.get(origin, [])
            if maker.op.parameter_number is not None:
                parameters.setdefault(computation, []).extend(uses)
                continue
            own.add(maker)
            made = _Written(position[maker], maker, index, tuple(uses))
            found.setdefault(computation, []).append(made)
        self._add_callers(found, own)
        for computation, uses in parameters.items():
            made = _Written(_BEFORE_ALL, None, None, tuple(uses))
            found.setdefault(computation, []).append(made)
        return found

    def _add_callers(self, found: dict[Computation, list[_Written]], own: set[Instruction]) -> None:
        # What a computation writes is written where its caller stands, too.
        for computation in list(found):
            caller = self.dataflow.callers.get(computation)
            while caller is not None and caller not in own:
                own.add(caller)
                outer = caller.parent
                assert outer is not None
                made = _Written(self.dataflow.position[caller], caller, None, ())
                found.setdefault(outer, []).append(made)
                caller = self.dataflow.callers.get(outer)

    def _overlap(self, values: list[_Written]) -> bool:
        if len(values) < 2:
            return False
        values.sort(key=lambda value: value.begin)
        return not all(self._ends_before(one, other) for one, other in pairwise(values))

    def _ends_before(self, one: _Written, other: _Written) -> bool:
        assert other.maker is not None
        if one.maker is other.maker:
            return one.index is None or other.index is None
        for use in one.uses:
            if use.user is None:
                return False
            if use.user is other.maker:
                if not self._is_taken_in_place(use, other):
                    return False
            elif not self.runs_before(use.user, other.maker):
                return False
        # A value that nothing reads is written all the same.
        return bool(one.uses) or one.maker is None or self.runs_before(one.maker, other.maker)

    def _is_taken_in_place(self, use: Use, other: _Written) -> bool:
        user = use.user
        assert user is not None
        if bindings(user):
            return True
        if other.index is None or use.operand_number < 0:
            return False
        if updated_operand(user, other.index) == (use.operand_number, use.index):
            return True
        return self.writes_over(user, use.operand_number, other.index)


def _is_read_only_broken(
    origins: Iterable[Place], entry: Computation, is_aliased: Callable[[Place], bool]
) -> bool:
    fixed = read_only = writes = 0
    for place in origins:
        maker = place[0]
        is_parameter = maker.op.parameter_number is not None
        if isinstance(maker.op, Constant) or (is_parameter and maker.parent is entry):
            fixed += 1
            read_only += not is_aliased(place)
        elif not is_parameter:
            writes += 1
    return fixed > 1 or (read_only > 0 and writes > 0)


def _sorts_in_place(sort: Instruction) -> bool:
    """Whether lines lie in all arrays of a sort in one way."""
    shapes = [operand.shape for operand in sort.operands]
    shapes += [shape for _, shape in sort.shape.leaves()]
    return len({s.layout.minor_to_major for s in shapes if isinstance(s, ArrayShape)}) == 1
