"""Processors by their names, for code that runs elsewhere."""

from __future__ import annotations

from dataclasses import replace

import llvmlite.binding as llvm

from hlotool.codegen.target import FloatMode, Target
from hlotool.errors import UsageError
from hlotool.runtime.llvm import host_target

_LINUX = "-unknown-linux-gnu"
_LEAST_X86 = "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt"
"""What code for x86-64 always uses; processors have it since 2013."""
_NAMED = {
    "x86-64-v3": Target("x86_64" + _LINUX, "x86-64-v3", _LEAST_X86, 32, 16),
    "x86-64-v4": Target("x86_64" + _LINUX, "x86-64-v4", _LEAST_X86, 64, 32),
    "aarch64": Target("aarch64" + _LINUX, "generic", "", 16, 32),
}
_WIDE = ("avx512", "x86-64-v4", "skylake-avx512", "icelake", "sapphirerapids", "znver4", "znver5")


def target_named(name: str, float_mode: FloatMode = FloatMode.STRICT) -> Target:
    """Returns a target by its name: `host`, one of a few known ones, or `TRIPLE,CPU`.

    Raises `UsageError` for a triple that LLVM has no code generator for.
    """
    if name == "host":
        return host_target(float_mode)
    if name in _NAMED:
        _check(_NAMED[name].triple)
        return replace(_NAMED[name], float_mode=float_mode)
    triple, _, cpu = name.partition(",")
    _check(triple)
    if triple.startswith("x86_64"):
        wide = cpu.startswith(_WIDE)
        width, registers = (64, 32) if wide else (32, 16)
        return Target(triple, cpu or "x86-64-v3", _LEAST_X86, width, registers, float_mode)
    return Target(triple, cpu or "generic", "", 16, 32, float_mode)


def _check(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise _no_target(triple, str(error)) from None
    if not triple.startswith(("x86_64", "aarch64")):
        raise _no_target(triple, "no code is made for such processors")


def _no_target(triple: str, why: str) -> UsageError:
    known = ", ".join((*_NAMED, "host"))
    note = f"known by name: {known}; or a triple and a processor"
    return UsageError(f"{triple!r} is no target: {why}", notes=(note,))
