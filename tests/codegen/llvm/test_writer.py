"""Functions as they are written: where instructions stand, and what loops and branches yield."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.lanes import any_lane, every_lane, greatest_lane
from tests.codegen.compiling import Array, Compiled, module_text


def written(write: Callable[[FunctionWriter], None]) -> FunctionWriter:
    """Returns a function of a table of numbers of 64 bits and of a number."""
    writer = FunctionWriter("run", [Argument("ptr", "table"), Argument("i64", "n")], linkage="")
    write(writer)
    return writer


def called(write: Callable[[FunctionWriter], Sequence[Value]], number: int = 0) -> list[int]:
    """Returns the numbers that a function yields for its number."""
    results: list[Value] = []

    def whole(writer: FunctionWriter) -> None:
        results[:] = write(writer)
        for place, value in enumerate(results):
            writer.store(value, writer.offset(writer.argument(0), writer.integer(place), "i64"))

    text = module_text(written(whole))
    table: Array = np.zeros(len(results), "i8")
    Compiled(text).call("run", table, number)
    return [int(one) for one in table]


def lines_of(writer: FunctionWriter) -> list[str]:
    return [line.strip() for line in writer.text().splitlines()]


def test_what_a_loop_does_not_change_stands_before_it() -> None:
    def write(writer: FunctionWriter) -> None:
        with writer.loop(writer.integer(0), writer.argument(1)) as loop:
            square = writer.binary("mul", writer.argument(1), writer.argument(1))
            again = writer.binary("mul", writer.argument(1), writer.argument(1))
            assert square == again
            place = writer.offset(writer.argument(0), loop.index, "i64")
            writer.store(writer.binary("add", square, loop.index), place)

    lines = lines_of(written(write))
    assert sum("mul" in line for line in lines) == 1
    head = next(n for n, line in enumerate(lines) if line.startswith("loop"))
    assert next(n for n, line in enumerate(lines) if "mul" in line) < head
    assert next(n for n, line in enumerate(lines) if " = add i64" in line) > head


@pytest.mark.parametrize("opcode", ["udiv", "load"])
def test_what_can_fault_stays_in_its_branch(opcode: str) -> None:
    def write(writer: FunctionWriter) -> None:
        table, number = writer.argument(0), writer.argument(1)

        def then() -> None:
            if opcode == "load":
                writer.store(writer.load(table, "i64"), table)
            else:
                writer.store(writer.binary(opcode, constant("i64", 5), number), table)

        writer.branch(writer.compare("ne", number, constant("i64", 0)), then)

    lines = lines_of(written(write))
    begin = next(n for n, line in enumerate(lines) if line.startswith("then"))
    assert next(n for n, line in enumerate(lines) if opcode in line) > begin


def test_loops_hand_values_on() -> None:
    def powers(writer: FunctionWriter) -> Sequence[Value]:
        begin = (constant("i64", 1), constant("i64", 0))
        with writer.loop(writer.integer(0), writer.argument(1), carried=begin) as loop:
            power, total = loop.carried
            loop.next = (writer.binary("add", power, power), writer.binary("add", total, power))
        return loop.results

    assert called(powers, 10) == [1024, 1023]
    # At least one round is run.
    assert called(powers, 0) == [2, 1]


@pytest.mark.parametrize(("number", "wanted"), [(3, [30, 3]), (-3, [-3, 1])])
def test_branches_yield_what_is_taken(number: int, wanted: list[int]) -> None:
    def choice(writer: FunctionWriter) -> Sequence[Value]:
        given = writer.argument(1)
        is_positive = writer.compare("sgt", given, writer.integer(0))
        return writer.branch(
            is_positive,
            lambda: (writer.binary("mul", given, writer.integer(10)), given),
            lambda: (given, writer.integer(1)),
        )

    assert called(choice, number) == wanted


def test_what_is_written_once() -> None:
    count = 0

    def write(writer: FunctionWriter) -> Sequence[Value]:
        def make() -> Sequence[Value]:
            nonlocal count
            count += 1
            return (writer.binary("add", writer.argument(1), writer.integer(1)),)

        first = writer.once("more", make)
        with writer.loop(writer.integer(0), writer.integer(3), carried=[writer.integer(0)]) as loop:
            (more,) = writer.once("more", make)
            loop.next = (writer.binary("add", loop.carried[0], more),)
            writer.once("inside", make)
        writer.once("inside", make)
        return (*first, *loop.results)

    assert called(write, 4) == [5, 15]
    assert count == 3


def test_code_before_what_is_open() -> None:
    def write(writer: FunctionWriter) -> Sequence[Value]:
        with writer.loop(writer.integer(0), writer.integer(5)) as outer:
            level = writer.level
            first = writer.binary("mul", outer.index, writer.integer(10))
            with writer.loop(writer.integer(0), writer.integer(4)) as inner:
                with writer.before(level):
                    writer.store(first, writer.argument(0))
                found = writer.load_again(writer.argument(0), "i64")
                more = writer.binary("add", found, inner.index)
                writer.store(more, writer.argument(0))
        return (writer.load_again(writer.argument(0), "i64"),)

    # Stored once for each round of the outer loop, then 0 to 3 are added.
    assert called(write) == [40 + 0 + 1 + 2 + 3]


def test_a_loop_that_may_have_no_round() -> None:
    def halvings(writer: FunctionWriter) -> Sequence[Value]:
        table, one = writer.argument(0), writer.integer(1)
        writer.store(writer.argument(1), table)

        def is_large() -> Value:
            return writer.compare("sgt", writer.load_again(table, "i64"), writer.integer(6))

        def halve() -> None:
            writer.store(writer.binary("ashr", writer.load_again(table, "i64"), one), table)

        writer.repeat(is_large, halve)
        return (writer.load_again(table, "i64"),)

    assert called(halvings, 100) == [6]
    assert called(halvings, 5) == [5]


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_what_lanes_have_together(lanes: int) -> None:
    def write(writer: FunctionWriter) -> Sequence[Value]:
        places = writer.gathered([writer.integer(n) for n in range(lanes)])
        flags = writer.compare("slt", places, writer.splat(writer.argument(1), lanes))
        both = (any_lane(writer, flags), every_lane(writer, flags))
        numbers = [writer.cast("zext", flag, "i64") for flag in both]
        return (*numbers, greatest_lane(writer, places))

    assert called(write, 0) == [0, 0, lanes - 1]
    assert called(write, 1) == [1, int(lanes == 1), lanes - 1]
    assert called(write, lanes) == [1, 1, lanes - 1]


def test_constants_keep_their_bits() -> None:
    assert constant("float", float("-inf")).name == "0xFFF0000000000000"
    assert constant("double", -0.0).name == "0x8000000000000000"
    assert constant("float", 0.1).name == "0x3FB99999A0000000"
    assert constant("float", 1e300).name == constant("float", float("inf")).name
    assert constant("i1", 1, 4).text == "<4 x i1> splat (i1 true)"
    assert constant("i8", -3).integer == -3
    assert constant("i1", 1).integer == 1
    assert Value("%v", "i64").integer is None
