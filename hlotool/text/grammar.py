"""Finds the grammar files, and says which rules of theirs a text or value may start with."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from hlotool.ir.annotations import Annotations
from hlotool.ir.header import ModuleHeader
from hlotool.ir.op import OPCODES
from hlotool.ir.record import Record

GRAMMAR_FILES = ("tokens.lark", "hlo.lark", "attribute.lark", "sharding.lark", "header.lark")
"""The files that make the grammar of modules together, in order."""
PIPELINE_GRAMMAR = "pipeline.lark"
"""The grammar of lists of passes."""

MODULE_RULES = (
    "module", "computations", "single_instruction", "attribute_list", "operand_list", "shape",
    "names", "computation_reference", "computation_references", "text",
)  # fmt: skip
OUTSIDE_RULES = frozenset(["literal", "typed_literal"])
"""Kinds that no rule reads: a literal's text depends on its shape, and may be very long."""


def grammar_folder() -> Traversable:
    """Returns the folder of the grammars: inside an installed package, beside a checkout."""
    # Packaged first: next to an installed package a stranger's `grammars` may lie.
    packaged = files("hlotool") / "grammars"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "grammars"


def portable(text: str) -> str:
    """Returns a text that holds regular expressions, such that this Python matches them right.

    Before 3.11.5 a possessive repeat of a group loses its place when the last try fails half
    way (CPython issue 106052). There groups repeat greedily: that takes more steps, and matches
    the same, since no group here can begin where what follows it begins.
    """
    return _POSSESSIVE_GROUP.sub(r")\1", text) if sys.version_info < (3, 11, 5) else text


_POSSESSIVE_GROUP = re.compile(r"\)([*?+])\+")


@cache
def grammar_text() -> str:
    """Returns the grammar of modules as one text."""
    folder = grammar_folder()
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in GRAMMAR_FILES)


def start_rules() -> list[str]:
    """Returns the rules that a text may start with: those of modules, and one for each kind."""
    records: list[type[Record]] = [*OPCODES.values(), Annotations, ModuleHeader]
    kinds = {field.kind.rule for record in records for field in record.fields}
    return sorted({*MODULE_RULES, *kinds} - OUTSIDE_RULES)
