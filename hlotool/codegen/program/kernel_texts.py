"""The kernels of a program: each is written once, however many instructions run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from hlotool.analysis.equal_computations import (
    EqualComputations,
    meaning_of_annotations,
    meaning_of_op,
)
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import NAME, Kernel, Launch
from hlotool.codegen.kernels.select import written_kernel
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.source import Constant

_STRANGE = re.compile(r"[^A-Za-z0-9_.-]")
"""What names have, and those of LLVM IR have not without quotes."""
_NAME_CHARACTERS = 80


@dataclass(frozen=True)
class WrittenKernel:
    """A kernel in the text of a program."""

    name: str
    launch: Launch
    phases: tuple[tuple[str, Launch], ...]
    """What runs before it: names of functions, and how they are run."""
    workspace_bytes: int


class KernelTexts:
    """Writes the kernels of one program, those that are equal only once.

    `written` is given each new kernel as a module, so that it can be compiled while others are
    being written. It declares those shared functions that an earlier one has.
    """

    def __init__(self, target: Target, written: Callable[[str], None]) -> None:
        self._target = target
        self._hand_on = written
        self._equal = EqualComputations()
        self._written: dict[Hashable, WrittenKernel | str] = {}
        """By what a kernel computes; a text says why there is none."""
        self._names: dict[str, str] = {}
        """By the text, in which the name is left open."""
        self._texts: list[str] = []
        self._declarations: set[str] = set()
        self._callees: set[str] = set()
        """Names of the shared functions whose text is there."""
        self._globals: set[str] = set()
        self.signatures: list[str] = []
        """The declarations of what others than kernels call."""
        self.libraries: dict[str, None] = {}
        """The functions of libraries that kernels call."""

    def kernel(self, body: Body, shared: frozenset[tuple[int, int]]) -> WrittenKernel:
        """Returns the kernel of a body; raises `NotCompiled` where there is none."""
        key = self._meaning(body.instruction), shared
        found = self._written.get(key)
        if found is None:
            try:
                kernel, launch = written_kernel(lambda: Kernel(body, self._target, shared))
                found = self._enter(kernel, launch)
            except NotCompiled as reason:
                found = str(reason)
            self._written[key] = found
        if isinstance(found, str):
            raise NotCompiled(found)
        return found

    def text(self, declarations: set[str]) -> str:
        """Returns all kernels in one module, with what else is to be declared in it."""
        declared = sorted(self._declarations | declarations)
        return "\n".join((*sorted(self._globals), *declared, *self._texts))

    def _meaning(self, instruction: Instruction) -> Hashable:
        operands = instruction.operands
        return (
            meaning_of_op(instruction),
            meaning_of_annotations(instruction),
            instruction.shape,
            tuple(operand.shape for operand in operands),
            # An operand that is there twice is one input.
            tuple(map(operands.index, operands)),
            self._equal.of_calls(instruction),
            # Folds are written by what they begin with.
            tuple(meaning_of_op(one) for one in operands if _is_number(one)),
        )

    def _enter(self, kernel: Kernel, launch: Launch) -> WrittenKernel:
        functions = _functions(kernel)
        text = "".join((*kernel.functions, *(_visible(function) for function in functions)))
        self.libraries.update(dict.fromkeys(kernel.libraries))
        name = self._names.setdefault(text, self._new_name(kernel.body.instruction))
        if len(self._names) > len(self._texts):
            self._add(text.replace(NAME, name), name, kernel)
        phases = tuple(
            (f"{name}.phase{number}", phase.launch) for number, phase in enumerate(kernel.phases)
        )
        return WrittenKernel(name, launch, phases, kernel.workspace_bytes)

    def _new_name(self, instruction: Instruction) -> str:
        """Returns a name that says of which instruction a kernel was made first."""
        shown = _STRANGE.sub("_", instruction.name)[:_NAME_CHARACTERS]
        return f"kernel{len(self._names)}.{shown}"

    def _add(self, text: str, name: str, kernel: Kernel) -> None:
        functions = _functions(kernel)
        declarations = set().union(*(function.declarations for function in functions))
        constants = set().union(*(function.globals for function in functions))
        signatures = set()
        for callee in kernel.callees.values():
            if callee.name in self._callees:
                signatures.add(callee.signature)
                continue
            self._callees.add(callee.name)
            declarations |= callee.declarations
            text += callee.text
        self._declarations |= declarations
        self._globals |= constants
        self._texts.append(text)
        for function in functions:
            self.signatures.append(_signature(function, function.name.replace(NAME, name)))
        self._hand_on("\n".join((*sorted(constants), *sorted(declarations | signatures), text)))


def _functions(kernel: Kernel) -> list[FunctionWriter]:
    """Returns the functions that the program calls: those of phases, then the kernel's own."""
    return [*(phase.function for phase in kernel.phases), kernel.function]


def _is_number(instruction: Instruction) -> bool:
    shape = instruction.shape
    return isinstance(instruction.op, Constant) and isinstance(shape, ArrayShape) and not shape.rank


def _visible(function: FunctionWriter) -> str:
    """Returns a function that other modules of the same program can call."""
    return function.text().replace("define internal ", "define hidden ", 1)


def _signature(function: FunctionWriter, name: str) -> str:
    types = ", ".join(argument.type for argument in function.arguments)
    return f"declare hidden void @{name}({types})"
