import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.expanders.topk import TopkDecomposer
from hlotool.passes.expanders.topk_splitter import TopKSplitter
from tests.passes.checking import opcodes, passed

_TIES = np.array([[3, np.nan, 3, -0.0, 0.0, np.inf, -np.nan, 1], [1, 1, 1, 1, 1, 1, 1, 1]])


def _module(element_type: str, largest: str = "true") -> str:
    return f"""HloModule m
ENTRY e {{
  x = {element_type}[2,8] parameter(0)
  ROOT t = ({element_type}[2,3], s32[2,3]) topk(x), k=3, largest={largest}
}}
"""


_CUSTOM = """HloModule m
better {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT
}
ENTRY e {
  x = f32[2,8] parameter(0)
  ROOT t = (f32[2,3], s32[2,3]) custom-call(x), custom_call_target="TopK", to_apply=better
}
"""


@pytest.mark.parametrize("largest", ["true", "false"])
def test_the_best_are_the_first_of_a_sort(largest: str) -> None:
    for element_type, dtype in (
        ("f32", np.float32), ("bf16", ml_dtypes.bfloat16), ("f64", np.float64),
    ):  # fmt: skip
        text = _module(element_type, largest)
        module = passed(text, TopkDecomposer(), _TIES.astype(dtype))
        assert "sort" in opcodes(module)
        assert "topk" not in opcodes(module)
    passed(_module("u8", largest), TopkDecomposer(), np.arange(16, dtype=np.uint8).reshape(2, 8))
    flags = np.arange(16).reshape(2, 8) % 3 == 0
    passed(_module("pred", largest), TopkDecomposer(), flags)


def test_a_custom_call_sorts_by_its_comparator() -> None:
    keys = np.array([[3, 1, 3, 0, 2, 5, -1, 1], [1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    assert "custom-call" not in opcodes(passed(_CUSTOM, TopkDecomposer(), keys))


def test_values_alone_are_sorted_alone() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[2,8] parameter(0)
  t = (f32[2,3], s32[2,3]) topk(x), k=3, largest=true
  ROOT v = f32[2,3] get-tuple-element(t), index=0
}
"""
    module = passed(text, TopkDecomposer(), _TIES.astype(np.float32))
    assert "iota" not in opcodes(module)


def test_no_elements_and_other_custom_calls() -> None:
    text = _module("f32").replace("[2,8]", "[0,8]").replace("[2,3]", "[0,3]")
    assert "sort" in opcodes(passed(text, TopkDecomposer()))
    other = _CUSTOM.replace('"TopK"', '"mhlo.topk"')
    assert opcodes(passed(other, TopkDecomposer())) == ["custom-call"]


def test_long_rows_are_split() -> None:
    keys = _TIES.astype(np.float32)
    module = passed(_module("f32"), TopKSplitter(split_threshold=4), keys)
    assert opcodes(module).count("topk") == 1
    assert "sort" in opcodes(module)
    numbers = np.array([[3, 1, 3, 0, 2, 5, -1, 1], [1, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    assert "sort" in opcodes(passed(_CUSTOM, TopKSplitter(split_threshold=4), numbers))


@pytest.mark.parametrize("threshold", [8, 5, 3, 2])
def test_rows_that_cannot_be_split_stay(threshold: int) -> None:
    one = TopKSplitter(split_threshold=threshold)
    assert opcodes(passed(_module("f32"), one, _TIES.astype(np.float32))) == ["topk"]
