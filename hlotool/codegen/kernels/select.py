"""Which kernel a body gets: that of the op it is about, or plain loops."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import walk_packages

from hlotool.codegen import elements, kernels
from hlotool.codegen.kernels.kernel import KERNELS, Kernel, Launch
from hlotool.codegen.kernels.loops.loops import emit_loops

for _package in (elements, kernels):
    # Each file enters its rules when it is imported.
    for _module in walk_packages(_package.__path__, f"{_package.__name__}."):
        if _module.name != __name__:
            import_module(_module.name)


def written_kernel(make: Callable[[], Kernel]) -> tuple[Kernel, Launch]:
    """Returns a kernel with its function written; `make` begins one.

    Raises `NotCompiled` where there is no code for the body.
    """
    kernel = make()
    for member in reversed(kernel.body.members):
        emit = KERNELS.get(type(member.op))
        if emit is not None:
            return kernel, emit(kernel)
    return emit_loops(make)
