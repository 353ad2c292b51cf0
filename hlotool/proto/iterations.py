"""Literals in files of their own: arguments and results of runs, as `RunHloModuleLiterals`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.errors import ParseError
from hlotool.ir.literal import Literal
from hlotool.proto.literals import read_literal, write_literal
from hlotool.proto.reader import decode, within
from hlotool.proto.schema import (
    HloSnapshot,
    LiteralProto,
    Proto,
    RunHloModuleIterationLiterals,
    RunHloModuleLiterals,
)
from hlotool.proto.text_form import parse_message

_MESSAGES = (
    "RunHloModuleLiterals", "RunHloModuleIterationLiterals", "LiteralProto", "HloSnapshot",
)  # fmt: skip

NO_LITERALS = "this is no proto of literals, or one that is cut off"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One run: its arguments, what it yielded, and what another platform yielded."""

    arguments: tuple[Literal, ...] = ()
    result: Literal | None = None
    reference_result: Literal | None = None


def read_iterations(data: bytes) -> tuple[Iteration, ...]:
    """Returns the runs in serialized literals; raises `ParseError` for other bytes.

    A `RunHloModuleLiterals` has any number, a `RunHloModuleIterationLiterals`, a snapshot, and
    a single literal, which is an argument, have one.
    """
    literal = decode(LiteralProto, data)
    if literal is not None and literal.shape.element_type:
        with within("argument 0"):
            return (Iteration((read_literal(literal, tokens=True),)),)
    snapshot = decode(HloSnapshot, data)
    if snapshot is not None and snapshot.hlo.hlo_module.computations:
        return (Iteration(_read_arguments(snapshot.arguments), _read_result(snapshot, "result")),)
    several = decode(RunHloModuleLiterals, data)
    if several is not None and any(_holds_literals(proto) for proto in several.iterations):
        found = []
        for number, proto in enumerate(several.iterations):
            with within(f"iteration {number}"):
                found.append(_read_iteration(proto))
        return tuple(found)
    single = decode(RunHloModuleIterationLiterals, data)
    if single is not None and _holds_literals(single):
        return (_read_iteration(single),)
    raise ParseError(NO_LITERALS)


def parse_iterations(text: str | bytes, name: str = "<string>") -> tuple[Iteration, ...]:
    """Returns the runs in the text form of the same messages; raises a located `ParseError`."""
    return read_iterations(parse_message(text, name, _MESSAGES))


def write_iterations(iterations: Sequence[Iteration]) -> bytes:
    """Returns the serialized `RunHloModuleLiterals` of runs."""
    proto = RunHloModuleLiterals()
    for iteration in iterations:
        to = proto.iterations.add()
        for argument in iteration.arguments:
            write_literal(to.arguments.add(), argument)
        if iteration.result is not None:
            write_literal(to.result, iteration.result)
        if iteration.reference_result is not None:
            write_literal(to.reference_result, iteration.reference_result)
    return bytes(proto.SerializeToString(deterministic=True))


def _holds_literals(proto: Proto) -> bool:
    literals = [*proto.arguments, proto.result, proto.reference_result]
    return any(literal.shape.element_type for literal in literals)


def _read_iteration(proto: Proto) -> Iteration:
    return Iteration(
        _read_arguments(proto.arguments),
        _read_result(proto, "result"),
        _read_result(proto, "reference_result"),
    )


def _read_arguments(protos: Sequence[Proto]) -> tuple[Literal, ...]:
    found = []
    for number, proto in enumerate(protos):
        with within(f"argument {number}"):
            found.append(read_literal(proto, tokens=True))
    return tuple(found)


def _read_result(proto: Proto, field: str) -> Literal | None:
    if not proto.HasField(field):
        return None
    with within(field):
        return read_literal(getattr(proto, field), tokens=True)
