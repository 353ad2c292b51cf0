"""Compiles modules made at random, in a process of its own: LLVM may end it.

    python -m tests.runtime.fuzzing FIRST COUNT [LENGTH]

Prints a line of JSON for each seed before it is tried, and one with what was wrong.
"""

from __future__ import annotations

import json
import sys
import traceback

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.ir.cloning import cloned_module
from hlotool.ir.module import Module
from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.passes.checking import same_values, values_of
from tests.passes.random_modules import random_module
from tests.runtime.calling import called

LENGTH = 12
AT_A_STEP = "it depends on rounded values"
"""What comparisons say of integers and truth values that another rounding may turn into others."""


def faults(module: Module, seed: int) -> list[str]:
    """Returns how what is compiled differs from what is evaluated."""
    executable = compiled(cloned_module(module))
    found: list[str] = []
    for make in (generated_arguments, edge_arguments):
        try:
            arguments = list(make(module, seed).values)
            expected = values_of(module, arguments)
        except (EvaluationError, UnsupportedError):
            return []
        actual = called(executable, arguments)
        found += same_values(module, [actual], expected, exact=False)
    return [words for words in found if AT_A_STEP not in words]


def tried(seed: int, length: int) -> str:
    """Returns what is wrong with one seed, in a few words; nothing where all is well."""
    text = random_module(seed, length)
    module = parse(text)
    if verify(module):
        return ""
    if sum(one.opcode == "rng" for one in module.instructions()) > 1:
        return ""
    if module.header.replica_count * module.header.num_partitions > 1:
        return ""
    try:
        return "; ".join(faults(module, seed))[:600]
    except Exception as error:  # noqa: BLE001 - any is a fault to be told
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({where.name}:{where.lineno})"[:600]


def main() -> None:
    first, count, *rest = map(int, sys.argv[1:])
    for seed in range(first, first + count):
        print(json.dumps({"seed": seed}), flush=True)
        wrong = tried(seed, *(rest or [LENGTH]))
        if wrong:
            print(json.dumps({"seed": seed, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
