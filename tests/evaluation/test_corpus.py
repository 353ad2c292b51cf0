"""Real modules give the results that the program they come from gave."""

from pathlib import Path

import numpy as np
import pytest

from hlotool.analysis.verifier import verify
from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.files.npz_files import read_npz
from hlotool.evaluation.interpreter.run import evaluate_module, evaluate_on_devices
from hlotool.evaluation.sharded import assembled, sharded_arguments
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.shape import Shape, TupleShape
from hlotool.text.parser import parse
from tests.conftest import corpus_directory, modules_below


def arrays_of(path: Path, stem: str) -> list[Array]:
    """Returns the arrays in the `.npz` beside a module whose names begin with `stem`."""
    name = path.name.removesuffix(".hlo").removesuffix(".opt")
    file = path.with_name(f"{name}.npz")
    if not file.is_file():
        return []
    arrays = read_npz(file.read_bytes(), file.name)
    names = [name for name in arrays if name.startswith(stem)]
    return [arrays[f"{stem}{number}"] for number in range(len(names))]


def shaped(arrays: list[Array], shape: Shape) -> Value:
    """Returns arrays, which are used up, as a value of a shape."""
    if isinstance(shape, TupleShape):
        return tuple(shaped(arrays, element) for element in shape.elements)
    return arrays.pop(0)


def results(module: Module, arguments: list[Value]) -> Value:
    """Returns the result of a module, of a partitioned one that of the whole."""
    partitions = module.header.num_partitions
    if partitions == 1:
        return evaluate_module(module, arguments)
    tiles = sharded_arguments(module, arguments, partitions)
    values = evaluate_on_devices(module, tiles, 1, partitions)
    sharding = parse(SHARDED_RESULT).entry.root.annotations.sharding
    assert sharding is not None
    return assembled(values, sharding, (16, 8))


SHARDED_RESULT = """HloModule m
ENTRY e {
  ROOT r = f32[16,8] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}
}
"""
"""The sharding that spmd_matmul.hlo gives its result; its optimized form no longer says it."""


CORPUS = corpus_directory()
STORED = [path for path in modules_below(CORPUS) if path.suffix == ".hlo" and arrays_of(path, "in")]
"""The modules with arguments and results."""


@pytest.mark.parametrize("path", STORED, ids=lambda path: str(path.relative_to(CORPUS)))
def test_corpus_module_gives_its_results(path: Path) -> None:
    inputs, outputs = arrays_of(path, "in"), arrays_of(path, "out")
    module = parse(path.read_text(), path.name)
    assert verify(module) == []
    arguments = [shaped(inputs, parameter.shape) for parameter in module.entry.parameters]
    assert not inputs
    found = results(module, arguments)
    if module.header.num_partitions > 1:
        np.testing.assert_allclose(found, outputs[0], rtol=1e-5, atol=1e-6)
        return
    expected = list(outputs)
    comparison = compare(module, found, shaped(outputs, module.entry.root.shape))
    wrong = [leaf for leaf in comparison.leaves if not leaf.agrees]
    assert wrong == []
    if not comparison.elements:
        # HLO leaves the default random numbers open; ours are those of XLA on CPUs.
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
