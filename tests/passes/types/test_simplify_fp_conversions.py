from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.passes.types.simplify_fp_conversions import SimplifyFpConversions
from tests.passes.checking import opcodes, passed

_CASES = Path(__file__).parents[3] / "testdata" / "cases"
_EDGES = np.array(
    [0.0, -0.0, np.nan, np.inf, -np.inf, 1.001, 3.4e38, 1e-40, 65520.0, -7.1], np.float32
)


def _chain(*types: str) -> str:
    steps = "\n".join(f"  v{n} = {t}[10] convert(v{n - 1})" for n, t in enumerate(types) if n)
    last = len(types) - 1
    return f"""HloModule m
ENTRY e {{
  v0 = {types[0]}[10] parameter(0)
{steps}
  ROOT r = {types[-1]}[10] negate(v{last})
}}
"""


@pytest.mark.parametrize(
    "types",
    [("bf16", "f32", "bf16"), ("f16", "f32", "f16"), ("f8e5m2", "f16", "f32", "f8e5m2"),
     ("bf16", "f32", "f64", "bf16")],
)  # fmt: skip
def test_round_trips_through_wider_types_go(types: tuple[str, ...]) -> None:
    with np.errstate(all="ignore"):
        given = _EDGES.astype(ELEMENT_TYPES[types[0]].numpy)
    module = passed(_chain(*types), SimplifyFpConversions(), given, exact=True)
    assert opcodes(module) == ["negate"]


@pytest.mark.parametrize(
    "types", [("f32", "bf16", "f32"), ("f32", "f16", "f32"), ("bf16", "f16", "bf16")]
)
def test_roundings_stay_unless_they_may_go(types: tuple[str, ...]) -> None:
    with np.errstate(all="ignore"):
        given = _EDGES.astype(ELEMENT_TYPES[types[0]].numpy)
    kept = passed(_chain(*types), SimplifyFpConversions(), given, exact=True)
    assert opcodes(kept) == ["convert", "convert", "negate"]
    few = np.array([0.5] * 10, given.dtype)
    dropped = passed(_chain(*types), SimplifyFpConversions(drop_rounding=True), few, exact=True)
    assert opcodes(dropped) == ["negate"]


def test_two_widenings_become_one() -> None:
    given = _EDGES.astype(ml_dtypes.bfloat16)
    module = passed(_chain("bf16", "f32", "f64"), SimplifyFpConversions(), given, exact=True)
    assert opcodes(module) == ["convert", "negate"]
    narrowed = passed(_chain("bf16", "f64", "f16"), SimplifyFpConversions(), given, exact=True)
    assert opcodes(narrowed) == ["convert", "negate"]


@pytest.mark.parametrize("types", [("s8", "f32", "s8"), ("f32", "s32", "f32")])
def test_integers_are_left_alone(types: tuple[str, ...]) -> None:
    module = passed(_chain(*types), SimplifyFpConversions())
    assert opcodes(module) == ["convert", "convert", "negate"]


@pytest.mark.parametrize("name", ["narrowing_convert_kept", "bf16_rounding_error"])
def test_known_answers_hold(name: str) -> None:
    text = (_CASES / f"{name}.hlo").read_text()
    before = opcodes(passed(text, SimplifyFpConversions(), exact=True))
    assert before == (["convert", "convert"] if name[0] == "n" else ["add", "subtract", "subtract"])
