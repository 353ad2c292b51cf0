"""The kernels of a program: each is written once, however many instructions run it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from hlotool.analysis.equal_computations import (
    EqualComputations,
    meaning_of_annotations,
    meaning_of_op,
)
from hlotool.codegen.kernels.body import Body
from hlotool.codegen.kernels.kernel import NAME, Kernel, Launch
from hlotool.codegen.kernels.select import written_kernel
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.instruction import Instruction


@dataclass(frozen=True)
class WrittenKernel:
    """A kernel in the text of a program."""

    name: str
    launch: Launch
    phases: tuple[tuple[str, Launch], ...]
    """What runs before it: names of functions, and how they are run."""
    workspace_bytes: int


class KernelTexts:
    """Writes the kernels of one program, those that are equal only once."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._equal = EqualComputations()
        self._written: dict[Hashable, WrittenKernel | str] = {}
        """By what a kernel computes; a text says why there is none."""
        self._names: dict[str, str] = {}
        """By the text, in which the name is left open."""
        self.declarations: set[str] = set()
        self.globals: set[str] = set()
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

    def texts(self) -> list[str]:
        """Returns the functions of all kernels."""
        return [text.replace(NAME, name) for text, name in self._names.items()]

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
        )

    def _enter(self, kernel: Kernel, launch: Launch) -> WrittenKernel:
        functions = [*(phase.function for phase in kernel.phases), kernel.function]
        text = "".join((*kernel.functions, *(function.text() for function in functions)))
        count = len(kernel.function.arguments) - 2
        for function in functions:
            text += _trampoline(function.name, count)
            self.declarations |= function.declarations
            self.globals |= function.globals
        self.libraries.update(dict.fromkeys(kernel.libraries))
        name = self._names.setdefault(text, f"kernel{len(self._names)}")
        phases = tuple(
            (f"{name}.phase{number}", phase.launch) for number, phase in enumerate(kernel.phases)
        )
        return WrittenKernel(name, launch, phases, kernel.workspace_bytes)


def _trampoline(name: str, count: int) -> str:
    """Returns a function that takes the arguments of a kernel from a table, and a range."""
    lines = [f"define internal void @{name}.run(ptr %table, i64 %begin, i64 %end) nounwind {{"]
    for number in range(count):
        lines.append(f"  %p{number} = getelementptr inbounds ptr, ptr %table, i64 {number}")
        lines.append(f"  %a{number} = load ptr, ptr %p{number}, align 8")
    listed = ", ".join(f"ptr %a{number}" for number in range(count))
    lines.append(f"  call void @{name}({listed}, i64 %begin, i64 %end)")
    return "\n".join([*lines, "  ret void", "}", ""])
