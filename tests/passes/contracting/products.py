"""Random dots and convolutions for tests."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from hlotool.ir.window import DimensionLabels, write_labels

few = settings(derandomize=True, deadline=None, max_examples=40)
TYPES = ("f32", "s32", "bf16", "s8", "c64", "pred", "u16", "f64")


def braced(numbers: Any) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"


def shaped(element_type: str, sizes: Any) -> str:
    return f"{element_type}[{','.join(map(str, sizes))}]"


@st.composite
def dots(draw: Any, types: Any = TYPES, least: int = 0) -> str:
    """Draws a module with one dot: any numbers of dimensions of each role, in any order."""
    sizes = st.integers(least, 3)
    batch = draw(st.lists(sizes, max_size=2))
    contracting = draw(st.lists(sizes, max_size=2))
    free = [draw(st.lists(sizes, max_size=2)) for _ in range(2)]
    element_type = draw(st.sampled_from(types))
    attributes, operands = [], []
    for side, own in zip(("lhs", "rhs"), free, strict=True):
        roles = [("b", i) for i in range(len(batch))]
        roles += [("c", i) for i in range(len(contracting))]
        roles += [("f", i) for i in range(len(own))]
        order = draw(st.permutations(roles))
        size_of = {"b": batch, "c": contracting, "f": own}
        # The free dimensions of the result stand in the order of the operand.
        own[:] = [own[number] for role, number in order if role == "f"]
        frees = iter(range(len(own)))
        placed = [size_of[r][n if r != "f" else next(frees)] for r, n in order]
        operands.append(shaped(element_type, placed))
        batch_dims = [order.index(("b", i)) for i in range(len(batch))]
        contracting_dims = [order.index(("c", i)) for i in range(len(contracting))]
        if batch:
            attributes.append(f"{side}_batch_dims={braced(batch_dims)}")
        attributes.append(f"{side}_contracting_dims={braced(contracting_dims)}")
    result = shaped(element_type, [*batch, *free[0], *free[1]])
    return f"""HloModule m
ENTRY e {{
  x = {operands[0]} parameter(0)
  y = {operands[1]} parameter(1)
  ROOT d = {result} dot(x, y), {", ".join(attributes)}
}}
"""


def _window(draw: Any, base: int) -> tuple[list[int], int]:
    """Draws size, stride, paddings and dilations along a dimension that leave some output."""
    while True:
        size = draw(st.integers(1, 3))
        stride, base_dilation, dilation = (draw(st.integers(1, 3)) for _ in range(3))
        low, high = draw(st.integers(-1, 2)), draw(st.integers(-1, 2))
        dilated = (base - 1) * base_dilation + 1 if base else 0
        padded = dilated + low + high
        extent = (size - 1) * dilation + 1
        if padded >= 0:
            count = (padded - extent) // stride + 1 if 0 < extent <= padded else 0
            reversal = draw(st.integers(0, 1))
            return [size, stride, low, high, base_dilation, dilation, reversal], count


@st.composite
def convolutions(draw: Any, types: Any = ("f32", "s32", "s8", "bf16")) -> str:
    """Draws a module with one convolution, with groups of features or batches or none."""
    spatial = draw(st.integers(0, 2))
    groups = draw(st.integers(1, 3))
    of_batches = draw(st.booleans())
    batch = draw(st.integers(0, 2)) * (groups if of_batches else 1)
    inputs, outputs = draw(st.integers(0, 2)), groups * draw(st.integers(1, 2))
    features = inputs * (1 if of_batches else groups)
    bases = [draw(st.integers(0, 4)) for _ in range(spatial)]
    windows = [_window(draw, base) for base in bases]
    element_type = draw(st.sampled_from(types))
    rank = spatial + 2
    orders = [draw(st.permutations(range(rank))) for _ in range(3)]
    base, kernel, output = orders
    labels = DimensionLabels(
        base[0], base[1], tuple(base[2:]), kernel[0], kernel[1], tuple(kernel[2:]),
        output[0], output[1], tuple(output[2:]),
    )  # fmt: skip
    sizes = (
        [batch, features, *bases],
        [inputs, outputs, *(window[0] for window, _ in windows)],
        [batch // groups if of_batches else batch, outputs, *(count for _, count in windows)],
    )
    shapes = []
    for order, own in zip(orders, sizes, strict=True):
        placed = [0] * rank
        for place, size in zip(order, own, strict=True):
            placed[place] = size
        shapes.append(shaped(element_type, placed))
    columns = [window for window, _ in windows]
    joined = {
        name: "x".join(str(column[number]) for column in columns)
        for name, number in (("size", 0), ("stride", 1), ("lhs_dilate", 4), ("rhs_dilate", 5),
                             ("rhs_reversal", 6))
    }  # fmt: skip
    joined["pad"] = "x".join(f"{column[2]}_{column[3]}" for column in columns)
    window = " ".join(f"{name}={text}" for name, text in joined.items()) if spatial else ""
    kind = "batch" if of_batches else "feature"
    return f"""HloModule m
ENTRY e {{
  x = {shapes[0]} parameter(0)
  y = {shapes[1]} parameter(1)
  ROOT c = {shapes[2]} convolution(x, y), window={{{window}}},
      dim_labels={write_labels(labels)}, {kind}_group_count={groups}
}}
"""
