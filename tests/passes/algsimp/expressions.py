"""Modules written as one expression, for tests of identities.

`add(x, 3)` is the sum of the parameter `x` and of an array of threes. Parameters are `x`, `y`
and `z` of the type of the test, and `p` and `q` of pred; `i` is an iota. What stands behind a
dot is an attribute: `compare.LT(x, y)`, `convert.s8(x)`, `reduce-precision.5.2(x)`; the type `T`
is that of the test. A number has the type of the test, another one behind a colon: `0:pred`;
`2j` is 2 + 2j. `MIN`, `MAX` and `BITS` stand for the least and greatest value of the type,
infinite where it has that, and for its width.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf

from hlotool.ir.element_type import ELEMENT_TYPES, ElementType
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ops.conversion import BitcastConvert, Convert, ReducePrecision
from hlotool.ops.elementwise import Compare
from hlotool.ops.numerics.widths import integer_limits
from hlotool.passes.algsimp.constants import number_of

PARAMETERS = ("x", "y", "z", "p", "q")
_FLAGS = ("p", "q")
_TOKEN = re.compile(r"\s*([(),]|[^(),\s]+)")


def parameters_of(expression: str) -> list[str]:
    """Returns the parameters that an expression uses, in the order of their numbers."""
    words = set(re.findall(r"[\w.:-]+", expression))
    return [name for name in PARAMETERS if name in words]


def module_text(expression: str, element_type: str, size: int) -> str:
    """Returns the module that yields an expression on arrays of `size` elements."""
    writer = _Writer(ELEMENT_TYPES[element_type], size)
    for number, name in enumerate(parameters_of(expression)):
        kind = "pred" if name in _FLAGS else element_type
        writer.lines.append(f"  {name} = {kind}[{size}] parameter({number})")
    root = writer.write(iter([*_TOKEN.findall(expression), ""]))
    lines = "\n".join(writer.lines)
    return f"HloModule m\n\nENTRY e {{\n{lines}\n  ROOT r = tuple({root})\n}}\n"


class _Writer:
    """Writes an instruction for each part of an expression; equal parts are one."""

    def __init__(self, element_type: ElementType, size: int) -> None:
        self.lines: list[str] = []
        self._type = element_type
        self._size = size
        self._names: dict[str, str] = {}
        self._next = ""

    def write(self, tokens: Iterator[str]) -> str:
        """Writes what begins at the next token, and returns the name that it has."""
        word = next(tokens)
        self._next = next(tokens)
        if self._next != "(":
            return self._leaf(word)
        operands = []
        while self._next != ")":
            operands.append(self.write(tokens))
        self._next = next(tokens)
        return self._call(word, ", ".join(operands))

    def _leaf(self, word: str) -> str:
        if word in PARAMETERS:
            return word
        value, _, given = word.partition(":")
        kind = given or self._type.name
        shape = f"{kind}[{self._size}]"
        if value == "i":
            return self._line(f"{shape} iota(), iota_dimension=0")
        number = self._number(value, is_complex=self._type.is_complex and not given)
        scalar = self._line(f"{kind}[] constant({number})")
        return self._line(f"{shape} broadcast({scalar}), dimensions={{}}")

    def _number(self, word: str, *, is_complex: bool) -> str:
        if word.endswith("j"):
            return f"({word[:-1]}, {word[:-1]})"
        if is_complex:
            return f"({word}, 0)"
        if word == "BITS":
            return str(self._type.bits)
        if word not in {"MIN", "MAX"}:
            return word
        if self._type.is_integer:
            return str(integer_limits(self._type)[word == "MAX"])
        return f"{inf if word == 'MAX' else -inf}"

    def _call(self, word: str, operands: str) -> str:
        opcode, *attributes = word.split(".")
        match opcode:
            case "compare":
                return self._line(f"compare({operands}), direction={attributes[0]}")
            case "convert" | "bitcast-convert":
                kind = self._type if attributes == ["T"] else attributes[0]
                return self._line(f"{kind}[{self._size}] {opcode}({operands})")
            case "reduce-precision":
                exponent, mantissa = attributes
                shape = f"{self._type}[{self._size}]"
                bits = f"exponent_bits={exponent}, mantissa_bits={mantissa}"
                return self._line(f"{shape} {opcode}({operands}), {bits}")
        return self._line(f"{opcode}({operands})")

    def _line(self, text: str) -> str:
        if text not in self._names:
            self._names[text] = f"v{len(self._names)}"
            self.lines.append(f"  {self._names[text]} = {text}")
        return self._names[text]


def expression_of(module: Module) -> str:
    """Returns what a module yields as an expression, which is a tuple of it alone."""
    (operand,) = module.entry.root.operands
    return _shown(operand)


def _shown(instruction: Instruction) -> str:
    number = number_of(instruction)
    if number is not None:
        value = number.scalar()
        return str(value).lower() if isinstance(value, bool) else str(value)
    if instruction.opcode == "parameter":
        return instruction.name
    if instruction.opcode == "iota":
        return "i"
    operands = ", ".join(map(_shown, instruction.operands))
    return f"{_word(instruction)}({operands})"


def _word(instruction: Instruction) -> str:
    match instruction.op:
        case Compare(direction=direction):
            return f"compare.{direction}"
        case Convert() | BitcastConvert():
            return f"{instruction.opcode}.{instruction.shape.text.partition('[')[0]}"
        case ReducePrecision(exponent_bits=exponent, mantissa_bits=mantissa):
            return f"reduce-precision.{exponent}.{mantissa}"
    return instruction.opcode
