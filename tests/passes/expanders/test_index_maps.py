"""Gathers and scatters of any dimensions, against what the ops themselves yield."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.passes.expanders.batched_gather_scatter import BatchedGatherScatterNormalizer
from hlotool.passes.expanders.gather import GatherExpander
from hlotool.passes.expanders.scatter import ScatterExpander
from hlotool.passes.expanders.scatter_determinism import ScatterDeterminismExpander
from tests.passes.checking import passed


@dataclass(frozen=True)
class _Map:
    """Dimension numbers of a gather, and of the scatter that goes the other way."""

    operand: list[int]
    indices: list[int]
    windows: list[int]
    slices: list[int]
    lists: dict[str, list[int]]
    vector_dimension: int

    def gather(self) -> str:
        shown = self._shown(
            offset_dims="offset", collapsed_slice_dims="dropped", start_index_map="map",
            operand_batching_dims="batching", start_indices_batching_dims="along",
        )  # fmt: skip
        return f"""HloModule m
ENTRY e {{
  x = s32[{_text(self.operand)}] parameter(0)
  i = s8[{_text(self.indices)}] parameter(1)
  ROOT r = s32[{_text(self.windows)}] gather(x, i), {shown}, slice_sizes={{{_text(self.slices)}}}
}}
"""

    def scatter(self, element_type: str) -> str:
        shown = self._shown(
            update_window_dims="offset", inserted_window_dims="dropped",
            scatter_dims_to_operand_dims="map", input_batching_dims="batching",
            scatter_indices_batching_dims="along",
        )  # fmt: skip
        return f"""HloModule m
add {{
  a = {element_type}[] parameter(0)
  b = {element_type}[] parameter(1)
  ROOT r = {element_type}[] add(a, b)
}}
ENTRY e {{
  x = {element_type}[{_text(self.operand)}] parameter(0)
  i = s8[{_text(self.indices)}] parameter(1)
  u = {element_type}[{_text(self.windows)}] parameter(2)
  ROOT r = scatter(x, i, u), {shown}, to_apply=add
}}
"""

    def _shown(self, **names: str) -> str:
        lists = [f"{name}={{{_text(self.lists[part])}}}" for name, part in names.items()]
        return ", ".join([*lists, f"index_vector_dim={self.vector_dimension}"])


def _text(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


@st.composite
def _maps(draw: st.DrawFn) -> _Map:
    kinds = draw(st.lists(st.sampled_from(["dropped", "batching", "kept"]), min_size=1, max_size=4))
    operand = [draw(st.integers(1, 4)) for _ in kinds]
    of_kind = {
        kind: [d for d, found in enumerate(kinds) if found == kind]
        for kind in ("dropped", "batching", "kept")
    }
    free = [d for d, kind in enumerate(kinds) if kind != "batching"]
    index_map = draw(st.permutations(free))[: draw(st.integers(0, len(free)))]
    slices = [
        draw(st.integers(0, size)) if kind == "kept" else 1
        for size, kind in zip(operand, kinds, strict=True)
    ]
    extra = [(draw(st.integers(0, 3)), None) for _ in range(draw(st.integers(0, 2)))]
    batch = draw(st.permutations([*extra, *[(operand[d], d) for d in of_kind["batching"]]]))
    sizes: list[tuple[int, int | None]] = list(batch)
    vector_dimension = draw(st.integers(0, len(sizes)))
    if len(index_map) == 1 and draw(st.booleans()):
        vector_dimension = len(sizes)
    else:
        sizes.insert(vector_dimension, (len(index_map), None))
    along = [[found for _, found in sizes].index(d) for d in of_kind["batching"]]
    rank = len(batch) + len(of_kind["kept"])
    offset = sorted(draw(st.permutations(range(rank)))[: len(of_kind["kept"])])
    window, rest = iter(slices[d] for d in of_kind["kept"]), iter(size for size, _ in batch)
    windows = [next(window if d in offset else rest) for d in range(rank)]
    lists = {
        "offset": offset, "map": list(index_map), "along": along,
        "dropped": of_kind["dropped"], "batching": of_kind["batching"],
    }  # fmt: skip
    return _Map(operand, [size for size, _ in sizes], windows, slices, lists, vector_dimension)


def _arrays(found: _Map, dtype: type) -> list[Any]:
    rng = np.random.default_rng(1)
    return [
        rng.integers(-9, 9, found.operand).astype(dtype),
        rng.integers(-2, 5, found.indices).astype(np.int8),
        rng.integers(-9, 9, found.windows).astype(dtype),
    ]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(_maps())
def test_gathers(found: _Map) -> None:
    arrays = _arrays(found, np.int32)[:2]
    for one in (GatherExpander(), GatherExpander(unrolled=3), BatchedGatherScatterNormalizer()):
        passed(found.gather(), one, *arrays)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(_maps())
def test_scatters(found: _Map) -> None:
    text = found.scatter("s32")
    arrays = _arrays(found, np.int32)
    for one in (ScatterExpander(), ScatterExpander(unrolled=3), BatchedGatherScatterNormalizer()):
        passed(text, one, *arrays, exact=True)
    floats = _arrays(found, np.float32)
    passed(found.scatter("f32"), ScatterDeterminismExpander(), *floats, exact=True)
