"""Operations on arrays that random computations are made of."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tests.passes.random_computations import (
    BINARY_COMPLEX,
    BINARY_FLOAT,
    BINARY_INTEGER,
    BINARY_PRED,
    DIRECTIONS,
    FLOATS,
    MOST_ELEMENTS,
    SIGNED,
    TYPES,
    UNARY_COMPLEX,
    UNARY_FLOAT,
    UNARY_INTEGER,
    UNARY_UNSIGNED,
    UNSIGNED,
    WIDTHS,
    Array,
    Computation,
    Sizes,
    Weighted,
    braced,
    is_integer,
)

# Elementwise ops.


def unary(c: Computation) -> None:
    one = c.pick()
    kind = one.element_type
    if kind == "pred":
        opcodes: Sequence[str] = ("not", "copy")
    elif kind == "c64":
        opcodes = UNARY_COMPLEX
    elif kind in SIGNED:
        opcodes = UNARY_INTEGER
    else:
        opcodes = UNARY_UNSIGNED if kind in UNSIGNED else UNARY_FLOAT
    c.add(kind, one.sizes, f"{c.opcode(opcodes)}({one.name})")


def binary(c: Computation) -> None:
    one = c.pick()
    kind = one.element_type
    if kind == "pred":
        opcodes: Sequence[str] = BINARY_PRED
    elif kind == "c64":
        opcodes = BINARY_COMPLEX
    else:
        opcodes = BINARY_INTEGER if is_integer(kind) else BINARY_FLOAT
    operands = [one.name, c.like(one).name]
    c.random.shuffle(operands)
    c.add(kind, one.sizes, f"{c.opcode(opcodes)}({', '.join(operands)})")


def compare(c: Computation) -> None:
    one = c.pick()
    directions = DIRECTIONS[:2] if one.element_type == "c64" else DIRECTIONS
    order = ", type=TOTALORDER" if one.element_type in FLOATS and c.chance(0.2) else ""
    call = f"compare({one.name}, {c.like(one).name}), direction={c.choice(directions)}{order}"
    c.add("pred", one.sizes, call)


def select(c: Computation) -> None:
    one = c.pick()
    predicate = c.array("pred", () if c.chance(0.2) else one.sizes)
    c.add(one.element_type, one.sizes, f"select({predicate.name}, {one.name}, {c.like(one).name})")


def clamp(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type not in ("c64", "pred"))
    low, high = (c.array(one.element_type, () if c.chance(0.6) else one.sizes) for _ in "lh")
    if low.sizes != high.sizes:
        high = low
    c.add(one.element_type, one.sizes, f"clamp({low.name}, {one.name}, {high.name})")


def convert(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type != "c64")
    c.add(c.element_type(), one.sizes, f"convert({one.name})")


def bitcast_convert(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type not in ("c64", "pred"))
    kinds = [
        kind for kind in TYPES if WIDTHS[kind] == WIDTHS[one.element_type] and kind[0] in "sufb"
    ]
    c.add(c.choice(kinds), one.sizes, f"bitcast-convert({one.name})")


def reduce_precision(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type in FLOATS)
    bits = c.choice(("exponent_bits=8, mantissa_bits=7", "exponent_bits=5, mantissa_bits=10"))
    c.add(one.element_type, one.sizes, f"reduce-precision({one.name}), {bits}")


def is_finite(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type in FLOATS)
    c.add("pred", one.sizes, f"is-finite({one.name})")


def complex_parts(c: Computation) -> None:
    one = c.pick(lambda array: array.element_type in ("c64", "f32"))
    if one.element_type == "f32":
        c.add("c64", one.sizes, f"complex({one.name}, {c.like(one).name})")
    else:
        c.add("f32", one.sizes, f"{c.choice(('real', 'imag', 'abs'))}({one.name})")


# Ops that move elements.


def broadcast(c: Computation) -> None:
    one = c.pick(lambda array: prod(array.sizes) * 3 <= MOST_ELEMENTS and array.rank < 4)
    rank = one.rank + c.random.choice((0, 1, 1))
    places = sorted(c.random.sample(range(rank), one.rank))
    sizes = [c.random.choice((1, 2, 3)) for _ in range(rank)]
    for place, size in zip(places, one.sizes, strict=True):
        sizes[place] = size
    call = f"broadcast({one.name}), dimensions={braced(places)}"
    c.add(one.element_type, tuple(sizes), call)


def regrouped(c: Computation, sizes: Sizes) -> Sizes:
    """Returns other sizes for as many elements."""
    kind = c.random.randrange(4)
    if kind == 0:
        return (prod(sizes),)
    if kind == 1:
        place = c.random.randint(0, len(sizes))
        return (*sizes[:place], 1, *sizes[place:])
    if kind == 2:
        return tuple(size for size in sizes if size != 1)
    factors = [part for size in sizes for part in ((2, 2) if size == 4 else (size,))]
    return tuple(c.shuffled(factors))


def reshape(c: Computation) -> None:
    one = c.pick(lambda array: array.rank <= 4)
    c.add(one.element_type, regrouped(c, one.sizes), f"reshape({one.name})")


def bitcast(c: Computation) -> None:
    # Layouts of parameters are not known here; a copy has the default one.
    one = c.pick(lambda array: array.rank <= 4)
    plain = c.add(one.element_type, one.sizes, f"copy({one.name})")
    c.add(one.element_type, regrouped(c, one.sizes), f"bitcast({plain.name})")


def transpose(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    order = c.shuffled(range(one.rank))
    sizes = tuple(one.sizes[dimension] for dimension in order)
    c.add(one.element_type, sizes, f"transpose({one.name}), dimensions={braced(order)}")


def reverse(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    dimensions = c.random.sample(range(one.rank), c.random.randint(1, one.rank))
    c.add(one.element_type, one.sizes, f"reverse({one.name}), dimensions={braced(dimensions)}")


def slice_(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    parts, sizes = [], []
    for size in one.sizes:
        start = c.random.choice((0, 0, c.random.randint(0, size)))
        limit = c.random.choice((size, c.random.randint(start, size)))
        stride = c.random.choice((1, 1, 2))
        parts.append(f"[{start}:{limit}:{stride}]")
        sizes.append(-(-(limit - start) // stride))
    c.add(one.element_type, tuple(sizes), f"slice({one.name}), slice={{{', '.join(parts)}}}")


def pad(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1 and prod(array.sizes) < MOST_ELEMENTS // 4)
    value = c.array(one.element_type, ())
    parts, sizes = [], []
    for size in one.sizes:
        low, high, interior = (
            c.random.choice((0, 0, 1, -1)),
            c.random.choice((0, 1, -1)),
            c.random.choice((0, 0, 1)),
        )
        spread = size + max(size - 1, 0) * interior
        if spread + low + high < 0:
            low, high = 0, 0
        parts.append(f"{low}_{high}_{interior}")
        sizes.append(spread + low + high)
    c.add(
        one.element_type, tuple(sizes), f"pad({one.name}, {value.name}), padding={'x'.join(parts)}"
    )


def concatenate(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1 and prod(array.sizes) < MOST_ELEMENTS // 3)
    dimension = c.random.randrange(one.rank)
    joined = [one, *(c.like(one) for _ in range(c.random.choice((0, 1, 1, 2))))]
    size = one.sizes[dimension] * len(joined)
    sizes = (*one.sizes[:dimension], size, *one.sizes[dimension + 1 :])
    names = ", ".join(array.name for array in joined)
    c.add(one.element_type, sizes, f"concatenate({names}), dimensions={{{dimension}}}")


def starts(c: Computation, rank: int) -> list[str]:
    kind = c.choice(("s32", "s32", "s64", "u32", "u8", "s8"))
    return [c.array(kind, ()).name for _ in range(rank)]


def dynamic_slice(c: Computation) -> None:
    one = c.pick()
    sizes = tuple(
        c.random.choice((size, c.random.randint(min(size, 1), size))) for size in one.sizes
    )
    names = ", ".join([one.name, *starts(c, one.rank)])
    c.add(one.element_type, sizes, f"dynamic-slice({names}), dynamic_slice_sizes={braced(sizes)}")


def dynamic_update_slice(c: Computation) -> None:
    one = c.pick()
    sizes = tuple(
        c.random.choice((size, c.random.randint(min(size, 1), size))) for size in one.sizes
    )
    update = c.array(one.element_type, sizes)
    names = ", ".join([one.name, update.name, *starts(c, one.rank)])
    c.add(one.element_type, one.sizes, f"dynamic-update-slice({names})")


def gather(c: Computation) -> None:
    one = c.pick(lambda array: 1 <= array.rank <= 3 and 0 < prod(array.sizes) < MOST_ELEMENTS // 3)
    dimension = c.random.randrange(one.rank)
    window = [*one.sizes]
    window[dimension] = 1
    count = c.random.choice((1, 2, 3))
    indices = c.array(c.choice(("s32", "s64", "u32")), (count, 1) if c.chance(0.5) else (count,))
    kept = [size for place, size in enumerate(window) if place != dimension]
    offsets = range(1, one.rank)
    call = (
        f"gather({one.name}, {indices.name}), offset_dims={braced(offsets)},"
        f" collapsed_slice_dims={{{dimension}}}, start_index_map={{{dimension}}},"
        f" index_vector_dim=1, slice_sizes={braced(window)}"
    )
    c.add(one.element_type, (count, *kept), call)


def scatter(c: Computation) -> None:
    one = c.pick(
        lambda array: 1 <= array.rank <= 3 and prod(array.sizes) > 0 and array.element_type != "c64"
    )
    dimension = c.random.randrange(one.rank)
    count = c.random.choice((1, 2, 3))
    indices = c.array(c.choice(("s32", "s64", "u32")), (count, 1) if c.chance(0.5) else (count,))
    scatter_slices(c, one, indices, dimension)


def scatter_slices(c: Computation, one: Array, indices: Array, dimension: int) -> None:
    """Adds a scatter of slices across a dimension, one for each index."""
    kept = tuple(size for place, size in enumerate(one.sizes) if place != dimension)
    updates = c.array(one.element_type, (indices.sizes[0], *kept))
    call = (
        f"scatter({one.name}, {indices.name}, {updates.name}),"
        f" update_window_dims={braced(range(1, one.rank))}, inserted_window_dims={{{dimension}}},"
        f" scatter_dims_to_operand_dims={{{dimension}}}, index_vector_dim=1,"
        f" to_apply={c.reducer(one.element_type)}"
    )
    c.add(one.element_type, one.sizes, call)


# Ops that combine elements.


def reduce(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    start = c.array(one.element_type, ())
    dimensions = sorted(c.random.sample(range(one.rank), c.random.randint(1, one.rank)))
    sizes = tuple(size for place, size in enumerate(one.sizes) if place not in dimensions)
    operands = f"{one.name}, {start.name}"
    call = f"reduce({operands}), dimensions={braced(dimensions)}"
    c.add(one.element_type, sizes, f"{call}, to_apply={c.reducer(one.element_type)}")


def windowed(c: Computation, sizes: Sizes) -> tuple[str, Sizes]:
    """Returns a random window over sizes and the sizes of what it yields."""
    width, strides, pads, found = [], [], [], []
    for size in sizes:
        window = c.random.choice((1, 2, 2, 3))
        stride, low, high = (
            c.random.choice((1, 1, 2)),
            c.random.choice((0, 0, 1)),
            c.random.choice((0, 1)),
        )
        reach = size + low + high - window
        width.append(window)
        strides.append(stride)
        pads.append(f"{low}_{high}")
        found.append(reach // stride + 1 if reach >= 0 else 0)
    texts = ("x".join(map(str, part)) for part in (width, strides, pads))
    return "size={} stride={} pad={}".format(*texts), tuple(found)


def reduce_window(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    start = c.array(one.element_type, ())
    window, sizes = windowed(c, one.sizes)
    call = f"reduce-window({one.name}, {start.name}), window={{{window}}}"
    c.add(one.element_type, sizes, f"{call}, to_apply={c.reducer(one.element_type)}")


def sort(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1 and array.element_type != "c64")
    kind = one.element_type
    body = c.inner((Array("", kind, ()), Array("", kind, ())))
    names = ", ".join(array.name for array in body.arrays)
    direction = c.choice(("LT", "GT"))
    order = ", type=TOTALORDER" if kind in FLOATS else ""
    comparator = body.finished(body.line(f"compare({names}), direction={direction}{order}"))
    call = f"sort({one.name}), dimensions={{{c.random.randrange(one.rank)}}}, is_stable=true"
    c.add(kind, one.sizes, f"{call}, to_apply={comparator}")


def map_(c: Computation) -> None:
    one = c.pick(lambda array: array.rank >= 1)
    dimensions = braced(range(one.rank))
    call = f"map({one.name}, {c.like(one).name}), dimensions={dimensions}"
    c.add(one.element_type, one.sizes, f"{call}, to_apply={c.reducer(one.element_type)}")


def dot(c: Computation) -> None:
    one = c.pick(
        lambda array: 1 <= array.rank <= 3 and array.element_type not in ("pred", "u4", "s4")
    )
    order = c.shuffled(range(one.rank))
    batch = order[: c.random.choice((0, 0, 1)) if one.rank > 1 else 0]
    summed = order[len(batch) : len(batch) + c.random.choice((0, 1, 1, 1, 2))]
    free = sorted(order[len(batch) + len(summed) :])
    right_free = tuple(c.random.choice((1, 2, 3)) for _ in range(c.random.choice((0, 1, 1))))
    right = [*(one.sizes[d] for d in batch), *(one.sizes[d] for d in summed), *right_free]
    other = c.array(one.element_type, tuple(right))
    sizes = (*(one.sizes[d] for d in batch), *(one.sizes[d] for d in free), *right_free)
    numbers = range(len(batch) + len(summed))
    call = (
        f"dot({one.name}, {other.name}), lhs_batch_dims={braced(batch)},"
        f" rhs_batch_dims={braced(numbers[: len(batch)])}, lhs_contracting_dims={braced(summed)},"
        f" rhs_contracting_dims={braced(numbers[len(batch) :])}"
    )
    c.add(one.element_type, sizes, call)


def convolution(c: Computation) -> None:
    kind = c.choice(("f32", "s32", "bf16"))
    spatial = c.sizes(c.random.choice((1, 2)))
    features = c.random.choice((1, 2))
    one = c.array(kind, (c.random.choice((1, 2)), features, *spatial))
    window, sizes = windowed(c, spatial)
    widths = tuple(map(int, window.split()[0].removeprefix("size=").split("x")))
    results = c.random.choice((1, 3))
    kernel = c.array(kind, (results, features, *widths))
    place = "01"[: len(spatial)]
    labels = f"bf{place}_oi{place}->bf{place}"
    call = f"convolution({one.name}, {kernel.name}), window={{{window}}}, dim_labels={labels}"
    c.add(kind, (one.sizes[0], results, *sizes), call)


ELEMENTWISE: Weighted = (
    (unary, 5), (binary, 12), (compare, 4), (select, 4), (clamp, 2), (convert, 5),
    (bitcast_convert, 2), (reduce_precision, 1), (is_finite, 1), (complex_parts, 1),
)  # fmt: skip
MOVING: Weighted = (
    (broadcast, 4), (reshape, 4), (bitcast, 1), (transpose, 4), (reverse, 2), (slice_, 4),
    (pad, 3), (concatenate, 3), (dynamic_slice, 3), (dynamic_update_slice, 3), (gather, 2),
    (scatter, 2),
)  # fmt: skip
COMBINING: Weighted = (
    (reduce, 4), (reduce_window, 2), (sort, 1), (map_, 1), (dot, 4), (convolution, 1),
)  # fmt: skip
