"""The kernels of a program: each is written once, however many instructions run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from hlotool.analysis.equal_computations import (
    EqualComputations,
    meaning_of_annotations,
    meaning_of_op,
)
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import NAME, Callee, Kernel, Launch
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


class Parts:
    """Takes the parts of a program as soon as they are there: here, to do nothing with them."""

    def add(self, text: str) -> None:
        """Takes a part, which is a module of LLVM IR."""

    def add_rare(self, text: str) -> None:
        """Takes a part in which little time is spent, so that it need not be good code."""

    def add_shared(self, callee: Callee) -> None:
        """Takes a function that other programs may have as well."""


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

    `parts` is given each new kernel as a module, so that it can be compiled while others are
    being written. It declares the shared functions that it calls.
    """

    def __init__(self, target: Target, parts: Parts) -> None:
        self._target = target
        self._parts = parts
        self._equal = EqualComputations()
        self._written: dict[Hashable, WrittenKernel | str] = {}
        """By what a kernel computes; a text says why there is none."""
        self._names: dict[str, str] = {}
        """By the text, in which the name is left open."""
        self._texts: list[str] = []
        self._declarations: set[str] = set()
        self._callees: dict[str, Callee] = {}
        """Shared functions by their names."""
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

    def module(self, name: str, entry: str, declarations: set[str]) -> Callable[[], str]:
        """Returns what puts all kernels and the entry function together in one module."""
        callees, texts, constants = tuple(self._callees.values()), self._texts, self._globals
        ours = self._declarations | declarations

        def write() -> str:
            declared = ours.union(*(callee.declarations for callee in callees))
            heads = f"source_filename = {name}", *sorted(constants), *sorted(declared)
            return "\n".join((*heads, *texts, *(callee.text for callee in callees), entry))

        return write

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
        texts = [_visible(function) for function in _functions(kernel)]
        text = "".join((*kernel.functions, *texts))
        self.libraries.update(dict.fromkeys(kernel.libraries))
        name = self._names.get(text)
        if name is None:
            name = self._names[text] = self._new_name(kernel.body.instruction)
            self._texts.append(text.replace(NAME, name))
            self._add(kernel, texts, name)
            # They may have to be written yet, while the others are compiled already.
            for callee in kernel.callees.values():
                self._add_callee(callee)
        phases = tuple(
            (f"{name}.phase{number}", phase.launch) for number, phase in enumerate(kernel.phases)
        )
        return WrittenKernel(name, launch, phases, kernel.workspace_bytes)

    def _new_name(self, instruction: Instruction) -> str:
        """Returns a name that says of which instruction a kernel was made first."""
        shown = _STRANGE.sub("_", instruction.name)[:_NAME_CHARACTERS]
        return f"kernel{len(self._names)}.{shown}"

    def _add(self, kernel: Kernel, texts: Sequence[str], name: str) -> None:
        """Hands on the functions of a kernel: each on its own, where none is called by several."""
        functions = _functions(kernel)
        for function in functions:
            self._declarations |= function.declarations
            self._globals |= function.globals
            self.signatures.append(_signature(function, function.name.replace(NAME, name)))
        if kernel.functions:
            groups = [(functions, "".join((*kernel.functions, *texts)))]
        else:
            groups = [([one], text) for one, text in zip(functions, texts, strict=True)]
        for members, text in groups:
            constants = set().union(*(one.globals for one in members))
            declared = {one.signature for one in kernel.callees.values() if one.name in text}
            declared.update(*(one.declarations for one in members))
            named = text.replace(NAME, name)
            self._parts.add("\n".join((*sorted(constants), *sorted(declared), named)))

    def _add_callee(self, callee: Callee) -> None:
        if callee.name not in self._callees:
            self._parts.add_shared(callee)
            self._callees[callee.name] = callee


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
