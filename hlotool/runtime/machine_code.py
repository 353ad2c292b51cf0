"""From text of LLVM IR to object files."""

from __future__ import annotations

from collections.abc import Callable

import llvmlite.binding as llvm

from hlotool.codegen.target import Target
from hlotool.runtime.llvm import object_code, optimize, parsed
from hlotool.runtime.symbols import check_symbols

Optimize = Callable[[llvm.ModuleRef, Target], None]


def machine_code(text: str, target: Target, *, passes: Optimize = optimize) -> bytes:
    """Returns the object file of LLVM IR; raises `AssertionError` for what it may not call."""
    check_symbols(text)
    unit = parsed(text, target)
    passes(unit, target)
    return object_code(unit, target)
