"""Nothing that a processor lacks is left to functions of a library, which may not be there."""

from __future__ import annotations

import re

import pytest

from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.text.parser import parse
from tests.codegen.compiling import assembly, target_machine
from tests.codegen.elements.computing import module_of, written
from tests.codegen.elements.test_conversions import COUNT, conversions
from tests.codegen.elements.test_elementwise import exact_results
from tests.codegen.elements.test_functions import REAL, results_of

TARGETS = [
    ("x86_64-unknown-linux-gnu", "haswell", frozenset({"half"})),
    ("x86_64-unknown-linux-gnu", "skylake-avx512", frozenset({"half"})),
    ("aarch64-unknown-linux-gnu", "neoverse-n1", frozenset({"half", "maximum"})),
]
_CALL = re.compile(r"^\s+(?:callq?|bl|blr)\s.*$", re.MULTILINE)


NAMES = ["f16", "f8e4m3fn", "f32", "s4"]
MORE_NAMES = ["bf16", "f64", "s8", "s32", "u64", "f8e5m2", "f8e8m0fnu", "c64"]


def check_no_calls(triple: str, cpu: str, native: frozenset[str], name: str, lanes: int) -> None:
    """Asserts that the code of exact ops and functions of an element type calls nothing."""
    results = exact_results(name) + conversions(name)
    if ELEMENT_TYPES[name].is_float:
        results += [line.replace("[301]", f"[{COUNT}]") for line in results_of(name, REAL)]
    root = parse(module_of([name] * 2, [(COUNT,)] * 2, results)).entry.root
    writer: FunctionWriter = written(root.operands, lanes, native)
    lines = (*sorted(writer.globals), *sorted(writer.declarations), writer.text("i32 0"))
    text = assembly("\n".join(lines), target_machine(triple, cpu, ""))
    assert _CALL.findall(text) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("triple", "cpu", "native"), TARGETS)
def test_no_calls(triple: str, cpu: str, native: frozenset[str], name: str) -> None:
    check_no_calls(triple, cpu, native, name, 4)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("name", NAMES + MORE_NAMES)
@pytest.mark.parametrize(("triple", "cpu", "native"), TARGETS)
def test_no_calls_of_any_type(
    triple: str, cpu: str, native: frozenset[str], name: str, lanes: int
) -> None:
    check_no_calls(triple, cpu, native, name, lanes)
