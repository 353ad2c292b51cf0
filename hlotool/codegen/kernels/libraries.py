"""Functions of libraries of linear algebra, which kernels call by their address.

All of them may be missing: `Target.libraries` names those that a process has, and kernels do
without the others. Numbers are fixed, so that a kernel's text is the same in every module.
"""

from __future__ import annotations

from enum import IntEnum

from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.llvm.value import Value, constant

LIBRARIES_SLOT = 5
"""The entry of the context that leads to the table of addresses."""


class LibraryFunction(IntEnum):
    """The functions, by their place in the table: CBLAS with integers of 64 bits."""

    SGEMM = 0
    DGEMM = 1


def library_function(kernel: Kernel, wanted: LibraryFunction) -> Value:
    """Writes the address of a function of a library, which the target must have."""
    kernel.libraries.append(wanted.name.lower())
    function = kernel.function
    table = function.offset(Value("%context", "ptr"), constant("i64", LIBRARIES_SLOT), "ptr")
    table = function.load(table, "ptr", align=8)
    entry = function.offset(table, constant("i64", wanted), "ptr")
    return function.load(entry, "ptr", align=8)
