"""Processors by their names, for code that runs elsewhere."""

from __future__ import annotations

from dataclasses import replace

import llvmlite.binding as llvm

from hlotool.codegen.target import FloatMode, Target
from hlotool.errors import UsageError
from hlotool.runtime.llvm import host_target

_LINUX = "-unknown-linux-gnu"
_NAMED = {
    "x86-64-v3": Target("x86_64" + _LINUX, "x86-64-v3", "", 32, 16),
    "x86-64-v4": Target("x86_64" + _LINUX, "x86-64-v4", "", 64, 32),
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
        return Target(triple, cpu or "x86-64-v3", "", 64 if wide else 32, 32 if wide else 16,
                      float_mode)  # fmt: skip
    return Target(triple, cpu or "generic", "", 16, 32, float_mode)


def _check(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    known = (*_NAMED, "host")
    try:
        if not triple.startswith(("x86_64", "aarch64")):
            raise RuntimeError("no code is made for such processors")
        llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise UsageError(
            f"{triple!r} is no target: {error}",
            notes=(f"known by name: {', '.join(known)}; or a triple and a processor",),
        ) from None
