"""How long pages take to make, and how large they are: seconds of processor time, kilobytes.

Asserted are wide margins for pages over one module: 18,000 instructions take less than ten seconds,
and less than a megabyte and a half. Those over several modules are measured alone.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from hlotool.analysis.differences import module_differences
from hlotool.cli.driver import main
from hlotool.frontends.directory_data import directory_document
from hlotool.frontends.dump_directory import dump_directory
from hlotool.graph.difference_data import difference_document
from hlotool.graph.html import module_page, page
from hlotool.graph.pass_data import passes_page
from hlotool.passes.history import HistoryHook
from hlotool.passes.pipelines import platform_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from tests.bench.bench_layout import in_a_row, training_step
from tests.conftest import corpus_directory

pytestmark = pytest.mark.bench
ROUNDS = 3
ONE, OTHER = "gpt_train_step.hlo", "gpt_train_step.opt.hlo"
INCEPTION = "tf/keras_inceptionv3.opt.hlo"


def measured(name: str, make: Callable[[], str]) -> tuple[float, int]:
    """Returns the median of the seconds that a page takes, and its bytes; prints both."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        text = make()
        seconds.append(time.process_time() - start)
    size = len(text.encode())
    sys.stdout.write(f"\n{name}: {median(seconds):.2f} s, {size / 1000:.0f} kB\n")
    return median(seconds), size


def of_module(name: str, text: str) -> tuple[float, int]:
    """The same for a page over a module; reading that counts too."""
    count = sum(1 for _ in parse(text).instructions())
    return measured(f"{name}, {count:,} instructions", lambda: module_page(parse(text)))


def corpus_text(name: str) -> str:
    path = corpus_directory() / name
    if not path.exists():
        pytest.skip(f"the corpus has no {name}")
    return path.read_text("utf-8")


def test_a_flat_training_step(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        of_module("training step", training_step(1200))


def test_eight_networks_in_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = in_a_row(corpus_text(INCEPTION), 8)
    with capsys.disabled():
        of_module("inception, eight in a row", text)


@pytest.mark.parametrize(("name", "copies"), [(f"jax/{ONE}", 1), (INCEPTION, 8)])
def test_the_passes_of_a_run(capsys: pytest.CaptureFixture[str], name: str, copies: int) -> None:
    text = corpus_text(name)
    if copies > 1:
        text = in_a_row(text, copies)

    def make() -> str:
        """What `hlotool opt --platform=cpu --stage=html` does: it reads, runs and shows."""
        module = parse(text)
        hook = HistoryHook()
        Runner([hook]).run(platform_pipeline("cpu"), module)
        return passes_page(hook.history)

    with capsys.disabled():
        measured(f"passes over {copies} of {name}", make)


def test_a_difference(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [corpus_text(f"jax/{name}") for name in (ONE, OTHER)]

    def make() -> str:
        one, other = (parse(text) for text in texts)
        found = module_differences(one, other)
        return page(difference_document(one, other, found, [ONE, OTHER]))

    with capsys.disabled():
        measured(f"{ONE} and {OTHER}", make)


def test_a_directory(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source, dump = tmp_path / "module.hlo", tmp_path / "dump"
    source.write_text(corpus_text(f"jax/{ONE}"), "utf-8")
    flags = ["--xla_dump_hlo_pass_re=.*", "--xla_dump_hlo_as_text", f"--xla_dump_to={dump}"]
    assert main(["opt", str(source), "--platform=cpu", "-o", str(tmp_path / "o.hlo"), *flags]) == 0
    with capsys.disabled():
        measured(
            f"directory of the passes over {ONE}",
            lambda: page(directory_document(dump_directory(str(dump)))),
        )
