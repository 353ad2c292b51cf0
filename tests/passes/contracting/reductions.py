"""Random reductions for tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.passes.contracting.products import braced, shaped

TYPES = ("f32", "s32", "bf16", "u8", "pred", "c64")
REDUCERS = ("add", "maximum", "minimum", "multiply")
NEUTRAL = {
    ("add", "pred"): "false", ("multiply", "pred"): "true",
    ("maximum", "pred"): "false", ("minimum", "pred"): "true",
    ("maximum", "s32"): "-2147483648", ("minimum", "s32"): "2147483647",
    ("maximum", "u8"): "0", ("minimum", "u8"): "255",
    ("maximum", "f32"): "-inf", ("minimum", "f32"): "inf",
    ("maximum", "bf16"): "-inf", ("minimum", "bf16"): "inf",
    ("add", "c64"): "(0, 0)", ("multiply", "c64"): "(1, 0)",
}  # fmt: skip


def reducer(op: str, element_type: str) -> str:
    return f"""f {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT c = {element_type}[] {op}(a, b)
}}
"""


def neutral(op: str, element_type: str) -> str:
    return NEUTRAL.get((op, element_type), "0" if op == "add" else "1")


ARGMAX = """g {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GT
  same = pred[] compare(v, w), direction=EQ
  first = pred[] compare(i, j), direction=LT
  tie = pred[] and(same, first)
  keep = pred[] or(more, tie)
  value = f32[] select(keep, v, w)
  index = s32[] select(keep, i, j)
  ROOT t = (f32[], s32[]) tuple(value, index)
}
"""


@st.composite
def reductions(draw: Any, longest: int = 4, *, layouts: bool = True) -> str:
    """Draws a module that reduces an array, or two together, perhaps after a transpose."""
    sizes = draw(st.lists(st.integers(0, longest), min_size=1, max_size=4))
    rank = len(sizes)
    folded = draw(st.sets(st.integers(0, rank - 1)))
    order = draw(st.permutations(range(rank)))
    transposed = [sizes[d] for d in order]
    layout = f"{braced(draw(st.permutations(range(rank))))}" if layouts else ""
    kept = [size for d, size in enumerate(transposed) if d not in folded]
    result_layout = braced(draw(st.permutations(range(len(kept))))) if layouts and kept else ""
    dimensions = f"dimensions={braced(draw(st.permutations(sorted(folded))))}"
    if draw(st.booleans()):
        both = f"({shaped('f32', kept)}{result_layout}, {shaped('s32', kept)}{result_layout})"
        return f"""HloModule m
{ARGMAX}
ENTRY e {{
  x = {shaped("f32", sizes)} parameter(0)
  y = {shaped("s32", sizes)} parameter(1)
  s = {shaped("f32", transposed)}{layout} transpose(x), dimensions={braced(order)}
  t = {shaped("s32", transposed)}{layout} transpose(y), dimensions={braced(order)}
  v = f32[] constant(-inf)
  i = s32[] constant(0)
  ROOT r = {both} reduce(s, t, v, i), {dimensions}, to_apply=g
}}
"""
    element_type = draw(st.sampled_from(TYPES))
    op = draw(st.sampled_from(REDUCERS[:: 3 if element_type == "c64" else 1]))
    init = neutral(op, element_type) if draw(st.booleans()) else neutral("multiply", element_type)
    return f"""HloModule m
{reducer(op, element_type)}
ENTRY e {{
  x = {shaped(element_type, sizes)} parameter(0)
  t = {shaped(element_type, transposed)}{layout} transpose(x), dimensions={braced(order)}
  i = {element_type}[] constant({init})
  ROOT r = {shaped(element_type, kept)}{result_layout} reduce(t, i), {dimensions}, to_apply=f
}}
"""


@st.composite
def window_reductions(draw: Any, longest: int = 5) -> str:
    """Draws a module with a reduce-window, often one that shows all of a dimension."""
    sizes = draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    element_type = draw(st.sampled_from(TYPES))
    op = draw(st.sampled_from(REDUCERS[:: 3 if element_type == "c64" else 1]))
    init = neutral(op, element_type) if draw(st.booleans()) else neutral("multiply", element_type)
    parts, windowed = [], []
    for size in sizes:
        kind = draw(st.sampled_from(("one", "all", "before", "behind", "any")))
        rest = max(0, size - 1)
        length, low, high = {
            "one": (1, 0, 0),
            "all": (size or 1, 0, 0),
            "before": (size or 1, rest, 0),
            "behind": (size or 1, 0, rest),
            "any": (draw(st.integers(1, 6)), draw(st.integers(0, 3)), draw(st.integers(0, 3))),
        }[kind]
        extra = draw(st.sampled_from((0, 0, 0, 1)))
        parts.append((length + extra, low + extra, high))
        windowed.append(max(0, size + low + high - length + 1) if size + low + high + extra else 0)
    window = "size=" + "x".join(str(part[0]) for part in parts)
    window += " pad=" + "x".join(f"{low}_{high}" for _, low, high in parts)
    return f"""HloModule m
{reducer(op, element_type)}
ENTRY e {{
  x = {shaped(element_type, sizes)} parameter(0)
  i = {element_type}[] constant({init})
  ROOT r = {shaped(element_type, windowed)} reduce-window(x, i), window={{{window}}}, to_apply=f
}}
"""
