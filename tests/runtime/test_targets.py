"""Processors by their names: those that LLVM knows, and what it would end the process for."""

import pytest

from hlotool.errors import UsageError
from hlotool.runtime.llvm import target_machine
from hlotool.runtime.targets import PROCESSORS, target_named

NAMES = [
    f"{architecture}-unknown-linux-gnu,{processor}"
    for architecture, processors in PROCESSORS.items()
    for processor in processors
]


def test_llvm_knows_every_processor(capfd: pytest.CaptureFixture[str]) -> None:
    for name in NAMES:
        target_machine(target_named(name))
    # LLVM tells of what it does not know there.
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x86_64,haswel", "is no processor of x86_64 that code is made for; did you mean haswell?"),
        ("x86_64-unknown-linux-gnu,core2", "is no processor of x86_64"),
        ("aarch64,haswell", "is no processor of aarch64"),
        ("aarch64_be-unknown-linux-gnu", "no code is made for such processors"),
        ("x86_64-unknown-linux-gnux32", "its addresses are of 32 bits"),
        ("riscv64", "no code is made for such processors"),
        ("nonsense", "is no target"),
        ("", "is no target"),
    ],
)
def test_what_is_no_target(name: str, message: str) -> None:
    with pytest.raises(UsageError) as found:
        target_named(name)
    assert message in str(found.value)


def test_vectors_of_a_processor() -> None:
    assert target_named("x86_64,skylake").vector_bytes == 32
    assert target_named("x86_64,tigerlake").vector_bytes == 64
    assert target_named("aarch64,neoverse-n1").vector_bytes == 16
