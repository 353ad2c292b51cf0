"""The text of the code that compiled modules share, for a processor."""

from __future__ import annotations

from pathlib import Path

from hlotool.codegen.target import FloatMode, Target

POINTER_BYTES = 8
_FOLDER = Path(__file__).parent
_FUTEX = {"x86_64": 202, "aarch64": 98}
"""The number of the system call by which threads sleep and wake one another, on Linux."""
_SPINS = {"x86_64": 1000, "aarch64": 10_000}
"""How often a thread looks again before it sleeps: some tens of microseconds."""
_CONTROL = {"x86_64": 0x1F80, "aarch64": 0}
_FLUSHING = {"x86_64": 0x8040, "aarch64": 1 << 24}
"""The bits that take denormals as zero, of operands and of results."""


def control_word(target: Target) -> int:
    """Returns the control word of arithmetic that a target's float mode asks for."""
    word = _CONTROL[target.architecture]
    if target.float_mode is not FloatMode.STRICT:
        word |= _FLUSHING[target.architecture]
    return word


def is_known(target: Target) -> bool:
    """Whether there is code for a target."""
    return target.architecture in _CONTROL


def native_text(target: Target, head_bytes: int) -> str:
    """Returns the shared code as LLVM IR.

    `head_bytes` is the size of the part that all objects of this Python have, whose last word
    is the type.
    """
    architecture = target.architecture
    threads = "threads_linux.ll" if "linux" in target.triple else "threads_none.ll"
    files = (f"processor_{architecture}.ll", threads, "memory.ll", "arrays.ll", "call.ll")
    text = "\n".join((_FOLDER / file).read_text(encoding="utf-8") for file in files)
    places = {
        "futex": _FUTEX[architecture],
        "spins": _SPINS[architecture],
        "control": _CONTROL[architecture],
        "head": head_bytes,
        "type": head_bytes - POINTER_BYTES,
    }
    for name, value in places.items():
        text = text.replace(f"<<{name}>>", str(value))
    return text
