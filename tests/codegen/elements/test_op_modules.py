"""The modules that show each elementwise op, compiled as a whole: none falls back to the host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.ir.op import OPCODES
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.elementwise import Elementwise
from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.codegen.elements.computing import Array, edge_values, same_numbers

FOLDER = Path(__file__).parents[3] / "testdata" / "ops"
OPS = [
    *sorted(opcode for opcode, op in OPCODES.items() if issubclass(op, Elementwise)),
    "iota",
    "map",
]


def _plain(text: str) -> str:
    """Returns a module with static dimensions, elements side by side, and nothing sharded."""
    text = re.sub(r", sharding=\{.*?\}(?=\n)", "", text)
    text = re.sub(r"\{([\d,]*):[^}]*\}", r"{\1}", text)
    return re.sub(r"\?", "4", text.replace("<=", ""))


def _arguments(shape: Shape, seed: int) -> Any:
    if isinstance(shape, ArrayShape):
        values = edge_values(shape.element_type.name, shape.element_count, seed)
        return values.reshape(shape.dimensions)
    if isinstance(shape, TupleShape):
        return tuple(_arguments(one, seed) for one in shape.elements)
    return None


def _flat(value: Any) -> list[Array]:
    if isinstance(value, tuple):
        return [array for part in value for array in _flat(part)]
    return [] if value is None else [np.asarray(value)]


@pytest.mark.parametrize("opcode", OPS)
def test_modules_of_elementwise_ops(opcode: str) -> None:
    module = parse(_plain((FOLDER / f"{opcode}.hlo").read_text(encoding="utf-8")))
    arguments = [
        _arguments(parameter.shape, seed)
        for seed, parameter in enumerate(module.entry.parameters, 1)
    ]
    with np.errstate(all="ignore"):
        wanted = _flat(evaluate_module(module, arguments))
        executable = compiled(module)
        found = executable.run(_flat(tuple(arguments)))
    reasons = {call.reason for call in executable.program.host_calls}
    # Choosing between tuples is the host's.
    assert reasons <= {"parameter of what is no array in a kernel"}
    assert opcode == "select" or not reasons
    for ours, theirs in zip(found, wanted, strict=True):
        _check_nearly_equal(ours, theirs)


def _check_nearly_equal(ours: Array, theirs: Array) -> None:
    assert ours.dtype == theirs.dtype
    differ = ~same_numbers(ours, theirs)
    # Some modules apply a function to its own result, which makes more of its error.
    if differ.any():
        one, other = (array[differ].astype(np.complex128) for array in (ours, theirs))
        np.testing.assert_allclose(one, other, rtol=1e-5)
