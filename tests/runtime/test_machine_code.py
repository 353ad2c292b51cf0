import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import hlotool
from hlotool.codegen.kernels.kernel import Callee
from hlotool.codegen.program.kernel_texts import Parts
from hlotool.runtime.cache import SHARED, user_cache
from hlotool.runtime.compilation import generated, prepared
from hlotool.runtime.llvm import host_target
from hlotool.runtime.machine_code import CodeMaker, SharedCode

TEXT = "define void @f(ptr %a) {\n  store i64 1, ptr %a\n  ret void\n}\n"


def test_threads_wait_less_while_code_is_made() -> None:
    before = sys.getswitchinterval()
    with CodeMaker(host_target()) as one:
        inside = sys.getswitchinterval()
        assert inside < before
        with CodeMaker(host_target()) as other:
            other.add(TEXT)
            assert len(other.codes()) == 1
        # Another one still works.
        assert sys.getswitchinterval() == inside
        one.add(TEXT)
        assert len(one.codes()) == 1
    assert sys.getswitchinterval() == before


def test_many_at_once_leave_what_they_found() -> None:
    before = sys.getswitchinterval()

    def make() -> None:
        with CodeMaker(host_target()) as maker:
            maker.add(TEXT)
            maker.codes()

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getswitchinterval() == before


PRODUCT = """HloModule m
ENTRY e {
  x = f32[48,40] parameter(0)
  y = f32[40,64] parameter(1)
  ROOT r = f32[48,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def shared_files() -> dict[Path, bytes]:
    paths = [entry.path for entry in user_cache().entries()]
    return {path: path.read_bytes() for path in paths if path.name.startswith(SHARED)}


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What modules share is there already, or is made without this folder.
    hlotool.compile(PRODUCT, cache=False)
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HLOTOOL_CACHE_DIR", str(tmp_path))


@pytest.mark.usefixtures("_own_cache")
def test_shared_functions_are_kept_for_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.ones((48, 40), np.float32), np.full((40, 64), 2, np.float32)
    hlotool.compile(PRODUCT, cache=False)
    assert not user_cache().entries()
    hlotool.compile(PRODUCT)
    kept = shared_files()
    assert kept

    def never(*_: object) -> bytes:
        raise AssertionError("written again")

    monkeypatch.setattr(SharedCode, "made", never)
    # Another module of the same product: the size of the result is all that its functions have.
    other = hlotool.compile(PRODUCT.replace("HloModule m", "HloModule other"))
    np.testing.assert_array_equal(other(x, y), np.full((48, 64), 80, np.float32))
    assert shared_files() == kept
    assert "@tile." in other.program.text
    with pytest.raises(AssertionError, match="written again"):
        hlotool.compile(PRODUCT.replace("f32", "f64"))


@pytest.mark.usefixtures("_own_cache")
def test_damaged_shared_functions_are_written_anew() -> None:
    hlotool.compile(PRODUCT)
    kept = shared_files()
    for path, data in kept.items():
        path.write_bytes(data[:-9] + b"something")
    hlotool.compile(PRODUCT.replace("HloModule m", "HloModule other"))
    assert shared_files() == kept


class Noted(Parts):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.rare: list[str] = []
        self.shared: list[Callee] = []

    def add(self, text: str) -> None:
        self.texts.append(text)

    def add_rare(self, text: str) -> None:
        self.rare.append(text)

    def add_shared(self, callee: Callee) -> None:
        self.shared.append(callee)


def test_functions_of_a_kernel_are_parts_of_their_own() -> None:
    parts = Noted()
    text = re.sub("48|40|64", "1024", PRODUCT)
    program = generated(prepared(hlotool.parse(text)), host_target(), parts=parts)
    assert len(parts.texts) > 1
    assert all(one.count("\ndefine hidden") == 1 for one in parts.texts)
    assert [one.count("define i32 @hlotool_run(") for one in parts.rare] == [1]
    (callee,) = parts.shared
    assert f"define hidden void @{callee.name}(" in program.text
    for one in (*parts.texts, *parts.rare, callee.text):
        assert one[one.index("define ") :] in program.text


def test_the_entry_of_a_loop_is_made_well() -> None:
    text = """HloModule m
more { i = s32[] parameter(0) one = s32[] constant(1) ROOT r = s32[] add(i, one) }
goes_on { i = s32[] parameter(0) n = s32[] constant(9) ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e { i = s32[] parameter(0) ROOT w = s32[] while(i), condition=goes_on, body=more }
"""
    parts = Noted()
    program = generated(prepared(hlotool.parse(text), passes=""), host_target(), parts=parts)
    assert program.loops
    assert not parts.rare
