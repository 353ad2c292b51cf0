"""`hlotool.compile`: its options, what it refuses, and what it tells of what it made."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.errors import EvaluationError, UnsupportedError, UsageError
from hlotool.proto.writer import write_module
from hlotool.runtime.symbols import check_symbols
from tests.evaluating import entry
from tests.runtime.modules import ADD, custom, elementwise

TINY = np.float32(1e-40)


def test_text_and_module_are_compiled_alike() -> None:
    x = np.arange(8, dtype=np.float32)
    module = hlotool.parse(ADD)
    before = hlotool.print_module(module)
    assert hlotool.compile(module)(x, x).tolist() == hlotool.compile(ADD)(x, x).tolist()
    assert hlotool.print_module(module) == before


def test_what_an_executable_tells() -> None:
    executable = hlotool.compile(ADD, threads=1, cache=False)
    assert [shape.plain_text for shape in executable.input_shapes] == ["f32[8]", "f32[8]"]
    assert [shape.plain_text for shape in executable.output_shapes] == ["f32[8]"]
    assert repr(executable) == "<executable add: (f32[8], f32[8]) -> f32[8]>"
    assert executable.module.is_scheduled
    assert executable.temporary_bytes == executable.program.temporary_bytes
    assert set(executable.timings) == {"cache", "passes", "code", "llvm", "load"}
    assert all(seconds >= 0 for seconds in executable.timings.values())
    assert executable.explain().endswith("everything is compiled")


def test_passes_may_be_chosen() -> None:
    text = entry("x = f32[4] parameter(0)\ny = f32[4] negate(x)\nROOT z = f32[4] negate(y)")
    x = np.arange(4, dtype=np.float32)
    plain = hlotool.compile(text, passes="dce")
    simplified = hlotool.compile(text, passes="algsimp,dce")
    assert sum(1 for one in plain.module.instructions() if one.opcode == "negate") == 2
    assert sum(1 for one in simplified.module.instructions() if one.opcode == "negate") == 0
    assert plain(x).tolist() == simplified(x).tolist() == x.tolist()
    with pytest.raises(UsageError, match="no-such-pass"):
        hlotool.compile(text, passes="no-such-pass")


def test_faults_of_the_module() -> None:
    with pytest.raises(hlotool.ParseError):
        hlotool.compile("HloModule")
    with pytest.raises(hlotool.VerificationErrors):
        hlotool.compile(entry("x = f32[4] parameter(0)\nROOT y = f32[5] negate(x)"))
    wrong: Any = 9
    for function in (hlotool.compile, hlotool.evaluate):
        with pytest.raises(TypeError, match="its text or its serialized proto is wanted, int is"):
            function(wrong)
        with pytest.raises(hlotool.ParseError, match="this is no HLO proto"):
            function(bytes(9))
        with pytest.raises(hlotool.ParseError, match="this is MLIR, such as StableHLO") as caught:
            function("// a remark\nmodule @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n}")
        assert any("as_hlo_text" in note for note in caught.value.notes)
        with pytest.raises(hlotool.ParseError) as caught:
            function("folder/model.hlo")
        assert "hlotool.load reads a file" in caught.value.notes[-1]


class Computation:
    """A computation as jaxlib has it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def as_serialized_hlo_module_proto(self) -> bytes:
        return self._data


def test_protos_are_modules() -> None:
    module = hlotool.parse(entry("x = f32[4] parameter(0)\nROOT y = f32[4] negate(x)"))
    data = write_module(module)
    x = np.arange(4, dtype=np.float32)
    for given in (data, Computation(data)):
        assert hlotool.load(given).name == module.name  # type: ignore[arg-type]
        assert hlotool.compile(given)(x).tolist() == (-x).tolist()  # type: ignore[arg-type]
        assert hlotool.evaluate(given, x).tolist() == (-x).tolist()  # type: ignore[arg-type]
    with pytest.raises(hlotool.ParseError, match="MLIR bytecode"):
        hlotool.load(b"ML\xefR and more")


def test_constants_that_are_left_out() -> None:
    text = entry("ROOT c = f32[20] constant({...})")
    with pytest.raises(EvaluationError, match="left out of the text") as caught:
        hlotool.compile(text)
    assert any("print_large_constants=True" in note for note in caught.value.notes)


def test_masked_arrays() -> None:
    executable = hlotool.compile(entry("x = f32[3] parameter(0)\nROOT y = f32[3] negate(x)"))
    values = np.array([1, 2, 3], np.float32)
    with pytest.raises(EvaluationError, match="masked elements"):
        executable(np.ma.array(values, mask=[False, True, False]))
    assert executable(np.ma.array(values)).tolist() == (-values).tolist()


def test_what_is_told_of_libraries_and_launches() -> None:
    one = hlotool.compile(entry("x = f32[3] parameter(0)\nROOT y = f32[3] negate(x)"))
    assert "1 kernel is launched; 0 bytes" in one.explain()
    assert one.library_use == ""
    none = hlotool.compile(entry("ROOT x = f32[3] parameter(0)"), passes="")
    assert "launched" in none.explain()
    product = hlotool.compile(
        entry(
            "x = f32[3,3] parameter(0)\nROOT y = f32[3,3] dot(x, x),"
            " lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        )
    )
    assert "OpenBLAS" in product.explain()
    assert product.target.features not in repr(product.target)


def test_modules_that_are_not_compiled() -> None:
    with pytest.raises(UnsupportedError, match="2 replicas and 1 partition,"):
        hlotool.compile("HloModule m, replica_count=2\nENTRY e { ROOT x = f32[] parameter(0) }")
    with pytest.raises(UnsupportedError, match=r"x is f32\[<=4\], and parameters and results"):
        hlotool.compile(entry("ROOT x = f32[<=4] parameter(0)"))


def test_mode_of_numbers_must_be_known() -> None:
    with pytest.raises(UsageError, match="one of strict, xla, fast is wanted"):
        hlotool.compile(ADD, fp_mode="precise")


@pytest.mark.parametrize("donate", [0, None, "0", [2], [-1], [True], [0.0]], ids=repr)
def test_donated_parameters_are_numbers(donate: Any) -> None:
    with pytest.raises(UsageError, match="donate"):
        hlotool.compile(ADD, donate=donate)


def test_passes_are_a_text() -> None:
    wrong: Any = ["algsimp"]
    with pytest.raises(UsageError, match="the text of a pipeline is wanted"):
        hlotool.compile(ADD, passes=wrong)


@pytest.mark.parametrize("size", [8, 1 << 18])
def test_denormals_are_kept_or_flushed(size: int) -> None:
    x = np.full(size, TINY, np.float32)
    text = f"""HloModule m
ENTRY e {{
  x = f32[{size}] parameter(0)
  ROOT y = f32[{size}] add(x, x)
}}
"""
    flushing = hlotool.compile(text, fp_mode="xla", threads=3)
    keeping = hlotool.compile(text, threads=3)
    for _ in range(3):
        assert not flushing(x).any()
        # Neither this thread nor the workers keep the mode.
        assert TINY * np.float32(2) > 0
        assert (keeping(x) == TINY * np.float32(2)).all()


def test_host_calls_see_ordinary_arithmetic() -> None:
    seen = []

    def look(x: Any) -> Any:
        seen.append(float(TINY * np.float32(1.5)))
        return x

    hlotool.register_custom_call("runtime.look", look)
    try:
        executable = hlotool.compile(custom("runtime.look"), fp_mode="xla")
        assert executable(np.full(4, TINY)).tolist() == [0] * 4
    finally:
        hlotool.unregister_custom_call("runtime.look")
    assert seen
    assert seen[0] > 0


def test_threads_compile_at_once() -> None:
    found: dict[int, float] = {}

    def job(number: int) -> None:
        x = np.ones(number + 1, np.float32)
        found[number] = float(hlotool.compile(elementwise(number + 1))(x, x).sum())

    started = [threading.Thread(target=job, args=(number,)) for number in range(6)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    assert found == {number: 4.0 * (number + 1) for number in range(6)}


@pytest.mark.parametrize(
    "line",
    [
        "declare float @llvm.exp.f32(float)",
        "declare <4 x double> @llvm.pow.v4f64(<4 x double>, <4 x double>)",
        "declare float @expf(float) nounwind",
        "declare i16 @__truncsfbf2(float)",
        "  %1 = call float @llvm.sin.f32(float %0)",
    ],
)
def test_code_calls_nothing_that_may_be_missing(line: str) -> None:
    check_symbols("declare <8 x float> @llvm.fma.v8f32(<8 x float>, <8 x float>, <8 x float>)")
    with pytest.raises(AssertionError, match="the code of the module calls"):
        check_symbols(f"declare void @llvm.trap()\n{line}\n")
