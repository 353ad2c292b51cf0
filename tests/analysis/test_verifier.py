"""The verifier on text: rules of one instruction, locations, order, and real modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import HloError, ShapeError, VerificationError
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape, Layout
from hlotool.text.parser import parse
from tests.analysis.modules import computation, make, messages, module, negation, parameter
from tests.ops.shapes import F32_2, array, pack

MODELS = Path(__file__).resolve().parents[2] / "testdata" / "models"

FAULTY = """HloModule m, replica_count=2, entry_computation_layout={(f32[3])->f32[2]}

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[3] add(p, q)
}

ENTRY e {
  x = f32[2] parameter(0)
  y = f32[3] negate(x)
  z = f32[2] abs(x), result_accuracy={mode=highest}
  t = f32[4] add(x, x), sharding={devices=[2,2]<=[4]}
  ROOT r = f32[2] all-reduce(x), replica_groups={{0,2}}, to_apply=add
}
"""


def shown(errors: list[HloError]) -> list[str]:
    return [str(error).removeprefix("m.hlo:") for error in errors]


def test_every_error_with_its_place_in_text_order() -> None:
    assert shown(verify(parse(FAULTY, "m.hlo"))) == [
        "1:11: entry_computation_layout: parameter x is f32[3], in the entry it is f32[2]",
        "6:8: add: shape f32[3] is declared, f32[] is inferred",
        "11:3: negate: shape f32[3] is declared, f32[2] is inferred",
        "12:3: abs: takes no result_accuracy",
        "13:3: add: shape f32[4] is declared, f32[2] is inferred",
        "13:3: add: sharding has tiles {2,2} for f32[4]",
        "14:8: all-reduce: to_apply: the result is f32[3], a scalar is wanted",
    ]


def test_errors_keep_their_class() -> None:
    header, *shapes, last = verify(parse(FAULTY))
    assert isinstance(header, VerificationError)
    assert isinstance(last, ShapeError)
    assert len({type(error) for error in shapes}) == 2


def test_verifying_twice_says_the_same() -> None:
    made = parse(FAULTY)
    assert shown(verify(made)) == shown(verify(made))


def test_result_accuracy_is_for_transcendental_functions() -> None:
    text = "f32[2] tanh(f32[2] x), result_accuracy={mode=highest}"
    assert verify(parse(text)) == []


def test_groups_of_a_collective_are_of_the_devices_of_the_module() -> None:
    good = FAULTY.replace("f32[3]", "f32[2]").replace("f32[2] add(p", "f32[] add(p")
    good = good.replace(", result_accuracy={mode=highest}", "").replace("[2,2]<=[4]", "[4]<=[4]")
    good = good.replace("f32[4]", "f32[2]")
    assert shown(verify(parse(good, "m.hlo"))) == [
        "14:8: all-reduce: replica_groups: device 2 is out of range for 2"
    ]


def test_a_sugared_chain_is_in_order() -> None:
    text = """
    ENTRY e {
      x = f32[2] parameter(0)
      s = ((f32[2]), f32[2], u32[]) negate-start(x)
      u = ((f32[2]), f32[2], u32[]) negate-update(s)
      ROOT d = f32[2] negate-done(u)
    }
    """
    assert verify(parse(text)) == []


def test_text_order_is_the_schedule() -> None:
    text = """HloModule m, is_scheduled=true
    ENTRY e {
      x = f32[2] parameter(0)
      y = f32[2] negate(x)
      ROOT z = f32[2] abs(x), control-predecessors={y}
    }
    """
    made = parse(text)
    assert verify(made) == []
    made.entry.instructions.reverse()
    assert messages(verify(made)) == [
        "negate: operand x is scheduled later",
        "abs: operand x is scheduled later",
        "abs: control predecessor y is scheduled later",
    ]


def test_the_number_of_operands() -> None:
    x = parameter("x")
    assert messages(verify(module(computation("e", x, make("y", "add", x))))) == [
        "add: 2 operands expected, 1 given"
    ]


def test_the_number_of_called_computations() -> None:
    x = parameter("x")
    call = Instruction("y", F32_2, make("y", "call").op, (x,), ())
    assert messages(verify(module(computation("e", x, call)))) == [
        "call: to_apply expected, 0 computations given"
    ]
    f, g = negation("f"), negation("g")
    z = Instruction("z", F32_2, call.op, (x,), (f, g))
    assert messages(verify(module(f, g, computation("e", x, z)))) == [
        "call: to_apply expected, 2 computations given"
    ]
    y = Instruction("w", F32_2, make("w", "negate").op, (x,), (f,))
    assert messages(verify(module(f, computation("e", x, y)))) == [
        "negate: no called computations expected, 1 computation given"
    ]


@pytest.mark.parametrize("order", [(0,), (0, 0), (0, 2), (1, 2, 0)])
def test_a_layout_orders_the_dimensions(order: tuple[int, ...]) -> None:
    shape = ArrayShape(array("f32").element_type, (2, 3), Layout(order))
    x = parameter("x", 0, pack(F32_2, shape))
    listed = ",".join(map(str, order))
    assert messages(verify(module(computation("e", x)))) == [
        f"parameter: layout {{{listed}}} does not order the dimensions of f32[2,3]"
    ]


def test_annotations_that_cannot_be_read() -> None:
    text = """
    ENTRY e {
      x = f32[2] parameter(0)
      ROOT y = f32[2] negate(x), sharding={replicated}
    }
    """
    made = parse(text)

    def fail(text: str, instruction: Instruction) -> None:
        raise VerificationError(f"cannot read {text} of {instruction.name}")

    root = made.entry.root
    root._annotations = ", sharding={replicated}"
    made.annotation_reader = fail  # type: ignore[assignment]  # never returns
    assert messages(verify(made)) == ["cannot read , sharding={replicated} of y"]


def models() -> list[Path]:
    return sorted(path for path in MODELS.rglob("*") if path.suffix in {".hlo", ".txt"})


def test_there_are_real_modules() -> None:
    assert models()


@pytest.mark.parametrize("path", models(), ids=lambda path: path.name)
def test_real_modules_have_no_errors(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert verify(parse(text, path.name)) == []
