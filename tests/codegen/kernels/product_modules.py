"""Random modules with one product: alone, or fused with work on operands and on the result."""

import random
from dataclasses import dataclass
from math import prod

from tests.codegen.kernels.module_texts import listed, shape_text

SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33)
LARGE_SIZES = (0, 1, 2, 5, 16, 33, 64, 100, 130)
TYPES = ("f32",) * 6 + ("bf16", "f16", "f64", "c64", "c128", "s32", "s8", "u8", "pred")
RESULT_TYPES = {"bf16": ("bf16", "f32"), "s8": ("s32", "s8")}
MOST_PRODUCTS = 10_000_000


@dataclass(frozen=True)
class Dimension:
    """A dimension of an operand: its role (`b`atch, `k` for terms, `f`ree) and its number there."""

    role: str
    number: int
    size: int


def product_module(seed: int) -> str:
    """Returns a scheduled module with a dot, whose kernel is made as the text has it."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    while True:
        text = _module(chance)
        if text is not None:
            return text


def _module(chance: random.Random) -> str | None:
    kind = chance.choice(TYPES)
    result_kind = chance.choice(RESULT_TYPES.get(kind, (kind,)))
    batch, terms, left, right = (
        [chance.choice(SIZES) for _ in range(chance.choice(counts))]
        for counts in ((0, 0, 1, 1, 2), (0, 1, 1, 1, 2), (0, 1, 1, 2), (0, 1, 1, 2))
    )
    for sizes in (terms, left, right):
        if sizes and chance.random() < 0.4:
            sizes[chance.randrange(len(sizes))] = chance.choice(LARGE_SIZES)
    if prod((*batch, *left, *right)) * max(1, prod(terms)) > MOST_PRODUCTS:
        return None
    operands = [_operand(chance, batch, terms, free) for free in (left, right)]
    dot = f"dot(a, b), {_dimension_numbers(operands, len(batch), len(terms))}"
    result = _shape(chance, result_kind, [*batch, *left, *right])
    shapes = [_shape(chance, kind, [one.size for one in operand]) for operand in operands]
    form = chance.choice(("alone", "alone", "added", "both", "row", "turned"))
    if form == "alone" or result_kind == "pred":
        lines = [f"a = {shapes[0]} parameter(0)", f"b = {shapes[1]} parameter(1)"]
        return _entry([*lines, f"ROOT d = {result} {dot}"])
    before, shapes[0] = _left_operand(chance, kind, shapes[0], [d.size for d in operands[0]])
    after, more, root = _uses(chance, form, result_kind, result, [*batch, *left, *right])
    body = [*before, f"b = {shapes[1]} parameter(1)", f"d = {result} {dot}", *after]
    return _fused(body, [*shapes, *more], root)


def _operand(
    chance: random.Random, batch: list[int], terms: list[int], free: list[int]
) -> list[Dimension]:
    found = [
        Dimension(role, number, size)
        for role, sizes in (("b", batch), ("k", terms), ("f", free))
        for number, size in enumerate(sizes)
    ]
    chance.shuffle(found)
    in_order = iter(sorted((d for d in found if d.role == "f"), key=lambda d: d.number))
    return [next(in_order) if d.role == "f" else d for d in found]


def _dimension_numbers(operands: list[list[Dimension]], batch: int, terms: int) -> str:
    found = []
    for side, operand in zip(("lhs", "rhs"), operands, strict=True):
        for role, name, count in (("b", "batch", batch), ("k", "contracting", terms)):
            places = {d.number: place for place, d in enumerate(operand) if d.role == role}
            numbers = listed(places[number] for number in range(count))
            if numbers or role == "k":
                found.append(f"{side}_{name}_dims={{{numbers}}}")
    return ", ".join(found)


def _shape(chance: random.Random, kind: str, sizes: list[int]) -> str:
    order = list(range(len(sizes)))[::-1]
    if chance.random() < 0.5:
        chance.shuffle(order)
    return shape_text(kind, sizes, order)


def _left_operand(
    chance: random.Random, kind: str, shape: str, sizes: list[int]
) -> tuple[list[str], str]:
    """Returns how the left operand is made inside the fusion, and the shape of the parameter."""
    way = chance.random()
    if way < 0.3 and len(sizes) > 1:
        order = list(range(len(sizes)))
        chance.shuffle(order)
        given = _shape(chance, kind, [sizes[d] for d in order])
        back = ",".join(str(order.index(d)) for d in range(len(order)))
        lines = [f"given = {given} parameter(0)"]
        return [*lines, f"a = {shape} transpose(given), dimensions={{{back}}}"], given
    if way < 0.5 and kind != "pred":
        return [f"given = {shape} parameter(0)", f"a = {shape} negate(given)"], shape
    return [f"a = {shape} parameter(0)"], shape


def _uses(
    chance: random.Random, form: str, kind: str, result: str, sizes: list[int]
) -> tuple[list[str], list[str], str]:
    """Returns lines behind the product, shapes of further parameters, and that of the root."""
    if form == "row" and sizes:
        dimension = chance.randrange(len(sizes))
        row = shape_text(kind, [sizes[dimension]])
        lines = [
            f"c = {row} parameter(2)",
            f"spread = {result} broadcast(c), dimensions={{{dimension}}}",
            f"ROOT x = {result} subtract(d, spread)",
        ]
        return lines, [row], result
    if form == "turned":
        order = list(range(len(sizes)))
        chance.shuffle(order)
        root = _shape(chance, kind, [sizes[d] for d in order])
        return [f"ROOT x = {root} transpose(d), dimensions={{{listed(order)}}}"], [], root
    lines = [f"c = {result} parameter(2)"]
    if form == "both":
        pair = f"({result}, {result})"
        lines += [f"x = {result} add(d, c)", f"ROOT t = {pair} tuple(d, x)"]
        return lines, [result], pair
    return [*lines, f"ROOT x = {result} add(d, c)"], [result], result


def _entry(lines: list[str], before: str = "") -> str:
    body = "\n  ".join(lines)
    return f"HloModule product, is_scheduled=true\n{before}ENTRY e {{\n  {body}\n}}\n"


def _fused(body: list[str], shapes: list[str], root: str) -> str:
    lines = [f"p{number} = {shape} parameter({number})" for number, shape in enumerate(shapes)]
    operands = ", ".join(f"p{number}" for number in range(len(shapes)))
    joined = "\n  ".join(body)
    fusion = f"ROOT r = {root} fusion({operands}), kind=kOutput, calls=f"
    return _entry([*lines, fusion], f"f {{\n  {joined}\n}}\n")
