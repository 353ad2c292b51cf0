import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.errors import HloError
from hlotool.frontends.buffer_assignment import memory_use
from hlotool.frontends.fusion_frames import fusion_decisions
from hlotool.frontends.pass_times import pass_times
from hlotool.frontends.tf_graph import tf_graphs

PIECES = [
    *'{}[]<>"\\|@:,\n', "DT_X", "type", "99999999999999999999", "-1", "é", "\0", "1e999", "nan",
    "frames = [", "allocation 0: size 1:", "    0:x", "    x{}:5-1",
]  # fmt: skip
TIMES = 'pass_metadata { pass_name: "dce" dump_filenames: "a/b.txt" start_timestamp_usec: 5 }\n'


def curve(text: str) -> object:
    return memory_use([text]).curve()


def damaged(text: str, source: random.Random) -> str:
    for _ in range(source.randint(1, 5)):
        place = source.randrange(len(text) + 1)
        end = place + source.choice((0, 0, 1, 20))
        copied = source.randrange(len(text) + 1)
        piece = source.choice([*PIECES, text[copied : copied + 40]])
        text = text[:place] + piece + text[end:]
    return text


@pytest.mark.parametrize(
    ("read", "ending"),
    [
        (tf_graphs, ".pbtxt"), (fusion_decisions, "_fusion.html"),
        (curve, "-buffer-assignment.txt"), (pass_times, ""),
    ],
)  # fmt: skip
def test_damaged_texts_are_read_or_refused(
    read: Callable[[str], object], ending: str, root: Path
) -> None:
    text = TIMES
    if ending:
        (path,) = (root / "testdata" / "dumps" / "clusters").glob(f"*{ending}")
        text = path.read_text()
    read(text)
    refused = 0
    for seed in range(150):
        try:
            read(damaged(text, random.Random(seed)))  # noqa: S311  # no secret
        except HloError:
            refused += 1
    assert 0 < refused < 150


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (tf_graphs, "node { a { " * 3000),
        (fusion_decisions, "<frames = " + "[" * 100_000),
        (fusion_decisions, "<" + "frames = [ " * 100_000),
        (curve, "allocation 0: size " + ", x" * 100_000),
        (curve, " value: <1 " + "{1" * 100_000),
    ],
    ids=lambda value: value.__name__ if callable(value) else value[:12],
)
def test_no_text_takes_long(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(HloError):
        read(text)


def test_a_range_that_ends_before_it_begins_is_none() -> None:
    text = (
        "allocation 0: size 8:\n value: <1 x @0> (size=8,offset=0): f32[2]\n"
        "HloLiveRange\n    0:x\n    1:y\n    x{}:5-1\n"
    )
    assert [value.start for value in memory_use([text]).values] == [-1]
    curve(text)


def test_numbers_have_an_end() -> None:
    with pytest.raises(HloError, match="no buffer assignment"):
        memory_use(["allocation 0: size " + "9" * 5000 + ":\n"])
