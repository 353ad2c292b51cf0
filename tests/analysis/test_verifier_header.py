"""What the verifier says of the header of a module."""

from __future__ import annotations

import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import Location, Source
from hlotool.ir.header import Alias, BufferDonor, ModuleHeader
from hlotool.ir.module import Module
from hlotool.ir.shape import ProgramShape
from tests.analysis.modules import computation, make, messages, module, parameter
from tests.ops.shapes import BF16_2, F32, F32_2, F32_4, S32, array, pack

RESULT = pack(F32_2, F32_2)


def with_header(header: ModuleHeader) -> Module:
    """Returns a module from `f32[2]` and `(f32[2], s32[])` to `(f32[2], f32[2])`."""
    x, y = parameter("x"), parameter("y", 1, pack(F32_2, S32))
    root = make("r", "tuple", x, x, shape=RESULT)
    return module(computation("e", x, y, root), header=header)


@pytest.mark.parametrize(
    "header",
    [
        ModuleHeader(),
        ModuleHeader(
            entry_computation_layout=ProgramShape([F32_2, pack(F32_2, S32)], RESULT),
            replica_count=2,
            num_partitions=4,
        ),
        ModuleHeader(
            input_output_alias=(Alias((0,), 0, ()), Alias((1,), 1, (0,), "must-alias")),
            buffer_donor=(BufferDonor(1, (1,)),),
        ),
    ],
)
def test_headers_that_fit(header: ModuleHeader) -> None:
    assert verify(with_header(header)) == []


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (ProgramShape([F32_2], RESULT), "1 parameters are given, the entry has 2"),
        (
            ProgramShape([F32_4, pack(F32_2, S32)], RESULT),
            "parameter x is f32[4], in the entry it is f32[2]",
        ),
        (
            ProgramShape([F32_2, pack(F32_2, S32)], pack(F32_2, BF16_2)),
            "the result is (f32[2], bf16[2]), in the entry it is (f32[2], f32[2])",
        ),
    ],
)
def test_an_entry_layout_of_other_shapes(layout: ProgramShape, words: str) -> None:
    found = messages(verify(with_header(ModuleHeader(entry_computation_layout=layout))))
    assert found == [f"entry_computation_layout: {words}"]


@pytest.mark.parametrize(
    ("alias", "words"),
    [
        (Alias((2,), 0, ()), "the entry has no output {2}"),
        (Alias((0,), 2, ()), "the entry has 2 parameters, none with number 2"),
        (Alias((0,), 0, (0,)), "parameter 0 has no index {0}"),
        (Alias((0,), 1, (1,)), "output {0} is f32[2], parameter 1 has s32[]"),
    ],
)
def test_an_alias_that_does_not_fit(alias: Alias, words: str) -> None:
    found = messages(verify(with_header(ModuleHeader(input_output_alias=(alias,)))))
    assert found == [f"input_output_alias: {words}"]


def test_an_input_that_two_outputs_take() -> None:
    aliases = (Alias((0,), 0, ()), Alias((1,), 0, ()))
    assert messages(verify(with_header(ModuleHeader(input_output_alias=aliases)))) == [
        "input_output_alias: output {1} and output {0} share parameter 0 {}"
    ]


def test_an_alias_of_the_same_size_may_change_the_type() -> None:
    x = parameter("x", 0, F32)
    root = make("r", "partition-id", shape=array("u32"))
    header = ModuleHeader(input_output_alias=(Alias((), 0, ()),))
    assert verify(module(computation("e", x, root), header=header)) == []


def test_donors_are_inputs_and_not_aliased() -> None:
    header = ModuleHeader(
        input_output_alias=(Alias((0,), 0, ()),),
        buffer_donor=(BufferDonor(0, ()), BufferDonor(1, (5,)), BufferDonor(7, ())),
    )
    assert messages(verify(with_header(header))) == [
        "buffer_donor: parameter 0 {} is in input_output_alias too",
        "buffer_donor: parameter 1 has no index {5}",
        "buffer_donor: the entry has 2 parameters, none with number 7",
    ]


def test_counts_of_devices_are_positive() -> None:
    found = messages(verify(with_header(ModuleHeader(replica_count=0, num_partitions=-1))))
    assert found == [
        "replica_count is 0, at least 1 is wanted",
        "num_partitions is -1, at least 1 is wanted",
    ]


def test_errors_of_the_header_come_first_and_point_at_it() -> None:
    made = with_header(ModuleHeader(replica_count=0))
    made.entry.root.shape = F32
    made.entry.root.offset = 9
    made.source = Source("HloModule m", "m.hlo")
    header, root = verify(made)
    assert header.location == Location(made.source, 0)
    assert root.location == Location(made.source, 9)
    assert root.message.startswith("tuple: shape f32[] is declared")
