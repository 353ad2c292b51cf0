"""What one kernel can compute: the rules of every fusion.

A kernel is a loop nest over the elements of its first output. What else it computes falls in
one of these:

- elements at the place of the loops, or at one computed from it: for each further place the
  value is computed again, so their number is bounded;
- sums and other folds that the result is (`kInput`), with loops over what they fold; elements
  there may be stored on the way as more outputs;
- *rows*: folds along the minor dimensions whose results are used for all elements of their row;
  a row stays in cache between sweeps, as softmax and layernorm need it;
- one dot or convolution, with work on its result and before it is written (`kOutput`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlotool.analysis.effects import has_side_effect
from hlotool.ir.cost import Access, byte_count, element_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.elementwise import Elementwise
from hlotool.ops.indexing import Gather
from hlotool.ops.reduction import Map, Reduce, ReduceWindow
from hlotool.ops.shape_changing import Broadcast
from hlotool.ops.source import Constant, Parameter
from hlotool.ops.tuples import Tuple
from hlotool.ops.unary import Rsqrt, Sqrt
from hlotool.passes.fusion.labels import Labels, Place, labels_of, sizes_of
from hlotool.rewriting.outlining import is_scalar_constant

_MOST_LOOKED_AT = 32
"""At how many instructions below a producer it is looked for what they cost."""


@dataclass(frozen=True)
class Limits:
    """How large a kernel may become."""

    instructions: int = 1000
    parameters: int = 128
    evaluations: int = 8
    """For each element of an operand, of what computes."""
    row_elements: int = 1 << 16
    small_elements: int = 1 << 13
    """An array of so few is in the nearest cache, in whatever order it is read."""
    rows: bool = True
    products: bool = True


def can_be_fused(instruction: Instruction) -> bool:
    """Whether a fusion may have the instruction in its body at all."""
    op = instruction.op
    return (
        op.access is not Access.WHOLE
        # A fold yields arrays of equal dimensions, a copy of a tuple any.
        and (op.access is Access.FOLDED or not instruction.shape.is_tuple)
        and not has_side_effect(instruction)
        and not instruction.has_control_edges
        and (not isinstance(op, Constant) or is_scalar_constant(instruction))
        and _is_static(instruction.shape)
        and all(_is_static(operand.shape) for operand in instruction.operands)
    )


def _is_static(shape: Shape) -> bool:
    """Whether there are only arrays of known sizes."""
    if isinstance(shape, ArrayShape):
        return not shape.dynamic
    return isinstance(shape, TupleShape) and all(map(_is_static, shape.elements))


class Kernel:
    """Instructions that become one kernel; users are taken in before their operands."""

    def __init__(self, root: Instruction, limits: Limits) -> None:
        self.limits = limits
        self.labels = Labels()
        self.root = root
        self.outputs: list[Instruction] = [root]
        self.places: dict[Instruction, tuple[Place, ...]] = {}
        self.rows: frozenset[int] | None = None
        """The labels of the rows, where values are folded that are not an output."""
        self.product: Instruction | None = None
        self.arguments: dict[Instruction, None] = {}
        self._feeding: set[Instruction] = set()
        """Members that a fold in the kernel needs before it begins."""
        place = self.labels.new_space(sizes_of(root))
        self.root_place = place
        self._order = [place[d] for d in _major_to_minor(root)]
        self._take(root, (place,))

    def copied(self) -> Kernel:
        """Returns a copy that can take more in alone."""
        made = Kernel(self.root, self.limits)
        made.labels = self.labels.copied()
        made.rows, made.product = self.rows, self.product
        made.outputs = list(self.outputs)
        made.places = dict(self.places)
        made.arguments = dict(self.arguments)
        made._feeding = set(self._feeding)
        return made

    @property
    def is_fold(self) -> bool:
        """Whether the first output folds its operands."""
        return self.root.op.access is Access.FOLDED

    @property
    def kind(self) -> str:
        """The kind that the fusion has in the text."""
        if self.product is not None:
            return "kOutput"
        outputs_fold = any(one.op.access is Access.FOLDED for one in self.outputs)
        return "kInput" if outputs_fold or self.rows is not None else "kLoop"

    def refusal(self, producer: Instruction, users: Iterable[Instruction]) -> str:
        """Returns why a producer cannot come in for these users in the kernel, or nothing."""
        places = self._needed_places(producer, users)
        return (
            self._too_large(producer)
            or self._too_often(producer, places)
            or self._wrong_user(producer, users)
            or self._wrong_place(producer, places, users)
        )

    def take(self, producer: Instruction, users: Iterable[Instruction]) -> None:
        """Takes a producer in that was not refused."""
        if self._feeds(users):
            self._feeding.add(producer)
        self._take(producer, self._needed_places(producer, users))

    def output_refusal(self, member: Instruction) -> str:
        """Returns why the kernel cannot also yield one of its instructions, or nothing."""
        places = self.places[member]
        if len(places) != 1:
            return "is computed at several places"
        if member.op.access is Access.UPDATED or self.root.op.access is Access.UPDATED:
            return "an update in place is all that its kernel yields"
        labels = labels_of(places[0])
        if labels == self.rows or labels == labels_of(self.root_place):
            return ""
        if self.is_fold and labels == labels_of(self._fold_space()):
            return ""
        return "its elements are not those that the kernel runs through"

    def beside_refusal(self, output: Instruction) -> str:
        """Returns why the kernel cannot yield an instruction that nothing in it uses."""
        if Access.UPDATED in {output.op.access, self.root.op.access}:
            return "an update in place is all that its kernel yields"
        if Access.SUMMED in {output.op.access, self.root.op.access} or self.product is not None:
            return "a product has a kernel of its own"
        return "" if self._place_beside(output) is not None else "it runs through other elements"

    def take_beside(self, output: Instruction) -> None:
        """Takes an output in that nothing in the kernel uses and that was not refused."""
        place = self._place_beside(output)
        assert place is not None
        self.outputs.append(output)
        self._take(output, (place,))

    def _place_beside(self, output: Instruction) -> Place | None:
        if isinstance(output.op, ReduceWindow):
            return self.root_place if self._fits_root(output) else None
        if isinstance(output.op, Reduce):
            return self._fold_beside(output)
        if self.is_fold:
            space = self._fold_space()
            return space if self.labels.fits(space, sizes_of(output)) else None
        return self.root_place if self._fits_root(output) else None

    def _fits_root(self, output: Instruction) -> bool:
        return self.labels.fits(self.root_place, sizes_of(output))

    def _fold_beside(self, output: Instruction) -> Place | None:
        op = output.op
        assert isinstance(op, Reduce)
        sizes = sizes_of(output.operands[0])
        space = self._fold_space() if self.is_fold else self.root_place
        if not self.labels.fits(space, sizes):
            return None
        place = tuple(space[d] for d in range(len(sizes)) if d not in op.dimensions)
        folds = [one for one in self.outputs if isinstance(one.op, Reduce)]
        wanted = {labels_of(self.places[one][0]) for one in folds}
        if self.rows is not None:
            wanted.add(self.rows)
        return place if wanted <= {labels_of(place)} else None

    def _fold_space(self) -> Place:
        return self.labels.of_operand(self.root, 0, (self.root_place,))[0]

    def _needed_places(
        self, producer: Instruction, users: Iterable[Instruction]
    ) -> tuple[Place, ...]:
        needed: dict[Place, None] = {}
        for user in users:
            places = self.places[user]
            for number, operand in enumerate(user.operands):
                if operand is producer:
                    for place in self.labels.of_operand(user, number, places):
                        needed[place] = None
        return tuple(needed)

    def _take(self, member: Instruction, places: tuple[Place, ...]) -> None:
        self.places[member] = places
        self.arguments.pop(member, None)
        for operand in member.operands:
            if operand not in self.places and not is_scalar_constant(operand):
                self.arguments[operand] = None
        if member.op.access is Access.SUMMED:
            self.product = member
        if isinstance(member.op, Reduce) and member not in self.outputs:
            self.rows = labels_of(places[0])

    def _feeds(self, users: Iterable[Instruction]) -> bool:
        """Whether a loop inside the loops over the result needs what these users need."""
        whole = labels_of(self.root_place)
        return any(user in self._feeding or not self._is_within(user, whole) for user in users)

    def _is_within(self, member: Instruction, labels: frozenset[int]) -> bool:
        return all(labels_of(place) <= labels for place in self.places[member])

    def _too_large(self, producer: Instruction) -> str:
        if len(self.places) >= self.limits.instructions:
            return f"the kernel has {self.limits.instructions} instructions already"
        more = len(self.arguments) + len(producer.operands)
        if producer.operands and more > self.limits.parameters:
            return f"the kernel would have more than {self.limits.parameters} operands"
        return ""

    def _too_often(self, producer: Instruction, places: Sequence[Place]) -> str:
        most = self.limits.evaluations
        if producer.op.access is Access.MOVED:
            most *= 1 if producer.operands else 8
        if len(places) > most:
            return f"each of its elements would be computed more than {most} times"
        if producer.op.access is Access.SAME and any(self._repeats(producer, p) for p in places):
            if is_costly(producer):
                return "it is a costly function that would be computed again for each row"
            if _costly_bytes_below(producer) > byte_count(producer.shape):
                return "it is made of costly functions, which would all be stored in its place"
        return ""

    def _repeats(self, producer: Instruction, place: Place) -> bool:
        """Whether the loops come to one place more than once, and cannot keep the value."""
        loops = self.labels.loops_of(place)
        if any(loops >= labels_of(space) for space in self.labels.spaces):
            return False
        return bool(loops) and not self._is_prefix(loops)

    def _is_prefix(self, labels: frozenset[int]) -> bool:
        """Whether these are the outermost loops."""
        order = [label for label in self._loop_order() if label >= 0]
        return frozenset(order[: len(labels)]) == labels

    def _loop_order(self) -> list[int]:
        if not self.is_fold or not isinstance(self.root.op, Reduce):
            return self._order
        space = self._fold_space()
        return [space[d] for d in _major_to_minor(self.root.operands[0])]

    def _wrong_user(self, producer: Instruction, users: Iterable[Instruction]) -> str:
        for user in users:
            match user.op.access:
                case Access.UPDATED if producer in user.operands[:1]:
                    if user.op.opcode == "scatter" or not _is_spread(producer):
                        return f"{user.name} updates it in place"
                case Access.SUMMED if not self._is_packed(producer):
                    return f"{user.name} reads its elements many times"
                case Access.FOLDED if isinstance(user.op, ReduceWindow):
                    if _overlap(user.op) > 4 or (is_costly(producer) and _overlap(user.op) > 1):
                        return f"windows of {user.name} show its elements many times"
                case Access.MOVED if isinstance(user.op, Gather) and is_costly(producer):
                    if element_count(user.shape) > element_count(producer.shape):
                        return f"{user.name} reads its elements many times"
        return ""

    def _is_packed(self, producer: Instruction) -> bool:
        """Whether a product can read through an instruction as it packs its operand."""
        is_moved = producer.op.access is Access.MOVED and not isinstance(producer.op, Gather)
        return self.limits.products and is_moved and len(producer.operands) == 1

    def _wrong_place(
        self, producer: Instruction, places: Sequence[Place], users: Iterable[Instruction]
    ) -> str:
        match producer.op.access:
            case Access.UPDATED:
                return "it updates an array in place"
            case Access.SUMMED:
                return self._product_refusal(places)
            case Access.FOLDED:
                return self._fold_refusal(producer, places, users)
        return ""

    def _product_refusal(self, places: Sequence[Place]) -> str:
        if not self.limits.products:
            return "products have kernels of their own"
        if self.product is not None:
            return f"the kernel has the product {self.product.name} already"
        if self.rows is not None or self.root.op.access in {Access.FOLDED, Access.UPDATED}:
            return "a kernel that folds or updates computes no products"
        if not self._is_whole(places):
            return "its elements are not used one after the other"
        return ""

    def _is_whole(self, places: Sequence[Place]) -> bool:
        return len(places) == 1 and labels_of(places[0]) == labels_of(self.root_place)

    def _fold_refusal(
        self, producer: Instruction, places: Sequence[Place], users: Iterable[Instruction]
    ) -> str:
        if len(places) != 1:
            return "it would be folded again for each place where it is used"
        if self.product is not None:
            return "a kernel with a product folds nothing"
        if isinstance(producer.op, ReduceWindow):
            return "" if self._is_whole(places) else "its windows would be folded again"
        feeds = self._feeds(users)
        return self._row_refusal(producer, places[0], feeds=feeds)

    def _row_refusal(self, producer: Instruction, place: Place, *, feeds: bool) -> str:
        labels, whole = labels_of(place), labels_of(self.root_place)
        operand = producer.operands[0]
        is_small = element_count(operand.shape) <= self.limits.small_elements
        is_nested = self.is_fold and labels == labels_of(self._fold_space())
        if not labels <= whole and not is_nested:
            return "it would be folded again inside another fold"
        if self.rows not in {None, labels}:
            return "the kernel folds rows of other dimensions"
        if labels == whole and not feeds and (self._is_first_fold() or self._joins(producer)):
            return ""
        if not self.limits.rows:
            return "it must be folded to the end before any element is computed"
        return "" if is_small else self._large_row_refusal(producer, labels)

    def _large_row_refusal(self, producer: Instruction, labels: frozenset[int]) -> str:
        operand = producer.operands[0]
        if not labels:
            return "it folds the whole array, which no cache keeps"
        if not _folds_minor(producer):
            return "what it folds does not lie in rows"
        if not self._is_prefix(labels):
            return "its rows are not those of the kernel"
        row = element_count(operand.shape) // max(1, element_count(producer.shape))
        if row > self.limits.row_elements:
            return f"a row of {row} elements does not stay in cache"
        return ""

    def _is_first_fold(self) -> bool:
        return self.rows is None and not self.is_fold

    def _joins(self, fold: Instruction) -> bool:
        """Whether the loops over what is folded are there already."""
        sizes = sizes_of(fold.operands[0])
        return any(self.labels.fits(space, sizes) for space in self.labels.spaces)


def is_costly(instruction: Instruction) -> bool:
    """Whether an element takes so long that it must not be computed many times over."""
    op = instruction.op
    if isinstance(op, Map):
        return True
    return (
        isinstance(op, Elementwise) and op.is_transcendental and not isinstance(op, (Sqrt, Rsqrt))
    )


def _costly_bytes_below(producer: Instruction) -> int:
    """Returns the bytes of costly functions that an elementwise instruction alone is made of."""
    inside = {producer}
    waiting = [producer]
    total = 0
    while waiting and len(inside) < _MOST_LOOKED_AT:
        for operand in dict.fromkeys(waiting.pop().operands):
            if not inside.issuperset(operand.users) or operand.is_root:
                continue
            if is_costly(operand):
                total += byte_count(operand.shape)
            elif operand.op.access is Access.SAME:
                inside.add(operand)
                waiting.append(operand)
    return total


def _is_spread(producer: Instruction) -> bool:
    """Whether an array is one small thing repeated, so that reading it is not worth anything."""
    read = sum(byte_count(operand.shape) for operand in producer.operands)
    return isinstance(producer.op, Broadcast) and 8 * read <= byte_count(producer.shape)


def _overlap(op: ReduceWindow) -> int:
    """Returns in how many windows an element shows."""
    times = 1
    for dimension in op.window:
        times *= -(-dimension.size // dimension.stride)
    return times


def _folds_minor(fold: Instruction) -> bool:
    op, shape = fold.op, fold.operands[0].shape
    assert isinstance(op, Reduce)
    assert isinstance(shape, ArrayShape)
    order = [d for d in shape.layout.minor_to_major if shape.dimensions[d] != 1]
    folded = {d for d in op.dimensions if shape.dimensions[d] != 1}
    return set(order[: len(folded)]) == folded


def _major_to_minor(instruction: Instruction) -> tuple[int, ...]:
    shape = instruction.shape
    if isinstance(shape, TupleShape):
        shape = shape.elements[0]
    assert isinstance(shape, ArrayShape)
    return shape.layout.minor_to_major[::-1]


def is_free(instruction: Instruction) -> bool:
    """Whether an instruction only gives another view of its operand."""
    if len(instruction.operands) != 1:
        return False
    (operand,) = instruction.operands
    return instruction.op.is_free([operand.shape], instruction.shape)


def kernel_of(
    instructions: Sequence[Instruction], outputs: Sequence[Instruction], limits: Limits
) -> Kernel | str:
    """Returns the kernel of a whole body, or why there is none; operands before users."""
    wanted = {_below_views(output) for output in outputs}
    kernel: Kernel | None = None
    for instruction in reversed(instructions):
        if isinstance(instruction.op, (Parameter, Constant, Tuple)):
            continue
        if not can_be_fused(instruction) or instruction.shape.is_tuple:
            return f"{instruction.name} is nothing that kernels merge"
        users = () if kernel is None else [u for u in instruction.users if u in kernel.places]
        if not users and instruction not in wanted:
            continue
        if kernel is None:
            kernel = Kernel(instruction, limits)
            continue
        refusal = _extended(kernel, instruction, users, is_output=instruction in wanted)
        if refusal:
            return f"{instruction.name}: {refusal}"
    return kernel or "there is nothing to compute"


def _below_views(output: Instruction) -> Instruction:
    while is_free(output) and can_be_fused(output.operands[0]):
        output = output.operands[0]
    return output


def _extended(
    kernel: Kernel, instruction: Instruction, users: Sequence[Instruction], *, is_output: bool
) -> str:
    if not users:
        refusal = kernel.beside_refusal(instruction)
        if not refusal:
            kernel.take_beside(instruction)
        return refusal
    refusal = kernel.refusal(instruction, users)
    if refusal:
        return refusal
    if is_output:
        kernel.outputs.append(instruction)
    kernel.take(instruction, users)
    return kernel.output_refusal(instruction) if is_output else ""
