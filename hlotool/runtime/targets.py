"""Processors by their names, for code that runs elsewhere."""

from __future__ import annotations

from dataclasses import replace

import llvmlite.binding as llvm

from hlotool.codegen.target import FloatMode, Target
from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
from hlotool.runtime.llvm import host_target, target_machine

_LINUX = "-unknown-linux-gnu"
_TOO_OLD = ("x86-64", "x86-64-v1", "x86-64-v2")
"""Levels of x86-64 that lack AVX2 and FMA."""
_LEAST_X86 = "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt"
"""What code for x86-64 always uses; processors have it since 2013."""
_NAMED = {
    "x86-64-v3": Target("x86_64" + _LINUX, "x86-64-v3", _LEAST_X86, 32, 16),
    "x86-64-v4": Target("x86_64" + _LINUX, "x86-64-v4", _LEAST_X86, 64, 32),
    "aarch64": Target("aarch64" + _LINUX, "generic", "", 16, 32),
}
_WIDE_X86 = (
    "cannonlake", "cascadelake", "cooperlake", "emeraldrapids", "graniterapids",
    "graniterapids-d", "icelake-client", "icelake-server", "rocketlake", "sapphirerapids",
    "skylake-avx512", "tigerlake", "x86-64-v4", "znver4", "znver5",
)  # fmt: skip
"""Processors with vectors of 64 bytes."""
PROCESSORS = {
    "x86_64": (
        *_WIDE_X86, "alderlake", "arrowlake", "arrowlake-s", "bdver4", "broadwell",
        "clearwaterforest", "gracemont", "grandridge", "haswell", "lunarlake", "meteorlake",
        "pantherlake", "raptorlake", "sierraforest", "skylake", "x86-64-v3", "znver1", "znver2",
        "znver3",
    ),
    "aarch64": (
        "a64fx", "ampere1", "ampere1a", "ampere1b", "apple-a12", "apple-a13", "apple-a14",
        "apple-a15", "apple-a16", "apple-a17", "apple-m1", "apple-m2", "apple-m3", "apple-m4",
        "carmel", "cortex-a35", "cortex-a53", "cortex-a55", "cortex-a57", "cortex-a72",
        "cortex-a73", "cortex-a75", "cortex-a76", "cortex-a77", "cortex-a78", "cortex-a510",
        "cortex-a520", "cortex-a710", "cortex-a715", "cortex-a720", "cortex-a725", "cortex-x1",
        "cortex-x2", "cortex-x3", "cortex-x4", "cortex-x925", "exynos-m3", "exynos-m4",
        "exynos-m5", "falkor", "generic", "grace", "kryo", "neoverse-512tvb", "neoverse-e1",
        "neoverse-n1", "neoverse-n2", "neoverse-n3", "neoverse-v1", "neoverse-v2", "neoverse-v3",
        "oryon-1", "saphira", "thunderx2t99", "thunderx3t110", "tsv110",
    ),
}  # fmt: skip
"""The processors of each architecture that have all that code for it uses.

LLVM knows more, and ends the process for some names that it does not know.
"""


def target_named(name: str, float_mode: FloatMode = FloatMode.STRICT) -> Target:
    """Returns a target by its name: `host`, one of a few known ones, or `TRIPLE,CPU`.

    Raises `UsageError` for a triple that there is no code generator for, and for a processor
    that is not known.
    """
    if name == "host":
        return host_target(float_mode)
    if name in _NAMED:
        _check(_NAMED[name].triple)
        return replace(_NAMED[name], float_mode=float_mode)
    triple, _, cpu = name.partition(",")
    if name in _TOO_OLD:
        raise _no_target(name, "code for x86-64 uses AVX2 and FMA, which begin with x86-64-v3")
    _check(triple)
    if triple.startswith("x86_64"):
        cpu = cpu or "x86-64-v3"
        width, registers = (64, 32) if cpu in _WIDE_X86 else (32, 16)
        found = Target(triple, cpu, _LEAST_X86, width, registers, float_mode)
    else:
        found = Target(triple, cpu or "generic", "", 16, 32, float_mode)
    _check_processor(found)
    return found


def _check(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise _no_target(triple, str(error)) from None
    if triple.partition("-")[0] not in PROCESSORS:
        raise _no_target(triple, "no code is made for such processors")


def _check_processor(target: Target) -> None:
    known = PROCESSORS[target.architecture]
    if target.cpu not in known:
        raise UsageError(
            f"{target.cpu!r} is no processor of {target.architecture} that code is made for"
            f"{near_names(target.cpu, known)}",
            notes=(f"known: {', '.join(sorted(known))}",),
        )
    layout = str(target_machine(target).target_data)
    if "p:32:32" in layout.split("-"):
        raise _no_target(target.triple, "its addresses are of 32 bits")


def _no_target(triple: str, why: str) -> UsageError:
    known = ", ".join((*_NAMED, "host"))
    note = f"known by name: {known}; or a triple and a processor: aarch64-linux-gnu,neoverse-n1"
    return UsageError(f"{triple!r} is no target: {why}", notes=(note,))
