"""Reads, checks, optimizes, prints, converts and runs modules of XLA's HLO text format.

The names of the public interface are loaded when they are asked for: importing this package
loads neither the parser nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hlotool.version import __version__

if TYPE_CHECKING:
    from hlotool.analysis.fingerprint import fingerprint
    from hlotool.analysis.verifier import verify
    from hlotool.cli.modules import load
    from hlotool.errors import (
        EvaluationError,
        HloError,
        ParseError,
        UnsupportedError,
        UsageError,
        VerificationErrors,
    )
    from hlotool.evaluation.api import evaluate
    from hlotool.evaluation.comparison.compare import compare
    from hlotool.evaluation.generation.arguments import generated_arguments
    from hlotool.ir.module import Module
    from hlotool.ops.custom_calls.registry import (
        register_custom_call,
        unregister_custom_call,
    )
    from hlotool.passes.pipelines import run_pipeline
    from hlotool.runtime.api import compile  # noqa: A004 - see there
    from hlotool.runtime.executable import Executable
    from hlotool.text.parser import parse
    from hlotool.text.printer import print_module

__all__ = [
    "EvaluationError",
    "Executable",
    "HloError",
    "Module",
    "ParseError",
    "UnsupportedError",
    "UsageError",
    "VerificationErrors",
    "__version__",
    "compare",
    "compile",
    "evaluate",
    "fingerprint",
    "generated_arguments",
    "load",
    "parse",
    "print_module",
    "register_custom_call",
    "run_pipeline",
    "unregister_custom_call",
    "verify",
]

_HOMES = {
    "EvaluationError": "hlotool.errors",
    "Executable": "hlotool.runtime.executable",
    "HloError": "hlotool.errors",
    "Module": "hlotool.ir.module",
    "ParseError": "hlotool.errors",
    "UnsupportedError": "hlotool.errors",
    "UsageError": "hlotool.errors",
    "VerificationErrors": "hlotool.errors",
    "compare": "hlotool.evaluation.comparison.compare",
    "compile": "hlotool.runtime.api",
    "evaluate": "hlotool.evaluation.api",
    "fingerprint": "hlotool.analysis.fingerprint",
    "generated_arguments": "hlotool.evaluation.generation.arguments",
    "load": "hlotool.cli.modules",
    "parse": "hlotool.text.parser",
    "print_module": "hlotool.text.printer",
    "register_custom_call": "hlotool.ops.custom_calls.registry",
    "run_pipeline": "hlotool.passes.pipelines",
    "unregister_custom_call": "hlotool.ops.custom_calls.registry",
    "verify": "hlotool.analysis.verifier",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module hlotool has no attribute {name}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
