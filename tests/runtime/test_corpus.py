"""Every real module runs as machine code: right, and the same on any number of threads."""

from pathlib import Path

import pytest

from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.module import Module
from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.passes.checking import bits_equal, leaves, same_values
from tests.passes.test_every_pass import MODULES, Expected
from tests.runtime.calling import called

UNFUSED = "call-inliner, layout-assignment"
"""Passes that leave each instruction a kernel of its own."""


def read(path: Path) -> Module:
    module = parse(path.read_text(), path.name)
    header = module.header
    if header.replica_count * header.num_partitions > 1:
        pytest.skip("modules are compiled for one device")
    return module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_is_right(path: Path) -> None:
    module = read(path)
    expected = Expected(module)
    try:
        alone = compiled(module, threads=1)
    except (EvaluationError, UnsupportedError) as error:
        # Sizes that are known only at run time are told of, never computed wrongly.
        assert "known" in error.message or expected.results is None  # noqa: PT017
        return
    if expected.results is None:
        return
    actual = called(alone, expected.arguments)
    assert same_values(module, [actual], expected.results, exact=False) == []
    together = called(compiled(module, threads=2), expected.arguments)
    pairs = zip(leaves(together), leaves(actual), strict=True)
    assert [n for n, pair in enumerate(pairs) if not bits_equal(*pair)] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_is_right_without_fusion(path: Path) -> None:
    module = read(path)
    expected = Expected(module)
    if expected.results is None:
        return
    try:
        actual = called(compiled(module, passes=UNFUSED), expected.arguments)
    except (EvaluationError, UnsupportedError) as error:
        assert "known" in error.message  # noqa: PT017
        return
    assert same_values(module, [actual], expected.results, exact=False) == []
