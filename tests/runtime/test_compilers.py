"""LLVM in several threads at once: what each makes is what one alone would have made."""

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm
import pytest

from hlotool.runtime import compilers
from hlotool.runtime.compilers import MOST_AT_ONCE, Compiler, compiled_code
from hlotool.runtime.llvm import PASSES, LoadedCode, host_target, plain_loops
from hlotool.runtime.targets import target_named

TARGET = host_target()


def text(number: int) -> str:
    """Returns a function `f` that yields the sum of its argument and a number, many times."""
    return (
        "define i32 @f(i32 %x) {\nentry:\n  br label %loop\nloop:\n"
        "  %i = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
        "  %y = phi i32 [ %x, %entry ], [ %z, %loop ]\n"
        f"  %z = add i32 %y, {number}\n"
        "  %more = add i32 %i, 1\n  %goes_on = icmp slt i32 %more, 3\n"
        "  br i1 %goes_on, label %loop, label %end\nend:\n  ret i32 %z\n}\n"
    )


def test_threads_make_the_same_code_at_once() -> None:
    alone = [compiled_code(text(number), TARGET, PASSES) for number in range(8)]
    assert len(set(alone)) == 8
    with ThreadPoolExecutor(2 * MOST_AT_ONCE) as threads:
        found = list(threads.map(lambda n: compiled_code(text(n % 8), TARGET, PASSES), range(64)))
    assert found == 8 * alone


@pytest.mark.parametrize("is_quick", [True, False])
@pytest.mark.parametrize("passes", [(), PASSES])
def test_code_is_right_however_well_it_is_made(passes: tuple[str, ...], *, is_quick: bool) -> None:
    code = LoadedCode([compiled_code(text(5), TARGET, passes, is_quick=is_quick)], ["f"])
    assert code.function("f", ctypes.c_int)(100) == 115


def test_a_thread_waits_where_all_compilers_are_in_use() -> None:
    for compiler in compilers._COMPILERS:
        compiler.lock.acquire()
    made: list[bytes] = []
    thread = threading.Thread(target=lambda: made.append(compiled_code(text(1), TARGET, PASSES)))
    try:
        thread.start()
        thread.join(0.1)
        assert not made
    finally:
        for compiler in compilers._COMPILERS:
            compiler.lock.release()
    thread.join()
    assert made == [compiled_code(text(1), TARGET, PASSES)]


def test_faults_are_raised_and_nothing_stays_held() -> None:
    for _ in range(2 * MOST_AT_ONCE):
        with pytest.raises(RuntimeError, match="cannot read"):
            compiled_code("define nothing", TARGET, PASSES)
        with pytest.raises(AssertionError, match="calls exp"):
            compiled_code("declare double @exp(double)\n" + text(1), TARGET, PASSES)
        with pytest.raises(RuntimeError, match="PHI"):
            compiled_code(text(1).replace("[ 0, %entry ], ", ""), TARGET, PASSES)
    assert not any(compiler.lock.locked() for compiler in compilers._COMPILERS)


def test_a_compiler_keeps_few_machines() -> None:
    compiler, names = Compiler(), ("x86-64-v3", "x86-64-v4", "aarch64")
    targets = [target_named(name, mode) for name in names for mode in type(TARGET.float_mode)]
    codes = [compiler.object_code(text(2), one, PASSES, 2) for one in targets]
    assert len(codes) == 9
    assert len(compiler._machines) <= 8
    assert codes == [compiler.object_code(text(2), one, PASSES, 2) for one in targets]


def test_switches_hold_until_the_last_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(llvm, "set_option", lambda _, option: said.append(option))
    with plain_loops(), plain_loops():
        first = list(said)
    assert first == ["-disable-lsr=true", "-enable-misched=false"]
    assert said == [*first, "-disable-lsr=false", "-enable-misched=true"]
