"""Names of constants that languages with other rules take too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class SanitizeConstantNames(Pass):
    """Puts underscores in place of dots and hyphens in the names of constants."""

    name: ClassVar[str] = "sanitize-constant-names"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Renames constants; where a name is taken a number follows it."""
        taken = {one.name for one in module.instructions()}
        numbers: dict[str, int] = {}
        changed = False
        for one in module.instructions():
            wanted = one.name.replace(".", "_").replace("-", "_")
            if not isinstance(one.op, Constant) or wanted == one.name:
                continue
            if not journal.hit("constant-name"):
                break
            name = wanted
            while name in taken:
                numbers[wanted] = numbers.get(wanted, 0) + 1
                name = f"{wanted}_{numbers[wanted]}"
            taken.add(name)
            one.name = module.instruction_name(name)
            changed = True
        return changed
