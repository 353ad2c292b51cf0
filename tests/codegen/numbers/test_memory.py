"""Elements between registers and memory, and constants."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.numbers.memory import Memory, literal_element, memory_type
from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.literal import Literal
from hlotool.ir.shape import ArrayShape
from tests.codegen.elements.computing import Array, compiled, edge_values, same_numbers
from tests.evaluating import entry, evaluated

TYPES = list(ELEMENT_TYPES.values())


@pytest.mark.parametrize("element_type", TYPES, ids=str)
def test_constants_are_the_numbers_of_the_literal(element_type: ElementType) -> None:
    text = {"pred": "true", "c64": "(1.5, -inf)", "c128": "(nan, 2)"}.get(
        element_type.name, "1" if element_type.name in {"u1", "u2", "u4"} else "-1"
    )
    if element_type.name in {"u8", "u16", "u32", "u64"}:
        text = str((1 << element_type.bits) - 1)
    if element_type.name == "f8e8m0fnu":
        text = "0.25"
    module = entry(
        f"c = {element_type}[] constant({text})\n"
        f"ROOT b = {element_type}[11] broadcast(c), dimensions={{}}"
    )
    (found,) = compiled(module, lanes=4)
    assert same_numbers(found, evaluated(module)).all()


@pytest.mark.parametrize("element_type", TYPES, ids=str)
def test_copies_are_the_same_bytes(element_type: ElementType) -> None:
    values = edge_values(element_type.name, 77)
    module = entry(f"p = {element_type}[77] parameter(0)\nROOT c = {element_type}[77] copy(p)")
    (found,) = compiled(module, values, lanes=8)
    np.testing.assert_array_equal(_bytes(found), _bytes(values))


def _bytes(array: Array) -> Array:
    return np.frombuffer(array.tobytes(), np.uint8)


@pytest.mark.parametrize("element_type", TYPES, ids=str)
def test_an_element_for_each_lane_is_one_vector(element_type: ElementType) -> None:
    writer = FunctionWriter("f", [])
    memory = Memory(Value("%array", "ptr"), element_type)
    addresses = [Value(f"%place{n}", "ptr") for n in range(4)]
    found = memory.load_each(writer, addresses)
    assert found.type is element_type
    assert [part.lanes for part in found.parts] == [4] * (2 if element_type.is_complex else 1)
    # What is read is converted in all lanes at once.
    loads = [line for line in writer.finished() if " load " in line]
    kind = memory_type(element_type)
    read = f"<2 x {kind}>" if element_type.is_complex else kind
    assert [read in line for line in loads] == [True] * 4


@pytest.mark.parametrize(
    ("element_type", "data", "name"),
    [
        ("f32", b"\x01\x00\xa0\x7f", "0x7FF4000020000000"),
        ("f64", b"\x01\x00\x00\x00\x00\x00\xf8\xff", "0xFFF8000000000001"),
        ("bf16", b"\x81\x7f", "0x7FF0200000000000"),
        ("u64", b"\xff" * 8, str(2**64 - 1)),
        ("s1", b"\xff", "true"),
        ("s4", b"\xff", "-1"),
    ],
)
def test_constants_keep_their_bits(element_type: str, data: bytes, name: str) -> None:
    shape = ArrayShape(ELEMENT_TYPES[element_type])
    found = literal_element(Literal(shape, data), shape.element_type)
    assert found.value.name == name
