"""A lane has the same bits whatever the number of lanes, and no function calls another."""

import platform
import re

import numpy as np
import pytest

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.math.functions import COMPLEX_FUNCTIONS, FUNCTIONS
from tests.codegen.compiling import (
    DTYPES,
    Array,
    Compiled,
    applied,
    assembly,
    elementwise,
    module_text,
    target_machine,
)
from tests.codegen.math.references import LANES, OPERANDS, points

PAIRS = {"atan2", "divide", "multiply", "power"}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.0, 1e-42, 1e38, -1e5]
TARGETS = {
    "avx2": ("x86_64-unknown-linux-gnu", "x86-64-v3", ""),
    "avx512": ("x86_64-unknown-linux-gnu", "x86-64-v4", ""),
    "neon": ("aarch64-unknown-linux-gnu", "neoverse-n1", ""),
}
CALLS = re.compile(r"^\s+(?:call\w*|bl|blr|jmpq?|b)\s+\*?(?!\.?L)\S+.*$", re.MULTILINE)


def complex_writer(name: str, lane: str, lanes: int) -> FunctionWriter:
    count = 2 if name in PAIRS else 1

    def emit(writer: FunctionWriter, *parts: Value) -> tuple[Value, Value]:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return COMPLEX_FUNCTIONS[name](writer, *pairs)

    spelled = f"{name}_{lane}_{lanes}".replace("-", "_")
    return elementwise(spelled, emit, [lane] * (2 * count), [lane] * 2, lanes)


def real_writer(name: str, lane: str, lanes: int) -> FunctionWriter:
    count = OPERANDS.get(name, 1)
    spelled = f"{name}_{lane}_{lanes}".replace("-", "_")
    return elementwise(spelled, FUNCTIONS[name], [lane] * count, [lane], lanes)


def same_bits(one: Array, other: Array) -> bool:
    return one.tobytes() == other.tobytes() or bool(
        np.all((one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}")) | np.isnan(one))
        and np.array_equal(np.isnan(one), np.isnan(other))
    )


def assert_lanes_do_not_matter(
    writers: dict[int, FunctionWriter], operands: list[Array], outputs: list[str]
) -> None:
    compiled = Compiled(module_text(*writers.values()))
    found = {
        lanes: applied(compiled, writer.name, operands, outputs, lanes)
        for lanes, writer in writers.items()
    }
    for results in found.values():
        for together, alone in zip(results, found[1], strict=True):
            assert same_bits(together, alone)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_lanes_do_not_matter(name: str, lane: str) -> None:
    operands = [np.append(one, np.array(SPECIAL, one.dtype)) for one in points(name, lane, 600)]
    writers = {lanes: real_writer(name, lane, lanes) for lanes in (1, 3, LANES[lane])}
    assert_lanes_do_not_matter(writers, operands, [lane])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor")
@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_newer_instructions_do_not_matter(name: str, lane: str) -> None:
    operands = points(name, lane, 400)
    writer = real_writer(name, lane, LANES[lane])
    found = []
    for machine in (target_machine(), target_machine(cpu="x86-64-v3", features="")):
        compiled = Compiled(module_text(writer), machine)
        found += applied(compiled, writer.name, operands, [lane], LANES[lane])
    assert same_bits(*found)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_lanes_of_complex_functions_do_not_matter(name: str, lane: str) -> None:
    random = np.random.default_rng(5)
    parts = []
    for _ in range(4 if name in PAIRS else 2):
        special, plain = random.choice(SPECIAL, 300), random.normal(size=300)
        chosen = np.where(random.random(300) < 0.5, special, plain)
        parts.append(chosen.astype(DTYPES[lane]))
    writers = {lanes: complex_writer(name, lane, lanes) for lanes in (1, 4)}
    assert_lanes_do_not_matter(writers, parts, [lane] * 2)


@pytest.mark.parametrize("target", TARGETS)
def test_real_functions_call_nothing(target: str) -> None:
    writers = [
        real_writer(name, lane, lanes)
        for name in FUNCTIONS
        for lane, count in LANES.items()
        for lanes in ((1, count) if target == "avx2" else (count,))
    ]
    assert_no_calls(target, writers)


@pytest.mark.parametrize("target", TARGETS)
def test_complex_functions_call_nothing(target: str) -> None:
    shapes = [("float", 8), ("double", 1)] if target == "avx2" else [("float", 4)]
    writers = [complex_writer(name, *shape) for name in COMPLEX_FUNCTIONS for shape in shapes]
    assert_no_calls(target, writers)


def assert_no_calls(target: str, writers: list[FunctionWriter]) -> None:
    text = assembly(module_text(*writers), target_machine(*TARGETS[target]))
    assert text.count("ret") >= len(writers)
    assert CALLS.findall(text) == []


@pytest.mark.parametrize("target", TARGETS)
def test_calls_would_be_seen(target: str) -> None:
    def emit(writer: FunctionWriter, value: Value) -> Value:
        return writer.intrinsic("exp", value)

    writer = elementwise("function", emit, ["float"], ["float"], 4)
    text = assembly(module_text(writer), target_machine(*TARGETS[target]))
    assert CALLS.findall(text) != []
