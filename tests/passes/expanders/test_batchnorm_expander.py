import ml_dtypes
import numpy as np
import pytest

from hlotool.passes.expanders.batch_norm import BatchNormExpander
from tests.passes.checking import opcodes, passed

_TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
_RNG = np.random.default_rng(3)
_X = _RNG.normal(3, 2, (4, 3, 5))
_SCALE, _OFFSET, _MEAN = (_RNG.normal(0, 1, 3) for _ in range(3))
_VARIANCE = _RNG.uniform(0.5, 2, 3)


def _training(element_type: str, size: int = 4) -> str:
    x, v = f"{element_type}[{size},3,5]", f"{element_type}[3]"
    return f"""HloModule m
ENTRY e {{
  x = {x} parameter(0)
  scale = {v} parameter(1)
  offset = {v} parameter(2)
  ROOT r = ({x}, {v}, {v}) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1
}}
"""


_INFERENCE = """HloModule m
ENTRY e {
  x = f32[4,3,5]{0,1,2} parameter(0)
  a = f32[3] parameter(1)
  b = f32[3] parameter(2)
  c = f32[3] parameter(3)
  d = f32[3] parameter(4)
  ROOT r = f32[4,3,5]{0,1,2} batch-norm-inference(x, a, b, c, d), epsilon=0.001, feature_index=1
}
"""
_GRAD = """HloModule m
ENTRY e {
  x = f32[4,3,5] parameter(0)
  a = f32[3] parameter(1)
  b = f32[3] parameter(2)
  c = f32[3] parameter(3)
  g = f32[4,3,5] parameter(4)
  ROOT r = batch-norm-grad(x, a, b, c, g), epsilon=0.001, feature_index=1
}
"""


@pytest.mark.parametrize("element_type", list(_TYPES))
def test_training_takes_mean_and_variance_of_the_array(element_type: str) -> None:
    arrays = [one.astype(_TYPES[element_type]) for one in (_X, _SCALE, _OFFSET)]
    module = passed(_training(element_type), BatchNormExpander(), *arrays)
    assert opcodes(module).count("reduce") == 2
    assert "batch-norm-training" not in opcodes(module)


def test_no_elements_have_a_mean_that_is_nan() -> None:
    passed(_training("f32", 0), BatchNormExpander())


def test_inference_keeps_the_layout() -> None:
    arrays = [one.astype(np.float32) for one in (_X, _SCALE, _OFFSET, _MEAN, _VARIANCE)]
    module = passed(_INFERENCE, BatchNormExpander(), *arrays)
    assert module.entry.root.shape.text == "f32[4,3,5]{0,1,2}"
    assert "batch-norm-inference" not in opcodes(module)


def test_gradients() -> None:
    given = (_X, _SCALE, _MEAN, _VARIANCE, np.flip(_X))
    arrays = [one.astype(np.float32) for one in given]
    assert "batch-norm-grad" not in opcodes(passed(_GRAD, BatchNormExpander(), *arrays))


def test_options_leave_ops_alone() -> None:
    arrays = [one.astype(np.float32) for one in (_X, _SCALE, _OFFSET)]
    one = BatchNormExpander(training=False)
    assert opcodes(passed(_training("f32"), one, *arrays)) == ["batch-norm-training"]
    assert BatchNormExpander(grad=False).text == "batchnorm_expander{grad=false}"
