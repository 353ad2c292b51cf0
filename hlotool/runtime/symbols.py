"""What code may call: a name that LLVM or the process does not know ends the process."""

from __future__ import annotations

import re

# What is hidden is defined in another part of the same program.
_DECLARED = re.compile(r"\ndeclare (?!hidden )[^@\n]*@([\w.$]+)\(")
# LLVM knows intrinsics that are called without being declared.
_INTRINSIC = re.compile(r"@(llvm\.[\w.]+)\(")
_INTRINSICS = (
    "abs", "bitreverse", "bswap", "canonicalize", "ceil", "copysign", "ctlz", "ctpop", "cttz",
    "fabs", "floor", "fma", "fmuladd", "fptosi.sat", "fptoui.sat", "fshl", "fshr", "is.fpclass",
    "lifetime", "masked", "maximum", "maxnum", "memcpy", "memmove", "memset", "minimum", "minnum",
    "nearbyint", "prefetch", "readcyclecounter", "rint", "roundeven", "sadd", "smax", "smin",
    "sqrt", "ssub", "stackrestore", "stacksave", "trap", "trunc", "uadd", "umax", "umin", "usub",
    "vector.reduce", "x86", "aarch64", "assume", "experimental.constrained", "round", "umul",
    "smul", "vector.insert", "vector.extract", "vector.interleave2", "vector.deinterleave2",
    "vector.reverse", "vector.splice",
)  # fmt: skip
"""Intrinsics that become instructions, or loops of them, on every target."""
_FUNCTIONS = {
    "free", "madvise", "memcpy", "memmove", "memset", "posix_memalign", "pthread_create",
    "pthread_detach", "pthread_sigmask", "syscall",
}  # fmt: skip
_PREFIXES = ("Py",)


def check_symbols(text: str) -> None:
    """Raises `AssertionError` where LLVM IR declares or calls what code may not call."""
    names = {*_DECLARED.findall(f"\n{text}"), *_INTRINSIC.findall(text)}
    unknown = sorted(name for name in names if not _is_known(name))
    if unknown:
        raise AssertionError(f"the code of the module calls {', '.join(unknown)}")


def _is_known(name: str) -> bool:
    if name.startswith("llvm."):
        rest = name.removeprefix("llvm.")
        return any(rest == one or rest.startswith(f"{one}.") for one in _INTRINSICS)
    return name in _FUNCTIONS or name.startswith(_PREFIXES)
