"""Parsing and printing beside the reference, in turn in one process; CPU time.

Prints microseconds an instruction: the median of several runs, and ours over the reference's.
Nothing is asserted about time. `make bench` runs it where the reference is installed.
"""

import gc
import re
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from hlotool.text.reader import reader

pytestmark = pytest.mark.bench

RUNS = 9
COPIES = 43
"""So many copies of the entry computation of inception make 100,000 instructions."""


def median_of(run: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Median CPU seconds of two functions, run in turn after one warm run each."""
    times: tuple[list[float], list[float]] = ([], [])
    run(), other()
    for _ in range(RUNS):
        for function, found in zip((run, other), times, strict=True):
            gc.collect()
            start = time.process_time()
            function()
            found.append(time.process_time() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def copies_of(text: str, count: int) -> str:
    """A module whose entry computation is that of `text`, `count` times with other names."""
    head, _, entry = text.partition("ENTRY ")
    lines = entry.strip().splitlines()[1:-1]
    head = re.sub(r", entry_computation_layout=.*", "", head, count=1)
    parts = [head, "ENTRY %entry {"]
    for number in range(count):
        names = re.compile(r"(?<!to_apply=)%([\w.-]+)(?=[ ,)])")
        for line in lines:
            copied = names.sub(rf"%\1.copy{number}", line)
            if number:
                copied = re.sub(r"parameter\(\d+\).*", "iota(), iota_dimension=0", copied)
            if number < count - 1:
                copied = copied.replace("ROOT ", "")
            parts.append(copied)
    return "\n".join([*parts, "}", ""])


def instruction_count(text: str) -> int:
    return sum(1 for _ in parse(text).instructions())


@pytest.fixture(scope="module")
def inception(corpus: Path) -> str:
    path = corpus / "tf" / "keras_inceptionv3.hlo"
    if not path.is_file():
        pytest.skip("the corpus has no tf/keras_inceptionv3.hlo")
    return path.read_text()


@pytest.mark.parametrize("copies", [1, COPIES])
def test_parse(inception: str, copies: int, capsys: pytest.CaptureFixture[str]) -> None:
    reference = pytest.importorskip("jaxlib._hlo")
    text = inception if copies == 1 else copies_of(inception, copies)
    count = instruction_count(text)
    ours, theirs = median_of(lambda: parse(text), lambda: reference.hlo_module_from_text(text))
    with capsys.disabled():
        sys.stdout.write(
            f"\nparse {count} instructions: {ours / count * 1e6:.2f} us each,"
            f" reference {theirs / count * 1e6:.2f} us, ratio {ours / theirs:.2f}"
        )


@pytest.mark.parametrize("copies", [1, COPIES])
def test_first_parse(inception: str, copies: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The same with nothing remembered from texts that were read before."""
    reference = pytest.importorskip("jaxlib._hlo")
    text = inception if copies == 1 else copies_of(inception, copies)
    count = instruction_count(text)

    def first() -> None:
        reader().shared_values.clear()
        parse(text)

    ours, theirs = median_of(first, lambda: reference.hlo_module_from_text(text))
    with capsys.disabled():
        sys.stdout.write(
            f"\nfirst parse of {count} instructions: {ours / count * 1e6:.2f} us each,"
            f" reference {theirs / count * 1e6:.2f} us, ratio {ours / theirs:.2f}"
        )


def test_print(inception: str, capsys: pytest.CaptureFixture[str]) -> None:
    reference = pytest.importorskip("jaxlib._hlo")
    text = copies_of(inception, COPIES)
    module, other = parse(text), reference.hlo_module_from_text(text)
    count = sum(1 for _ in module.instructions())
    ours, theirs = median_of(lambda: print_module(module), other.to_string)
    assert print_module(module) == other.to_string()
    with capsys.disabled():
        sys.stdout.write(
            f"\nprint {count} instructions: {ours / count * 1e6:.2f} us each,"
            f" reference {theirs / count * 1e6:.2f} us"
        )


def test_memory(inception: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = copies_of(inception, COPIES)
    parse(inception)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    module = parse(text)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    count = sum(1 for _ in module.instructions())
    del module
    tracemalloc.start()
    module = parse(text)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(1 for _ in module.instructions()) == count
    with capsys.disabled():
        sys.stdout.write(
            f"\nmemory of {count} instructions over the text: {held / 1e6:.1f} MB held,"
            f" {peak / 1e6:.1f} MB at the peak; resident {resident / 1024:.1f} MB more"
        )
