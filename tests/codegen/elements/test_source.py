"""Arrays in memory: loads and stores of lanes, wherever these lead."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.codegen.elements.source import Source, memory_index, memory_place
from hlotool.codegen.indexing.index import Counter, delinear, index_of
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse_shape
from tests.codegen.compiling import Array, Compiled, module_text


def shape_of(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def source_at(name: str, shape: ArrayShape, *, is_written: bool = False) -> Source:
    return Source(Memory(Value(f"%{name}", "ptr"), shape.element_type, is_written), shape)


def copied(given: ArrayShape, result: ArrayShape, array: Array, lanes: int) -> Array:
    """Returns an array that is loaded and stored index by index, in another layout."""
    writer = FunctionWriter("run", [Argument("ptr", "one"), Argument("ptr", "other")], linkage="")
    source, target = source_at("one", given), source_at("other", result, is_written=True)
    count = given.element_count
    with writer.loop(writer.integer(0), writer.integer(count), lanes) as loop:
        place = index_of(Counter(count, loop.index, lanes, splits=False))
        index = delinear(place, given.dimensions)
        target.store(writer, index, source.load(writer, index, lanes), lanes)
    held = np.ascontiguousarray(array.transpose(source.order))
    made = np.zeros([result.dimensions[d] for d in target.order], array.dtype)
    Compiled(module_text(writer)).call("run", held, made)
    return made.transpose(np.argsort(target.order))


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("result", ["{2,1,0}", "{0,1,2}", "{1,2,0}"])
@pytest.mark.parametrize("kind", ["f32", "s8", "c64"])
def test_elements_are_stored_where_they_belong(kind: str, result: str, lanes: int) -> None:
    given, made = (shape_of(f"{kind}[4,3,8]{layout}") for layout in ("{1,2,0}", result))
    numbers = np.arange(96).reshape(4, 3, 8)
    array = numbers.astype(given.element_type.numpy)
    if kind == "c64":
        array = array + np.complex64(1j) * array[::-1]
    np.testing.assert_array_equal(copied(given, made, array, lanes), array)


def test_one_element_for_all_lanes() -> None:
    shape = shape_of("f32[4,6]{0,1}")
    writer = FunctionWriter("run", [Argument("ptr", "one"), Argument("ptr", "other")], linkage="")
    source, target = source_at("one", shape_of("f32[]")), source_at("other", shape, is_written=True)
    with writer.loop(writer.integer(0), writer.integer(6), 2) as loop:
        column = index_of(Counter(6, loop.index, 2, splits=False))
        target.store(writer, (index_of(2), column), source.load(writer, (), 2), 2)
    made = np.zeros((6, 4), "f4")
    Compiled(module_text(writer)).call("run", np.array(7, "f4"), made)
    np.testing.assert_array_equal(made, np.outer(np.ones(6), [0, 0, 7, 0]))


def test_places_in_memory() -> None:
    shape = shape_of("f32[4,3,8]{1,2,0}")
    indices = tuple(index_of(Counter(size)) for size in shape.dimensions)
    place = memory_place(shape, indices)
    assert [factor for _, factor in place.terms] == [24, 3, 1]
    assert memory_index(shape, place) == indices
    assert source_at("one", shape).index(place) == indices


@pytest.mark.parametrize("text", ["f32[<=4]", "s4[8]{0:E(4)}", "f32[8,8]{1,0:T(4,4)}"])
def test_layouts_that_have_no_code(text: str) -> None:
    with pytest.raises(NotCompiled):
        source_at("one", shape_of(text)).place((index_of(Counter(8)),) * 2)
