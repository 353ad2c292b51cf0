from hlotool.ir.instruction import Instruction
from hlotool.ops.elementwise import Add, Multiply
from hlotool.ops.unary import Abs, Negate, Sine
from hlotool.rewriting.builder import Builder, array_shape
from hlotool.rewriting.journal import Fuel, Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite
from hlotool.text.parser import parse
from tests.passes.checking import opcodes

TEXT = """HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  s = f32[3] sine(x)
  a = f32[3] abs(s)
  n = f32[3] negate(a)
  z = f32[3] multiply(s, s)
  ROOT r = f32[3] add(n, z)
}
"""

patterns = PatternSet("test")
swaps = PatternSet("swaps")


@patterns.rewrites(Negate)
def negate_of_the_only_use(instruction: Instruction, build: Builder) -> Instruction | None:
    """negate(abs(x)) -> abs(x), where nothing else uses x"""
    (operand,) = instruction.operands
    is_alone = isinstance(operand.op, Abs) and len(operand.operands[0].users) == 1
    return build.add(Abs(), operand.operands[0]) if is_alone else None


@patterns.rewrites(Multiply)
def square(instruction: Instruction, build: Builder) -> Instruction | None:
    """multiply(x, x) -> 1"""
    return build.full(1, array_shape(instruction))


@swaps.rewrites(Add)
def swap(instruction: Instruction, build: Builder) -> Instruction | None:
    """add(x, y) -> add(y, x)"""
    return build.add(Add(), *reversed(instruction.operands))


def test_a_change_that_is_not_near_is_seen_too() -> None:
    module = parse(TEXT)
    journal = Journal("test")
    assert rewrite(module, patterns, journal)
    assert journal.hits == {"square": 1, "negate_of_the_only_use": 1}
    assert "negate" not in opcodes(module)
    assert not rewrite(module, patterns, Journal("test"))


def test_what_has_no_end_is_stopped_and_noted() -> None:
    journal = Journal("swaps")
    assert rewrite(parse(TEXT), swaps, journal, rounds=4)
    assert journal.hits == {"swap": 4}
    assert [note.words for note in journal.notes] == [
        "e: rewriting stopped after 4 rounds, while patterns still matched"
    ]


def test_without_fuel_nothing_is_tried_for_ever() -> None:
    journal = Journal("swaps", Fuel({"swaps": 1}))
    assert rewrite(parse(TEXT), swaps, journal)
    assert not journal.notes


def test_a_pattern_is_tried_only_where_operands_and_its_condition_allow() -> None:
    tried: list[str] = []
    some = PatternSet("some", condition=lambda instruction: instruction.name != "n")

    @some.rewrites(Negate, Multiply, over=(Sine,))
    def of_sine(instruction: Instruction, _: Builder) -> Instruction | None:
        """multiply(sine(x), y) -> nothing, here"""
        tried.append(f"of_sine {instruction.name}")
        return None

    @some.rewrites(Negate, Add)
    def of_any(instruction: Instruction, _: Builder) -> Instruction | None:
        """add(x, y) -> nothing, here"""
        tried.append(f"of_any {instruction.name}")
        return None

    assert not rewrite(parse(TEXT), some, Journal("some"))
    assert tried == ["of_sine z", "of_any r"]
    everywhere = PatternSet("everywhere", some)

    @everywhere.rewrites(Negate, over=(Sine, Abs))
    def of_abs(instruction: Instruction, _: Builder) -> Instruction | None:
        """negate(abs(x)) -> nothing, here"""
        tried.append(f"of_abs {instruction.name}")
        return None

    tried.clear()
    assert not rewrite(parse(TEXT), everywhere, Journal("everywhere"))
    assert tried == ["of_abs n", "of_sine z", "of_any r"]
