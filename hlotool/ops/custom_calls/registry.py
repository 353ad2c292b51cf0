"""Who evaluates a custom call: our own functions by target, and those that users supply.

A user's function comes first, also where there is one of our own for the target. The last one
supplied for a target counts. All of it may be called from any thread; a call that is already
under way keeps the function that it found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hlotool.errors import EvaluationError, HloError, UnsupportedError
from hlotool.ir.frame import Frame, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.shape import Shape, TupleShape

if TYPE_CHECKING:
    from hlotool.ops.custom_call import CustomCall

CustomCallFunction: TypeAlias = Callable[[Sequence[Value], Frame], Value]
"""Takes the operands and the instruction at hand, returns the value of the result."""

CUSTOM_CALLS: dict[str, CustomCallFunction] = {}
"""What we evaluate ourselves, by target; one that ends in `*` stands for all that begin so.

It is filled when the first call is evaluated.
"""

ADVICE = "supply a function of your own: hlotool.register_custom_call(target, function)"
"""The note of every message that says that a target is not evaluated."""

_FAMILIES = "hlotool.ops.custom_calls.families"
"""The module that fills `CUSTOM_CALLS`: most runs evaluate nothing, and are spared it."""
_supplied: dict[str, CustomCallFunction] = {}
_lock = Lock()


def custom_call(*targets: str) -> Callable[[CustomCallFunction], CustomCallFunction]:
    """Returns a decorator that enters a function in `CUSTOM_CALLS` under each of `targets`."""

    def enter(function: CustomCallFunction) -> CustomCallFunction:
        for target in targets:
            if target in CUSTOM_CALLS:
                raise TypeError(f"custom call {target} is defined twice")
            CUSTOM_CALLS[target] = function
        return function

    return enter


def register_custom_call(
    target: str, function: Callable[..., Any], *, with_instruction: bool = False
) -> None:
    """Lets `function` evaluate custom calls to `target`.

    It is called with the operands, each a numpy array that must not be written into (a tuple
    of them for a tuple, `None` for a token), and returns a numpy array of the dimensions and
    element type that the instruction declares, or a tuple of them for a tuple. With
    `with_instruction` the instruction comes first: its `annotations.backend_config` says what
    one target does in different calls. An exception that the function raises becomes an
    `EvaluationError` at the instruction.

    It replaces what was registered for the target before, and comes before what hlotool has
    for it. Raises `TypeError` where `function` cannot be called.
    """
    if not callable(function):
        raise TypeError(f"custom call {target}: {function!r} is no function")

    def evaluate(operands: Sequence[Value], frame: Frame) -> Value:
        arguments = [_read_only(operand) for operand in operands]
        if with_instruction:
            arguments.insert(0, frame.instruction)
        try:
            return _own(function(*arguments), frame.shape)
        except HloError:
            raise
        except Exception as error:
            message = f"custom-call: {target}: the registered function raised"
            raise EvaluationError(f"{message} {type(error).__name__}: {error}") from error

    with _lock:
        _supplied[target] = evaluate


def unregister_custom_call(target: str) -> None:
    """Forgets what was registered for `target`; what hlotool has for it counts again.

    Raises `KeyError` where nothing was registered.
    """
    with _lock:
        del _supplied[target]


def evaluate_custom_call(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the value of a custom call.

    Raises `UnsupportedError` where nobody knows the target, with those of a similar name.
    """
    target = target_of(frame)
    with _lock:
        supplied = _supplied.get(target)
    if supplied is not None:
        return supplied(operands, frame)
    try:
        return _built_in(target)(operands, frame)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        # No rule of HLO says what a target takes, so nothing has checked it before.
        message = f"custom-call: {target}: operands or parameters do not fit: {error}"
        raise EvaluationError(message) from error


def call_of(frame: Frame) -> CustomCall:
    """Returns the op of the custom call at hand."""
    return cast("CustomCall", frame.instruction.op)


def target_of(frame: Frame) -> str:
    """Returns the target of the custom call at hand, with which messages begin."""
    return call_of(frame).custom_call_target


def _built_in(target: str) -> CustomCallFunction:
    import_module(_FAMILIES)
    if target in CUSTOM_CALLS:
        return CUSTOM_CALLS[target]
    for pattern, function in CUSTOM_CALLS.items():
        if pattern.endswith("*") and target.startswith(pattern[:-1]):
            return function
    with _lock:
        names = [name for name in (*CUSTOM_CALLS, *_supplied) if not name.endswith("*")]
    near = get_close_matches(target, names)
    similar = [f"did you mean {' or '.join(near)}?"] if near else []
    raise UnsupportedError(
        f"custom-call: nothing is known of the target {target}", notes=[*similar, ADVICE]
    )


def _read_only(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(map(_read_only, value))
    if value is None:
        return None
    seen = np.asarray(value).view()
    seen.flags.writeable = False
    return seen


def _own(value: Any, shape: Shape) -> Value:
    """Returns a copy in the form of the shape: the function may go on using its arrays."""
    if value is None:
        return None
    if isinstance(shape, TupleShape) and isinstance(value, tuple | list):
        if len(value) != len(shape.elements):
            found, wanted = len(value), shape.plain_text
            raise EvaluationError(f"custom-call: {found} results were computed, {wanted} declared")
        return tuple(map(_own, value, shape.elements))
    return np.array(value)
