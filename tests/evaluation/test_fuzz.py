"""Whatever verifies either has a value, the same each time, or is an `HloError`."""

from pathlib import Path

import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import HloError
from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.elided import fill_elided_constants
from hlotool.evaluation.files.argument_files import RESULTS, read_results, write_npz
from hlotool.evaluation.generation.arguments import (
    Generated,
    edge_arguments,
    generated_arguments,
)
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.text.parser import parse
from tests.text.mutations import mutated

MOST_ELEMENTS = 100_000
MOST_ROUNDS = 200
SHORT_SEEDS = range(300)
SEEDS = range(300, 10_300)
PER_TEST = 500


def is_small(module: Module) -> bool:
    return all(
        not isinstance(leaf, ArrayShape) or leaf.element_count <= MOST_ELEMENTS
        for instruction in module.instructions()
        for _, leaf in instruction.shape.leaves()
    )


def evaluated(module: Module, made: Generated) -> Value:
    return evaluate_module(module, made.values, LoneDevice(0, MOST_ROUNDS))


def check_run(module: Module, made: Generated) -> None:
    try:
        result = evaluated(module, made)
    except HloError:
        return
    again = evaluated(module, made)
    assert write_npz([result], RESULTS) == write_npz([again], RESULTS)
    assert compare(module, result, again).agrees
    (stored,) = read_results(module, write_npz([result], RESULTS), "out.npz")
    assert compare(module, stored, result).agrees


def check(text: str, seed: int) -> bool:
    """Tells whether a text is a module that can be run."""
    try:
        module = parse(text)
    except HloError:
        return False
    if verify(module) or not is_small(module):
        return False
    fill_elided_constants(module, seed)
    with np.errstate(all="raise"):
        plain = generated_arguments(module, seed)
        made = [
            plain,
            edge_arguments(module, seed),
            generated_arguments(module, seed, large_range=True),
        ]
    for arguments in made:
        check_run(module, arguments)
    return True


def check_all(texts: list[str], seeds: range) -> None:
    outcomes = set()
    for seed in seeds:
        text = mutated(texts, seed)
        try:
            outcomes.add(check(text, seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}\n{text[:4000]}") from error
    assert outcomes == {True, False}


def texts_below(*folders: Path) -> list[str]:
    paths = sorted(path for folder in folders for path in folder.rglob("*.hlo"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return [text for text in texts if len(text) < 50_000]


def test_short(root: Path) -> None:
    check_all(texts_below(root / "testdata" / "ops", root / "testdata" / "cases"), SHORT_SEEDS)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(SEEDS.start, SEEDS.stop, PER_TEST))
def test_long(root: Path, corpus: Path, start: int) -> None:
    check_all(texts_below(root / "testdata", corpus), range(start, start + PER_TEST))
