import gc

from hlotool.ir.garbage import rare_collection


def test_blocks_that_overlap_leave_what_was_before() -> None:
    before = gc.get_threshold()
    one, other = rare_collection(), rare_collection()
    one.__enter__()
    during = gc.get_threshold()
    other.__enter__()
    one.__exit__(None, None, None)
    assert gc.get_threshold() == during
    other.__exit__(None, None, None)
    assert gc.get_threshold() == before
    assert during[0] > before[0]
    assert during[1:] == before[1:]
