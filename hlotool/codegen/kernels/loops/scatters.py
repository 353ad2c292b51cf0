"""Scatters: windows of updates combined into an array, in the order in which they are given.

The items of work are rows: the dimension that changes slowest in memory. For each range of rows
all updates are gone through and those that fall into it are done, so that the order of those
for one element is the same whatever the number of threads.
"""

from __future__ import annotations

from hlotool.analysis.updates_in_place import below_bitcasts
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.kernels.kernel import BYTES_A_NANOSECOND, Kernel, Launch, kernel
from hlotool.codegen.kernels.loops.scatter_loops import ScatterLoops
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.cost import byte_count, element_count
from hlotool.ir.instruction import Instruction
from hlotool.ops.indexing import Scatter

_INDEX_NANOSECONDS = 1.5
"""How long it takes to look at an update that falls into another range."""
_MOST_PIECES = 16


@kernel(Scatter)
def _scatter(kernel: Kernel) -> Launch:
    scatter = _written(kernel)
    arrays = len(scatter.operands) // 2
    _check_reads(kernel, scatter, arrays)
    outputs = []
    for number in range(arrays):
        shape = array_shape(scatter.operands[number])
        outputs.append(Source(kernel.destination(number).memory, shape))
    loops = ScatterLoops(kernel, scatter, outputs)
    loops.write({output for _, output in kernel.shared})
    return _launch(kernel, scatter, loops.rows)


def _written(kernel: Kernel) -> Instruction:
    """Returns the scatter that all outputs are."""
    found = [below_bitcasts(one) for one, _ in kernel.body.outputs]
    parts = [index for _, index in kernel.body.outputs]
    scatter = found[0]
    count = len(scatter.operands) // 2
    expected = [()] if count == 1 else [(number,) for number in range(count)]
    is_whole = all(one is scatter for one in found) and parts == expected
    if not isinstance(scatter.op, Scatter) or not is_whole:
        raise NotCompiled("a scatter whose result is used in its kernel")
    return scatter


def _check_reads(kernel: Kernel, scatter: Instruction, arrays: int) -> None:
    """Raises `NotCompiled` where an array that is overwritten is also read as something else."""
    for number, output in kernel.shared:
        one = kernel.body.inputs[number][0]
        users = kernel.body.users.get(one, ())
        places = [n for n, operand in enumerate(scatter.operands) if operand is one]
        if any(user is not scatter for user in users) or places != [output]:
            raise NotCompiled(f"{one.name} is read while it is updated in place")


def _launch(kernel: Kernel, scatter: Instruction, rows: int) -> Launch:
    count = len(scatter.operands) // 2
    indices, updates = scatter.operands[count], scatter.operands[count + 1 :]
    moved = 3 * sum(byte_count(one.shape) for one in updates)
    if len(kernel.shared) < count:
        moved += 2 * sum(byte_count(one.shape) for one in scatter.operands[:count])
    looking = _INDEX_NANOSECONDS * max(1, element_count(indices.shape))
    total = moved / BYTES_A_NANOSECOND + element_count(updates[0].shape) * 0.5 + looking
    # Each range of rows looks at all updates.
    pieces = int(min(_MOST_PIECES, rows, max(1.0, 0.25 * total / looking)))
    return Launch(rows, -(-rows // pieces), total / rows)
