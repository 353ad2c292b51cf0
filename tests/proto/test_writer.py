"""Writing: the message is the reference's own, and reads back as the same module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hlotool.errors import UnsupportedError
from hlotool.ops.conversion import ReducePrecision
from hlotool.proto.reader import read_module
from hlotool.proto.writer import write_module
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.proto.examples import NAMES, NO_PLACE, PROTOS, bare, example, instruction, text_of

HEAD = "HloModule m{}\n\nENTRY e {{\n  ROOT a = f32[] parameter(0){}\n}}\n"


def decided_by_text(module: Any) -> Any:
    """Returns a module message without what a text does not decide."""
    module.ClearField("id")
    for computation in module.computations:
        for one in computation.instructions:
            # The reference gives every convolution an empty one.
            if not one.sparsity_config.ListFields():
                one.ClearField("sparsity_config")
    return module


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_message_of_a_text_is_the_references(path: Path) -> None:
    wanted = decided_by_text(example(path.stem))
    found = decided_by_text(bare(write_module(parse(text_of(path)))))
    assert found == wanted


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_module_is_the_same_when_written_and_read(path: Path) -> None:
    module = read_module(path.read_bytes())
    data = write_module(module)
    again = read_module(data)
    assert print_module(again) == print_module(module)
    assert again.header == module.header
    assert again.stack_tables == module.stack_tables
    for one, other in zip(module.instructions(), again.instructions(), strict=True):
        assert (one.op, one.shape, one.annotations) == (other.op, other.shape, other.annotations)
    assert write_module(again) == data


def test_real_modules_are_the_same_when_written_and_read(model_module: Path) -> None:
    module = parse(model_module.read_text(encoding="utf-8"))
    again = read_module(write_module(module))
    assert print_module(again) == NO_PLACE.sub("", print_module(module))


def test_ids_are_numbers_in_their_computation() -> None:
    module = bare(write_module(read_module(PROTOS[NAMES.index("control")].read_bytes())))
    assert [computation.id for computation in module.computations] == list(range(6))
    for computation in module.computations:
        ids = sorted(one.id for one in computation.instructions)
        assert ids == [computation.id << 32 | number for number in range(len(ids))]
    assert sorted(module.schedule.sequences) == [0, 1, 2, 3, 5], "fusions have no schedule"
    assert [c.is_fusion_computation for c in module.computations].index(True) == 4


def test_device_counts_survive() -> None:
    text = HEAD.format(", replica_count=2, num_partitions=4", "")
    data = write_module(parse(text))
    devices = bare(data).device_assignment
    assert [list(d.replica_device_ids) for d in devices.computation_devices] == [
        [0, 1], [2, 3], [4, 5], [6, 7],
    ]  # fmt: skip
    header = read_module(data).header
    assert (header.replica_count, header.num_partitions) == (2, 4)
    with pytest.raises(UnsupportedError, match="module header: 9999999 replicas of 9999999"):
        write_module(parse(HEAD.format(", replica_count=9999999, num_partitions=9999999", "")))


def test_equal_payloads_are_kept_once() -> None:
    text = """HloModule m

ENTRY e {
  a = f32[] parameter(0), metadata={op_name="a" metadata_payload="one"}
  b = f32[] negate(a), metadata={op_name="a" metadata_payload="two"}
  ROOT c = f32[] negate(b), metadata={op_name="a" metadata_payload="one"}
}
"""
    module = bare(write_module(parse(text)))
    assert list(module.payloads) == [b"one", b"two"]
    assert instruction(module, "c").metadata.metadata_payload.id == 0


def test_left_out_literal_stays_left_out() -> None:
    text = "HloModule m\n\nENTRY e {\n  ROOT c = f32[99]{0} constant({...})\n}\n"
    data = write_module(parse(text))
    assert not instruction(bare(data), "c").literal.f32s
    (constant,) = read_module(data).instructions()
    assert constant.op == next(parse(text).instructions()).op


def test_bytes_that_are_no_text_stand_only_where_bytes_may() -> None:
    data = write_module(parse(HEAD.format("", ', backend_config="\\377"')))
    assert instruction(bare(data), "a").backend_config == b"\xff"
    with pytest.raises(UnsupportedError, match=r'a: op_name of a proto takes UTF-8 alone, not "'):
        write_module(parse(HEAD.format("", ', metadata={op_name="\\377"}')))


def test_what_has_no_place_is_refused() -> None:
    sparse = """HloModule m

ENTRY e {
  a = f32[4,4]{1,0} parameter(0)
  b = f32[8,4]{1,0} parameter(1)
  s = u16[4,2]{1,0} parameter(2)
  ROOT c = f32[4,4]{1,0} dot(a, b, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}, %s
}
"""
    with pytest.raises(UnsupportedError, match="instruction c: dot: sparsity has no place"):
        write_module(parse(sparse % "sparsity=L.1@2:4"))


def test_numbers_too_wide_for_a_message_are_refused() -> None:
    module = parse(HEAD.format("", ""))
    (parameter,) = module.instructions()
    parameter.op = ReducePrecision(exponent_bits=1 << 40, mantissa_bits=1)
    with pytest.raises(UnsupportedError, match=r"instruction a: .*1099511627776"):
        write_module(module)
