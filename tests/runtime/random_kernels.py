"""Random modules of few operations on larger arrays: vectors, tails, tiles, pieces and all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import cast

from tests.codegen.kernels.convolution_modules import random_form
from tests.codegen.kernels.product_modules import product_module
from tests.codegen.kernels.random_chains import chain
from tests.codegen.kernels.window_modules import random_reduction, random_scattering
from tests.passes import random_operations as small
from tests.passes.random_computations import (
    TYPES,
    WIDTHS,
    Array,
    Computation,
    Focus,
    Sizes,
    Weighted,
    braced,
)
from tests.passes.random_modules import as_tuple_body, part, tuple_of, tuple_shape

LENGTHS = (0, 1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 1000)
MOST = 12_000
NARROW = ("f8e4m3fn", "f8e5m2", "f8e3m4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f4e2m1fn")
OFTEN = ("f32", "f32", "f32", "s32", "bf16", "f16", "f64", "pred", "u8", "s8", "c64", "s4")
REDUCING = re.compile(r" (add|maximum|minimum|multiply)\(")
PLAIN = ("0", "1", "-1", "2", "0.5", "-3")


class Kernels(Computation):
    """A computation on large arrays of one or two shapes, of any layout, of any type."""

    kinds: tuple[str, ...] = OFTEN
    shapes: tuple[Sizes, ...] = ()

    def sizes(self, rank: int | None = None) -> Sizes:
        fits = [one for one in self.shapes if rank is None or len(one) == rank]
        return self.random.choice(fits) if fits else large_sizes(self.random, rank)

    def element_type(self) -> str:
        return self.choice(self.kinds)

    def parameter(self, element_type: str, sizes: Sizes) -> Array:
        number = self.parameters
        self.parameters += 1
        layout = self.layout(sizes) if self.depth == 0 else ""
        return self.add(element_type, sizes, f"parameter({number})", layout)

    def layout(self, sizes: Sizes) -> str:
        is_odd = len(sizes) > 1 and self.chance(0.3)
        return braced(self.shuffled(range(len(sizes)))) if is_odd else ""

    def scalar(self, element_type: str) -> str:
        if element_type == "c128":
            return f"({self.choice(PLAIN)}, {self.choice(PLAIN)})"
        return self.choice(PLAIN) if element_type in NARROW else super().scalar(element_type)

    def inner(self, parameters: Sequence[Array]) -> Kernels:
        body = Kernels(self.random, self.written, self.depth + 1, self.focus)
        body.kinds, body.shapes = self.kinds, self.shapes
        body.prefix += f"i{self.random.randrange(1 << 30)}"
        for one in parameters:
            body.parameter(one.element_type, one.sizes)
        return body

    def full(self, ranks: range = range(1, 5)) -> Array:
        """Returns an array of some elements, of a rank; a parameter where there is none."""
        found = [one for one in self.arrays if one.rank in ranks and prod(one.sizes) > 16]
        if found and self.chance(0.7):
            return self.random.choice(found[-4:])
        sizes = large_sizes(self.random, self.random.choice(ranks))
        return self.parameter(self.element_type(), sizes) if not self.depth else self.pick()


def large_sizes(random: Random, rank: int | None = None) -> Sizes:
    """Returns sizes of an array of up to `MOST` elements."""
    rank = random.choice((0, 1, 1, 2, 2, 2, 3, 4)) if rank is None else rank
    while True:
        found = tuple(random.choice(LENGTHS) for _ in range(rank))
        if prod(found) <= MOST:
            return found


# Fusions, as passes and other frontends make them.


def body_of(c: Kernels, arrays: Sequence[Array]) -> Kernels:
    """Returns a computation from arrays that has computed a little."""
    body = c.inner(arrays)
    makers = [make for make, _ in FUSED]
    weights = [weight for _, weight in FUSED]
    for make in c.random.choices(makers, weights, k=c.random.randint(1, 4)):
        make(body)
    return body


def call_fusion(
    c: Kernels, body: Kernels, arrays: Sequence[Array], results: Sequence[Array], kind: str
) -> None:
    """Ends a fused computation, and calls it."""
    operands = ", ".join(one.name for one in arrays)
    given = {one.name for one in body.arrays[: len(arrays)]}
    ready = [
        body.add(one.element_type, one.sizes, f"copy({one.name})") if one.name in given else one
        for one in results
    ]
    if len(ready) == 1:
        called = body.finished(ready[0].name)
        call = f"fusion({operands}), kind={kind}, calls={called}"
        c.add(ready[0].element_type, ready[0].sizes, call)
        return
    called = body.finished(tuple_of(body, ready))
    name = c.line(f"fusion({operands}), kind={kind}, calls={called}", tuple_shape(ready))
    for index, one in enumerate(ready):
        part(c, name, one, index)


def loop_fusion(c: Kernels) -> None:
    arrays = [c.full() for _ in range(c.random.choice((1, 2, 3)))]
    body = body_of(c, arrays)
    last = body.arrays[-1]
    alike = [one for one in body.arrays[:-1] if prod(one.sizes) == prod(last.sizes)]
    more = c.random.sample(alike, min(len(alike), c.random.choice((0, 0, 1, 2))))
    call_fusion(c, body, arrays, [last, *more], "kLoop")


def input_fusion(c: Kernels) -> None:
    """Folds what is computed; other folds along the same dimensions, and elements, beside it."""
    arrays = [c.full() for _ in range(c.random.choice((1, 2)))]
    body = body_of(c, arrays)
    one = body.pick(lambda array: array.rank >= 1)
    dimensions = sorted(c.random.sample(range(one.rank), c.random.randint(1, one.rank)))
    results = [folded(body, one, dimensions)]
    for make in (folded, None, folded):
        if c.chance(0.6):
            continue
        alike = [other for other in body.arrays if other.sizes == one.sizes]
        other = c.random.choice(alike)
        results.append(make(body, other, dimensions) if make else other)
    call_fusion(c, body, arrays, results, "kInput")


def folded(
    body: Kernels, one: Array, dimensions: Sequence[int], opcode: str = "", start: str = ""
) -> Array:
    """Returns an array folded along dimensions, by any op unless told."""
    kind = one.element_type
    begin = body.add(kind, (), f"constant({start or body.scalar(kind)})")
    kept = tuple(n for d, n in enumerate(one.sizes) if d not in dimensions)
    reducer = body.reducer("c64" if kind == "c128" else kind)
    if kind == "c128":
        body.written[-1] = body.written[-1].replace("c64[]", "c128[]")
    if opcode:
        body.written[-1] = REDUCING.sub(f" {opcode}(", body.written[-1])
    call = f"reduce({one.name}, {begin.name}), dimensions={braced(dimensions)}"
    return body.add(kind, kept, f"{call}, to_apply={reducer}")


def rows_fusion(c: Kernels) -> None:
    """Writes softmax or a normalization; the rows are any dimensions."""
    one = c.full()
    if one.element_type not in ("f32", "bf16", "f16", "f64"):
        one = c.parameter("f32", one.sizes)
    body = c.inner([one])
    dimensions = sorted(c.random.sample(range(one.rank), c.random.randint(1, one.rank)))
    rows = Rows(body, one, dimensions)
    found = body.arrays[0]
    is_softmax = c.chance(0.5)
    if is_softmax:
        found = rows.against("subtract", found, found, "maximum", "-inf")
        found = body.add(one.element_type, one.sizes, f"exponential({found.name})")
        found = rows.against("divide", found, found, "add", "0")
    else:
        square = body.add(one.element_type, one.sizes, f"multiply({found.name}, {found.name})")
        found = rows.against("divide", found, square, "add", "1")
    call_fusion(c, body, [one], [found], "kInput")


@dataclass(frozen=True)
class Rows:
    """Rows of an array: its elements along some dimensions."""

    body: Kernels
    one: Array
    dimensions: Sequence[int]

    def against(self, opcode: str, left: Array, source: Array, folding: str, start: str) -> Array:
        """Returns an array with what its rows fold to subtracted, or divided by that."""
        body, kind, sizes = self.body, self.one.element_type, self.one.sizes
        row = folded(body, source, self.dimensions, folding, start)
        kept = [d for d in range(self.one.rank) if d not in self.dimensions]
        spread = body.add(kind, sizes, f"broadcast({row.name}), dimensions={braced(kept)}")
        return body.add(kind, sizes, f"{opcode}({left.name}, {spread.name})")


# Single operations.


def complex_chain(c: Kernels) -> None:
    kind = c.choice(("c64", "c128"))
    one = c.array(kind, c.sizes())
    for _ in range(c.random.randint(1, 3)):
        if c.chance(0.5):
            opcode = c.choice(("negate", "exponential", "sqrt", "log", "sign", "cosine", "copy"))
            one = c.add(kind, one.sizes, f"{opcode}({one.name})")
        else:
            opcode = c.choice(("add", "multiply", "subtract", "divide"))
            one = c.add(kind, one.sizes, f"{opcode}({one.name}, {c.like(one).name})")
    half = "f32" if kind == "c64" else "f64"
    c.add(half, one.sizes, f"{c.choice(('real', 'imag', 'abs'))}({one.name})")


def narrow_chain(c: Kernels) -> None:
    one = c.full()
    if one.element_type in ("c64", "c128"):
        return
    kind = c.choice((*NARROW, "bf16", "f16"))
    held = c.add(kind, one.sizes, f"convert({one.name})")
    for _ in range(c.random.randint(0, 2)):
        opcode = c.choice(("add", "multiply", "maximum", "divide", "minimum", "subtract"))
        held = c.add(kind, one.sizes, f"{opcode}({held.name}, {c.like(held).name})")
    c.add(c.choice(("f32", "s8", "f64", "bf16")), one.sizes, f"convert({held.name})")


def largest(c: Kernels) -> None:
    """Finds the largest element along a dimension, and its place."""
    one = c.full()
    kind = one.element_type
    if kind in ("c64", "c128", "pred") or kind in NARROW:
        return
    dimension = c.random.randrange(one.rank)
    places = c.add("s32", one.sizes, f"iota(), iota_dimension={dimension}")
    values = [Array("", kind, ()), Array("", "s32", ())]
    body = c.inner([*values, *values])
    a, i, b, j = (array.name for array in body.arrays)
    direction = c.choice(("GT", "GE", "LT"))
    keeps = body.line(f"compare({a}, {b}), direction={direction}", "pred[]")
    if kind[0] in "bf":
        # Without it the order of comparisons counts where there are NaN, and that is open.
        is_nan = body.line(f"compare({a}, {a}), direction=NE", "pred[]")
        keeps = body.line(f"or({keeps}, {is_nan})", "pred[]")
    first = body.line(f"select({keeps}, {a}, {b})", f"{kind}[]")
    second = body.line(f"select({keeps}, {i}, {j})", "s32[]")
    reducer = body.finished(body.line(f"tuple({first}, {second})"))
    starts = [c.array(kind, ()).name, c.array("s32", ()).name]
    kept = tuple(n for d, n in enumerate(one.sizes) if d != dimension)
    results = Array("", kind, kept), Array("", "s32", kept)
    call = f"reduce({one.name}, {places.name}, {', '.join(starts)}), dimensions={{{dimension}}}"
    name = c.line(f"{call}, to_apply={reducer}", tuple_shape(results))
    part(c, name, results[0], 0)
    part(c, name, results[1], 1)


def sort_pairs(c: Kernels) -> None:
    """Sorts by one array, with others that go along."""
    one = c.full(range(1, 3))
    if one.element_type in ("c64", "c128"):
        return
    others = [c.array(c.element_type(), one.sizes) for _ in range(c.random.choice((0, 1, 2)))]
    arrays = [one, *others]
    body = c.inner([Array("", a.element_type, ()) for a in arrays for _ in "xy"])
    first, second = body.arrays[:2]
    order = ", type=TOTALORDER" if one.element_type[0] in "bf" else ""
    test = f"compare({first.name}, {second.name}), direction={c.choice(('LT', 'GT'))}{order}"
    comparator = body.finished(body.line(test, "pred[]"))
    names = ", ".join(array.name for array in arrays)
    call = f"sort({names}), dimensions={{{c.random.randrange(one.rank)}}}, is_stable=true"
    if len(arrays) == 1:
        c.add(one.element_type, one.sizes, f"{call}, to_apply={comparator}")
        return
    name = c.line(f"{call}, to_apply={comparator}", tuple_shape(arrays))
    for index, array in enumerate(arrays):
        part(c, name, array, index)


def updating_loop(c: Kernels) -> None:
    """Replaces a row in each round, and reads one: in place where that is right."""
    one = c.full(range(1, 4))
    if not one.sizes[0]:
        return
    other = c.like(one)
    counter = c.add("s32", (), "constant(0)")
    state = [counter, one, other]
    body = c.inner(state)
    at, array, source = body.arrays[:3]
    zero = body.add("s32", (), "constant(0)")
    starts = ", ".join([at.name, *[zero.name] * (one.rank - 1)])
    sizes = (1, *one.sizes[1:])
    read = body.choice((array.name, source.name))
    call = f"dynamic-slice({read}, {starts}), dynamic_slice_sizes={braced(sizes)}"
    row = body.add(one.element_type, sizes, call)
    opcode = "and" if one.element_type == "pred" else body.choice(("add", "multiply"))
    row = body.add(one.element_type, sizes, f"{opcode}({row.name}, {row.name})")
    step = body.add("s32", (), "constant(1)")
    following = body.add("s32", (), f"add({at.name}, {step.name})")
    back = f"dynamic-update-slice({array.name}, {row.name}, {starts})"
    updated = body.add(one.element_type, one.sizes, back)
    leaving = [updated, source] if c.chance(0.8) else [source, updated]
    root = tuple_of(body, [following, *leaving])
    as_tuple_body(body, state)
    name = body.finished(root)
    condition = c.inner(state)
    limit = condition.add("s32", (), f"constant({min(one.sizes[0], 9)})")
    test = condition.line(f"compare({condition.arrays[0].name}, {limit.name}), direction=LT")
    as_tuple_body(condition, state)
    limits = condition.finished(test)
    loop = c.line(f"while({tuple_of(c, state)}), condition={limits}, body={name}")
    part(c, loop, one, 1)
    part(c, loop, one, 2)


def scatter_rows(c: Kernels) -> None:
    one = c.full(range(1, 4))
    if not prod(one.sizes) or one.element_type in ("c64", "c128"):
        return
    dimension, count = c.random.randrange(one.rank), c.random.choice((1, 3, 17, 64))
    indices = c.parameter(c.choice(("s32", "s64", "u32", "u8")), (count, 1))
    kept = tuple(n for d, n in enumerate(one.sizes) if d != dimension)
    if count * prod(kept) > MOST:
        return
    small.scatter_slices(c, one, indices, dimension)


def copy_layout(c: Kernels) -> None:
    one = c.full(range(2, 5))
    layout = braced(c.shuffled(range(one.rank)))
    c.add(one.element_type, one.sizes, f"copy({one.name})", layout)


def solve(c: Kernels) -> None:
    size = c.random.choice((1, 2, 3, 7, 8, 9, 17, 33))
    batch = c.random.choice(((), (2,)))
    columns = c.random.choice((1, 3, 8, 17))
    kind = c.choice(("f32", "f64", "c64"))
    a = c.parameter(kind, (*batch, size, size))
    b = c.parameter(kind, (*batch, size, columns))
    lower = c.choice(("true", "false"))
    transpose = c.choice(("NO_TRANSPOSE", "TRANSPOSE"))
    c.add(
        kind, b.sizes,
        f"triangular-solve({a.name}, {b.name}), left_side=true, lower={lower},"
        f" unit_diagonal=true, transpose_a={transpose}",
    )  # fmt: skip


def top(c: Kernels) -> None:
    one = c.full(range(1, 3))
    if one.element_type not in ("f32", "s32") or not one.sizes[-1]:
        return
    sizes = (*one.sizes[:-1], c.random.randint(1, min(one.sizes[-1], 20)))
    values, places = Array("", one.element_type, sizes), Array("", "s32", sizes)
    name = c.line(f"topk({one.name}), k={sizes[-1]}, largest=true", tuple_shape((values, places)))
    part(c, name, values, 0)
    part(c, name, places, 1)


def bits(c: Kernels) -> None:
    state = c.array("u64", (2,))
    made = Array("", c.choice(("u32", "u64", "u8", "u16")), c.sizes())
    algorithm = c.choice(("rng_three_fry", "rng_philox"))
    shape = tuple_shape((state, made))
    name = c.line(f"rng-bit-generator({state.name}), algorithm={algorithm}", shape)
    part(c, name, state, 0)
    part(c, name, made, 1)


def elementwise(c: Kernels) -> None:
    makers, weights = zip(*ELEMENTWISE, strict=True)
    c.random.choices(makers, weights)[0](c)


def bitcast_convert(c: Computation) -> None:
    """Takes bits as another type; not those of the narrowest floats and widest numbers."""
    one = c.pick(lambda array: array.element_type in WIDTHS and array.element_type not in UNCAST)
    width = WIDTHS[one.element_type]
    kinds = [kind for kind in TYPES if WIDTHS[kind] == width and kind[0] in "sufb"]
    c.add(c.choice(kinds), one.sizes, f"bitcast-convert({one.name})")


UNCAST = ("c64", "pred")
ELEMENTWISE: Weighted = tuple(
    (bitcast_convert if make is small.bitcast_convert else make, weight)
    for make, weight in small.ELEMENTWISE
)
FUSED: Weighted = (
    *ELEMENTWISE, (small.transpose, 2), (small.reverse, 1), (small.slice_, 2),
    (small.reshape, 1), (small.pad, 1), (small.concatenate, 1), (small.broadcast, 1),
    (small.dynamic_slice, 1), (small.dynamic_update_slice, 1), (small.gather, 1),
)  # fmt: skip
MAKERS: Sequence[tuple[Callable[[Kernels], None], int]] = (
    (loop_fusion, 3), (input_fusion, 4), (rows_fusion, 2), (complex_chain, 1), (narrow_chain, 2),
    (largest, 2), (sort_pairs, 2), (updating_loop, 2), (scatter_rows, 2), (copy_layout, 2),
    (solve, 1), (top, 1), (bits, 1), (elementwise, 6), (small.reduce, 3), (small.transpose, 2),
    (small.dynamic_update_slice, 2), (small.dot, 1), (small.slice_, 1), (small.reshape, 1),
)  # fmt: skip


def random_kernels(seed: int, length: int = 3) -> str:
    """Returns the text of a module; most of them verify."""
    random = Random(seed)  # noqa: S311  # not for secrets
    if random.random() < ALONE:
        return alone(random, seed)
    written: list[str] = []
    entry = Kernels(random, written, 0, Focus(random, cast("Weighted", MAKERS), ELEMENTWISE))
    entry.kinds = tuple(random.choices((*OFTEN, *TYPES), k=random.choice((1, 1, 2, 3))))
    entry.shapes = tuple(large_sizes(random) for _ in range(random.choice((1, 2))))
    entry.parameter(entry.element_type(), entry.sizes())
    entry.grow(random.randint(1, max(1, length)))
    results = entry.arrays[-random.choice((1, 2, 3, 5)) :]
    root = results[0].name if len(results) == 1 else tuple_of(entry, results)
    name = entry.finished(root)
    written[-1] = written[-1].replace(f"{name} {{", f"ENTRY {name} {{", 1)
    return "\n\n".join([f"HloModule random{seed}", *written]) + "\n"


ALONE = 0.3
"""How often a module has one operation of a family with very many attributes."""


def convolution(seed: int) -> str | None:
    """Returns a convolution of any form, alone or fused; `None` where it would be empty."""
    form = random_form(seed)
    if form.is_empty:
        return None
    return form.module() if seed % 3 else form.fused(two=seed % 2 == 0)


def moves(seed: int) -> str:
    return chain(seed).text


FAMILIES: tuple[Callable[[int], str | None], ...] = (
    product_module, product_module, convolution, convolution, random_reduction, random_scattering,
    moves,
)  # fmt: skip


def alone(random: Random, seed: int) -> str:
    """Returns a module with a product, a convolution, a window or a chain of moves."""
    while True:
        seed += 1_000_003
        text = random.choice(FAMILIES)(seed)
        if text is not None:
            return text
