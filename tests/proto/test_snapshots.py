"""Snapshots: a module with arguments and result."""

from __future__ import annotations

import numpy as np
import pytest

from hlotool.errors import ParseError
from hlotool.ir.literal import Literal
from hlotool.proto.reader import read_module
from hlotool.proto.schema import HloSnapshot
from hlotool.proto.snapshots import (
    Snapshot,
    read_snapshot,
    read_snapshot_arguments,
    write_snapshot,
)
from hlotool.text.printer import print_module
from tests.proto.examples import SMALLEST

MODULE = read_module(SMALLEST)
ARGUMENT = Literal.from_array(np.array([1, 2, 3, 4], np.float32))


def test_snapshot_is_the_same_when_written_and_read() -> None:
    pair = Literal.of_elements([ARGUMENT, ARGUMENT])
    data = write_snapshot(Snapshot(MODULE, (ARGUMENT, pair), pair, "cpu"))
    found = read_snapshot(data)
    assert found.arguments == (ARGUMENT, pair)
    assert found.result == pair
    assert found.execution_platform == "cpu"
    assert print_module(found.module) == print_module(MODULE)
    assert print_module(read_module(data)) == print_module(MODULE)


def test_result_may_be_missing() -> None:
    found = read_snapshot(write_snapshot(Snapshot(MODULE)))
    assert (found.arguments, found.result, found.execution_platform) == ((), None, "")


def test_faults_are_told() -> None:
    data = write_snapshot(Snapshot(MODULE, (ARGUMENT,)))
    for other in (b"", SMALLEST, data[:-1]):
        with pytest.raises(ParseError, match="this is no HLO snapshot, or one that is cut off"):
            read_snapshot(other)
    proto = HloSnapshot.FromString(data)
    proto.arguments[0].f32s.pop()
    with pytest.raises(ParseError, match=r"argument 0: a literal of .* takes 16 bytes, 12"):
        read_snapshot(proto.SerializeToString())


def test_arguments_are_read_without_the_module() -> None:
    data = write_snapshot(Snapshot(MODULE, (ARGUMENT,)))
    assert read_snapshot_arguments(data) == (ARGUMENT,)
    assert read_snapshot_arguments(SMALLEST) == ()
    proto = HloSnapshot.FromString(data)
    proto.arguments[0].f32s.pop()
    with pytest.raises(ParseError, match="argument 0: a literal"):
        read_snapshot_arguments(proto.SerializeToString())
