"""Modules made at random of operations of every family, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from random import Random

Sizes = tuple[int, ...]

SIGNED = ("s4", "s8", "s16", "s32", "s64")
UNSIGNED = ("u4", "u8", "u16", "u32", "u64")
FLOATS = ("bf16", "f16", "f32", "f64")
WIDTHS = {"pred": 8, "c64": 64, "bf16": 16} | {
    name: int(name[1:]) for name in (*SIGNED, *UNSIGNED, "f16", "f32", "f64")
}
TYPES = (*WIDTHS,)
OFTEN = ("f32", "s32", "pred", "f32", "s32", "u32", "f64", "bf16")
MOST_ELEMENTS = 200
SHARE_OF_BROAD = 0.3

UNARY_FLOAT = ["abs", "negate", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even", "exponential", "log-plus-one", "exponential-minus-one", "log", "sqrt", "cbrt", "rsqrt", "tanh", "logistic", "sine", "cosine", "copy"]
UNARY_INTEGER = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros", "copy"]
UNARY_UNSIGNED = ["not", "popcnt", "count-leading-zeros", "copy", "negate"]
UNARY_COMPLEX = ["negate", "copy", "exponential", "sqrt"]
BINARY_FLOAT = ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2"]
BINARY_INTEGER = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "and", "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical"]
BINARY_PRED = ["and", "or", "xor", "maximum", "minimum"]
BINARY_COMPLEX = ["add", "subtract", "multiply", "divide"]
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
FLOAT_CONSTANTS = ["0", "-0", "1", "-1", "2", "0.5", "-3", "inf", "-inf", "nan", "1e-40", "6e4", "0.3333"]


@dataclass(frozen=True)
class Array:
    """An array that a computation has, by name."""

    name: str
    element_type: str
    sizes: Sizes

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def shape(self) -> str:
        return shape_text(self.element_type, self.sizes)


def shape_text(element_type: str, sizes: Sizes) -> str:
    return f"{element_type}[{','.join(map(str, sizes))}]"


def braced(numbers: Iterable[object]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def is_integer(element_type: str) -> bool:
    return element_type[0] in "su"


class Focus:
    """What a module has more of than of other things: few types, few opcodes, small sizes.

    Without it operations that belong together rarely meet.
    """

    def __init__(self, random: Random) -> None:
        is_broad = random.random() < SHARE_OF_BROAD
        opcodes = sorted({*UNARY_FLOAT, *UNARY_INTEGER, *BINARY_FLOAT, *BINARY_INTEGER})
        self.types = TYPES if is_broad else random.choices(OFTEN, k=random.choice((1, 1, 2)))
        self.opcodes = set(opcodes if is_broad else random.sample(opcodes, 7))
        count = len(MAKERS) if is_broad else random.choice((2, 3, 4, 6))
        kinds = sorted({make.__name__ for make, _ in MAKERS})
        self.makers = set(kinds if is_broad else random.sample(kinds, min(count, len(kinds))))
        self.sizes = (1, 1, 2, 3, 4, 2, 3, 0) if is_broad else (*random.sample((1, 2, 3, 4), 2), 2)
        self.latest = random.choice((0.3, 0.6, 0.9))
        """How often the last array is an operand of what comes next."""


class Computation:
    """A computation that grows by one instruction after the other."""

    def __init__(self, random: Random, written: list[str], depth: int, focus: Focus) -> None:
        self.random = random
        self.focus = focus
        self.written = written
        """The texts of finished computations of the module; they also number names."""
        self.depth = depth
        self.lines: list[str] = []
        self.arrays: list[Array] = []
        self.parameters = 0
        self.prefix = f"c{len(written)}d{depth}"

    # What stands in computations.

    def line(self, call: str, shape: str = "") -> str:
        name = f"{self.prefix}.{len(self.lines)}"
        self.lines.append(f"  {name} = {shape}{' ' if shape else ''}{call}")
        return name

    def add(self, element_type: str, sizes: Sizes, call: str, layout: str = "") -> Array:
        name = self.line(call, shape_text(element_type, sizes) + layout)
        self.arrays.append(Array(name, element_type, sizes))
        return self.arrays[-1]

    def parameter(self, element_type: str, sizes: Sizes) -> Array:
        number = self.parameters
        self.parameters += 1
        layout = ""
        if len(sizes) > 1 and self.depth == 0 and self.chance(0.15):
            layout = braced(self.shuffled(range(len(sizes))))
        return self.add(element_type, sizes, f"parameter({number})", layout)

    def finished(self, root: str) -> str:
        """Writes the computation with a root; returns its name."""
        name = f"computation{len(self.written)}"
        lines = [
            line.replace("  ", "  ROOT ", 1) if line.startswith(f"  {root} = ") else line
            for line in self.lines
        ]
        self.written.append("\n".join([f"{name} {{", *lines, "}"]))
        return name

    def inner(self, parameters: Sequence[Array]) -> Computation:
        body = Computation(self.random, self.written, self.depth + 1, self.focus)
        body.prefix += f"i{self.random.randrange(1 << 30)}"
        for one in parameters:
            body.parameter(one.element_type, one.sizes)
        return body

    def grow(self, count: int) -> None:
        every = NESTED_MAKERS if self.depth else MAKERS
        makers = [one for one in every if one[0].__name__ in self.focus.makers] or every
        weights = [weight for _, weight in makers]
        for make, _ in self.random.choices(makers, weights, k=count):
            make(self)

    # Choices.

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def choice(self, options: Sequence[str]) -> str:
        return self.random.choice(options)

    def opcode(self, options: Sequence[str]) -> str:
        found = [one for one in options if one in self.focus.opcodes]
        return self.random.choice(found if found and self.chance(0.8) else options)

    def element_type(self) -> str:
        return self.choice(self.focus.types if self.chance(0.8) else TYPES)

    def shuffled(self, numbers: Iterable[int]) -> list[int]:
        found = list(numbers)
        self.random.shuffle(found)
        return found

    def sizes(self, rank: int | None = None) -> Sizes:
        length = self.random.choice((0, 1, 1, 2, 2, 3)) if rank is None else rank
        return tuple(self.random.choice(self.focus.sizes) for _ in range(length))

    def pick(self, fits: Callable[[Array], bool] = lambda _: True) -> Array:
        """Returns an array that fits, late ones more often; a parameter where there is none."""
        found = [one for one in self.arrays if fits(one)]
        if found:
            late = found[-1:] if self.chance(self.focus.latest) else found[-4:]
            return self.random.choice(late if self.chance(0.8) else found)
        for element_type in (self.element_type(), *TYPES):
            for rank in (self.random.randrange(4), 1, 2):
                made = Array("", element_type, self.sizes(rank))
                if fits(made):
                    return self.fresh(element_type, made.sizes)
        return self.fresh("f32", (2, 3))

    def fresh(self, element_type: str, sizes: Sizes) -> Array:
        """Returns a new parameter, constant or iota."""
        if self.depth == 0 and self.chance(0.4):
            return self.parameter(element_type, sizes)
        if sizes and element_type != "pred" and self.chance(0.2):
            dimension = self.random.randrange(len(sizes))
            return self.add(element_type, sizes, f"iota(), iota_dimension={dimension}")
        if prod(sizes) <= 12 and self.chance(0.4):
            return self.add(element_type, sizes, f"constant({self.literal(element_type, sizes)})")
        scalar = self.add(element_type, (), f"constant({self.scalar(element_type)})")
        if not sizes:
            return scalar
        return self.add(element_type, sizes, f"broadcast({scalar.name}), dimensions={{}}")

    def array(self, element_type: str, sizes: Sizes) -> Array:
        """Returns an array of a shape, an old one where there is one."""
        found = [
            one for one in self.arrays if (one.element_type, one.sizes) == (element_type, sizes)
        ]
        if found and self.chance(0.7):
            return self.random.choice(found)
        return self.fresh(element_type, sizes)

    def like(self, one: Array) -> Array:
        return self.array(one.element_type, one.sizes)

    def scalar(self, element_type: str) -> str:
        if element_type == "pred":
            return self.choice(("true", "false"))
        if element_type == "c64":
            return f"({self.choice(FLOAT_CONSTANTS)}, {self.choice(('0', '1', '-0', '2'))})"
        if not is_integer(element_type):
            return self.choice(FLOAT_CONSTANTS)
        width = WIDTHS[element_type]
        low, high = (
            (-(1 << width - 1), (1 << width - 1) - 1)
            if element_type[0] == "s"
            else (0, (1 << width) - 1)
        )
        near = [value for value in (0, 0, 1, 1, 2, 3, 4, 7, -1, -2) if low <= value <= high]
        return str(self.random.choice([*near, low, high]))

    def literal(self, element_type: str, sizes: Sizes) -> str:
        if not sizes:
            return self.scalar(element_type)
        parts = [self.literal(element_type, sizes[1:]) for _ in range(sizes[0])]
        return "{" + ", ".join(parts) + "}"

    def reducer(self, element_type: str) -> str:
        """Returns the name of a new computation that combines two scalars."""
        body = self.inner((Array("", element_type, ()), Array("", element_type, ())))
        if element_type == "pred":
            opcode = self.choice(("and", "or"))
        elif element_type == "c64":
            opcode = self.choice(("add", "multiply"))
        else:
            opcode = self.choice(("add", "add", "maximum", "minimum", "multiply"))
        names = ", ".join(one.name for one in body.arrays)
        return body.finished(body.line(f"{opcode}({names})"))


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
        opcodes = BINARY_PRED
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
    kept = tuple(size for place, size in enumerate(one.sizes) if place != dimension)
    updates = c.array(one.element_type, (count, *kept))
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


# Ops that call computations, and tuples.


def tuple_of(c: Computation, arrays: Sequence[Array]) -> str:
    return c.line(f"tuple({', '.join(array.name for array in arrays)})")


def tuple_shape(arrays: Sequence[Array]) -> str:
    return f"({', '.join(array.shape for array in arrays)})"


def part(c: Computation, name: str, one: Array, index: int) -> Array:
    return c.add(one.element_type, one.sizes, f"get-tuple-element({name}), index={index}")


def tuples(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    name = tuple_of(c, arrays)
    if c.chance(0.3):
        name = c.line(f"opt-barrier({name})")
    nested = c.chance(0.3)
    if nested:
        name = c.line(f"tuple({name}, {arrays[0].name})")
        name = c.line(f"get-tuple-element({name}), index=0")
    for index in c.random.sample(range(len(arrays)), c.random.randint(1, len(arrays))):
        part(c, name, arrays[index], index)


def result_like(c: Computation, one: Array) -> Array:
    """Returns an array of the shape of another one, made in this computation if need be."""
    c.arrays.append(one)
    for _ in range(2):
        if c.chance(0.7):
            binary_of(c, one)
    found = [
        array
        for array in c.arrays
        if (array.element_type, array.sizes) == (one.element_type, one.sizes)
    ]
    return found[-1]


def binary_of(c: Computation, one: Array) -> None:
    opcode = c.choice(BINARY_PRED[:3] if one.element_type == "pred" else BINARY_COMPLEX[:3])
    c.add(one.element_type, one.sizes, f"{opcode}({one.name}, {c.like(one).name})")


def call(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    body = c.inner(arrays)
    body.grow(c.random.randint(1, 4))
    result = body.arrays[-1]
    names = ", ".join(array.name for array in arrays)
    c.add(
        result.element_type, result.sizes, f"call({names}), to_apply={body.finished(result.name)}"
    )


def fusion(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    body = c.inner(arrays)
    for make in c.random.choices(FUSED_MAKERS, k=c.random.randint(1, 4)):
        make(body)
    result = body.arrays[-1]
    operands = ", ".join(array.name for array in arrays)
    several = c.chance(0.2)
    if several:
        root = tuple_of(body, [result, body.arrays[0]])
        shape = tuple_shape((result, arrays[0]))
        name = c.line(f"fusion({operands}), kind=kLoop, calls={body.finished(root)}", shape)
        part(c, name, result, 0)
        part(c, name, arrays[0], 1)
        return
    if result.name in {array.name for array in body.arrays[: len(arrays)]}:
        result = body.add(result.element_type, result.sizes, f"copy({result.name})")
    called = body.finished(result.name)
    c.add(result.element_type, result.sizes, f"fusion({operands}), kind=kLoop, calls={called}")


def conditional(c: Computation) -> None:
    one, other = c.pick(), c.pick()
    branches = []
    by_predicate = c.chance(0.5)
    count = 2 if by_predicate else c.random.choice((1, 2, 3))
    for _ in range(count):
        body = c.inner((one, other))
        body.grow(c.random.randint(0, 3))
        result = result_like(body, body.arrays[0])
        branches.append((body, result))
    names = []
    for body, result in branches:
        names.append(body.finished(as_tuple_body(body, (one, other), result)))
    state = tuple_of(c, (one, other))
    index = c.array("pred" if by_predicate else "s32", ())
    operands = ", ".join([index.name, *[state] * count])
    if by_predicate:
        called = f"true_computation={names[0]}, false_computation={names[1]}"
    else:
        called = f"branch_computations={braced(names)}"
    c.add(one.element_type, one.sizes, f"conditional({operands}), {called}")


def as_tuple_body(body: Computation, parameters: Sequence[Array], result: Array) -> str:
    """Makes parameters elements of one tuple; returns the name of a result."""
    lines = body.lines[: len(parameters)]
    state = f"{body.prefix}.state"
    body.lines[: len(parameters)] = [
        f"{line.split(' parameter(')[0]} get-tuple-element({state}), index={index}"
        for index, line in enumerate(lines)
    ]
    body.lines.insert(0, f"  {state} = {tuple_shape(parameters)} parameter(0)")
    return result.name


def while_(c: Computation) -> None:
    kind = c.choice(("s32", "s32", "s64", "u32", "s8"))
    counter = c.add(kind, (), f"constant({c.random.choice((0, 0, 0, 1, 5))})")
    state = [counter, *(c.pick() for _ in range(c.random.choice((1, 2, 3))))]
    body = c.inner(state)
    step = body.add(kind, (), f"constant({c.random.choice((1, 1, 2))})")
    following = body.add(kind, (), f"add({body.arrays[0].name}, {step.name})")
    entering = body.arrays[1 : len(state)]
    body.grow(c.random.randint(1, 4))
    leaving = [result_like(body, one) if body.chance(0.7) else one for one in entering]
    if c.chance(0.1) and len({(one.element_type, one.sizes) for one in leaving}) == 1:
        leaving.reverse()
    root = tuple_of(body, [following, *leaving])
    as_tuple_body(body, state, following)
    name = body.finished(root)
    condition = c.inner(state)
    limit = condition.add(kind, (), f"constant({c.random.choice((0, 1, 3, 4, 7))})")
    test = condition.line(f"compare({condition.arrays[0].name}, {limit.name}), direction=LT")
    as_tuple_body(condition, state, limit)
    limits = condition.finished(test)
    loop = c.line(f"while({tuple_of(c, state)}), condition={limits}, body={name}")
    for index in range(len(state)):
        if c.chance(0.7):
            part(c, loop, state[index], index)


# Ops of which there are few.


def control_edge(c: Computation) -> None:
    if len(c.arrays) < 3:
        return
    first, last = c.arrays[c.random.randrange(len(c.arrays) - 1)], c.arrays[-1]
    line = c.lines[-1]
    plain = "parameter(" not in line and "control" not in line and line.split()[0] == last.name
    if plain and first.name != last.name:
        c.lines[-1] = f"{line}, control-predecessors={{{first.name}}}"


def random_numbers(c: Computation) -> None:
    low, high = (c.array("f32", ()).name for _ in range(2))
    c.add("f32", c.sizes(1), f"rng({low}, {high}), distribution=rng_uniform")


def generator(c: Computation) -> None:
    state = c.array("u64", (2,))
    sizes = c.sizes(1)
    bits = Array("", "u32", sizes)
    shape = tuple_shape((state, bits))
    name = c.line(f"rng-bit-generator({state.name}), algorithm=rng_three_fry", shape)
    part(c, name, state, 0)
    part(c, name, bits, 1)


def custom_call(c: Computation) -> None:
    one = c.pick()
    effect = ", custom_call_has_side_effect=true" if c.chance(0.5) else ""
    call = f'custom-call({one.name}), custom_call_target="unknown"{effect}'
    c.add(one.element_type, one.sizes, call)


def live_size(c: Computation) -> None:
    """Sets a size, and works with the live elements only."""
    one = c.pick(lambda array: array.rank >= 1 and array.element_type in ("f32", "s32"))
    dimension = c.random.randrange(one.rank)
    size = c.add("s32", (), f"constant({c.random.randint(0, one.sizes[dimension])})")
    call = f"set-dimension-size({one.name}, {size.name}), dimensions={{{dimension}}}"
    bounds = ",".join(f"<={n}" if d == dimension else str(n) for d, n in enumerate(one.sizes))
    name = c.line(call, f"{one.element_type}[{bounds}]")
    if c.chance(0.5):
        name = c.line(f"{c.choice(('negate', 'abs', 'copy'))}({name})")
    start = c.array(one.element_type, ())
    dimensions = braced(range(one.rank))
    reducer = c.reducer(one.element_type)
    reduced = f"reduce({name}, {start.name}), dimensions={dimensions}, to_apply={reducer}"
    c.add(one.element_type, (), reduced)
    c.add("s32", (), f"get-dimension-size({name}), dimensions={{{dimension}}}")


def all_reduce(c: Computation) -> None:
    one = c.pick()
    reducer = c.reducer(one.element_type)
    c.add(
        one.element_type,
        one.sizes,
        f"all-reduce({one.name}), replica_groups={{}}, to_apply={reducer}",
    )


def batch_norm(c: Computation) -> None:
    one = c.array("f32", (2, 3, 2))
    scale, offset, mean, variance = (c.array("f32", (3,)).name for _ in range(4))
    operands = ", ".join((one.name, scale, offset, mean, variance))
    c.add("f32", one.sizes, f"batch-norm-inference({operands}), epsilon=0.1, feature_index=1")


def top(c: Computation) -> None:
    one = c.pick(
        lambda array: (
            array.rank >= 1 and array.element_type in ("f32", "s32") and array.sizes[-1] > 0
        )
    )
    sizes = (*one.sizes[:-1], 1)
    values, places = Array("", one.element_type, sizes), Array("", "s32", sizes)
    name = c.line(f"topk({one.name}), k=1, largest=true", tuple_shape((values, places)))
    part(c, name, values, 0)
    part(c, name, places, 1)


Maker = Callable[[Computation], None]
ELEMENTWISE: tuple[tuple[Maker, int], ...] = (
    (unary, 5), (binary, 12), (compare, 4), (select, 4), (clamp, 2), (convert, 5),
    (bitcast_convert, 2), (reduce_precision, 1), (is_finite, 1), (complex_parts, 1),
)  # fmt: skip
MOVING: tuple[tuple[Maker, int], ...] = (
    (broadcast, 4), (reshape, 4), (bitcast, 1), (transpose, 4), (reverse, 2), (slice_, 4),
    (pad, 3), (concatenate, 3), (dynamic_slice, 3), (dynamic_update_slice, 3), (gather, 2),
    (scatter, 2),
)  # fmt: skip
COMBINING: tuple[tuple[Maker, int], ...] = (
    (reduce, 4), (reduce_window, 2), (sort, 1), (map_, 1), (dot, 4), (convolution, 1),
)  # fmt: skip
CALLING: tuple[tuple[Maker, int], ...] = (
    (tuples, 3), (call, 1), (fusion, 2), (conditional, 2), (while_, 3),
)  # fmt: skip
RARE: tuple[tuple[Maker, int], ...] = (
    (control_edge, 2), (random_numbers, 1), (generator, 1), (live_size, 1), (all_reduce, 1),
    (batch_norm, 1), (top, 1), (custom_call, 1),
)  # fmt: skip
NESTED_MAKERS = (*ELEMENTWISE, *MOVING, *COMBINING, (tuples, 2))
MAKERS = (*((make, 2 * weight) for make, weight in NESTED_MAKERS), *CALLING, *RARE)
FUSED_MAKERS = [make for make, _ in (*ELEMENTWISE, *MOVING)] + [reduce]


def random_module(seed: int, length: int = 14) -> str:
    """Returns the text of a module; nearly all of them verify."""
    random = Random(seed)  # noqa: S311  # not for secrets
    written: list[str] = []
    entry = Computation(random, written, 0, Focus(random))
    for _ in range(random.choice((1, 2, 3))):
        entry.parameter(entry.element_type(), entry.sizes())
    entry.grow(random.randint(1, length))
    results = entry.arrays[-random.choice((1, 2, 3, 5)) :]
    if len(results) == 1 and random.random() < 0.7:  # a share
        root = results[0].name
    else:
        root = tuple_of(entry, results)
    name = entry.finished(root)
    written[-1] = written[-1].replace(f"{name} {{", f"ENTRY {name} {{", 1)
    return "\n\n".join([f"HloModule random{seed}", *written]) + "\n"
