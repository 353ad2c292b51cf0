"""The verifier as a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hlotool.analysis.verifier import verify
from hlotool.errors import VerificationErrors
from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class HloVerifier(Pass):
    """Checks that the module keeps the rules of the language, and changes nothing."""

    name: ClassVar[str] = "hlo-verifier"
    is_exact: ClassVar[bool] = True

    def run(self, module: Module, journal: Journal) -> bool:
        """Raises `VerificationErrors` where there is anything amiss."""
        errors = verify(module)
        if errors:
            raise VerificationErrors(errors)
        return False
