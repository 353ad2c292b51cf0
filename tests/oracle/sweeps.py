"""Modules by program: families of ops on all element types, with edge values as arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import ml_dtypes
import numpy as np

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.analysis.verifier import verify
from hlotool.errors import HloError
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.element_type import ElementType
from hlotool.ir.frame import Array
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse
from tests.oracle.value_cases import Case

TYPES = [
    "pred",
    "s2",
    "u2",
    "s4",
    "u4",
    "s8",
    "u8",
    "s16",
    "u16",
    "s32",
    "u32",
    "s64",
    "u64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8e5m2",
    "f8e4m3",
    "f8e4m3fn",
    "f8e4m3b11fnuz",
    "f8e3m4",
    "f8e5m2fnuz",
    "f8e4m3fnuz",
    "f8e8m0fnu",
    "f4e2m1fn",
    "c64",
    "c128",
]
UNARY = [
    "abs",
    "negate",
    "sign",
    "ceil",
    "floor",
    "round-nearest-afz",
    "round-nearest-even",
    "is-finite",
    "not",
    "popcnt",
    "count-leading-zeros",
    "real",
    "imag",
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "sqrt",
    "cbrt",
    "rsqrt",
    "tanh",
    "logistic",
    "erf",
    "sine",
    "cosine",
    "tan",
    "copy",
]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "power",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "shift-left",
    "shift-right-logical",
    "shift-right-arithmetic",
    "atan2",
]
DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]
PRECISIONS = [(5, 10), (8, 7), (4, 3), (1, 0), (11, 2), (2, 20)]
REDUCERS = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]
INDEX_TYPES = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
REFUSED = {
    (opcode, name) for opcode in ("concatenate", "dot", "convolution") for name in ("s2", "u2")
}
"""What the reference does not compile, or what ends its process."""
PAIRED = 40
"""So many edge values of a type meet each other."""


class Step(NamedTuple):
    """An instruction of a family, with the computations that it calls."""

    opcode: str
    text: str
    called: str = ""


class Family(NamedTuple):
    """Parameters and instructions for one element type."""

    parameters: list[tuple[str, Array]]
    steps: list[Step]


def element_type(name: str) -> ElementType:
    shape = parse(f"HloModule m\nENTRY e {{ ROOT p = {name}[1] parameter(0) }}").entry.root.shape
    assert isinstance(shape, ArrayShape)
    return shape.element_type


def edges(name: str) -> Array:
    """Returns numbers of a type that are worth a look."""
    found = element_type(name)
    if name == "pred":
        return np.array([False, True])
    if found.is_integer:
        return _integer_edges(found)
    if found.bits <= 8:
        return np.arange(1 << found.bits).astype(np.uint8).view(found.numpy)
    if found.is_complex:
        largest = float(np.finfo(found.component.numpy).max)
        part = np.array([-np.inf, np.inf, np.nan, 0.0, -0.0, 1, -1, 0.5, 2.25, -3.5, largest, 1e-3])
        made = np.empty(part.size**2, found.numpy)
        made.real, made.imag = np.repeat(part, part.size), np.tile(part, part.size)
        return made
    return _float_edges(found)


def _integer_edges(found: ElementType) -> Array:
    bits = found.bits
    low = -(1 << (bits - 1)) if found.is_signed else 0
    high = low + (1 << bits) - 1
    near = {low, low + 1, low // 2, high, high - 1, high // 2, high // 2 + 1, bits, bits - 1}
    near |= {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 100, -1, -2, -3, -7}
    wide = np.int64 if found.is_signed else np.uint64
    return np.array(sorted(n for n in near if low <= n <= high), dtype=wide).astype(found.numpy)


def _float_edges(found: ElementType) -> Array:
    of_type = ml_dtypes.finfo(found.numpy)  # type: ignore[no-untyped-call]
    largest, step = float(of_type.max), float(of_type.eps)
    normal, least = float(of_type.smallest_normal), float(of_type.smallest_subnormal)
    sizes = [
        np.inf, 0.0, 1, 0.5, 1.5, 2.5, 2, 3, largest, normal, normal / 2, least, np.pi, np.e, 1e-3,
        min(1e4, largest), 0.99, 88.7, 11, step, 1 + step, 0.1, 7.5, 100, 1e-5, 0.3,
    ]  # fmt: skip
    return np.array([np.nan, *sizes, *(-size for size in sizes)], np.float64).astype(found.numpy)


def pairs(name: str) -> tuple[Array, Array]:
    """Returns each edge value beside each other one, or some of them."""
    values = edges(name)
    if values.size > PAIRED:
        picked = np.random.default_rng(5).choice(values.size, PAIRED, replace=False)
        values = values[np.sort(picked)]
    return np.repeat(values, values.size), np.tile(values, values.size)


def unary(name: str) -> Family:
    values = edges(name)
    size = values.size
    steps = [Step(opcode, f"{opcode}(x)") for opcode in UNARY]
    steps += [
        Step("reduce-precision", f"reduce-precision(x), exponent_bits={e}, mantissa_bits={m}")
        for e, m in PRECISIONS
    ]
    steps += [
        Step(opcode, f"{other}[{size}] {opcode}(x)")
        for other in TYPES
        for opcode in ("convert", "bitcast-convert")
        if _is_taken(opcode, name, other)
    ]
    return Family([(f"x = {name}[{size}]", values)], steps)


def _is_taken(opcode: str, name: str, other: str) -> bool:
    """Whether the reference takes such a conversion."""
    is_complex = {element_type(one).is_complex for one in (name, other)}
    if opcode == "convert":
        return not (other == "pred" and True in is_complex)
    return len(is_complex) == 1 and "pred" not in {name, other}


def binary(name: str) -> Family:
    one, other = pairs(name)
    size = one.size
    third = np.roll(one, 7)
    steps = [Step(opcode, f"{opcode}(x, y)") for opcode in BINARY]
    steps += [
        Step("compare", f"pred[{size}] compare(x, y), direction={direction}{kind}")
        for direction in DIRECTIONS
        for kind in (("", ", type=TOTALORDER") if element_type(name).is_float else ("",))
    ]
    steps += [Step("clamp", "clamp(x, y, z)"), Step("select", "select(p, x, y)")]
    steps.append(Step("complex", "complex(x, y)"))
    shapes = [f"{letter} = {name}[{size}]" for letter in "xyz"]
    arrays = [one, other, third, np.arange(size) % 3 == 0]
    return Family(list(zip([*shapes, f"p = pred[{size}]"], arrays, strict=True)), steps)


def calm(name: str) -> Array:
    """Returns numbers of which neither sums nor products leave the range, in any order."""
    found = element_type(name)
    if found.is_integer or name == "pred":
        return edges(name)
    if name in {"f8e8m0fnu", "f4e2m1fn"}:
        return np.array([1.0, 0.5, 1.0, 1.0, 0.5, 1.0, 2.0, 1.0]).astype(found.numpy)
    numbers = np.array([1, -1, 0.5, -0.5, 2, 1.5, -1.5, 0.25, 0.0, -0.0, 3, -2, 0.75, 1, 1, -1])
    if not found.is_complex:
        numbers = np.append(numbers, [np.nan, np.inf, -np.inf, 1.0])
    return numbers.astype(found.numpy)


def reductions(name: str) -> Family:
    values = np.random.default_rng(3).permutation(calm(name))
    rows = max(values.size // 4, 2)
    table = np.resize(values, (rows, 4))
    window = "window={size=2x3 stride=1x2 pad=1_0x0_1}"
    steps = []
    for opcode in REDUCERS:
        called = scalar(opcode, name, f"{opcode}(a, b)")
        for dimensions, shape in (("0", "[4]"), ("1", f"[{rows}]"), ("0,1", "[]")):
            call = f"{name}{shape} reduce(x, i), dimensions={{{dimensions}}}, to_apply={opcode}"
            steps.append(Step("reduce", call, called))
        call = f"reduce-window(x, i), {window}, to_apply={opcode}"
        steps.append(Step("reduce-window", call, called))
        call = (
            "scatter(x, s, u), update_window_dims={1}, inserted_window_dims={0},"
            f" scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={opcode}"
        )
        steps.append(Step("scatter", f"{name}[{rows},4] {call}", called))
    steps += list(_ordered(name, rows))
    parameters = [
        (f"x = {name}[{rows},4]", table),
        (f"i = {name}[]", np.asarray(values[0])),
        ("s = s32[4,1]", np.array([[0], [rows], [-1], [0]], np.int32)),
        (f"u = {name}[4,4]", np.resize(values[::-1], (4, 4))),
        (f"e = {name}[{edges(name).size}]", np.random.default_rng(3).permutation(edges(name))),
        (f"h = {name}[{rows},2]", np.resize(values[::-1], (rows, 2))),
        (f"l = {name}[1,{rows},4]", table[None]),
        (f"k = {name}[2,4,3]", np.resize(values[::-1], (2, 4, 3))),
    ]
    return Family(parameters, steps)


def _ordered(name: str, rows: int) -> Iterator[Step]:
    total = ", type=TOTALORDER" if element_type(name).is_float else ""
    before = scalar("before", name, f"pred[] compare(a, b), direction=LT{total}")
    call = "sort(e), dimensions={0}, is_stable=true, to_apply=before"
    size = edges(name).size
    yield Step("sort", f"{name}[{size}] {call}", before)
    called = scalar("least", name, "pred[] compare(a, b), direction=GE")
    called += scalar("added", name, "add(a, b)")
    call = "select-and-scatter(x, h, i), window={size=1x2 stride=1x2}, select=least, scatter=added"
    yield Step("select-and-scatter", f"{name}[{rows},4] {call}", called)
    call = "dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    yield Step("dot", f"{name}[{rows},4] {call}")
    call = "convolution(l, k), window={size=2}, dim_labels=b0f_0io->b0f"
    yield Step("convolution", f"{name}[1,{rows - 1},3] {call}")


def moves(name: str) -> Family:
    """Returns ops that move elements, and with starts and indices of all integer types."""
    values = np.resize(edges(name), 24)
    table, whole = values.reshape(4, 6), f"{name}[4,6]"
    parameters = [
        (f"x = {whole}", table), (f"v = {name}[]", np.asarray(values[3])),
        (f"w = {name}[2,3]", values[10:16].reshape(2, 3)),
    ]  # fmt: skip
    steps = [
        Step("broadcast", f"{name}[4,2,6] broadcast(x), dimensions={{0,2}}"),
        Step("reshape", f"{name}[3,8] reshape(x)"),
        Step("transpose", f"{name}[6,4] transpose(x), dimensions={{1,0}}"),
        Step("reverse", "reverse(x), dimensions={0,1}"),
        Step("slice", f"{name}[2,2] slice(x), slice={{[1:4:2],[0:6:3]}}"),
        Step("pad", "pad(x, v), padding=1_-1_1x-2_3_2"),
        Step("concatenate", "concatenate(x, x), dimensions={1}"),
        Step("iota", f"{name}[300] iota(), iota_dimension=0"),
    ]
    starts = INDEX_TYPES if name in {"f32", "s4"} else ["s32", "u8"]
    for index_type in starts:
        numbers = edges(index_type)
        picked = {numbers.size - 1, 0, numbers.size // 2}
        for place in sorted(picked):
            start = f"{index_type}{place}"
            parameters.append((f"{start} = {index_type}[]", np.asarray(numbers[place])))
            call = f"dynamic-slice(x, {start}, {start}), dynamic_slice_sizes={{2,3}}"
            steps.append(Step("dynamic-slice", f"{name}[2,3] {call}"))
            steps.append(
                Step("dynamic-update-slice", f"dynamic-update-slice(x, w, {start}, {start})")
            )
        parameters.append((f"{index_type}s = {index_type}[{numbers.size},1]", numbers[:, None]))
        call = (
            f"gather(x, {index_type}s), offset_dims={{1,2}}, collapsed_slice_dims={{}},"
            " start_index_map={0}, index_vector_dim=1, slice_sizes={2,3}"
        )
        steps.append(Step("gather", f"{name}[{numbers.size},2,3] {call}"))
    return Family(parameters, steps)


def scalar(title: str, name: str, root: str) -> str:
    """Returns a computation on two scalars."""
    parameters = "".join(f"  {p} = {name}[] parameter({n})\n" for n, p in enumerate("ab"))
    return f"{title} {{\n{parameters}  ROOT r = {root}\n}}\n"


def cases_of_family(family: Callable[[str], Family]) -> Iterator[Case]:
    """Yields a module for each element type, whose result has what each instruction yields."""
    for name in TYPES:
        found = family(name)
        made = [
            (step, module)
            for step in found.steps
            if (step.opcode, name) not in REFUSED
            and (module := assembled(found, [step])) is not None
        ]
        arguments = [array for _, array in found.parameters]
        whole = assembled(found, [step for step, _ in made])
        assert whole is not None
        yield Case(
            f"{family.__name__} {name}", "sweep", "tuple", whole, [[list(arguments)]],
            [[evaluate_module(whole, arguments)]],
        )  # fmt: skip


def assembled(family: Family, steps: list[Step]) -> Module | None:
    """Returns the module of some steps, if it is one."""
    called = "".join(dict.fromkeys(step.called for step in steps))
    parameters = [f"{shape} parameter({n})" for n, (shape, _) in enumerate(family.parameters)]
    lines = [f"r{n} = {step.text}" for n, step in enumerate(steps)]
    results = ", ".join(f"r{n}" for n in range(len(steps)))
    body = "\n  ".join([*parameters, *lines, f"ROOT all = tuple({results})"])
    try:
        module = parse(f"HloModule m\n{called}ENTRY main {{\n  {body}\n}}\n")
    except HloError:
        return None
    return None if verify(module) else module


SWEEPS: dict[str, Callable[[], Iterator[Case]]] = {
    family.__name__: partial(cases_of_family, family)
    for family in (unary, binary, reductions, moves)
}
"""The cases of each family."""
