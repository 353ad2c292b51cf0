"""Values for tests: runs the text of a module, or of one instruction, on numpy arrays."""

from typing import Any

import numpy as np

from hlotool.analysis.verifier import verify
from hlotool.evaluation.interpreter.run import evaluate_module
from hlotool.text.parser import parse


def evaluated(text: str, *arrays: Any) -> Any:
    """Returns the value of a verified module in text: an array or a tuple."""
    module = parse(text)
    assert verify(module) == []
    return evaluate_module(module, [np.asarray(array) for array in arrays])


def entry(body: str, *called: str) -> str:
    """Returns a module of computations `called` and an entry of these lines."""
    return "HloModule m\n" + "\n".join(called) + "\nENTRY main {\n" + body + "\n}\n"
