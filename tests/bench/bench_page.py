"""How long pages take to make, and how large they are: seconds, kilobytes.

Asserted are wide margins: 18,000 instructions take less than ten seconds, and less than a
megabyte and a half.
"""

import sys
import time

import pytest

from hlotool.graph.html import module_page
from hlotool.text.parser import parse
from tests.bench.bench_layout import in_a_row, training_step
from tests.conftest import corpus_directory

pytestmark = pytest.mark.bench


def measured(name: str, text: str) -> tuple[float, int]:
    """Returns seconds and bytes of a page, and prints them."""
    module = parse(text)
    start = time.perf_counter()
    size = len(module_page(module))
    seconds = time.perf_counter() - start
    count = sum(1 for _ in module.instructions())
    sys.stdout.write(f"\n{name}: {count:,} instructions, {seconds:.2f} s, {size / 1000:.0f} kB\n")
    return seconds, size


def test_a_flat_training_step(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        seconds, size = measured("training step", training_step(1200))
    assert seconds < 10
    assert size < 1_500_000


def test_eight_networks_in_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    path = corpus_directory() / "tf" / "keras_inceptionv3.opt.hlo"
    if not path.exists():
        pytest.skip("the corpus has no keras_inceptionv3.opt.hlo")
    with capsys.disabled():
        seconds, size = measured("inception, eight in a row", in_a_row(path.read_text(), 8))
    assert seconds < 10
    assert size < 1_500_000
