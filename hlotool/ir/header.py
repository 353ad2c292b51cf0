"""What the header of a module says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir.attribute import BOOLEAN, BOOLEANS, INTEGER, INTEGERS, TEXT
from hlotool.ir.metadata import (
    FRONTEND_ATTRIBUTES,
    NO_FRONTEND_ATTRIBUTES,
    FrontendAttributes,
    OriginalArray,
)
from hlotool.ir.record import AttributeKind, Record, attr
from hlotool.ir.shape import ProgramShape, join_marked

TupleIndex = tuple[int, ...]
ALIAS_KINDS = ("may-alias", "must-alias")


@dataclass(frozen=True, slots=True)
class Alias:
    """An output of the module that lies in the buffer of an input.

    `kind` is `may-alias` or `must-alias`; the indices say which leaf of a tuple.
    """

    output_index: TupleIndex
    parameter: int
    parameter_index: TupleIndex
    kind: str = "may-alias"


@dataclass(frozen=True, slots=True)
class BufferDonor:
    """An input whose buffer the module may use for whatever it likes."""

    parameter: int
    parameter_index: TupleIndex


@dataclass(frozen=True, slots=True)
class Recovery:
    """One entry of the origin recovery table: how to get an old value from a kept one.

    Both are instruction name and tuple index; `module` is the text of a module, as the default
    print has it with all constants, or empty for an identity.
    """

    old: tuple[str, TupleIndex]
    new: tuple[str, TupleIndex]
    module: str = ""


def _read_aliases(plain: Sequence[Any]) -> tuple[Alias, ...]:
    found = tuple(Alias(*entry) for entry in plain)
    for alias in found:
        if alias.kind not in ALIAS_KINDS:
            raise ValueError(f"{alias.kind} is neither may-alias nor must-alias")
    outputs = [alias.output_index for alias in found]
    if len(set(outputs)) < len(outputs):
        raise ValueError("an output is aliased twice")
    return tuple(sorted(found, key=lambda alias: alias.output_index))


def _write_aliases(aliases: Sequence[Alias]) -> str:
    shown = (
        f"{INTEGERS.write(a.output_index)}:"
        f" ({a.parameter}, {INTEGERS.write(a.parameter_index)}, {a.kind})"
        for a in aliases
    )
    return f"{{ {', '.join(shown)} }}"


def _read_donors(plain: Sequence[Any]) -> tuple[BufferDonor, ...]:
    found = {BufferDonor(*entry) for entry in plain}
    return tuple(sorted(found, key=lambda donor: (donor.parameter, donor.parameter_index)))


def _write_donors(donors: Sequence[BufferDonor]) -> str:
    shown = (f"({d.parameter}, {INTEGERS.write(d.parameter_index)})" for d in donors)
    return f"{{ {', '.join(shown)} }}"


def write_program_shape(shape: ProgramShape) -> str:
    """Returns parameters and result with their layouts: `{(f32[2]{0})->f32[]}`."""
    parameters = join_marked([parameter.text for parameter in shape.parameters])
    return f"{{({parameters})->{shape.result.text}}}"


def _read_recoveries(plain: Sequence[Any]) -> tuple[Recovery, ...]:
    # The first of several entries for an old value counts.
    found = {old: Recovery(old, new, module or "") for old, new, module in reversed(plain)}
    return tuple(found[old] for old in sorted(found))


def _write_recoveries(table: Sequence[Recovery]) -> str:
    if not table:
        return "{}"
    lines = ["{"]
    for entry in table:
        pair = f"  {OriginalArray(*entry.old).text} : {OriginalArray(*entry.new).text}"
        if not entry.module:
            lines.append(pair)
            continue
        escaped = entry.module.replace("\\", "\\\\").replace('"', '\\"')
        inside = [f"    {line}" if line else line for line in escaped.split("\n")]
        lines += [pair + ",", '  "', *inside, '  "']
    return "\n".join(lines) + "\n}\n"


def _read_flags(flags: tuple[bool, ...]) -> tuple[bool, ...]:
    return flags or (False,)


ALIASES = AttributeKind[tuple[Alias, ...]](
    "input_output_alias",
    "aliases, as { {0}: (1, {}, may-alias) }",
    read=_read_aliases,
    write=_write_aliases,
)
DONORS = AttributeKind[tuple[BufferDonor, ...]](
    "buffer_donor", "donated inputs, as { (0, {}) }", read=_read_donors, write=_write_donors
)
PROGRAM_SHAPE = AttributeKind[ProgramShape](
    "program_shape",
    "a program shape, as {(f32[2]{0})->f32[]}",
    write=write_program_shape,
)
FLAGS = AttributeKind[tuple[bool, ...]](
    BOOLEANS.rule, BOOLEANS.words, read=_read_flags, write=BOOLEANS.write
)
RECOVERIES = AttributeKind[tuple[Recovery, ...]](
    "origin_recovery_table",
    "an origin recovery table",
    read=_read_recoveries,
    write=_write_recoveries,
)


class ModuleHeader(Record):
    """The attributes of a module, in print order.

    `entry_computation_layout` is `None` where it follows from the entry computation. The
    propagation flags have one value for all parameters or results, or one for each.
    """

    is_scheduled: bool = attr(BOOLEAN, default=False)
    input_output_alias: tuple[Alias, ...] = attr(ALIASES, default=())
    buffer_donor: tuple[BufferDonor, ...] = attr(DONORS, default=())
    alias_passthrough_params: bool = attr(BOOLEAN, default=False)
    entry_computation_layout: ProgramShape | None = attr(PROGRAM_SHAPE, default=None)
    allow_spmd_sharding_propagation_to_parameters: tuple[bool, ...] = attr(FLAGS, default=(False,))
    allow_spmd_sharding_propagation_to_output: tuple[bool, ...] = attr(FLAGS, default=(False,))
    replica_count: int = attr(INTEGER, default=1)
    num_partitions: int = attr(INTEGER, default=1)
    frontend_attributes: FrontendAttributes = attr(
        FRONTEND_ATTRIBUTES, default=NO_FRONTEND_ATTRIBUTES
    )
    origin_recovery_table: tuple[Recovery, ...] = attr(RECOVERIES, default=())
    unknown: str = attr(TEXT, default="", named=False)
    """Attributes that only lenient reading takes, as they stand in the text: `, name=value`."""
