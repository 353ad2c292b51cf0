"""Passes, alone and in any order, keep their promises on modules made at random."""

from random import Random

import pytest

from hlotool.analysis.verifier import verify
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.ir.cloning import cloned_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.passes.pipelines import PLATFORMS, backend_pipeline, platform_pipeline
from hlotool.passes.registry import PASSES
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import changed_by, same_values, values_of
from tests.passes.random_modules import random_module

NEW_RESULTS = {"rng-expander", "control-flow-flattening"}
"""Passes that change what a module yields: other random numbers, other numbers of rounds."""
AT_A_STEP = "it depends on rounded values"
"""What comparisons say of integers and truth values that another rounding may turn into others."""
SHORT_SEEDS = range(10)
SHORT_LENGTH = 10
SEEDS = range(1000, 1600)
PER_TEST = 50
LENGTH = 30

Runs = list[tuple[list[Value], list[Value]]]
"""Arguments, each with what the module yields for them on each device."""


def runs_of(module: Module, seed: int, *, edges: bool) -> Runs:
    """Evaluates a module; none where it calls what is not known, or never ends."""
    makers = [generated_arguments, edge_arguments] if edges else [generated_arguments]
    found: Runs = []
    for make in makers:
        try:
            arguments = list(make(module, seed).values)
            found.append((arguments, values_of(module, arguments)))
        except (EvaluationError, UnsupportedError):
            return []
    return found


def check_values(before: Module, module: Module, runs: Runs, *, exact: bool) -> None:
    for arguments, expected in runs:
        found = same_values(before, values_of(module, arguments), expected, exact=exact)
        assert [words for words in found if AT_A_STEP not in words] == []


def check_text(module: Module) -> None:
    again = parse(print_module(module))
    assert verify(again) == []
    assert len(list(again.instructions())) == len(list(module.instructions()))


def draws_once(module: Module) -> bool:
    """Whether there is an order of random draws that passes must keep: that of one alone."""
    return sum(one.opcode == "rng" for one in module.instructions()) < 2


def check_passes(before: Module, passes: list[Pass], seed: int) -> None:
    """Runs passes one after the other; the results are compared after each that changes any."""
    module = cloned_module(before)
    exact = True
    # Passes that round otherwise may go on with other infinities.
    runs = runs_of(before, seed, edges=all(one.is_exact for one in passes))
    for one in passes:
        exact = exact and one.is_exact
        if changed_by(module, one):
            check_text(module)
            if draws_once(before) and NEW_RESULTS.isdisjoint(each.name for each in passes):
                check_values(before, module, runs, exact=exact)


def check_pipelines(before: Module, platform: str, seed: int) -> None:
    module = cloned_module(before)
    runs = runs_of(before, seed, edges=False)
    for pipeline in (platform_pipeline(platform), backend_pipeline(platform)):
        runner = Runner()
        runner.run(pipeline, module)
        assert runner.warnings == []
        assert [str(error) for error in verify(module)] == []
        check_text(module)
        if draws_once(before):
            check_values(before, module, runs, exact=False)


def check_seed(seed: int, length: int, count: int) -> None:
    """Checks passes by themselves, rows of them, and the pipelines, on the module of a seed."""
    text = random_module(seed, length)
    module = parse(text)
    assert verify(module) == []
    random = Random(seed)  # noqa: S311  # not for secrets
    alone = [[one()] for one in random.sample(PASSES, count)]
    rows = [[one() for one in random.choices(PASSES, k=random.randint(2, 6))] for _ in range(3)]
    for passes in (*alone, *rows):
        try:
            check_passes(module, passes, seed)
        except Exception as error:
            names = ", ".join(one.text for one in passes)
            raise AssertionError(f"seed {seed}, {names}: {error!r}\n{text}") from error
    for platform in PLATFORMS:
        try:
            check_pipelines(module, platform, seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {platform}: {error!r}\n{text}") from error


@pytest.mark.parametrize("seed", SHORT_SEEDS)
def test_short(seed: int) -> None:
    check_seed(seed, SHORT_LENGTH, count=20)


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(SEEDS.start, SEEDS.stop, PER_TEST))
def test_long(start: int) -> None:
    for seed in range(start, start + PER_TEST):
        check_seed(seed, LENGTH, count=len(PASSES))
