"""Compiled modules as bytes: the prepared module, what stands beside its code, the code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import llvmlite

from hlotool.codegen.program.program import HostCall, LaunchedKernel, Program
from hlotool.codegen.target import Target
from hlotool.errors import HloError
from hlotool.ir.instruction import NOWHERE, Instruction
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.cache import key_of, state_of_files
from hlotool.text.parser import parse, parse_shape
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module

_EXACT = replace(PRESETS["long"], large_constants=LargeConstants.EXACT)
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class Compiled:
    """What compilation yields, before it is loaded."""

    module: Module
    """Prepared, as the code is made for it."""
    program: Program
    codes: tuple[bytes, ...]
    """The object files."""


def key_of_module(module: Module, target: Target, *options: object) -> str:
    """Returns a name for what compilation of a module yields, with these options."""
    named = (
        target.triple, target.cpu, target.features, target.vector_bytes, target.registers,
        target.float_mode.value, sorted(target.libraries), llvmlite.__version__, options,
    )  # fmt: skip
    return key_of(print_module(module, _EXACT), repr(named), state_of_files())


def stored(made: Compiled) -> bytes:
    """Returns what compilation has made as bytes, without the text of the LLVM IR."""
    module, program = made.module, made.program
    names = _names(module)
    held: dict[str, Any] = {
        "module": print_module(module, _EXACT),
        "arguments": [shape.text for shape in program.arguments],
        "results": [shape.text for shape in program.results],
        "temporary_bytes": program.temporary_bytes,
        "constants": [names(one) for one in program.constants],
        "host_calls": [(names(call.instruction), call.reason) for call in program.host_calls],
        "launches": [
            (names(one.instruction), one.kernel, one.count, one.grain, one.is_parallel,
             one.nanoseconds)
            for one in program.launches
        ],
        "libraries": program.libraries,
        "shared": program.shared,
        "loops": [names(one) for one in program.loops],
        "codes": [len(code) for code in made.codes],
    }  # fmt: skip
    head = json.dumps(held).encode("utf-8", "surrogatepass")
    return len(head).to_bytes(_LENGTH_BYTES, "little") + head + b"".join(made.codes)


def restored(data: bytes) -> Compiled | None:
    """Returns what `stored` was given, `None` for bytes that are something else."""
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    try:
        held = json.loads(data[_LENGTH_BYTES:][:length].decode("utf-8", "surrogatepass"))
        module = parse(held["module"], "a compiled module")
        return Compiled(module, _program(module, held), tuple(_codes(data, length, held["codes"])))
    except (ValueError, KeyError, TypeError, HloError):
        return None


def take_places(module: Module, origin: Module) -> None:
    """Gives instructions the places of those of the same name in the module they were made of.

    The places in a stored text mean nothing to who reads an error.
    """
    offsets = {(one.name, one.opcode): one.offset for one in origin.instructions()}
    module.source = origin.source
    for instruction in module.instructions():
        instruction.offset = offsets.get((instruction.name, instruction.opcode), NOWHERE)


def _codes(data: bytes, length: int, sizes: list[int]) -> Iterator[bytes]:
    begin = _LENGTH_BYTES + length
    for size in sizes:
        yield data[begin : begin + size]
        begin += size


def _program(module: Module, held: dict[str, Any]) -> Program:
    named = {
        (computation.name, one.name): one
        for computation in module.computations
        for one in computation.instructions
    }

    def instruction(name: list[str]) -> Instruction:
        return named[tuple(name)]  # type: ignore[index]

    return Program(
        lambda: "",
        [_shape(text) for text in held["arguments"]],
        [_shape(text) for text in held["results"]],
        held["temporary_bytes"],
        [instruction(name) for name in held["constants"]],
        [HostCall(instruction(name), reason) for name, reason in held["host_calls"]],
        [LaunchedKernel(instruction(name), *rest) for name, *rest in held["launches"]],
        held["libraries"],
        [(result, argument) for result, argument in held["shared"]],
        [instruction(name) for name in held["loops"]],
    )


def _names(module: Module) -> Callable[[Instruction], tuple[str, str]]:
    owners = {
        one: computation.name
        for computation in module.computations
        for one in computation.instructions
    }
    return lambda instruction: (owners[instruction], instruction.name)


def _shape(text: str) -> ArrayShape:
    found = parse_shape(text)
    assert isinstance(found, ArrayShape)
    return found
