"""Compilation as Python calls it: a module in, something that is called with arrays out."""

from __future__ import annotations

from collections.abc import Collection

from hlotool.codegen.target import FloatMode
from hlotool.errors import UsageError
from hlotool.evaluation.api import verified_module
from hlotool.ir.module import Module
from hlotool.runtime.compilation import compiled
from hlotool.runtime.executable import Executable
from hlotool.runtime.llvm import host_target


def compile(  # noqa: A001 - it is called as hlotool.compile
    module: Module | str | bytes,
    *,
    threads: int | None = None,
    fp_mode: str = "strict",
    donate: Collection[int] = (),
    passes: str | None = None,
    cache: bool = True,
) -> Executable:
    """Returns a module as machine code for this process.

    The module may also be its text, a serialized proto, or a computation of jaxlib.

    `threads` is how many threads share the work, the caller among them: where it is `None`, as
    many as HLOTOOL_THREADS says, or one a core; results do not depend on it. `fp_mode` is
    `strict` (IEEE 754, operation by operation), `xla` (denormals are zero, products and sums
    are contracted) or `fast` (sums are reordered too, functions are less exact). `donate` are
    the numbers of parameters whose arrays may be overwritten: results take their memory.
    `passes` is a pipeline to run in place of that of the CPU. With `cache` false, nothing that
    was compiled before is used again.

    Raises `ParseError` or `VerificationErrors` for what is no module, `UnsupportedError` for a
    module of several devices and for dimensions that are known only when it runs, `UsageError`
    for options that make no sense.
    """
    read = verified_module(module)
    _check_donated(read, donate)
    _check_passes(passes)
    target = host_target(_float_mode(fp_mode))
    return compiled(read, target, threads=threads, passes=passes, donate=donate, uses_cache=cache)


def _float_mode(name: str) -> FloatMode:
    try:
        return FloatMode(name)
    except ValueError:
        known = ", ".join(mode.value for mode in FloatMode)
        raise UsageError(f"fp_mode is {name!r}, one of {known} is wanted") from None


def _check_passes(passes: object) -> None:
    if not isinstance(passes, str | None):
        raise UsageError(f"passes is {passes!r}, the text of a pipeline is wanted")


def _check_donated(module: Module, donate: object) -> None:
    count = len(module.entry.parameters)
    if isinstance(donate, str) or not isinstance(donate, Collection):
        raise UsageError(f"donate is {donate!r}, a list of numbers of parameters is wanted")
    for number in donate:
        # What is equal to a number is none yet: True and 1.0 are slips.
        if type(number) is not int or number not in range(count):
            raise UsageError(f"donate names parameter {number!r}, {module.name} has {count}")
