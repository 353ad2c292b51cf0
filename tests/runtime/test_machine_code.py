import sys
import threading

from hlotool.runtime.llvm import host_target
from hlotool.runtime.machine_code import CodeMaker

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
