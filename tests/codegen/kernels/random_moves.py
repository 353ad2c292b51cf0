"""Random instructions that move elements: shapes, layouts and attributes of all kinds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.codegen.kernels.module_texts import listed, shape_text

TYPES = ("f32", "f64", "bf16", "f16", "s8", "u16", "s32", "u64", "pred", "c64", "f8e5m2", "s4")
_SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 24, 33, 40)


@dataclass
class Module:
    """A module whose entry has one instruction on its parameters, as text."""

    root: str
    """What stands behind `ROOT r =`."""
    parameters: list[str]
    """The shapes of parameters, in order."""
    computations: str = ""
    body: list[str] = field(default_factory=list)
    """Instructions that are fused with the root; parameters are then those of the fusion."""

    @property
    def text(self) -> str:
        """The text of the module."""
        given = [f"  p{n} = {one} parameter({n})" for n, one in enumerate(self.parameters)]
        head = f"HloModule m\n\n{self.computations}\n"
        root = f"  ROOT r = {self.root}"
        if not self.body:
            return "\n".join([head, "ENTRY e {", *given, root, "}", ""])
        inside = ["f {", *given, *(f"  {line}" for line in self.body), root, "}", ""]
        names = ", ".join(f"p{n}" for n in range(len(self.parameters)))
        shape = self.root.partition(" ")[0]
        call = f"  ROOT r = {shape} fusion({names}), kind=kLoop, calls=f"
        return "\n".join([head, *inside, "ENTRY e {", *given, call, "}", ""])


class Chooser:
    """Chooses parts of random instructions."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def one(self, options: Sequence[str]) -> str:
        """Returns one of some names."""
        return options[int(self.random.integers(len(options)))]

    def number(self, low: int, high: int) -> int:
        """Returns a number from `low` to `high`."""
        return int(self.random.integers(low, high + 1))

    def sizes(self, rank: int, most: int = 3000) -> list[int]:
        """Returns dimensions of an array with at most so many elements."""
        while True:
            found = [_SIZES[int(self.random.integers(len(_SIZES)))] for _ in range(rank)]
            if np.prod(found) <= most:
                return found

    def order(self, rank: int) -> list[int]:
        """Returns an order of dimensions: often the usual one."""
        if self.random.random() < 0.5:
            return list(range(rank))
        return [int(d) for d in self.random.permutation(rank)]

    def shape(self, kind: str, sizes: Sequence[int], *, plain: bool = False) -> str:
        """Returns a shape with some layout."""
        order = list(range(len(sizes))) if plain else self.order(len(sizes))
        return shape_text(kind, sizes, order[::-1])


def transpose(seed: int) -> Module:
    """Returns a transpose, between any layouts."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(0, 4)
    sizes = choose.sizes(rank)
    order = [int(d) for d in choose.random.permutation(rank)]
    result = choose.shape(kind, [sizes[d] for d in order])
    operand = choose.shape(kind, sizes)
    return Module(f"{result} transpose(p0), dimensions={{{listed(order)}}}", [operand])


def copy(seed: int) -> Module:
    """Returns a copy to another layout."""
    choose = Chooser(seed)
    kind, sizes = choose.one(TYPES), choose.sizes(choose.number(1, 4))
    return Module(f"{choose.shape(kind, sizes)} copy(p0)", [choose.shape(kind, sizes)])


def reshape(seed: int) -> Module:
    """Returns a reshape whose groups of dimensions may be no products of each other's."""
    choose = Chooser(seed)
    kind = choose.one(TYPES)
    factors = [2, 2, 3, 5, 7, 1][: choose.number(1, 6)]

    def grouped() -> list[int]:
        sizes = [1] * choose.number(1, 4)
        for factor in choose.random.permutation(factors):
            sizes[choose.number(0, len(sizes) - 1)] *= int(factor)
        return sizes

    result, operand = grouped(), grouped()
    return Module(f"{choose.shape(kind, result)} reshape(p0)", [choose.shape(kind, operand)])


def pad(seed: int) -> Module:
    """Returns a pad: at edges, between elements, and of less than nothing."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(1, 3)
    while True:
        sizes = choose.sizes(rank, 600)
        paddings = []
        for _ in range(rank):
            interior = choose.number(1, 3) if choose.random.random() < 0.3 else 0
            paddings.append((choose.number(-3, 4), choose.number(-3, 4), interior))
        padded = [
            low + size + (size - 1) * between + high
            for size, (low, high, between) in zip(sizes, paddings, strict=True)
        ]
        if min(padded) > 0:
            break
    padding = "x".join("_".join(map(str, one)) for one in paddings)
    root = f"{choose.shape(kind, padded)} pad(p0, p1), padding={padding}"
    return Module(root, [choose.shape(kind, sizes), f"{kind}[]"])


def concatenate(seed: int) -> Module:
    """Returns a concatenation of up to five arrays."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(1, 3)
    sizes, joined = choose.sizes(rank, 400), choose.number(0, rank - 1)
    lengths = [choose.number(0 if n else 1, 20) for n in range(choose.number(1, 5))]
    shapes = [
        choose.shape(kind, [n if d == joined else size for d, size in enumerate(sizes)])
        for n in lengths
    ]
    sizes[joined] = sum(lengths)
    names = ", ".join(f"p{n}" for n in range(len(lengths)))
    root = f"{choose.shape(kind, sizes)} concatenate({names}), dimensions={{{joined}}}"
    return Module(root, shapes)


def part(seed: int) -> Module:
    """Returns a slice or a reverse, or one of the other."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(1, 3)
    sizes = choose.sizes(rank)
    turned = [d for d in range(rank) if choose.random.random() < 0.5]
    ranges, found = [], []
    for size in sizes:
        begin = choose.number(0, size - 1)
        end, step = choose.number(begin + 1, size), choose.number(1, 5)
        ranges.append(f"[{begin}:{end}:{step}]")
        found.append(-(-(end - begin) // step))
    reverse = f"v = {choose.shape(kind, sizes)} reverse(p0), dimensions={{{listed(turned)}}}"
    root = f"{choose.shape(kind, found)} slice(v), slice={{{', '.join(ranges)}}}"
    return Module(root, [choose.shape(kind, sizes)], body=[reverse])


def dynamic_slice(seed: int) -> Module:
    """Returns a part that begins anywhere, also outside."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(1, 3)
    sizes = choose.sizes(rank)
    taken = [choose.number(1, size) for size in sizes]
    index = choose.one(("s32", "u8", "s64", "u32", "s8"))
    shapes = [choose.shape(kind, sizes), *[f"{index}[]"] * rank]
    starts = ", ".join(f"p{n + 1}" for n in range(rank))
    root = f"{choose.shape(kind, taken)} dynamic-slice(p0, {starts})"
    return Module(f"{root}, dynamic_slice_sizes={{{listed(taken)}}}", shapes)


def dynamic_update(seed: int) -> Module:
    """Returns an array with a part replaced that begins anywhere."""
    choose = Chooser(seed)
    kind, rank = choose.one(TYPES), choose.number(1, 3)
    sizes = choose.sizes(rank)
    taken = [size if choose.random.random() < 0.3 else choose.number(1, size) for size in sizes]
    array = choose.shape(kind, sizes)
    shapes = [array, choose.shape(kind, taken), *["s32[]"] * rank]
    starts = ", ".join(f"p{n + 2}" for n in range(rank))
    return Module(f"{array} dynamic-update-slice(p0, p1, {starts})", shapes)


@dataclass
class Windows:
    """The dimension numbers of a gather or scatter."""

    sizes: list[int]
    window: list[int]
    dropped: list[int]
    batching: list[int]
    indices_batching: list[int]
    indices: list[int]
    vector: int
    index_map: list[int]
    result: list[int]
    offsets: list[int]


def windows(choose: Chooser) -> Windows:
    """Returns dimension numbers, with sizes that they fit."""
    rank = choose.number(1, 3)
    sizes = choose.sizes(rank, 500)
    roles = [choose.one(("dropped", "batching", "kept", "kept")) for _ in range(rank)]
    dropped = [d for d in range(rank) if roles[d] == "dropped"]
    batching = [d for d in range(rank) if roles[d] == "batching"]
    window = [1 if d in dropped + batching else choose.number(1, n) for d, n in enumerate(sizes)]
    free = [int(d) for d in choose.random.permutation(rank) if d not in batching]
    index_map = free[: choose.number(min(1, len(free)), len(free))]
    batch = [choose.number(1, 9) for _ in range(choose.number(0, 2))] + [sizes[d] for d in batching]
    indices_batching = list(range(len(batch) - len(batching), len(batch)))
    vector = choose.number(0, len(batch))
    indices = [*batch[:vector], len(index_map), *batch[vector:]]
    indices_batching = [d + (d >= vector) for d in indices_batching]
    offset_sizes = [window[d] for d in range(rank) if d not in dropped + batching]
    total = len(batch) + len(offset_sizes)
    offsets = sorted(int(d) for d in choose.random.permutation(total)[: len(offset_sizes)])
    parts = {True: iter(offset_sizes), False: iter(batch)}
    result = [next(parts[d in offsets]) for d in range(total)]
    return Windows(
        sizes, window, dropped, batching, indices_batching, indices, vector, index_map, result,
        offsets,
    )  # fmt: skip


def gather(seed: int) -> Module:
    """Returns a gather of any dimension numbers."""
    choose = Chooser(seed)
    kind, found = choose.one(TYPES), windows(choose)
    index = choose.one(("s32", "s64", "u8", "s16"))
    attributes = {
        "offset_dims": found.offsets,
        "collapsed_slice_dims": found.dropped,
        "start_index_map": found.index_map,
        "operand_batching_dims": found.batching,
        "start_indices_batching_dims": found.indices_batching,
        "slice_sizes": found.window,
    }
    numbers = ", ".join(f"{name}={{{listed(n)}}}" for name, n in attributes.items())
    shapes = [choose.shape(kind, found.sizes), choose.shape(index, found.indices)]
    root = f"{choose.shape(kind, found.result)} gather(p0, p1), {numbers}"
    return Module(f"{root}, index_vector_dim={found.vector}", shapes)


_COMBINERS = {
    "add": "add(x0, y0)",
    "maximum": "maximum(x0, y0)",
    "multiply": "multiply(y0, x0)",
    "taken": "copy(y0)",
    "left": "copy(x0)",
}


def scatter(seed: int) -> Module:
    """Returns a scatter of any dimension numbers, of one array or two."""
    choose = Chooser(seed)
    found, count = windows(choose), choose.number(1, 2)
    kinds = [choose.one(("f32", "f64", "s32", "bf16", "u8")) for _ in range(count)]
    array = choose.shape("", found.sizes)
    update = choose.shape("", found.result)
    parameters = [f"{kind}{array}" for kind in kinds]
    parameters += [choose.shape("s32", found.indices), *(f"{kind}{update}" for kind in kinds)]
    lines, results = [], []
    for side, name in enumerate("xy"):
        lines += [
            f"  {name}{n} = {kind}[] parameter({side * count + n})" for n, kind in enumerate(kinds)
        ]
    for n, kind in enumerate(kinds):
        combined = _COMBINERS[choose.one(tuple(_COMBINERS))].replace("0", str(n))
        results.append(f"z{n}")
        lines.append(f"  {'ROOT ' if count == 1 else ''}z{n} = {kind}[] {combined}")
    if count > 1:
        whole = ", ".join(f"{kind}[]" for kind in kinds)
        lines.append(f"  ROOT t = ({whole}) tuple({', '.join(results)})")
    attributes = {
        "update_window_dims": found.offsets,
        "inserted_window_dims": found.dropped,
        "scatter_dims_to_operand_dims": found.index_map,
        "input_batching_dims": found.batching,
        "scatter_indices_batching_dims": found.indices_batching,
    }
    numbers = ", ".join(f"{name}={{{listed(n)}}}" for name, n in attributes.items())
    names = ", ".join(f"p{n}" for n in range(len(parameters)))
    result = parameters[0] if count == 1 else f"({', '.join(parameters[:count])})"
    root = f"{result} scatter({names}), {numbers}, index_vector_dim={found.vector}, to_apply=c"
    return Module(root, parameters, "c {\n" + "\n".join(lines) + "\n}\n")
