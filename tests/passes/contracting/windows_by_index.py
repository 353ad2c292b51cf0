"""Random gathers and scatters for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.passes.contracting.products import braced, shaped


@st.composite
def _numbers(draw: Any, *, least: int) -> dict[str, Any]:
    """Draws sizes of an operand, indices and windows, and where each of them goes."""
    operand = draw(st.lists(st.integers(1, 4), min_size=0, max_size=3))
    rank = len(operand)
    window = [draw(st.integers(least, size)) for size in operand]
    dropped = sorted(draw(st.sets(st.sampled_from(range(rank)))) if rank else ())
    for dimension in dropped:
        window[dimension] = draw(st.integers(least, 1))
    named = draw(st.permutations(range(rank)))[: draw(st.integers(0, rank))]
    batch = draw(st.lists(st.integers(0, 3), max_size=2))
    indices = list(batch)
    vector = draw(st.integers(0, len(batch)))
    if len(named) == 1 and draw(st.booleans()):
        vector = len(batch)
    else:
        indices.insert(vector, len(named))
    shown = [window[d] for d in range(rank) if d not in dropped]
    places = draw(st.permutations(range(len(batch) + len(shown))))
    offsets = sorted(places[: len(shown)])
    inner, outer = iter(shown), iter(batch)
    parted = [next(inner if p in offsets else outer) for p in range(len(places))]
    return {
        "operand": operand, "window": window, "dropped": dropped, "named": named,
        "indices": indices, "vector": vector, "offsets": offsets, "parted": parted,
        "numbers": np.asarray(
            draw(st.lists(st.integers(-2, 5), min_size=24, max_size=24)), np.int32
        ),
    }  # fmt: skip


def _filled(numbers: Any, sizes: Any) -> Any:
    return np.resize(numbers, sizes)


@st.composite
def gathers(draw: Any) -> tuple[str, list[Any]]:
    """Draws a module with a gather, and arguments whose indices are in and out of bounds."""
    drawn = draw(_numbers(least=0))
    text = f"""HloModule m
ENTRY e {{
  x = {shaped("f32", drawn["operand"])} parameter(0)
  i = {shaped("s32", drawn["indices"])} parameter(1)
  ROOT g = {shaped("f32", drawn["parted"])} gather(x, i), offset_dims={braced(drawn["offsets"])},
      collapsed_slice_dims={braced(drawn["dropped"])}, start_index_map={braced(drawn["named"])},
      index_vector_dim={drawn["vector"]}, slice_sizes={braced(drawn["window"])}
}}
"""
    operand = np.arange(np.prod(drawn["operand"]), dtype=np.float32).reshape(drawn["operand"])
    return text, [operand, _filled(drawn["numbers"], drawn["indices"])]


@st.composite
def scatters(draw: Any) -> tuple[str, list[Any]]:
    """Draws a module with a scatter, and arguments whose indices are in and out of bounds."""
    drawn = draw(_numbers(least=1))
    root = draw(st.sampled_from(("add(a, b)", "copy(b)", "subtract(a, b)", "maximum(a, b)")))
    text = f"""HloModule m
f {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] {root}
}}
ENTRY e {{
  x = {shaped("s32", drawn["operand"])} parameter(0)
  i = {shaped("s32", drawn["indices"])} parameter(1)
  u = {shaped("s32", drawn["parted"])} parameter(2)
  ROOT s = {shaped("s32", drawn["operand"])} scatter(x, i, u),
      update_window_dims={braced(drawn["offsets"])},
      inserted_window_dims={braced(drawn["dropped"])},
      scatter_dims_to_operand_dims={braced(drawn["named"])}, index_vector_dim={drawn["vector"]},
      to_apply=f
}}
"""
    operand = np.arange(np.prod(drawn["operand"]), dtype=np.int32).reshape(drawn["operand"])
    updates = 100 + np.arange(np.prod(drawn["parted"]), dtype=np.int32).reshape(drawn["parted"])
    return text, [operand, _filled(drawn["numbers"], drawn["indices"]), updates]
