"""Runs passes on modules for tests, and holds them to what every pass promises."""

from __future__ import annotations

from typing import Any

import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.evaluation.comparison.compare import compare
from hlotool.evaluation.generation.arguments import generated_arguments
from hlotool.evaluation.interpreter.devices import LoneDevice
from hlotool.evaluation.interpreter.run import evaluate_module, evaluate_on_devices
from hlotool.ir.cloning import cloned_module
from hlotool.ir.frame import Value
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from hlotool.text.printer import print_module

MOST_STEPS = 100_000


def changed_by(module: Module, one: Pass, journal: Journal | None = None) -> bool:
    """Runs a pass in place and checks what needs no values; returns whether it changed anything.

    The module verifies, the pass tells the truth, and a second run changes nothing.
    """
    before = print_module(module)
    changed = one.run(module, journal or Journal(one.name))
    after = print_module(module)
    assert [str(error) for error in verify(module)] == []
    assert changed == (before != after), f"{one.text} says {changed}"
    assert all(c.is_settled for c in module.computations), f"{one.text} leaves disorder"
    again = Journal(one.name)
    assert not one.run(module, again), f"a second {one.text} changes more: {again.hits}"
    assert print_module(module) == after
    return changed


def values_of(module: Module, arguments: list[Value]) -> list[Value]:
    """Returns what a module yields on each of its devices, all with the same arguments."""
    header = module.header
    count = header.replica_count * header.num_partitions
    if count == 1:
        return [evaluate_module(module, arguments, LoneDevice(0, MOST_STEPS))]
    return evaluate_on_devices(
        module, [arguments] * count, header.replica_count, header.num_partitions
    )


def same_values(
    before: Module, actual: list[Value], expected: list[Value], *, exact: bool
) -> list[str]:
    """Returns what differs between results of a module and of what a pass has made of it."""
    if exact:
        pairs = zip(leaves(actual), leaves(expected), strict=True)
        return [f"array {n}" for n, (a, e) in enumerate(pairs) if not bits_equal(a, e)]
    found = []
    for one, other in zip(actual, expected, strict=True):
        comparison = compare(before, one, other)
        found += [str(leaf) for leaf in comparison.leaves if not leaf.agrees]
    return found


def leaves(value: Any) -> list[Any]:
    """Returns the arrays of a list or tuple of values, in order."""
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None else [np.asarray(value)]


def bits_equal(one: Any, other: Any) -> bool:
    """Whether arrays are the same bit for bit; any NaN is as good as another."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "c":
        return bits_equal(one.real, other.real) and bits_equal(one.imag, other.imag)
    same = np.ascontiguousarray(one).view(np.uint8) == np.ascontiguousarray(other).view(np.uint8)
    if same.all():
        return True
    if one.dtype.kind in "biu":
        return False
    ones, others = one.astype(np.float64), other.astype(np.float64)
    numbers = (ones == others) & (np.signbit(ones) == np.signbit(others))
    return bool((numbers | (np.isnan(ones) & np.isnan(others))).all())


def passed(text: str, one: Pass, *arrays: Any, exact: bool | None = None, seed: int = 1) -> Module:
    """Returns what a pass makes of the text of a module, checked in every way.

    Values are compared on `arrays`, or on generated arguments where none are given; `exact`
    wants equal bits, by default where the pass promises them.
    """
    module = parse(text)
    assert [str(error) for error in verify(module)] == []
    before = cloned_module(module)
    changed_by(module, one)
    given = list(arrays) or list(generated_arguments(before, seed).values)
    given = [np.asarray(value) if not isinstance(value, tuple) else value for value in given]
    expected = values_of(before, given)
    actual = values_of(module, given)
    wanted = one.is_exact if exact is None else exact
    assert same_values(before, actual, expected, exact=wanted) == []
    return module


def opcodes(module: Module) -> list[str]:
    """Returns the opcodes of the entry in text order, without parameters."""
    found = [instruction.opcode for instruction in module.entry.instructions]
    return [opcode for opcode in found if opcode != "parameter"]
