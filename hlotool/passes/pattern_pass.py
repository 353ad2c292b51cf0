"""The base of passes that are nothing but a set of patterns."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal
from hlotool.rewriting.patterns import PatternSet
from hlotool.rewriting.rewriter import rewrite


@dataclass(frozen=True)
class PatternPass(Pass):
    """Base of passes that apply patterns wherever they match, until none does."""

    identities: ClassVar[PatternSet]

    def allowed(self) -> Collection[str]:
        """Returns what patterns may assume, by the options."""
        return ()

    def run(self, module: Module, journal: Journal) -> bool:
        """Applies the patterns everywhere but inside fusions."""
        return rewrite(module, self.identities, journal, allowed=self.allowed())
