"""Compiles modules made at random, in a process of its own: LLVM may end it.

    python -m tests.runtime.fuzzing GENERATOR FIRST COUNT [LENGTH]

GENERATOR is `modules` (many small operations) or `kernels` (few on larger arrays). Prints a line
of JSON for each seed before it is tried, and one with what was wrong. Each module is compiled and
compared with what is evaluated; every second one is compiled once more in one of the `WAYS`.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence

import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, HloError, ParseError, UnsupportedError
from hlotool.evaluation.comparison.compare import LeafComparison, compare
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.ir.cloning import cloned_module
from hlotool.ir.element_type import PRED
from hlotool.ir.frame import Value
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.api import compile as compile_text
from hlotool.runtime.compilation import compiled, prepared
from hlotool.runtime.executable import Executable
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.passes.checking import bits_equal, leaves, values_of
from tests.passes.random_modules import random_module
from tests.runtime.calling import called
from tests.runtime.guarded import guarded
from tests.runtime.parallel_pieces import small_pieces
from tests.runtime.random_kernels import random_kernels

GENERATORS: dict[str, Callable[[int, int], str]] = {
    "modules": random_module,
    "kernels": random_kernels,
    "crashing": lambda seed, _length: crashing(seed),
}
LENGTH = 12
MOST_SECONDS = 120
"""A module that takes longer ends the process."""
AT_A_STEP = "it depends on rounded values"
"""What comparisons say of integers and truth values that another rounding may turn into others."""
SUMS = (
    "dot", "convolution", "batch-norm-inference", "batch-norm-training", "batch-norm-grad",
    "cholesky", "triangular-solve", "fft", "ragged-dot", "scaled-dot",
)  # fmt: skip
FOLDS = ("reduce", "reduce-window", "all-reduce", "scatter", "select-and-scatter")
NEGATIVE_ZERO = re.compile(r"-0[,) }]")
UNFUSED = "call-inliner, layout-assignment"
"""Passes that leave each instruction a kernel of its own."""
FUSED = f"{UNFUSED}, fusion, fusion-wrapper, cpu_multi_output_fusion"


def crashing(seed: int) -> str:
    """Ends the process for some seeds as LLVM and compiled code may: a test of what is told."""
    if seed % 4 == 0:
        os.abort()
    if seed % 3 == 0 and seed > 3:
        ctypes.string_at(0)
    return "HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n"


Run = tuple[list[Value], Value]
"""Arguments, and what the module yields for them."""
Way = Callable[[Module, Sequence[Run], Executable], list[str]]
"""Compiles a module in another way; returns what is wrong with what it yields."""


def runs_of(module: Module, seed: int) -> list[Run]:
    """Returns arguments of two kinds with what is evaluated; fewer where that is not possible."""
    found = []
    for make in (generated_arguments, edge_arguments):
        try:
            arguments = list(make(module, seed).values)
            found.append((arguments, values_of(module, arguments)[0]))
        except (EvaluationError, UnsupportedError):
            return found
    return found


def differences(module: Module, actual: Value, expected: Value) -> list[str]:
    """Returns how a result differs from what is evaluated."""
    told = [
        shortly(leaf)
        for leaf in compare(module, actual, expected).leaves
        if not leaf.agrees and not (leaf.differences.worst and has_open_range(module, leaf))
    ]
    return [words for words in told if AT_A_STEP not in words]


def has_open_range(module: Module, leaf: LeafComparison) -> bool:
    """Whether sums or products may have left the range on the way: their order is open.

    Then infinities and NaN, and what is computed from them, differ rightly. The bits of a
    number that was rounded may be any, too: comparisons do not know of them.
    """
    if leaf.tolerance.reason.endswith("must be equal") and is_made_of_bits(module):
        return True
    found = leaf.differences
    is_finite = math.isfinite(found.largest_absolute) and not (
        found.expected.infinite or found.expected.nan or found.actual.infinite or found.actual.nan
    )
    return not is_finite and any(map(sums_floats, module.instructions()))


def is_made_of_bits(module: Module) -> bool:
    """Whether integers are made of the bits of sums, or of comparing what may have overflowed."""
    opcodes = {one.opcode for one in module.instructions()}
    sums = {one.opcode for one in module.instructions() if sums_floats(one)}
    return "multiply" in sums or (bool(sums) and "bitcast-convert" in opcodes)


def sums_floats(instruction: Instruction) -> bool:
    """Whether an instruction adds or multiplies numbers with a range, in an order of its own."""
    leaves_of = [leaf for _, leaf in instruction.shape.leaves()]
    kinds = [leaf.element_type for leaf in leaves_of if isinstance(leaf, ArrayShape)]
    if all(kind.is_integer or kind is PRED for kind in kinds):
        return False
    is_complex = any(kind.is_complex for kind in kinds)
    if instruction.opcode in SUMS or (is_complex and instruction.opcode == "multiply"):
        return True
    return instruction.opcode in FOLDS and any(
        one.opcode in ("add", "multiply")
        for computation in instruction.calls
        for one in computation.instructions
    )


def shortly(leaf: LeafComparison) -> str:
    """Returns what a comparison says of an array, in one line."""
    found, tolerance = leaf.differences, leaf.tolerance
    worst = [f"{one.index} {one.actual} not {one.expected}" for one in found.worst[:1]]
    return (
        f"{leaf.index} {leaf.shape} of {leaf.origin.opcode}: {leaf.fault}"
        f" {found.mismatches}/{found.elements} {worst} ({tolerance.reason})"
    )


def yielded(executable: Executable, arguments: Sequence[Value]) -> Value:
    """Returns what an executable yields for arguments that lie at the end of memory."""
    return called(executable, [at_end_of_memory(one) for one in arguments])


def at_end_of_memory(argument: Value) -> Value:
    if isinstance(argument, tuple):
        return tuple(map(at_end_of_memory, argument))
    return None if argument is None else guarded(np.asarray(argument))


def compared(module: Module, executable: Executable, runs: Sequence[Run]) -> list[str]:
    """Returns how what is compiled differs from what is evaluated."""
    return [
        words
        for arguments, expected in runs
        for words in differences(module, yielded(executable, arguments), expected)
    ]


def unlike(one: Executable, other: Executable, runs: Sequence[Run]) -> list[str]:
    """Returns which arrays two executables do not yield with the same bits."""
    found = []
    for arguments, _ in runs:
        pairs = zip(leaves(yielded(one, arguments)), leaves(yielded(other, arguments)), strict=True)
        found += [f"bits of array {n}" for n, pair in enumerate(pairs) if not bits_equal(*pair)]
    return found


# The ways that modules are compiled in, beside the usual one.


def on_threads(module: Module, runs: Sequence[Run], _usual: Executable) -> list[str]:
    """Cuts all work in small pieces: the same bits on any number of threads."""
    with small_pieces():
        alone = compiled(module, threads=1, uses_cache=False)
        together = compiled(module, threads=3, uses_cache=False)
    return unlike(alone, together, runs) + compared(module, together, runs)


def unfused(module: Module, runs: Sequence[Run], _usual: Executable) -> list[str]:
    """Runs no passes but those that must run; with fusion it yields the same bits."""
    apart = compiled(module, passes=UNFUSED, uses_cache=False)
    found = compared(module, apart, runs)
    if any(map(sums_floats, module.instructions())):
        return found
    return found + unlike(apart, compiled(module, passes=FUSED, uses_cache=False), runs)


def as_optimized_text(module: Module, runs: Sequence[Run], usual: Executable) -> list[str]:
    """Compiles what the passes have made of it, read again."""
    text = print_module(prepared(module), PRESETS["long"])
    if NEGATIVE_ZERO.search(text):
        # It is read as +0, which is an integer.
        return []
    return unlike(usual, compiled(parse(text), uses_cache=False), runs)


def in_other_modes(module: Module, runs: Sequence[Run], _usual: Executable) -> list[str]:
    """Runs with faster arithmetic: any values of the right shapes are right."""
    for mode in ("xla", "fast"):
        executable = compile_text(cloned_module(module), fp_mode=mode, cache=False)
        for arguments, _ in runs:
            yielded(executable, arguments)
    return []


WAYS: tuple[Way, ...] = (on_threads, unfused, as_optimized_text, in_other_modes)


def faults(module: Module, seed: int) -> list[str]:
    """Returns what is wrong with a module, compiled in the usual way; odd ones in one more."""
    runs = runs_of(module, seed)
    usual = compiled(module, uses_cache=False)
    found = compared(module, usual, runs)
    if seed % 2 == 0:
        return found
    way = WAYS[seed // 2 % len(WAYS)]
    return found + [f"{way.__name__}: {words}" for words in way(module, runs, usual)]


def tried(text: str, seed: int) -> str:
    """Returns what is wrong with a module, in a few words; nothing where all is well."""
    try:
        module = parse(text)
    except ParseError:
        # Not all that is made at random is a module.
        return ""
    if verify(module):
        return ""
    if sum(one.opcode == "rng" for one in module.instructions()) > 1:
        return ""
    if module.header.replica_count * module.header.num_partitions > 1:
        return ""
    try:
        return "; ".join(faults(module, seed))[:600]
    except UnsupportedError:
        return ""
    except Exception as error:  # noqa: BLE001 - any is a fault to be told
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = "HloError " if isinstance(error, HloError) else ""
        return f"{kind}{type(error).__name__}: {error} ({where.name}:{where.lineno})"[:600]


def main() -> None:
    generator, first, count, *rest = sys.argv[1:]
    length = int(rest[0]) if rest else LENGTH
    for seed in range(int(first), int(first) + int(count)):
        print(json.dumps({"seed": seed}), flush=True)
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        wrong = tried(GENERATORS[generator](seed, length), seed)
        if wrong:
            print(json.dumps({"seed": seed, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
