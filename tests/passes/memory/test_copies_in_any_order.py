"""Random programs of loops, branches and updates in place, in random orders that are legal.

In a module without a schedule the copies must do whatever the order comes to be.
"""

import numpy as np
import pytest

from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.analysis.verifier import verify
from hlotool.ir.cloning import cloned_module
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.passes.memory.copy_insertion import CopyInsertion
from hlotool.rewriting.journal import Journal
from hlotool.text.parser import parse
from tests.passes.checking import bits_equal, changed_by, leaves, values_of
from tests.passes.memory.arena import Arena

ROW = "f32[4]"


class Program:
    """Writes the text of a module; every array is of four numbers."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.computations: list[str] = []
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def number(self, limit: int) -> int:
        return int(self.random.integers(limit))

    def text(self) -> str:
        values = ["p0", "p1"]
        lines = [f"  {value} = {ROW} parameter({n})" for n, value in enumerate(values)]
        lines += ["  u = f32[1] parameter(2)"]
        values = self.lines(lines, values, depth=2, steps=6)
        results = [values[self.number(len(values))] for _ in range(3)]
        shape = ", ".join([ROW] * 3)
        lines.append(f"  ROOT result = ({shape}) tuple({', '.join(results)})")
        alias = ""
        if self.number(2):
            alias = ", input_output_alias={ {1}: (0, {}, may-alias) }"
        body = "\n".join(lines)
        return "\n".join([f"HloModule m{alias}", *self.computations, f"ENTRY e {{\n{body}\n}}", ""])

    def lines(self, lines: list[str], values: list[str], depth: int, steps: int) -> list[str]:
        """Adds instructions; returns the names of all arrays that there are then."""
        kinds = ["unary", "binary", "binary", "update", "update", "reverse", "constant", "pass"]
        if depth:
            kinds += ["loop", "loop", "branch", "call"]
        found = list(values)
        for _ in range(steps):
            kind = kinds[self.number(len(kinds))]
            found += getattr(self, f"_{kind}")(lines, found, depth)
        return found

    def pick(self, values: list[str]) -> str:
        return values[-1 - self.number(min(5, len(values)))]

    def _unary(self, lines: list[str], values: list[str], _: int) -> list[str]:
        made = self.name("n")
        lines.append(f"  {made} = {ROW} negate({self.pick(values)})")
        return [made]

    def _binary(self, lines: list[str], values: list[str], _: int) -> list[str]:
        made = self.name("b")
        lines.append(f"  {made} = {ROW} subtract({self.pick(values)}, {self.pick(values)})")
        return [made]

    def _reverse(self, lines: list[str], values: list[str], _: int) -> list[str]:
        made = self.name("r")
        lines.append(f"  {made} = {ROW} reverse({self.pick(values)}), dimensions={{0}}")
        return [made]

    def _constant(self, lines: list[str], _: list[str], __: int) -> list[str]:
        made = self.name("k")
        lines.append(f"  {made} = {ROW} constant({{1, 2, 3, {self.count}}})")
        return [made]

    def _pass(self, lines: list[str], values: list[str], _: int) -> list[str]:
        made = self.name("g")
        one, other = self.pick(values), self.pick(values)
        lines += [
            f"  {made}t = ({ROW}, {ROW}) tuple({one}, {other})",
            f"  {made} = {ROW} get-tuple-element({made}t), index={self.number(2)}",
        ]
        return [made]

    def _update(self, lines: list[str], values: list[str], _: int) -> list[str]:
        made = self.name("d")
        lines += [
            f"  {made}i = s32[] constant({self.number(4)})",
            f"  {made}p = f32[1] slice({self.pick(values)}), slice={{[1:2]}}",
            f"  {made} = {ROW} dynamic-update-slice({self.pick(values)}, {made}p, {made}i)",
        ]
        return [made]

    def _loop(self, lines: list[str], values: list[str], depth: int) -> list[str]:
        made = self.name("w")
        state = f"(s32[], {ROW}, {ROW})"
        self.computations.append(
            f"{made}_condition {{\n  s = {state} parameter(0)\n"
            "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(3)\n"
            "  ROOT r = pred[] compare(i, n), direction=LT\n}"
        )
        inner = [
            f"  s = {state} parameter(0)",
            "  i = s32[] get-tuple-element(s), index=0",
            "  one = s32[] constant(1)",
            "  next = s32[] add(i, one)",
            f"  x = {ROW} get-tuple-element(s), index=1",
            f"  y = {ROW} get-tuple-element(s), index=2",
            "  f = f32[] convert(i)",
            f"  z = {ROW} broadcast(f), dimensions={{}}",
        ]
        found = self.lines(inner, ["x", "y", "z"], depth - 1, 4)
        one, other = self.pick(found), found[self.number(len(found))]
        inner.append(f"  ROOT t = {state} tuple(next, {one}, {other})")
        body = "\n".join(inner)
        self.computations.append(f"{made}_body {{\n{body}\n}}")
        lines += [
            f"  {made}z = s32[] constant(0)",
            f"  {made}s = {state} tuple({made}z, {self.pick(values)}, {self.pick(values)})",
            f"  {made}w = {state} while({made}s), condition={made}_condition, body={made}_body",
            f"  {made}a = {ROW} get-tuple-element({made}w), index=1",
            f"  {made}b = {ROW} get-tuple-element({made}w), index=2",
        ]
        return [f"{made}a", f"{made}b"]

    def _function(self, name: str, depth: int) -> None:
        inner = [f"  x = {ROW} parameter(0)"]
        found = self.lines(inner, ["x"], depth - 1, 3)
        inner.append(f"  ROOT t = {ROW} bitcast({self.pick(found)})")
        body = "\n".join(inner)
        self.computations.append(f"{name} {{\n{body}\n}}")

    def _branch(self, lines: list[str], values: list[str], depth: int) -> list[str]:
        made = self.name("if")
        self._function(f"{made}_yes", depth)
        self._function(f"{made}_no", depth)
        lines += [
            f"  {made}e = f32[1] slice({self.pick(values)}), slice={{[0:1]}}",
            f"  {made}f = f32[] bitcast({made}e)",
            f"  {made}z = f32[] constant(0)",
            f"  {made}p = pred[] compare({made}f, {made}z), direction=GT",
        ]
        operands = f"{made}p, {self.pick(values)}, {self.pick(values)}"
        branches = f"true_computation={made}_yes, false_computation={made}_no"
        lines.append(f"  {made} = {ROW} conditional({operands}), {branches}")
        return [made]

    def _call(self, lines: list[str], values: list[str], depth: int) -> list[str]:
        made = self.name("call")
        self._function(f"{made}_to", depth)
        lines.append(f"  {made} = {ROW} call({self.pick(values)}), to_apply={made}_to")
        return [made]


def shuffle(module: Module, chance: np.random.Generator) -> None:
    """Schedules each computation in a random order that operands and control edges allow."""
    for computation in module.computations:
        computation.instructions = _shuffled(computation, chance)
    module.header = module.header.replace(is_scheduled=True)


def _shuffled(computation: Computation, chance: np.random.Generator) -> list[Instruction]:
    left = list(computation.instructions)
    order: list[Instruction] = []
    done: set[Instruction] = set()
    while left:
        ready = [one for one in left if done.issuperset(one.dependencies)]
        chosen = ready[int(chance.integers(len(ready)))]
        left.remove(chosen)
        done.add(chosen)
        order.append(chosen)
    return order


@pytest.mark.parametrize("seed", range(16))
def test_copies_suffice_in_any_order(seed: int) -> None:
    chance = np.random.default_rng(seed)
    text = Program(seed).text()
    module = parse(text)
    assert verify(module) == []
    arguments = [
        np.array([1, -2, 3, 4], np.float32),
        np.array([-5, 6, 7, -8], np.float32),
        np.array([9], np.float32),
    ]
    expected = leaves(values_of(cloned_module(module), arguments))
    is_scheduled_before = seed % 4 == 0
    if is_scheduled_before:
        shuffle(module, chance)
    changed_by(module, CopyInsertion(), Journal("copy-insertion"))
    for _ in range(1 if is_scheduled_before else 3):
        found = leaves(Arena(buffer_assignment(module)).run(arguments))
        assert all(bits_equal(one, other) for one, other in zip(found, expected, strict=True))
        shuffle(module, chance)
        if is_scheduled_before:
            return
