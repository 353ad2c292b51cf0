"""Custom calls that are known and cannot be evaluated."""

import numpy as np
import pytest

from hlotool.errors import UnsupportedError
from tests.evaluating import entry, evaluated


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("xla_python_cpu_callback", "calls back into the process that made the module"),
        ("xla_ffi_python_cpu_callback", "calls back into"),
        ("xla_ffi_partitioned_python_cpu_callback", "calls back into"),
        ("CallbackToPython", "calls back into"),
        ("__cudnn$fmhaSoftmax", "a kernel of a device's library"),
        ("__gpu$xla.gpu.triton", "a kernel of"),
    ],
)
def test_the_error_names_the_target_and_says_what_to_do(target: str, message: str) -> None:
    body = f"""
  x = f32[2] parameter(0)
  ROOT y = f32[2] custom-call(x), custom_call_target="{target}"
"""
    with pytest.raises(UnsupportedError, match=message) as found:
        evaluated(entry(body), np.zeros(2, np.float32))
    assert target in found.value.message
    assert any("hlotool.register_custom_call" in note for note in found.value.notes)
