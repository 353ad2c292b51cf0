"""Compiles a module's root with the phases of its kernel, and compares it with the evaluator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hlotool
from hlotool.codegen.kernels.body import body_of
from hlotool.codegen.kernels.kernel import NAME, Kernel
from hlotool.codegen.kernels.select import written_kernel
from hlotool.codegen.target import Target
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.llvm import host_target
from hlotool.text.parser import parse
from tests.codegen.compiling import Compiled

Array = NDArray[Any]
Shared = Iterable[tuple[int, int]]
"""Pairs of an input and an output that are the same memory."""
_TOLERANCES = {"f4": 1e-5, "f8": 1e-13, "c8": 1e-5, "c16": 1e-13, "f2": 4e-3, "V2": 3e-2}


class PhasedKernel:
    """The kernel of the root of a module's entry, whose operands are parameters or scalars."""

    def __init__(self, text: str, target: Target | None = None, shared: Shared = ()) -> None:
        root = parse(text).entry.root
        self.body = body_of(root)
        target = target or host_target()
        kernel, self.launch = written_kernel(lambda: Kernel(self.body, target, frozenset(shared)))
        self.kernel: Kernel = kernel
        functions = [*(phase.function for phase in kernel.phases), kernel.function]
        outside = {line for one in functions for line in (*one.globals, *one.declarations)}
        whole = "\n".join([*sorted(outside), *kernel.functions, *(f.text() for f in functions)])
        self.text = whole.replace(NAME, "run").replace("define internal", "define")
        self._compiled = Compiled(self.text)

    def run(self, arguments: Sequence[Array], cuts: Sequence[int] = ()) -> list[Array]:
        """Returns the outputs; ranges of all phases are cut at multiples of their grain."""
        root = self.body.instruction
        held = [
            _in_memory(_value(root.operands[operand], arguments), self.kernel.input_shape(number))
            for number, (_, operand, _) in enumerate(self.body.inputs)
        ]
        made = [_filled(self.kernel.output_shape(n)) for n in range(len(self.body.outputs))]
        for number, output in self.kernel.shared:
            made[output] = held[number]
        workspace = np.full(self.kernel.workspace_bytes + 64, 0xCD, np.uint8)
        context = np.zeros(1, np.int64)
        launches = [phase.launch for phase in self.kernel.phases]
        names = [f"run.phase{number}" for number in range(len(launches))]
        for name, launch in zip([*names, "run"], [*launches, self.launch], strict=True):
            bounds = {0, launch.count, *(min(c * launch.grain, launch.count) for c in cuts)}
            ordered = sorted(bounds)
            for begin, end in reversed(list(pairwise(ordered))):
                self._compiled.call(name, context, *held, *made, workspace, begin, end)
        shapes = [self.kernel.output_shape(number) for number in range(len(made))]
        return [_logical(array, shape) for array, shape in zip(made, shapes, strict=True)]


def assert_as_evaluated(
    text: str,
    arguments: Sequence[Array],
    target: Target | None = None,
    shared: Shared = (),
) -> PhasedKernel:
    """Asserts that a kernel yields what the evaluator does, and the same however it is cut.

    Floats may differ by what another order of adding makes.
    """
    found = PhasedKernel(text, target, shared)
    whole = found.run(arguments)
    for cuts in ((1,), (1, 2, 3, 5)):
        for one, other in zip(found.run(arguments, cuts), whole, strict=True):
            assert one.tobytes() == other.tobytes()
    wanted = hlotool.evaluate(text, *arguments)
    results = list(wanted) if isinstance(wanted, tuple) else [wanted]
    for one, other in zip(whole, results, strict=True):
        _assert_close(one, np.asarray(other))
    return found


def _assert_close(one: Array, other: Array) -> None:
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    tolerance = _TOLERANCES.get(one.dtype.str[1:], 0.0)
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    mine, wanted = one.astype(wide), other.astype(wide)
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(mine[~finite], wanted[~finite])
    scale = np.abs(wanted[finite]).max(initial=0.0)
    np.testing.assert_allclose(mine[finite], wanted[finite], rtol=0, atol=tolerance * scale)


def random_arguments(text: str, seed: int) -> list[Array]:
    """Returns small random arrays for the parameters of a module's entry."""
    random = np.random.default_rng(seed)
    shapes = [parameter.shape for parameter in parse(text).entry.parameters]
    return [_random(shape, random) for shape in shapes if isinstance(shape, ArrayShape)]


def _random(shape: ArrayShape, random: np.random.Generator) -> Array:
    kind, sizes = shape.element_type, shape.dimensions
    if kind.name == "pred":
        return random.integers(0, 2, sizes).astype(bool)
    if kind.is_integer:
        return random.integers(-100 if kind.is_signed else 0, 100, sizes).astype(kind.numpy)
    if kind.is_complex:
        parts = random.standard_normal(sizes), random.standard_normal(sizes)
        return (parts[0] + 1j * parts[1]).astype(kind.numpy)
    return random.standard_normal(sizes).astype(kind.numpy)


def _value(operand: Any, arguments: Sequence[Array]) -> Array:
    number = operand.op.parameter_number
    return operand.op.literal.array() if number is None else arguments[number]


def _filled(shape: ArrayShape) -> Array:
    sizes = [shape.dimensions[d] for d in shape.layout.minor_to_major[::-1]]
    size = shape.element_count * shape.element_type.storage_bytes
    return np.full(size, 0xCD, np.uint8).view(shape.element_type.numpy).reshape(sizes)


def _in_memory(array: Array, shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return np.array(np.transpose(array, order) if order else array, order="C")


def _logical(array: Array, shape: ArrayShape) -> Array:
    order = shape.layout.minor_to_major[::-1]
    return array.transpose(np.argsort(order)) if order else array
