"""Every opcode is complete: class, text form, evidence in testdata/ops, documentation."""

from dataclasses import replace
from pathlib import Path

import pytest

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.analysis.verifier import verify
from hlotool.evaluation.comparison.rounding_rules import unknown
from hlotool.evaluation.comparison.tolerance import rule_of
from hlotool.ir.annotations import Annotations
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import OPCODES, Op
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.ops.reference import opcode_reference
from hlotool.proto.reader import read_module
from hlotool.proto.writer import write_module
from hlotool.text.grammar import OUTSIDE_RULES, start_rules
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.conftest import ROOT
from tests.golden import run_lines

EVIDENCE = ROOT / "testdata" / "ops"
LONG = PRESETS["long"]
NEEDS_SHAPE = {"broadcast"}
"""Opcodes whose inferred shape is another than the usual one: how often a scalar is repeated."""

UNRULED = {"parameter": "the walk has the error of its argument"}
"""Opcodes that need no rule of what rounding does to their values, each with the reason."""

opcodes = pytest.mark.parametrize("op", OPCODES.values(), ids=list(OPCODES))
inferring = pytest.mark.parametrize(
    "op", [op for op in OPCODES.values() if op.infers_shape and op.opcode not in NEEDS_SHAPE],
    ids=lambda op: op.opcode,
)  # fmt: skip


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
def test_class_says_how_many_operands(op: type[Op]) -> None:
    bases = op.__mro__[: op.__mro__.index(Op)]
    assert any("arity" in vars(base) for base in bases), "None, too, must be written"


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
def test_evidence_pins_default_and_canonical_print(op: type[Op]) -> None:
    lines = evidence(op).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("// ")
    assert len(run_lines(evidence(op))) == 2
    for prefix in ("// CHECK", "// CANONICAL"):
        pinned = [line for line in lines if line.startswith(prefix)]
        assert any(f" {op.opcode}(" in line for line in pinned)


@opcodes
def test_evidence_reads_back_what_it_prints(op: type[Op]) -> None:
    text = print_module(module_of(op), LONG)
    assert print_module(parse(text), LONG) == text


@opcodes
def test_evidence_survives_a_proto(op: type[Op]) -> None:
    module = module_of(op)
    again = read_module(write_module(module))
    assert print_module(again, LONG) == print_module(module, LONG)


@inferring
def test_shape_that_the_text_leaves_out_is_inferred(op: type[Op]) -> None:
    module = module_of(op)
    text = print_module(module, replace(LONG, operand_shapes=False))
    found = [i for i in module.instructions() if i.opcode == op.opcode]
    assert found
    for instruction in found:
        name, shape = instruction.name, instruction.shape
        told = f"%{name} = {shape.text} {op.opcode}("
        assert text.count(told) == 1
        inferred = named(parse(text.replace(told, f"%{name} = {op.opcode}(")), name).shape
        assert shape.compatible(inferred) or is_wider(instruction, inferred)


def named(module: Module, name: str) -> Instruction:
    return next(i for i in module.instructions() if i.name == name)


def is_wider(instruction: Instruction, inferred: Shape) -> bool:
    """Whether an op takes the declared element type for another one that is inferred."""
    assert isinstance(inferred, ArrayShape)
    assert isinstance(instruction.shape, ArrayShape)
    same = instruction.shape.with_element_type(inferred.element_type).compatible(inferred)
    return same and instruction.op.fits(instruction.shape, inferred)


@opcodes
def test_rounding_has_a_rule(op: type[Op]) -> None:
    passes = op.passes is not Op.passes
    assert (rule_of(op) is unknown and not passes) == (op.opcode in UNRULED)


def test_no_evidence_of_unknown_opcodes() -> None:
    found = {path.stem.removesuffix("_older") for path in EVIDENCE.glob("*.hlo")}
    assert found <= set(OPCODES)


def test_reference_of_opcodes_is_current() -> None:
    text = (ROOT / "docs" / "opcodes.md").read_text(encoding="utf-8")
    assert text == opcode_reference(), "the opcodes have changed: run make reference"
