"""Equal large constants in one piece of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class LiteralCanonicalizer(Pass):
    """Lets constants with equal values share the memory of one; the text stays as it is."""

    name: ClassVar[str] = "literal-canonicalizer"
    is_exact: ClassVar[bool] = True

    min_bytes: int = option(1024, "the fewest bytes of a constant that is worth it")

    def run(self, module: Module, journal: Journal) -> bool:
        """Shares literals; nothing that can be seen changes."""
        pool: dict[Literal, Literal] = {}
        for one in module.instructions():
            op = one.op
            if not isinstance(op, Constant) or len(op.literal.data) < self.min_bytes:
                continue
            kept = pool.setdefault(op.literal, op.literal)
            if kept is not op.literal and journal.hit("shared-literal"):
                one.op = op.replace(literal=kept)
        return False
