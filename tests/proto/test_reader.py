"""Reading: what the reference wrote gives what the text gives, and broken files give errors."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hlotool.errors import HloError, ParseError, UnsupportedError
from hlotool.proto.reader import read_module
from hlotool.proto.schema import HloProto, HloSnapshot
from hlotool.proto.writer import write_module
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.proto.examples import (
    DATA,
    NAMES,
    NO_PLACE,
    PROTOS,
    SMALLEST,
    bare,
    example,
    instruction,
    text_of,
)

WITHOUT_METADATA = replace(PRESETS["default"], metadata=False)
STACK_TABLES = re.compile(r"FileNames\n.*?\n\n\n", re.DOTALL)


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_message_gives_what_its_text_gives(path: Path) -> None:
    assert print_module(read_module(path.read_bytes())) == print_module(parse(text_of(path)))


def dumps(folder: Path) -> Iterator[tuple[bytes, str]]:
    for path in sorted(folder.rglob("*.hlo.pb")):
        twin = path.with_name(path.name.removesuffix(".hlo.pb") + ".txt")
        yield path.read_bytes(), twin.read_text(encoding="utf-8")


def test_dumped_messages_give_what_their_texts_give(corpus: Path) -> None:
    count = 0
    for data, text in dumps(corpus):
        # Reading a text numbers its stack frames anew, so frames are compared line by line below.
        wanted = NO_PLACE.sub("", print_module(parse(text), WITHOUT_METADATA))
        found = print_module(read_module(data), WITHOUT_METADATA)
        assert STACK_TABLES.sub("", found) == STACK_TABLES.sub("", wanted)
        found = print_module(read_module(data))
        assert sorted(found.splitlines()) == sorted(NO_PLACE.sub("", text).splitlines())
        count += 1
    assert count


def test_wrapped_bare_and_snapshot_messages_are_told_apart() -> None:
    module = example("stack_frames")
    wrapped = HloProto(hlo_module=module)
    snapshot = HloSnapshot(hlo=wrapped)
    texts = {
        print_module(read_module(message.SerializeToString()))
        for message in (module, wrapped, snapshot)
    }
    assert len(texts) == 1


def test_computations_may_come_in_any_order() -> None:
    module = example("control")
    order = list(module.computations)
    module.ClearField("computations")
    module.computations.extend(reversed(order))
    found = read_module(module.SerializeToString())
    assert print_module(found) == print_module(read_module((DATA / "control.pb").read_bytes()))
    assert found.computations[-1] is found.entry


def test_ids_need_no_order() -> None:
    module = example("structure")
    (main,) = [c for c in module.computations if c.name == "main"]
    new = {i.id: 1000 - number for number, i in enumerate(main.instructions)}
    for one in main.instructions:
        one.id = new[one.id]
        one.operand_ids[:] = [new[operand] for operand in one.operand_ids]
    main.root_id = new[main.root_id]
    found = read_module(module.SerializeToString())
    assert [i.name for i in found.entry.instructions] == [i.name for i in main.instructions]


def test_equal_names_are_made_different() -> None:
    module = example("stack_frames")
    instruction(module, "b").name = "a"
    assert [i.name for i in read_module(module.SerializeToString()).instructions()] == ["a", "a.1"]


def test_older_messages() -> None:
    module = example("collectives")
    iota = instruction(module, "iota")
    older = iota.collective_device_list.iota_replica_group_list
    older.CopyFrom(iota.iota_collective_device_list)
    iota.ClearField("iota_collective_device_list")
    iota.ClearField("channel_id")
    iota.all_reduce_id = 1
    reduced = instruction(module, "reduced")
    reduced.replica_groups.extend(reduced.collective_device_list.replica_groups)
    reduced.ClearField("collective_device_list")
    new = read_module((DATA / "collectives.pb").read_bytes())
    assert print_module(read_module(module.SerializeToString())) == print_module(new)


def test_older_copy_start_and_groups_counts() -> None:
    module = example("host")
    copy = instruction(module, "copy-start")
    copy.ClearField("cross_program_prefetch_index")
    copy.is_cross_program_prefetch = True
    assert "cross_program_prefetch_index=0" in print_module(read_module(module.SerializeToString()))
    module = example("linear")
    convolution = instruction(module, "dilated")
    convolution.ClearField("batch_group_count")
    assert "batch_group_count" not in print_module(read_module(module.SerializeToString()))


def test_payloads_stand_for_metadata_and_backend_config() -> None:
    module = example("stack_frames")
    module.payloads.append(b'{"a":1}')
    instruction(module, "a").backend_config_payload.id = 1
    instruction(module, "b").backend_config_payload.value = b"direct"
    a, b = read_module(module.SerializeToString()).instructions()
    assert a.annotations.backend_config == '{"a":1}'
    assert b.annotations.backend_config == "direct"
    assert b.annotations.metadata.metadata_payload == "attached"


def test_device_counts_come_from_the_device_assignment() -> None:
    module = example("stack_frames")
    module.device_assignment.replica_count = 2
    module.device_assignment.computation_count = 3
    header = read_module(module.SerializeToString()).header
    assert (header.replica_count, header.num_partitions) == (2, 3)


def test_entry_layout_is_there_without_a_host_shape() -> None:
    module = example("stack_frames")
    module.ClearField("host_program_shape")
    found = read_module(module.SerializeToString())
    assert found.header.entry_computation_layout == found.entry.program_shape


def test_recovery_module_needs_somebody_to_print_it() -> None:
    module = example("stack_frames")
    entry = module.original_value_recovery_table.entries.add()
    entry.old_original_array.instruction_name = "x"
    entry.new_original_array.instruction_name = "y"
    entry.new_original_array.shape_index.append(1)
    found = read_module(module.SerializeToString()).header.origin_recovery_table
    assert [(r.old, r.new, r.module) for r in found] == [(("x", ()), ("y", (1,)), "")]
    entry.recovery_module.name = "inner"
    with pytest.raises(UnsupportedError, match="module header: the origin recovery table has a"):
        read_module(module.SerializeToString())
    found = read_module(
        module.SerializeToString(), show_module=lambda inner: str(inner.name)
    ).header.origin_recovery_table
    assert found[0].module == "inner"


Spoil = Callable[[Any], None]


def at(name: str, /, **values: Any) -> Spoil:
    """Returns what sets fields of an instruction."""

    def spoil(module: Any) -> None:
        for field, value in values.items():
            setattr(instruction(module, name), field, value)

    return spoil


def put(name: str, field: str, values: list[int]) -> Spoil:
    """Returns what replaces the numbers in a repeated field of an instruction."""

    def spoil(module: Any) -> None:
        holder = instruction(module, name)
        *parents, last = field.split(".")
        for parent in parents:
            holder = getattr(holder, parent)
        getattr(holder, last)[:] = values

    return spoil


def on(function: Callable[[Any], object]) -> Spoil:
    """Returns what runs an expression on the module."""

    def spoil(module: Any) -> None:
        function(module)

    return spoil


FAULTS: list[tuple[str, Spoil, str]] = [
    ("host", at("a", opcode="paramater"), 'instruction a: unknown opcode "paramater"; did you'),
    ("host", at("a", name="a b"), 'illegal name "a b"'),
    ("host", at("a", name="f32"), "f32 is an element type and cannot be a name"),
    ("host", at("a", id=1), "two instructions have the id 1"),
    ("host", put("sum", "operand_ids", [9, 99]), "sum: operand 99 does not stand before it"),
    ("host", put("sum", "operand_ids", [9]), "sum: add: 2 operands expected, 1 given"),
    ("host", put("a", "control_predecessor_ids", [4]), "control predecessor 4 does not stand"),
    ("host", put("sum", "called_computation_ids", [0]),
     "add: no called computations expected, 1 computation given"),
    ("control", put("loop", "called_computation_ids", [0]),
     "while: condition and body expected, 1 computation given"),
    ("control", put("called", "called_computation_ids", [70]), "computation 70, which it calls"),
    ("control", put("called", "called_computation_ids", [5]), "call each other in a circle"),
    ("control", at("b", parameter_number=0), "parameter number 0 is taken by a"),
    ("control", at("b", parameter_number=9), "must be 0 to 3 without a gap, found 9"),
    ("control", on(lambda m: setattr(m, "entry_computation_id", 44)), "entry is computation 44"),
    ("control", on(lambda m: setattr(m.computations[0], "root_id", 44)), "the root is instruction"),
    ("control", on(lambda m: setattr(m.computations[1], "id", 0)), "two computations have the"),
    ("control", on(lambda m: m.schedule.sequences[0].instruction_ids.pop()), "the schedule does"),
    (
        "control",
        on(lambda m: m.schedule.sequences[0].instruction_ids.reverse()),
        "the schedule has goes before what it needs",
    ),
    ("host", put("a", "shape.dimensions", [-2]), "a dimension has size -2"),
    ("host", put("a", "shape.dimensions", [4, 4]), "2 dimensions and 1 flags"),
    ("host", put("a", "shape.layout.minor_to_major", [1]), "layout {1} does not order 1 dimens"),
    ("host", on(lambda m: setattr(instruction(m, "a").shape, "element_type", 99)), "type 99"),
    ("host", on(lambda m: instruction(m, "a").ClearField("shape")), "unknown element type 0"),
    ("host", on(lambda m: instruction(m, "domain").ClearField("domain_exit_sharding")),
     "attribute domain is missing"),
    ("elementwise", at("equal", comparison_direction="XX"), "direction: XX is not one of EQ"),
    ("elementwise", at("equal", comparison_direction=""), "attribute direction is missing"),
    ("linear", at("uniform", distribution=9), "unknown value 9 of distribution"),
    ("linear", at("uniform", distribution=0), "distribution: RNG_INVALID is not one of"),
    ("linear", at("scanned", is_associative=7), "unknown value 7 of is_associative"),
    ("linear", put("dot", "precision_config.operand_precision", [8]), "value 8 of operand_preci"),
    (
        "linear",
        put("convolution", "convolution_dimension_numbers.input_spatial_dimensions", [1, 1]),
        "dim_labels: (0, 3, 1, 1) are not different dimensions",
    ),
    (
        "linear",
        put("convolution", "convolution_dimension_numbers.input_spatial_dimensions", [1, 1 << 40]),
        "are not different dimensions",
    ),
    ("structure", put("iota", "dimensions", [0, 1]), "dimensions takes one number, 2 are given"),
    ("structure", put("iota", "dimensions", []), "attribute iota_dimension is missing"),
    ("structure", put("sort", "dimensions", []), "sort: attribute dimensions is missing"),
    ("structure", put("sort", "dimensions", [0, 1]), "dimensions: one dimension expected, 2"),
    ("shardings", put("listed", "sharding.tile_assignment_devices", [0]), "two or more"),
    ("shardings", put("listed", "sharding.tile_assignment_dimensions", [9]), "needs 9 devices"),
    ("shardings", put("iota", "sharding.iota_reshape_dims", [1 << 40]), "devices are too many"),
    ("shardings", put("is_maximal", "sharding.tile_assignment_devices", []), "on 0 devices"),
    ("shardings", put("subgroups", "sharding.last_tile_dims", [9]), "value 9 of last_tile_dims"),
    (
        "shardings",
        on(lambda m: setattr(instruction(m, "grouped").sharding, "shard_group_type", 5)),
        "unknown value 5 of shard_group_type",
    ),
    (
        "shardings",
        on(lambda m: instruction(m, "named").sharding.named_sharding.mesh.axes.pop()),
        "axis 1 of 1 is named",
    ),
    (
        "shardings",
        on(lambda m: setattr(instruction(m, "tuple").sharding.tuple_shardings[0], "type", 2)),
        "a sharding has tuples inside a tuple",
    ),
    (
        "elementwise",
        on(lambda m: setattr(instruction(m, "exponential").result_accuracy, "mode", 4)),
        "unknown mode 4 of result_accuracy",
    ),
    (
        "elementwise",
        on(lambda m: instruction(m, "half").statistics_viz.statistics.add(stat_name="a b")),
        '"a b" with value 0 is no statistic',
    ),
    (
        "elementwise",
        on(lambda m: instruction(m, "result").original_value.elements.add(shape_index=[0])),
        "the origin of part (0,) is given twice",
    ),
    (
        "elementwise",
        on(lambda m: instruction(m, "result").original_value.elements.add(shape_index=[1 << 50])),
        "the parts of an origin form no tree",
    ),
    ("stack_frames", on(lambda m: m.payloads.pop()), "payload 0 is named, the module has 0"),
    (
        "stack_frames",
        on(lambda m: instruction(m, "b").metadata.profile_type.append(8)),
        "unknown value 8 of profile_type",
    ),
    ("control", on(lambda m: m.input_output_alias.entries.add(kind=7)), "unknown kind 7 of alias"),
    ("control", on(lambda m: m.input_output_alias.entries.add(kind=1)), "is aliased twice"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "spoil", "message"), FAULTS, ids=[f[2] for f in FAULTS])
def test_fault_is_told(name: str, spoil: Spoil, message: str) -> None:
    module = example(name)
    spoil(module)
    with pytest.raises(ParseError, match=re.escape(message)):
        read_module(module.SerializeToString())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the proto holds no HLO module"),
        (b"HloModule m\n\nENTRY e {\n}\n", "this is no HLO proto, or one that is cut off"),
        (SMALLEST[:-1], "this is no HLO proto, or one that is cut off"),
        (b"\x1a\x04\x08\x01\x10\x02", "the proto holds no HLO module"),
    ],
)
def test_other_bytes_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        read_module(data)


def test_deep_nesting_is_refused() -> None:
    shape = b"\x10\x0d"
    for _ in range(5000):
        shape = b"\x10\x0d\x22" + varint(len(shape)) + shape
    for tag in (3, 2, 3, 1):
        shape = bytes([tag << 3 | 2]) + varint(len(shape)) + shape
    with pytest.raises(ParseError, match="this is no HLO proto"):
        read_module(shape)


def varint(number: int) -> bytes:
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def test_every_cut_is_told_or_reads() -> None:
    data = HloProto(hlo_module=example("stack_frames")).SerializeToString()
    for end in range(len(data)):
        with pytest.raises(ParseError):
            read_module(data[:end])


def check_survives(data: bytes) -> None:
    """Reads bytes; what can be read must print, and be the same when written and read."""
    try:
        module = read_module(data)
        text = print_module(module)
        again = read_module(write_module(module))
    except HloError:
        return
    assert print_module(again) == text


def spoiled(data: bytes, chance: random.Random) -> bytes:
    """Returns bytes with some of them changed, moved or cut off."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5))):
        place, other = chance.randrange(len(found)), chance.randrange(len(found))
        match chance.randrange(4):
            case 0:
                found[place] ^= 1 << chance.randrange(8)
            case 1:
                found[place] = chance.choice((0, 1, 127, 128, 255))
            case 2:
                found[place : place + 5] = found[other : other + 5]
            case _:
                del found[max(place, len(found) // 2) :]
    return bytes(found)


@pytest.mark.parametrize("path", PROTOS, ids=NAMES)
def test_spoiled_bytes_give_errors_and_no_tracebacks(path: Path) -> None:
    chance = random.Random(path.stem)  # noqa: S311  # not for secrets
    data = path.read_bytes()
    for _ in range(40):
        check_survives(spoiled(data, chance))


@pytest.mark.fuzz
def test_many_spoiled_bytes(corpus: Path) -> None:
    chance = random.Random(7)  # noqa: S311  # not for secrets
    examples = [path.read_bytes() for path in [*PROTOS, *corpus.rglob("*.hlo.pb")]]
    for _ in range(20_000):
        check_survives(spoiled(chance.choice(examples), chance))


def test_bare_message_of_a_file() -> None:
    assert bare(HloProto(hlo_module=example("host")).SerializeToString()) == example("host")
