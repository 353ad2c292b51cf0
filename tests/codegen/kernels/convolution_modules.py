"""Modules with one convolution of any form, alone or with work on its result."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hlotool.ir.window import WINDOW, Window, WindowDimension
from tests.codegen.kernels.module_texts import shape_text

TYPES = ("f32",) * 6 + ("bf16", "f16", "f64", "s8", "u8", "s32", "s64", "c64", "pred")


@dataclass(frozen=True)
class Form:
    """A convolution: orders list where batch (0), feature (1) and spatial dimensions stand."""

    window: Window
    spatial: tuple[int, ...]
    batch: int
    inputs: int
    outputs: int
    feature_groups: int
    batch_groups: int
    orders: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    layouts: tuple[tuple[int, ...], ...]
    types: tuple[str, str]

    @property
    def sizes(self) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
        """The sizes of input, kernel and output by what a dimension stands for."""
        lhs = {0: self.batch * self.batch_groups, 1: self.inputs * self.feature_groups}
        rhs, out = {0: self.inputs, 1: self.outputs}, {0: self.batch, 1: self.outputs}
        for number, (one, size) in enumerate(zip(self.window, self.spatial, strict=True), 2):
            lhs[number], rhs[number], out[number] = size, one.size, one.output_size(size)
        return lhs, rhs, out

    def shape(self, which: int) -> str:
        """Returns the text of the shape of the input (0), the kernel (1) or the output (2)."""
        sizes = [self.sizes[which][d] for d in self.orders[which]]
        return shape_text(self.types[which == 2], sizes, self.layouts[which])

    @property
    def is_empty(self) -> bool:
        """Whether the output has no elements."""
        return 0 in self.sizes[2].values()

    @property
    def feature_dimension(self) -> int:
        """The output's dimension of features."""
        return self.orders[2].index(1)

    def instruction(self) -> str:
        """Returns the text of the convolution of %a and %b."""
        window = f"window={WINDOW.write(self.window)}, " if self.window else ""
        sides = [
            _labels(o, names) for o, names in zip(self.orders, ("bf", "io", "bf"), strict=True)
        ]
        return (
            f"{self.shape(2)} convolution(a, b), {window}"
            f"dim_labels={sides[0]}_{sides[1]}->{sides[2]},"
            f" feature_group_count={self.feature_groups}, batch_group_count={self.batch_groups}"
        )

    def module(self) -> str:
        """Returns a module that yields the convolution."""
        return (
            f"HloModule m\nENTRY e {{\n  a = {self.shape(0)} parameter(0)\n"
            f"  b = {self.shape(1)} parameter(1)\n  ROOT c = {self.instruction()}\n}}\n"
        )

    def fused(self, *, two: bool) -> str:
        """Returns a module with the convolution, a bias and a product; perhaps two results."""
        out, kind = self.shape(2), self.types[1]
        parameters = (
            f"  a = {self.shape(0)} parameter(0)\n  b = {self.shape(1)} parameter(1)\n"
            f"  bias = {kind}[{self.outputs}] parameter(2)\n  other = {out} parameter(3)\n"
        )
        result = f"({out}, {out})" if two else out
        end = f"  ROOT both = {result} tuple(p, s)\n" if two else ""
        return (
            f"HloModule m\nfused {{\n{parameters}  c = {self.instruction()}\n"
            f"  biases = {out} broadcast(bias), dimensions={{{self.feature_dimension}}}\n"
            f"  s = {out} add(c, biases)\n"
            f"  {'' if two else 'ROOT '}p = {out} multiply(s, other)\n{end}}}\n"
            f"ENTRY e {{\n{parameters}"
            f"  ROOT f = {result} fusion(a, b, bias, other), kind=kOutput, calls=fused\n}}\n"
        )


def _labels(order: tuple[int, ...], names: str) -> str:
    return "".join(names[one] if one < 2 else str(one - 2) for one in order)


def random_form(seed: int) -> Form:
    """Returns a convolution of any form; its output may be empty."""
    random = Random(seed)  # noqa: S311 - forms of modules are no secrets
    rank = random.choice([0, 1, 1, 2, 2, 2, 2, 3])
    window = tuple(_dimension(random) for _ in range(rank))
    spatial = tuple(random.choice([1, 2, 3, 5, 7, 9, 14, 20][: 8 if rank < 3 else 4])
                    for _ in range(rank))  # fmt: skip
    inputs = random.choice([1, 2, 3, 4, 5, 8, 16, 17])
    outputs = random.choice([1, 2, 3, 4, 6, 7, 8, 16, 24, 33, 40])
    features, batches = 1, 1
    match random.choice(["none"] * 5 + ["features", "depthwise", "batches"]):
        case "features":
            features = random.choice([2, 3, 4])
        case "depthwise":
            features, inputs = random.choice([5, 8, 16, 20, 35]), 1
        case "batches":
            batches = random.choice([2, 3, 8, 16])
    if features * batches > 1:
        outputs = random.choice([1, 1, 2, 5]) * features * batches
    kind = random.choice(TYPES)
    result = "s32" if kind in {"s8", "u8"} and random.random() < 0.6 else kind
    batch = random.choice([1, 1, 2, 3, 5])
    orders = _orders(random, rank + 2)
    layouts = tuple(_layout(random, rank + 2) for _ in range(3))
    return Form(
        window, spatial, batch, inputs, outputs, features, batches, orders, layouts, (kind, result)
    )


def _dimension(random: Random) -> WindowDimension:
    return WindowDimension(
        random.choice([1, 1, 2, 3, 3, 5]) if random.random() < 0.93 else random.choice([8, 13]),
        random.choice([1, 1, 1, 2, 3]),
        random.choice([0, 0, 1, 1, 2, 3, -1]),
        random.choice([0, 0, 1, 1, 2, 4, -1, -2]),
        random.choice([1, 1, 1, 1, 2, 3]),
        random.choice([1, 1, 1, 2, 3]),
        random.random() < 0.2,
    )


def _orders(random: Random, rank: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    if random.random() < 0.5:
        channels_last = (0, *range(2, rank), 1)
        return channels_last, (*range(2, rank), 0, 1), channels_last
    found = [random.sample(range(rank), rank) for _ in range(3)]
    return tuple(found[0]), tuple(found[1]), tuple(found[2])


def _layout(random: Random, rank: int) -> tuple[int, ...]:
    order = list(range(rank))[::-1]
    if random.random() < 0.3:
        random.shuffle(order)
    return tuple(order)
