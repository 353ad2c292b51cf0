"""Rows of modules that show identities of data movement, and what holds for each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.ir.cloning import cloned_module
from hlotool.ir.element_type import ElementType
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import Pattern, PatternSet
from hlotool.rewriting.rewriter import rewrite
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, opcodes, same_values, values_of

MOVED = "f32 s32 pred bf16 c64"
"""Types of elements that are only moved."""
_REDUCERS = {
    name: f"{name} {{\n  a = {{T}}[] parameter(0)\n  b = {{T}}[] parameter(1)\n"
    f"  ROOT r = {{T}}[] {opcode}(a, b)\n}}\n"
    for name, opcode in {
        "add": "add", "mul": "multiply", "max": "maximum", "min": "minimum",
        "and": "and", "or": "or", "sub": "subtract",
    }.items()
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A module in which one pattern is to match, with the opcodes that it then has.

    `body` is that of the entry, with `{T}` for each of the types in turn. Where `becomes` is
    `None` the pattern must not match.
    """

    pattern: str
    types: str
    becomes: str | None
    body: str
    others: str = ""
    """Other computations; reducers that are named after their op are there."""

    def texts(self) -> list[tuple[str, str]]:
        """Returns the module of each type, behind the type's name."""
        used = [text for name, text in _REDUCERS.items() if re.search(rf"={name}\b", self.body)]
        whole = "\n".join(
            ["HloModule m\n", *used, self.others, f"ENTRY e {{\n{self.body.strip()}\n}}\n"]
        )
        return [(name, whole.replace("{T}", name)) for name in self.types.split()]


@dataclass(frozen=True)
class Moving(Pass):
    """Applies a set of patterns, those of them that assume nothing."""

    patterns: PatternSet
    name: ClassVar[str] = "moving"
    is_exact: ClassVar[bool] = True

    @property
    def text(self) -> str:
        """The name, for messages."""
        return self.name

    def run(self, module: Module, journal: Journal) -> bool:
        """Applies them until none matches."""
        return rewrite(module, self.patterns, journal)


def check_row(row: Row, patterns: PatternSet) -> None:
    """Fails unless the pattern of a row matches, or stays away, and keeps all values."""
    (pattern,) = [one for one in patterns if one.name == row.pattern]
    for type_name, text in row.texts():
        what = f"{row.pattern} of {type_name}"
        module = parse(text)
        assert [str(error) for error in verify(module)] == [], text
        before = cloned_module(module)
        journal = Journal("alone")
        alone = _alone(pattern, patterns, module)
        changed = rewrite(module, alone, journal, allowed={pattern.assumes})
        if row.becomes is None:
            assert not changed, f"{what}: {journal.hits}"
            continue
        assert journal.hits[row.pattern] == 1, f"{what}: {journal.hits}"
        assert [str(error) for error in verify(module)] == [], what
        assert " ".join(opcodes(module)) == row.becomes, what
        _check_values(before, module, is_exact=not pattern.assumes)


def check_together(row: Row, patterns: PatternSet) -> None:
    """Fails unless all patterns together come to an end and keep all values."""
    for _, text in row.texts()[:2]:
        check_pass(text, Moving(patterns))


def check_pass(text: str, one: Pass) -> None:
    """Fails unless a pass keeps its promises on a module, and all values on special arguments."""
    module = parse(text)
    assert [str(error) for error in verify(module)] == [], text
    before = cloned_module(module)
    changed_by(module, one)
    _check_values(before, module, is_exact=True)


def _alone(pattern: Pattern, patterns: PatternSet, module: Module) -> PatternSet:
    alone = PatternSet(pattern.name)
    classes = {
        type(instruction.op)
        for instruction in module.instructions()
        if pattern in patterns.of(type(instruction.op))
    }
    alone.rewrites(*classes, assumes=pattern.assumes)(pattern.rewrite)
    return alone


def _check_values(before: Module, after: Module, *, is_exact: bool) -> None:
    for seed in range(2):
        arguments = [
            edge_values(parameter.shape, seed + number, is_tame=not is_exact)
            for number, parameter in enumerate(before.entry.parameters)
        ]
        expected, actual = values_of(before, arguments), values_of(after, arguments)
        assert same_values(before, actual, expected, exact=is_exact) == []


def edge_values(shape: Shape, seed: int, *, is_tame: bool = False) -> Any:
    """Returns an array with what is special in its type, or only with small integers."""
    assert isinstance(shape, ArrayShape)
    kinds = _tame(shape.element_type) if is_tame else _edges(shape.element_type)
    chosen = np.random.default_rng(seed).integers(0, len(kinds), shape.element_count)
    return kinds[chosen].reshape(shape.dimensions)


def _tame(element_type: ElementType) -> Any:
    return np.arange(1, 9).astype(element_type.numpy)


def _edges(element_type: ElementType) -> Any:
    if element_type.name == "pred":
        return np.array([False, True])
    if element_type.is_integer:
        limits = np.iinfo(element_type.numpy)
        numbers = [0, 1, 2, 3, limits.min, limits.max, limits.max - 1]
        return np.array(numbers).astype(element_type.numpy)
    edges = [0.0, -0.0, 1.0, -1.5, 3.0, np.inf, -np.inf, np.nan]
    if element_type.is_complex:
        pairs = [complex(one, other) for one in edges[:4] for other in edges[3:]]
        return np.array(pairs, element_type.numpy)
    return np.array(edges, np.float32).astype(element_type.numpy)


def names(rows: Sequence[Row]) -> list[str]:
    """Returns a name for each row, for lists of tests."""
    return [f"{row.pattern}-{number}" for number, row in enumerate(rows)]


def missing_rows(rows: Sequence[Row], patterns: PatternSet) -> list[str]:
    """Returns the patterns that no row shows at work."""
    shown = {row.pattern for row in rows if row.becomes is not None}
    return [pattern.name for pattern in patterns if pattern.name not in shown]
