"""Who evaluates a custom call: our own functions by target, and those that users supply.

A user's function comes first, also where there is one of our own for the target. The last one
supplied for a target counts. All of it may be called from any thread; a call that is already
under way keeps the function that it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import Enum
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


class Yields(Enum):
    """What the elements that a target yields have to do with those of the operands."""

    THE_SAME = "the operand, or the tuple of the operands"
    IN_PLACE = "in each result elements of the operand in its place"
    ELEMENTS = "elements of the operands"
    OTHERS = "anything"


ADVICE = "supply a function of your own in Python: hlotool.register_custom_call(target, function)"
"""The note of every message that says that a target is not evaluated."""

_FAMILIES = "hlotool.ops.custom_calls.families"
"""The module that fills `CUSTOM_CALLS`: most runs evaluate nothing, and are spared it."""
_calling: set[CustomCallFunction] = set()
"""Functions that call computations."""
_yields: dict[CustomCallFunction, Yields] = {}
_supplied: dict[str, CustomCallFunction] = {}
_lock = Lock()


def custom_call(
    *targets: str, calls: bool = False, yields: Yields = Yields.OTHERS
) -> Callable[[CustomCallFunction], CustomCallFunction]:
    """Returns a decorator that enters a function in `CUSTOM_CALLS` under each of `targets`.

    With `calls` the function calls computations: a fault in one of them is none of the call's,
    so what the function itself reads stands in `reading`.
    """

    def enter(function: CustomCallFunction) -> CustomCallFunction:
        for target in targets:
            if target in CUSTOM_CALLS:
                raise TypeError(f"custom call {target} is defined twice")
            CUSTOM_CALLS[target] = function
        if calls:
            _calling.add(function)
        _yields[function] = yields
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
            return _own(function(*arguments), frame.shape, frame)
        except HloError:
            raise
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            raise fault(frame, f"the registered function raised {found}") from error

    with _lock:
        _supplied[target] = evaluate


def unregister_custom_call(target: str) -> None:
    """Forgets what was registered for `target`; what hlotool has for it counts again.

    Raises `KeyError` where nothing was registered.
    """
    with _lock:
        del _supplied[target]


def is_supplied(target: str) -> bool:
    """Whether a function of a user counts for `target`."""
    with _lock:
        return target in _supplied


def evaluate_custom_call(operands: Sequence[Value], frame: Frame) -> Value:
    """Returns the value of a custom call.

    Raises `UnsupportedError` where nobody knows the target, with those of a similar name.
    """
    target = target_of(frame)
    with _lock:
        supplied = _supplied.get(target)
    if supplied is not None:
        return supplied(operands, frame)
    function = _built_in(target)
    if function in _calling:
        return function(operands, frame)
    with reading(frame):
        return function(operands, frame)


@contextmanager
def reading(frame: Frame) -> Iterator[None]:
    """Raises `EvaluationError` for what goes wrong where operands and parameters are read.

    No rule of HLO says what a target takes, so nothing has checked it before.
    """
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise fault(frame, f"operands or parameters do not fit: {error}") from error


def fault(frame: Frame, message: str, notes: Sequence[str] = ()) -> EvaluationError:
    """Returns the error of a call that does not fit what its target takes."""
    return EvaluationError(f"custom-call {target_of(frame)}: {message}", notes=notes)


def unsupported(frame: Frame, message: str, notes: Sequence[str] = ()) -> UnsupportedError:
    """Returns the error of a call that is right and not evaluated."""
    return UnsupportedError(f"custom-call {target_of(frame)}: {message}", notes=notes)


def yields_of(target: str) -> Yields:
    """Returns what is known of the elements that a target yields, whoever evaluates it."""
    if is_supplied(target):
        return Yields.OTHERS
    function = _found(target)
    return Yields.OTHERS if function is None else _yields.get(function, Yields.OTHERS)


def call_of(frame: Frame) -> CustomCall:
    """Returns the op of the custom call at hand."""
    return cast("CustomCall", frame.instruction.op)


def target_of(frame: Frame) -> str:
    """Returns the target of the custom call at hand."""
    return call_of(frame).custom_call_target


def _built_in(target: str) -> CustomCallFunction:
    function = _found(target)
    if function is not None:
        return function
    with _lock:
        names = [name for name in (*CUSTOM_CALLS, *_supplied) if not name.endswith("*")]
    near = get_close_matches(target, names)
    similar = [f"did you mean {' or '.join(near)}?"] if near else []
    raise UnsupportedError(
        f"custom-call {target}: nothing is known of this target", notes=[*similar, ADVICE]
    )


def _found(target: str) -> CustomCallFunction | None:
    import_module(_FAMILIES)
    if target in CUSTOM_CALLS:
        return CUSTOM_CALLS[target]
    patterns = [name for name in CUSTOM_CALLS if name.endswith("*")]
    fitting = [pattern for pattern in patterns if target.startswith(pattern[:-1])]
    return CUSTOM_CALLS[max(fitting, key=len)] if fitting else None


def _read_only(value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(map(_read_only, value))
    if value is None:
        return None
    seen = np.asarray(value).view()
    seen.flags.writeable = False
    return seen


def _own(value: Any, shape: Shape, frame: Frame) -> Value:
    """Returns a copy in the form of the shape: the function may go on using its arrays."""
    if value is None:
        return None
    if isinstance(shape, TupleShape) and isinstance(value, tuple | list):
        if len(value) != len(shape.elements):
            found, wanted = len(value), shape.plain_text
            raise fault(frame, f"{found} results were computed, {wanted} is declared")
        parts = zip(value, shape.elements, strict=True)
        return tuple(_own(part, element, frame) for part, element in parts)
    return np.array(value)
