"""Custom calls that yield their operand."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.codegen.unsupported import NotCompiled
from tests.codegen.kernels.one_kernel import OneKernel, check, random_arguments


def _module(shape: str, result: str = "", target: str = "Sharding") -> str:
    return f"""HloModule marking
ENTRY main {{
  x = {shape} parameter(0)
  ROOT r = {result or shape} custom-call(x), custom_call_target="{target}"
}}
"""


@pytest.mark.parametrize("shape", ["f32[]", "u8[7]", "f32[3,5]{0,1}", "bf16[100,33]", "c128[999]"])
def test_copies(shape: str) -> None:
    module = _module(shape)
    check(module, random_arguments(module))


def test_the_result_may_lie_over_the_operand() -> None:
    module = _module("f32[999]")
    check(module, random_arguments(module), shared=((0, 0),))


def test_what_has_no_kernel() -> None:
    with pytest.raises(NotCompiled, match="another layout"):
        OneKernel(_module("f32[3,5]{0,1}", "f32[3,5]{1,0}"))
    with pytest.raises(NotCompiled, match="the custom call unknown"):
        OneKernel(_module("f32[3]", target="unknown"))


def test_a_function_of_the_user_comes_first() -> None:
    OneKernel(_module("f32[3]"))
    hlotool.register_custom_call("Sharding", lambda x: x + 1)
    try:
        with pytest.raises(NotCompiled, match="Sharding"):
            OneKernel(_module("f32[3]"))
    finally:
        hlotool.unregister_custom_call("Sharding")
