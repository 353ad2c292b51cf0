"""The shared code: it is code for each processor that modules are compiled for."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

from hlotool.codegen.native.text import control_word, is_known, native_text
from hlotool.codegen.target import FloatMode, Target
from hlotool.runtime.llvm import NATIVE_PASSES, optimize, parsed
from hlotool.runtime.symbols import check_symbols

TARGETS = {
    "x86_64": Target("x86_64-unknown-linux-gnu", "x86-64-v3", "", 32),
    "x86_64 elsewhere": Target("x86_64-apple-darwin", "x86-64-v3", "", 32),
    "aarch64": Target("aarch64-unknown-linux-gnu", "generic", "", 16, 32),
}
HEAD_BYTES = 16


@pytest.fixture(scope="module", autouse=True)
def _processors() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_text_becomes_code(target: Target) -> None:
    text = native_text(target, HEAD_BYTES)
    check_symbols(text)
    unit = parsed(text, target)
    optimize(unit, target, NATIVE_PASSES)
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features
    )
    assembly = machine.emit_assembly(unit)
    assert "hlotool_call" in assembly
    # The control word is read and written, and there is a way to wait.
    words = {
        "x86_64": ("stmxcsr", "ldmxcsr", "pause"),
        "aarch64": ("FPCR", "msr", "yield"),
    }[target.architecture]
    for word in words:
        assert word.lower() in assembly.lower(), word


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_all_places_are_filled(target: Target) -> None:
    assert not re.search("<<|>>", native_text(target, HEAD_BYTES))


def test_threads_are_known_on_linux_alone() -> None:
    assert "pthread_create" in native_text(TARGETS["x86_64"], HEAD_BYTES)
    assert "pthread_create" not in native_text(TARGETS["x86_64 elsewhere"], HEAD_BYTES)


def test_heads_of_objects_may_be_longer() -> None:
    text = native_text(TARGETS["x86_64"], 32)
    assert "%Array = type { [32 x i8]," in text
    assert "getelementptr i8, ptr %array, i64 24" in text


def test_control_words_flush_as_the_mode_says() -> None:
    for target in TARGETS.values():
        words = {
            mode: control_word(Target(target.triple, target.cpu, "", target.vector_bytes, 16, mode))
            for mode in FloatMode
        }
        assert words[FloatMode.XLA] == words[FloatMode.FAST] != words[FloatMode.STRICT]


def test_other_processors_are_not_known() -> None:
    assert is_known(TARGETS["aarch64"])
    assert not is_known(Target("riscv64-unknown-linux-gnu", "generic", "", 16))
