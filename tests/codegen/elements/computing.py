"""Runs the element rules of an entry computation by themselves, in loops of any number of lanes."""

from __future__ import annotations

import ctypes
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

from hlotool.codegen import elements
from hlotool.codegen.elements.emitter import ElementEmitter
from hlotool.codegen.elements.shapes import array_shape
from hlotool.codegen.elements.source import Source
from hlotool.codegen.indexing.index import Counter, delinear, index_of
from hlotool.codegen.kernels.strips import each_strip
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.memory import Memory
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.tuples import Tuple
from hlotool.runtime.llvm import (
    LoadedCode,
    host_target,
    object_code,
    optimize,
    parsed,
    passes_for,
)
from hlotool.text.parser import parse
from tests.evaluating import entry, evaluated

for _module in iter_modules(elements.__path__):
    import_module(f"{elements.__name__}.{_module.name}")

Array = np.ndarray[Any, Any]


def compiled(
    text: str, *arrays: Array, lanes: int, native: frozenset[str] | None = None
) -> list[Array]:
    """Returns what an entry computes by its element rules: its array, or those of its tuple.

    All arrays of the result have as many elements. `native` is what the target is taken to
    have, instead of what this computer's has.
    """
    root = parse(text).entry.root
    outputs = root.operands if isinstance(root.op, Tuple) else (root,)
    inputs = [np.ascontiguousarray(array) for array in arrays]
    results = [
        np.empty(array_shape(one).dimensions, array_shape(one).element_type.numpy)
        for one in outputs
    ]
    target = host_target()
    writer = written(outputs, lanes, target.native if native is None else native)
    lines = (*sorted(writer.globals), *sorted(writer.declarations), writer.text("i32 0"))
    text = "\n".join(lines)
    unit = parsed(text, target)
    optimize(unit, target, passes_for(text))
    code = LoadedCode([object_code(unit, target)], ["run"])
    pointers = [array.ctypes.data for array in (*inputs, *results)]
    code.function("run", *[ctypes.c_void_p] * len(pointers))(*pointers)
    return results


def written(outputs: tuple[Instruction, ...], lanes: int, native: frozenset[str]) -> FunctionWriter:
    """Returns the function `run` of addresses, which computes outputs of one entry."""
    computation = outputs[0].parent
    assert computation is not None
    parameters = computation.parameters
    names = [f"in{n}" for n in range(len(parameters))] + [f"out{n}" for n in range(len(outputs))]
    writer = FunctionWriter(
        "run", [Argument("ptr", name) for name in names], "i32", linkage="", native=native
    )
    sources = {
        one: _source(array_shape(one), Value(f"%in{n}", "ptr")) for n, one in enumerate(parameters)
    }
    emitter = ElementEmitter(writer, host_target(), sources)
    count = array_shape(outputs[0]).element_count

    def store_all(first: Value) -> None:
        place = index_of(Counter(count, first, emitter.lanes, splits=False))
        for number, output in enumerate(outputs):
            index = delinear(place, array_shape(output).dimensions)
            destination = _source(array_shape(output), Value(f"%out{number}", "ptr"))
            destination.store(writer, index, emitter.element(output, index), emitter.lanes)

    each_strip(emitter, count, lanes, store_all)
    return writer


def _source(shape: ArrayShape, address: Value) -> Source:
    return Source(Memory(address, shape.element_type), shape)


def module_of(types: list[str], sizes: list[tuple[int, ...]], results: list[str]) -> str:
    """Returns a module whose entry makes a tuple of results, `f32[7] add(p0, p1)`, of arrays."""
    lines = [
        f"p{n} = {element_type}[{','.join(map(str, size))}] parameter({n})"
        for n, (element_type, size) in enumerate(zip(types, sizes, strict=True))
    ]
    lines += [f"r{n} = {result}" for n, result in enumerate(results)]
    names = ", ".join(f"r{n}" for n in range(len(results)))
    return entry("\n".join([*lines, f"ROOT all = tuple({names})"]))


def differences(
    types: list[str],
    arrays: list[Array],
    results: list[str],
    lanes: int,
    native: frozenset[str] | None = None,
) -> list[str]:
    """Returns what compiled results have other values for than the evaluator's, in words.

    NaN is equal to NaN; zeros of two signs differ.
    """
    text = module_of(types, [array.shape for array in arrays], results)
    with np.errstate(all="ignore"):
        wanted = evaluated(text, *arrays)
        found = compiled(text, *arrays, lanes=lanes, native=native)
        return [
            f"{result}: {line}"
            for result, ours, theirs in zip(results, found, wanted, strict=True)
            for line in _unequal(ours, np.asarray(theirs), arrays)
        ]


def _unequal(ours: Array, theirs: Array, arrays: list[Array]) -> list[str]:
    assert ours.dtype == theirs.dtype
    differ = ~same_numbers(ours, theirs)
    places = [tuple(place) for place in np.argwhere(differ)[:4]]
    return [
        f"{ours[place]} instead of {theirs[place]} of"
        f" {[array[place] if array.shape == ours.shape else array for array in arrays]}"
        for place in places
    ]


def same_numbers(ours: Array, theirs: Array) -> Array:
    """Tells of each element whether it is the same number, with the same sign, or NaN both."""
    if ours.dtype.kind == "c":
        return same_numbers(ours.real, theirs.real) & same_numbers(ours.imag, theirs.imag)
    if ours.dtype.kind in "biu" or "int" in ours.dtype.name:
        return np.asarray(ours.astype(np.int64) == theirs.astype(np.int64))
    with np.errstate(invalid="ignore"):
        one, other = ours.astype(np.float64), theirs.astype(np.float64)
    equal = (one == other) & (np.signbit(one) == np.signbit(other))
    return np.asarray(equal | (np.isnan(one) & np.isnan(other)))


def edge_values(name: str, count: int = 0, seed: int = 0) -> Array:
    """Returns numbers of an element type: all of 8 bits or less, else edges and random ones.

    They are repeated, in another order, until there are `count`.
    """
    element_type = ELEMENT_TYPES[name]
    generator = np.random.default_rng(seed)
    if element_type.is_complex:
        parts = [edge_values(element_type.component.name, count or 300, seed + n) for n in (1, 2)]
        whole = np.empty(len(parts[0]), element_type.numpy)
        whole.real, whole.imag = parts
        return whole
    width = element_type.storage_bytes
    if element_type.kind.value == "pred":
        bits: Array = np.array([0, 1], np.uint8)
    elif element_type.bits <= 8:
        bits = np.arange(1 << element_type.bits, dtype=np.uint8)
        if name == "s1":
            bits = np.array([0, 255], np.uint8)
    else:
        bits = _wide_edges(element_type, generator)
    if count:
        bits = np.concatenate([generator.permutation(bits) for _ in range(-(-count // len(bits)))])
        bits = bits[:count]
    return bits.astype(f"u{width}").view(element_type.numpy)


def _wide_edges(element_type: Any, generator: np.random.Generator) -> Array:
    bits, unsigned = element_type.bits, f"u{element_type.storage_bytes}"
    random = generator.integers(0, 1 << bits, 120, np.uint64, endpoint=False) if bits < 64 else (
        generator.integers(0, (1 << 64) - 1, 120, np.uint64)
    )  # fmt: skip
    if element_type.is_integer:
        near = [0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100]
        limits = [1 << (bits - 1), (1 << bits) - 1, 1 << (bits // 2), (1 << 24) + 1, (1 << 53) + 1]
        numbers = near + [limit + step for limit in limits for step in (-1, 0, 1)]
        edges = np.array([(sign * n) % (1 << bits) for n in numbers for sign in (1, -1)], np.uint64)
        return np.concatenate([edges, random]).astype(unsigned)
    exact: Array = np.array(
        [0, 1, 1.5, 2, 0.5, 2.5, 3.5, 0.49999997, 7, 127.5, 128, 255.5, 256, 2.0**15, 65504.0,
         2.0**23, 2.0**24 + 2, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 448, 464, 480, 240, 57344,
         61440, 1e-8, 2.0**-14, 2.0**-24, 2.0**-126, 2.0**-127, 2.0**-149, np.inf, np.nan,
         np.finfo(np.float32).max, 1.00390625000001, 1.0078125, 1e300, 5e-324, 1e-310],
    )  # fmt: skip
    scaled = generator.standard_normal(120) * 2.0 ** generator.integers(-20, 20, 120)
    with np.errstate(all="ignore"):
        signed = np.concatenate([exact, -exact, scaled]).astype(element_type.numpy)
    return np.concatenate([signed.view(unsigned), random.astype(unsigned)])
