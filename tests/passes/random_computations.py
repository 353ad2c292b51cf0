"""Computations that grow at random, one instruction after the other."""

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

UNARY_FLOAT = (
    "abs", "negate", "sign", "ceil", "floor", "round-nearest-afz", "round-nearest-even",
    "exponential", "log-plus-one", "exponential-minus-one", "log", "sqrt", "cbrt", "rsqrt", "tanh",
    "logistic", "sine", "cosine", "copy",
)  # fmt: skip
UNARY_INTEGER = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros", "copy"]
UNARY_UNSIGNED = ["not", "popcnt", "count-leading-zeros", "copy", "negate"]
UNARY_COMPLEX = ["negate", "copy", "exponential", "sqrt"]
BINARY_FLOAT = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2",
)  # fmt: skip
BINARY_INTEGER = (
    "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "and",
    "or", "xor", "shift-left", "shift-right-arithmetic", "shift-right-logical",
)  # fmt: skip
BINARY_PRED = ["and", "or", "xor", "maximum", "minimum"]
BINARY_COMPLEX = ["add", "subtract", "multiply", "divide"]
DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
FLOAT_CONSTANTS = (
    "0", "-0", "-0.0", "1", "-1", "2", "0.5", "-3", "inf", "-inf", "nan", "1e-40", "6e4", "0.3333",
)  # fmt: skip


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


Maker = Callable[["Computation"], None]
Weighted = Sequence[tuple[Maker, int]]
"""Functions that add an instruction to a computation, with how often they do."""


class Focus:
    """What a module has more of than of other things: few types, few opcodes, small sizes.

    Without it operations that belong together rarely meet.
    """

    def __init__(self, random: Random, makers: Weighted, nested: Weighted) -> None:
        is_broad = random.random() < SHARE_OF_BROAD
        opcodes = sorted({*UNARY_FLOAT, *UNARY_INTEGER, *BINARY_FLOAT, *BINARY_INTEGER})
        self.types = TYPES if is_broad else random.choices(OFTEN, k=random.choice((1, 1, 2)))
        self.opcodes = set(opcodes if is_broad else random.sample(opcodes, 7))
        kept = makers if is_broad else random.sample(makers, random.choice((2, 3, 4, 6)))
        self.makers = kept
        """What makes instructions of the entry, with how often it does."""
        self.nested = [one for one in nested if one in kept] or nested
        """The same for the computations that it calls."""
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
        makers = self.focus.nested if self.depth else self.focus.makers
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
