"""Compiles the instruction that is a module's root as one kernel, and runs it on arrays.

What it yields is compared with what the evaluator does, however the ranges of items are cut.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import ml_dtypes  # noqa: F401 - gives numpy the narrow types
import numpy as np
from numpy.typing import NDArray

import hlotool
from hlotool.codegen.kernels.body import body_of
from hlotool.codegen.kernels.kernel import NAME, Kernel, Launch
from hlotool.codegen.kernels.select import written_kernel
from hlotool.codegen.target import Target
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant
from hlotool.runtime.llvm import host_target
from hlotool.text.parser import parse
from tests.codegen.compiling import Compiled

Array = NDArray[Any]
Shared = Iterable[tuple[int, int]]
"""Pairs of an input and an output that are the same memory."""


TOLERANCES = {
    "f64": 1e-13, "f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2, "c64": 2e-5, "c128": 1e-13,
    "f8e5m2": 0.3, "f8e4m3fn": 0.15,
}  # fmt: skip
"""How far sums may be apart, as a part of the largest; other types must be equal."""
_FILLING = 0xCD
"""What memory holds that nothing has been written to."""


class OneKernel:
    """The kernel of the root of a module's entry; operands are parameters or constants."""

    def __init__(self, text: str, shared: Shared = (), target: Target | None = None) -> None:
        self.module = parse(text)
        root = self.module.entry.root
        self.body = body_of(root)
        self.shared = frozenset(shared)
        target = target or host_target()
        kernel, launch = written_kernel(lambda: Kernel(self.body, target, self.shared))
        self.kernel: Kernel = kernel
        self.launch: Launch = launch
        functions = [*(phase.function for phase in kernel.phases), kernel.function]
        callees = kernel.callees.values()
        outside = sorted(
            {line for one in functions for line in (*one.globals, *one.declarations)}
            | {line for one in callees for line in one.declarations}
        )
        written = [one.text() for one in functions]
        self.text = "\n".join(
            [*outside, *kernel.functions, *(one.text for one in callees), *written]
        )
        self.text = self.text.replace(NAME, "run").replace("define internal", "define")
        self._compiled = Compiled(self.text)

    def run(self, arguments: Sequence[Array], cuts: Sequence[int] = ()) -> list[Array]:
        """Returns the outputs; the range is cut at multiples of the grain, in any order."""
        body, kernel = self.body, self.kernel
        held = []
        for number, (_, operand, _) in enumerate(body.inputs):
            array = _value(body.instruction.operands[operand], arguments)
            held.append(_in_memory(array, kernel.input_shape(number)))
        made = []
        for number in range(len(body.outputs)):
            shape = kernel.output_shape(number)
            over = [one for one, other in self.shared if other == number]
            made.append(held[over[0]] if over else _filled(shape))
        workspace = np.full(max(1, kernel.workspace_bytes), _FILLING, np.uint8)
        empty = np.zeros(1, np.int64)
        phases = [(f"run.phase{n}", one.launch) for n, one in enumerate(kernel.phases)]
        for name, launch in (*phases, ("run", self.launch)):
            for begin, end in _ranges(launch, cuts):
                self._compiled.call(name, empty, *held, *made, workspace, begin, end)
        return [_logical(array, kernel.output_shape(number)) for number, array in enumerate(made)]


def _ranges(launch: Launch, cuts: Sequence[int]) -> list[tuple[int, int]]:
    """Returns the ranges between cuts at multiples of the grain, the last one first."""
    bounds = {0, launch.count, *(cut * launch.grain for cut in cuts)}
    return list(pairwise(sorted(bound for bound in bounds if bound <= launch.count)))[::-1]


def check(
    text: str, arguments: Sequence[Array], shared: Shared = (), target: Target | None = None
) -> OneKernel:
    """Asserts that a kernel yields, bit for bit, what the evaluator does, however it is cut."""
    found = OneKernel(text, shared, target)
    wanted = hlotool.evaluate(text, *arguments)
    results = list(wanted) if isinstance(wanted, tuple) else [wanted]
    pieces = -(-found.launch.count // found.launch.grain)
    for cuts in ((), (1,), (pieces // 2, pieces - 1)):
        for one, other in zip(found.run(arguments, cuts), results, strict=True):
            assert_same_bits(one, other)
    return found


def check_near(
    text: str,
    arguments: Sequence[Array],
    shared: Shared = (),
    target: Target | None = None,
    tolerance: float | None = None,
) -> OneKernel:
    """Asserts that a kernel yields what the evaluator does, with the same bits however it is cut.

    Sums may differ by the tolerance of their type, or one that is given.
    """
    found = OneKernel(text, shared, target)
    wanted = hlotool.evaluate(text, *arguments)
    results = list(wanted) if isinstance(wanted, tuple) else [wanted]
    whole = found.run(arguments)
    for cuts in ((1,), (1, 2, 3, 5, 8)):
        for one, other in zip(found.run(arguments, cuts), whole, strict=True):
            assert_same_bits(one, other)
    shapes = [leaf for _, leaf in found.body.instruction.shape.leaves() if not leaf.is_tuple]
    for one, other, shape in zip(whole, results, shapes, strict=True):
        name = shape.element_type.name  # type: ignore[attr-defined]
        assert_near(one, other, TOLERANCES.get(name, 0.0) if tolerance is None else tolerance)
    return found


def assert_near(one: Array, other: Array, tolerance: float) -> None:
    """Asserts that numbers are alike but for a part of the largest; NaNs and infinities are."""
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    mine, wanted = (_wide(array) for array in (one, other))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.where(finite, 0, mine), np.where(finite, 0, wanted))
    if finite.any():
        scale = max(np.abs(wanted[finite]).max(), 1e-30)
        worst = np.abs(mine[finite] - wanted[finite]).max() / scale
        assert worst <= tolerance, f"results differ by {worst} of the largest"


def assert_same_bits(one: Array, other: Array) -> None:
    """Asserts that two arrays have the same bits, NaN for NaN."""
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    mine, wanted = _bits(one), _bits(other)
    if not np.array_equal(mine, wanted):
        differing = np.argwhere((mine != wanted).reshape(*one.shape, -1).any(-1))
        where = tuple(differing[0])
        raise AssertionError(
            f"{len(differing)} of {one.size} differ, first at {where}: {one[where]}, {other[where]}"
        )


def random_array(shape: ArrayShape, random: np.random.Generator, *, any_bits: bool = True) -> Array:
    """Returns an array: small integers, or floats, narrow ones of any bits or of small numbers."""
    kind = shape.element_type
    if kind.name == "pred":
        return random.integers(0, 2, shape.dimensions).astype(bool)
    if kind.is_integer:
        low = -100 if kind.is_signed else 0
        return random.integers(low, 100, shape.dimensions).astype(kind.numpy)
    size = shape.element_count * kind.storage_bytes
    if kind.is_complex:
        real, imaginary = random.standard_normal((2, *shape.dimensions))
        whole: Array = real + 1j * imaginary
        return whole.astype(kind.numpy)
    if kind.bits >= 32 or not any_bits:
        return random.standard_normal(shape.dimensions).astype(kind.numpy)
    data = random.integers(0, 256, size).astype(np.uint8)
    if kind.bits < 8:
        data &= (1 << kind.bits) - 1
    return data.view(kind.numpy).reshape(shape.dimensions)


def random_arguments(text: str, seed: int = 0, *, any_bits: bool = True) -> list[Array]:
    """Returns an array for each parameter of a module's entry, as `random_array` makes them."""
    random = np.random.default_rng(seed)
    found = []
    for parameter in parse(text).entry.parameters:
        assert isinstance(parameter.shape, ArrayShape)
        found.append(random_array(parameter.shape, random, any_bits=any_bits))
    return found


def _value(operand: Instruction, arguments: Sequence[Array]) -> Array:
    if isinstance(operand.op, Constant):
        return operand.op.literal.array()
    number = operand.op.parameter_number
    assert number is not None
    return arguments[number]


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _bits(array: Array) -> Array:
    plain = np.ascontiguousarray(array)
    return plain.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _filled(shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    sizes = [shape.dimensions[d] for d in order]
    size = shape.element_count * shape.element_type.storage_bytes
    return np.full(size, _FILLING, np.uint8).view(shape.element_type.numpy).reshape(sizes)


def _in_memory(array: Array, shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return np.array(np.transpose(array, order) if order else array, order="C")


def _logical(array: Array, shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return array.transpose(np.argsort(order)) if order else array
