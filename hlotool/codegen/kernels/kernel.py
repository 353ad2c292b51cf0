"""A kernel while it is written, and what the schedule must know to run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from hlotool.codegen.elements.source import Source
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.llvm.value import Value
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.numbers.memory import Memory
from hlotool.codegen.target import Target
from hlotool.ir.instruction import Instruction
from hlotool.ir.op import Op
from hlotool.ir.shape import ArrayShape

NAME = "KERNEL..NAME"
"""Stands for the kernel's name in its text, so that equal kernels have equal texts."""


_ALIGNMENT = 64
"""Of what lies in the workspace, in bytes."""
BYTES_A_NANOSECOND = 10
"""How much one thread moves to or from memory, about."""
PIECE_NANOSECONDS = 10_000
"""About how long one piece of work should take: longer than handing it to a thread."""
LONG_PIECE_NANOSECONDS = 2 * PIECE_NANOSECONDS
"""The same for work of which every piece has to begin with something of its own."""


@dataclass(frozen=True)
class Launch:
    """How a kernel is run: `count` items, of which it takes any range.

    `grain` items are one piece of work: ranges begin at its multiples, whatever the number of
    threads. `nanoseconds` is about what one item takes.
    """

    count: int
    grain: int = 1
    nanoseconds: float = 1.0

    @classmethod
    def in_pieces(
        cls, count: int, nanoseconds: float, piece_nanoseconds: int = PIECE_NANOSECONDS
    ) -> Launch:
        """Returns how items are run that are the same, each so long: as many to a piece as fit."""
        return cls(count, max(1, int(piece_nanoseconds / nanoseconds)), nanoseconds)


@dataclass(frozen=True)
class Phase:
    """Work of a kernel that is done, all of it, before the next phase or the kernel begins."""

    function: FunctionWriter
    launch: Launch


@dataclass(frozen=True)
class Callee:
    """A function that kernels share: all that have need of one of its name have the same.

    Its name says all that it depends on, so that one which was compiled before, with another
    program, need not be written.
    """

    name: str
    signature: str
    """Its declaration."""
    write: Callable[[], FunctionWriter]
    """Writes it."""

    @cached_property
    def text(self) -> str:
        """The function, written when it is first asked for."""
        return self._function.text()

    @property
    def declarations(self) -> frozenset[str]:
        """What its text needs."""
        return frozenset(self._function.declarations)

    @cached_property
    def _function(self) -> FunctionWriter:
        function = self.write()
        assert not function.globals, "a shared function has constants of its own"
        return function


class Kernel:
    """A kernel being written: a function on addresses of inputs, outputs and a range of items.

    The function takes `ptr %context`, the inputs, the outputs, memory that nobody else uses
    while the kernel runs (`workspace_bytes`), and `i64 %begin, i64 %end`.
    """

    def __init__(self, body: Body, target: Target, shared: frozenset[tuple[int, int]]) -> None:
        self.body = body
        self.target = target
        self.shared = shared
        """Pairs of input and output, by their numbers, that are the same memory."""
        self.workspace_bytes = 0
        """How much memory the kernel needs beside inputs and outputs, 64-byte aligned."""
        self.functions: list[str] = []
        """Texts of further functions that the kernel calls."""
        self.callees: dict[str, Callee] = {}
        """Functions that it calls and others may call as well, by name."""
        self.libraries: list[str] = []
        """Names of the functions of libraries that the kernel calls."""
        self.phases: list[Phase] = []
        """What is done before the kernel's own function, in order."""
        overwritten = {number for number, _ in shared}
        reused = {number for _, number in shared}
        names = [Argument("ptr", "context")]
        for number in range(len(body.inputs)):
            alone = "" if number in overwritten else "noalias readonly "
            names.append(Argument("ptr", f"in{number}", f"{alone}nocapture"))
        for number in range(len(body.outputs)):
            alone = "" if number in reused else "noalias "
            names.append(Argument("ptr", f"out{number}", f"{alone}nocapture"))
        names += [Argument("ptr", "workspace"), Argument("i64", "begin"), Argument("i64", "end")]
        self.function = FunctionWriter(
            NAME, names, flags=target.float_mode.flags, native=target.native
        )

    def phase(self) -> FunctionWriter:
        """Returns a function for a phase: it has the arguments of the kernel's own."""
        name = f"{NAME}.phase{len(self.phases)}"
        flags, native = self.function.flags, self.function.native
        return FunctionWriter(name, self.function.arguments, flags=flags, native=native)

    def room(self, size: int) -> int:
        """Sets so many bytes of the workspace aside; returns how far behind its begin they lie."""
        begin = self.workspace_bytes
        self.workspace_bytes += -(-size // _ALIGNMENT) * _ALIGNMENT
        return begin

    @property
    def begin(self) -> Value:
        """The first item of the range."""
        return Value("%begin", "i64")

    @property
    def end(self) -> Value:
        """The item behind the range."""
        return Value("%end", "i64")

    @property
    def workspace(self) -> Value:
        """The address of the memory that `workspace_bytes` asks for."""
        return Value("%workspace", "ptr")

    def input_shape(self, number: int) -> ArrayShape:
        """Returns the shape of an input as it lies in memory."""
        _, operand, index = self.body.inputs[number]
        return _array(self.body.instruction.operands[operand].shape.subshape(index))

    def output_shape(self, number: int) -> ArrayShape:
        """Returns the shape of an output as it lies in memory."""
        _, index = self.body.outputs[number]
        return _array(self.body.instruction.shape.subshape(index))

    def source(self, number: int) -> Source:
        """Returns an input, for its elements to be loaded."""
        shape = self.input_shape(number)
        overwritten = any(number == one for one, _ in self.shared)
        address = Value(f"%in{number}", "ptr")
        return Source(Memory(address, shape.element_type, is_written=overwritten), shape)

    def sources(self) -> dict[Instruction, Source]:
        """Returns all inputs, by the instruction that stands for each in the body."""
        return {one: self.source(number) for number, (one, _, _) in enumerate(self.body.inputs)}

    def destination(self, number: int) -> Source:
        """Returns an output, for its elements to be stored."""
        shape = self.output_shape(number)
        address = Value(f"%out{number}", "ptr")
        return Source(Memory(address, shape.element_type, is_written=True), shape)


Emit: TypeAlias = Callable[[Kernel], Launch]
"""Writes the function of a kernel; raises `NotCompiled` where it has no code for the body."""

KERNELS: dict[type[Op], Emit] = {}
"""Kernels by the op that they are about; bodies without any of these are plain loops."""


def kernel(*ops: type[Op]) -> Callable[[Emit], Emit]:
    """Enters a function as the one that writes kernels of bodies with one of these ops."""

    def enter(emit: Emit) -> Emit:
        for op in ops:
            assert op not in KERNELS, f"{op.opcode} has two kernels"
            KERNELS[op] = emit
        return emit

    return enter


def _array(shape: object) -> ArrayShape:
    assert isinstance(shape, ArrayShape)
    return shape
