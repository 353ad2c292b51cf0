"""Every opcode is complete: class, text form, evidence in testdata/ops, documentation."""

import re
from functools import partial
from pathlib import Path

import pytest

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.analysis.verifier import verify
from hlotool.ir.annotations import Annotations
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import OPCODES, Op
from hlotool.ops.reference import opcode_reference
from hlotool.proto.reader import read_module
from hlotool.proto.writer import write_module
from hlotool.text.grammar import OUTSIDE_RULES, start_rules
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.conftest import ROOT

EVIDENCE = ROOT / "testdata" / "ops"
LONG = PRESETS["long"]
POSITIVE_ZERO = partial(re.compile(r"(?<=[{( ])-0(?=[,)} ])").sub, "0")
"""In a text `-0` is an integer, and so loses its sign when it is read."""

opcodes = pytest.mark.parametrize("op", OPCODES.values(), ids=list(OPCODES))


def evidence(op: type[Op]) -> Path:
    return EVIDENCE / f"{op.opcode}.hlo"


def module_of(op: type[Op]) -> Module:
    return parse(evidence(op).read_text(encoding="utf-8"), evidence(op).name)


@opcodes
def test_class_says_what_it_is(op: type[Op]) -> None:
    assert op.__doc__, "the docstring is what docs/opcodes.md says"
    assert op.__doc__ != Op.__doc__
    names = set(op.readable)
    roles = {name for role in op.roles for name in (role.name, *role.aliases)}
    assert not names & roles, "a name is both attribute and called computation"
    assert not (names | roles) & set(Annotations.readable), "a name is an annotation's"


@opcodes
def test_attributes_have_rules(op: type[Op]) -> None:
    rules = {field.kind.rule for field in op.fields} - OUTSIDE_RULES
    assert rules <= set(start_rules())


@opcodes
def test_evidence_shows_the_opcode(op: type[Op]) -> None:
    assert evidence(op).is_file(), f"write testdata/ops/{op.opcode}.hlo"
    module = module_of(op)
    assert any(instruction.opcode == op.opcode for instruction in module.instructions())
    assert verify(module) == []


@opcodes
def test_evidence_reads_back_what_it_prints(op: type[Op]) -> None:
    text = print_module(module_of(op), LONG)
    again = print_module(parse(text), LONG)
    # Where an order is free it follows the order that was read, and so may move once more.
    assert sorted(again.splitlines()) == sorted(POSITIVE_ZERO(text).splitlines())


@opcodes
def test_evidence_survives_a_proto(op: type[Op]) -> None:
    if "sparsity=" in evidence(op).read_text(encoding="utf-8"):
        pytest.skip("sparsity of older texts has no place in a proto of today")
    module = module_of(op)
    again = read_module(write_module(module))
    for one, other in zip(by_name(module), by_name(again), strict=True):
        assert (one.name, one.shape) == (other.name, other.shape)
        assert printed(one.op) == printed(other.op)


def printed(op: Op) -> list[object]:
    """What an op says but for older attributes, which are read and not kept."""
    payload = getattr(op, op.fields[0].name) if op.payload else None
    return [op.opcode, payload, *op.written(), *op.written(after_calls=True)]


def by_name(module: Module) -> list[Instruction]:
    return sorted(module.instructions(), key=lambda instruction: instruction.name)


@opcodes
def test_inferred_shape_fits_the_declared_one(op: type[Op]) -> None:
    found = [i for i in module_of(op).instructions() if i.opcode == op.opcode]
    for instruction in found:
        # Others say themselves how what is declared must fit.
        if op.infers_shape and op.check_shape is Op.check_shape:
            operands = [operand.shape for operand in instruction.operands]
            calls = [computation.program_shape for computation in instruction.calls]
            inferred = instruction.op.infer_shape(operands, calls)
            assert instruction.op.fits(instruction.shape, inferred)


def test_no_evidence_of_unknown_opcodes() -> None:
    found = {path.stem.removesuffix("_older") for path in EVIDENCE.glob("*.hlo")}
    assert found <= set(OPCODES)


def test_reference_of_opcodes_is_current() -> None:
    text = (ROOT / "docs" / "opcodes.md").read_text(encoding="utf-8")
    assert text == opcode_reference(), "the opcodes have changed: run make reference"
