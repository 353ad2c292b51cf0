"""Files of arguments and results: numpy's, text of literals, protos of literals, snapshots.

Each says what the arrays are in order; a tuple is its leaves, and a token is nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hlotool.errors import (
    EvaluationError,
    HloError,
    Location,
    ParseError,
    Source,
    UnsupportedError,
    counted,
)
from hlotool.evaluation.files.literal_values import literal_of, value_of
from hlotool.evaluation.files.npz_files import (
    NPY_MAGIC,
    ZIP_MAGIC,
    names_in_npz,
    npz_bytes,
    of_bits,
    read_npy,
    read_npz,
)
from hlotool.evaluation.values import arrays_of, holds, shown
from hlotool.ir.frame import Array, Value
from hlotool.ir.literal import Literal
from hlotool.ir.module import Module
from hlotool.ir.shape import UNBOUNDED, ArrayShape, BufferShape, Shape, TupleShape
from hlotool.proto.iterations import (
    NO_LITERALS,
    Iteration,
    parse_iterations,
    read_iterations,
    write_iterations,
)
from hlotool.text.literal_reader import LiteralError, read_typed_literals
from hlotool.text.parser import parse_shape

ARGUMENTS, RESULTS = "in", "out"
_NUMBERED = re.compile(r"(in|out)[0-9]+")
_PROTO_TEXT = re.compile(rb"(?:\s|#[^\n]*)*[a-z_]+\s*[:{<]")
_SMALL_BYTES, _MOST_BYTES = 1 << 20, 1 << 40
_MOST_TILES = 1 << 12
_PROTO_SUFFIXES = (".pb", ".binpb")
_PROTO_TEXT_SUFFIXES = (".pbtxt", ".textproto", ".txtpb")


@dataclass(frozen=True, slots=True)
class _Place:
    """An array that a file must have: what it is part of, and the names it may stand under."""

    what: str
    shape: ArrayShape
    names: tuple[str, ...]
    may_be_whole: bool = False
    """Whether an array of other dimensions may stand for it, which is cut into tiles later."""

    @property
    def most_bytes(self) -> int:
        """How large an array may be to be read at all: wide enough to name what is wrong."""
        sizes = self.shape.dimensions
        if UNBOUNDED in sizes:
            return _MOST_BYTES
        tiles = _MOST_TILES if self.may_be_whole else 1
        wanted = math.prod(sizes) * self.shape.element_type.storage_bytes
        return max(_SMALL_BYTES, 16 * wanted * tiles)


def read_arguments(module: Module, data: bytes, file: str) -> list[Value]:
    """Returns the arguments of a module in a file, the first where it has those of many runs.

    Raises `HloError`, as `read_argument_lists` does.
    """
    return read_argument_lists(module, data, file)[0]


def read_argument_lists(
    module: Module, data: bytes, file: str, *, wholes: bool = False
) -> list[list[Value]]:
    """Returns the arguments of each run in a file: at least one run.

    `file` tells by its suffix what the bytes are, or else they do. In an `.npz` the arrays are
    `in0` and so on, or have the names of parameters, a leaf of a tuple with its index behind
    it: `state.0`. With `wholes` an array may be the whole one that a parameter with a `sharding`
    has a tile of, for `sharded_arguments`. Raises `ParseError` for a broken file,
    `EvaluationError` for arrays that are not the parameters'.
    """
    places = list(_places(_parameters(module), wholes=wholes))
    shapes = [shape for _, shape in _parameters(module)]
    leaf_lists = _leaf_lists(data, file, places, ARGUMENTS)
    return [_assembled(leaves, places, shapes, file) for leaves in leaf_lists]


def read_results(module: Module, data: bytes, file: str, devices: int = 1) -> list[Value]:
    """Returns the result of each device in a file: `out0` and so on of an `.npz`, or literals.

    The arrays of one device follow those of another. A file with those of one device alone says
    what all of them yield.
    """
    shape = module.entry.root.shape
    results = [(f"the result of device {n}" if devices > 1 else "the result", shape)
               for n in range(devices)]  # fmt: skip
    places = list(_places(results, RESULTS))
    of_one = places[: len(places) // devices]
    if devices > 1 and not _has(data, file, places[-1]):
        places, results = of_one, results[:1]
    (leaves, *_) = _leaf_lists(data, file, places, RESULTS)
    values = _assembled(leaves, places, [shape for _, shape in results], file)
    return values * devices if len(values) < devices else values


def _has(data: bytes, file: str, place: _Place) -> bool:
    is_npz = file.endswith(".npz") or data.startswith(ZIP_MAGIC)
    return is_npz and not set(names_in_npz(data, file)).isdisjoint(place.names)


def arguments_of_literals(
    module: Module, literals: Sequence[Literal], origin: str = "the snapshot"
) -> list[Value]:
    """Returns literals, as those of a snapshot, as the arguments of a module.

    Raises `EvaluationError` for other ones than its parameters.
    """
    parameters = _parameters(module)
    leaves = list(_literal_leaves(literals, "argument {}", origin))
    shapes = [shape for _, shape in parameters]
    return _assembled(leaves, list(_places(parameters)), shapes, origin)


def write_npz(values: Sequence[Value], prefix: str = ARGUMENTS) -> bytes:
    """Returns the `.npz` of arguments, or with `RESULTS` of results: a name for each leaf."""
    leaves = arrays_of(values)
    return npz_bytes({f"{prefix}{number}": leaf for number, leaf in enumerate(leaves)})


def write_literals(
    module: Module,
    runs: Sequence[tuple[Sequence[Value], Value, Value]],
    *,
    has_references: bool = True,
) -> bytes:
    """Returns the `RunHloModuleLiterals` of runs: arguments, result and reference result.

    Without `has_references` the last one of each run is left out. Raises `UnsupportedError` for
    values that no literal can hold.
    """
    parameters = _parameters(module)
    root = module.entry.root.shape
    iterations = []
    for arguments, result, reference in runs:
        pairs = zip(arguments, parameters, strict=True)
        iterations.append(
            Iteration(
                tuple(_literal(what, argument, shape) for argument, (what, shape) in pairs),
                _literal("the result", result, root),
                _literal("the result", reference, root) if has_references else None,
            )
        )
    return write_iterations(iterations)


def _literal(what: str, value: Value, shape: Shape) -> Literal:
    try:
        return literal_of(value, shape)
    except UnsupportedError as error:
        raise UnsupportedError(f"{what}, {shape.plain_text}: {error.message}") from None


def _parameters(module: Module) -> list[tuple[str, Shape]]:
    return [(f"parameter {found.name}", found.shape) for found in module.entry.parameters]


def _places(
    wanted: Sequence[tuple[str, Shape]], prefix: str = ARGUMENTS, *, wholes: bool = False
) -> Iterator[_Place]:
    number = 0
    for what, shape in wanted:
        for index, leaf in shape.leaves():
            array = leaf.array if isinstance(leaf, BufferShape) else leaf
            if not isinstance(array, ArrayShape):
                continue
            dotted = "".join(f".{position}" for position in index)
            part = f"part {{{','.join(map(str, index))}}} of {what}" if index else what
            name = what.removeprefix("parameter ") + dotted
            yield _Place(part, array, (f"{prefix}{number}", name), wholes)
            number += 1


def _leaf_lists(
    data: bytes, file: str, places: Sequence[_Place], prefix: str
) -> list[list[tuple[str, Array]]]:
    """Returns the arrays of each run in a file, each with what messages call it."""
    if file.endswith(".npz") or data.startswith(ZIP_MAGIC):
        return [_chosen(data, places, prefix, file)]
    if file.endswith(".npy") or data.startswith(NPY_MAGIC):
        return [[("the array", read_npy(data, file))]]
    if prefix == ARGUMENTS:
        lists = [iteration.arguments for iteration in _iterations(data, file)]
    else:
        lists = [_result(iteration, file) for iteration in _iterations(data, file)]
    name = "argument {}" if prefix == ARGUMENTS else "result {}"
    return [list(_literal_leaves(literals, name, file)) for literals in lists]


def _result(iteration: Iteration, file: str) -> tuple[Literal, ...]:
    if iteration.result is not None:
        return (iteration.result,)
    if not iteration.arguments:
        raise EvaluationError(f"{file}: there is no result")
    # A text of literals does not say what they are.
    return iteration.arguments


def _iterations(data: bytes, file: str) -> Sequence[Iteration]:
    is_text = file.endswith(_PROTO_TEXT_SUFFIXES)
    if not is_text and not file.endswith(_PROTO_SUFFIXES):
        is_text = _PROTO_TEXT.match(data) is not None
        if not is_text and _is_text(data):
            return [Iteration(tuple(_text_literals(data.decode(), file)))]
    try:
        return parse_iterations(data, file) if is_text else read_iterations(data)
    except HloError as error:
        if error.location is not None:
            raise
        raise type(error)(f"{file}: {_of_any_file(error, file)}", notes=error.notes) from None


def _of_any_file(error: HloError, file: str) -> str:
    """Returns the message of a fault; where nothing says that a file is a proto, it may not be."""
    is_open = not file.endswith(_PROTO_SUFFIXES + _PROTO_TEXT_SUFFIXES)
    if error.message == NO_LITERALS and is_open:
        return "this is neither a text of literals nor a proto of them, or a proto that is cut off"
    return error.message


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    # Protos are full of bytes that no text has.
    return re.search(rb"[\x00-\x08\x0e-\x1f]", data) is None


def _text_literals(text: str, file: str) -> list[Literal]:
    try:
        return read_typed_literals(text, _read_shape)
    except LiteralError as error:
        raise ParseError(error.message, Location(Source(text, file), error.offset)) from None


def _read_shape(text: str) -> Shape:
    try:
        return parse_shape(text)
    except HloError as error:
        raise ValueError(error.message) from None


def _literal_leaves(
    literals: Sequence[Literal], name: str, file: str
) -> Iterator[tuple[str, Array]]:
    for number, literal in enumerate(literals):
        what = name.format(number)
        try:
            for leaf in arrays_of([value_of(literal)]):
                yield what, leaf
        except HloError as error:
            raise EvaluationError(f"{file}: {what}: {error.message}") from None


def _chosen(
    data: bytes, places: Sequence[_Place], prefix: str, file: str
) -> list[tuple[str, Array]]:
    """Returns the arrays of an `.npz` in the order of places."""
    names = names_in_npz(data, file)
    wanted = _chosen_names(names, places, prefix, file)
    most = {name: place.most_bytes for name, place in zip(wanted, places, strict=True)}
    arrays = read_npz(data, file, most)
    return [(name, arrays[name]) for name in wanted]


def _chosen_names(
    names: Sequence[str], places: Sequence[_Place], prefix: str, file: str
) -> list[str]:
    # A file may hold both sides of a run, arguments and results.
    other = RESULTS if prefix == ARGUMENTS else ARGUMENTS
    left = [name for name in names if not _is_of(name, other)]
    found = []
    for place in places:
        given = [name for name in dict.fromkeys(place.names) if name in left]
        if len(given) != 1:
            raise EvaluationError(_missing_or_double(file, place, given, names))
        found.append(given[0])
        left.remove(given[0])
    if left:
        wanted = f"the {counted(len(places), 'array')} wanted" if places else "nothing wanted"
        raise EvaluationError(f"{file}: {', '.join(left)} given beside {wanted}")
    return found


def _is_of(name: str, prefix: str) -> bool:
    match = _NUMBERED.fullmatch(name)
    return match is not None and match[1] == prefix


def _missing_or_double(file: str, place: _Place, given: Sequence[str], names: Sequence[str]) -> str:
    if given:
        return f"{file}: {place.what} is given twice: {' and '.join(given)}"
    there = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "") if names else "nothing"
    return f"{file}: no {place.names[0]} for {place.what}, {place.shape.plain_text}; found {there}"


def _assembled(
    leaves: Sequence[tuple[str, Array]],
    places: Sequence[_Place],
    shapes: Sequence[Shape],
    file: str,
) -> list[Value]:
    if len(leaves) != len(places):
        wanted = ", ".join(place.shape.plain_text for place in places)
        raise EvaluationError(
            f"{file}: {counted(len(leaves), 'array')} found, {len(places)} wanted",
            notes=[f"wanted: {wanted}"] if places else [],
        )
    checked = iter(
        [
            _checked(array, place, what, file)
            for (what, array), place in zip(leaves, places, strict=True)
        ]
    )
    return [_value(shape, checked) for shape in shapes]


def _checked(array: Array, place: _Place, what: str, file: str) -> Array:
    element_type = place.shape.element_type
    wanted = element_type.numpy
    is_void = array.dtype.kind == "V" and array.dtype.name.startswith("void")
    if is_void and wanted.isbuiltin != 1:
        # numpy.savez leaves out the name of a type that is not its own.
        array = of_bits(array, element_type, f"{file}: {what}")
    good = array.dtype == wanted and (place.may_be_whole or holds(place.shape, array.shape))
    if good and element_type.bits == 1 and array.size:
        low, high = (-1, 0) if element_type.is_signed else (0, 1)
        good = bool(low <= array.min() and array.max() <= high)
    if not good:
        raise EvaluationError(
            f"{file}: {what} is {shown(array)}, {place.what} is {place.shape.plain_text}"
        )
    return array


def _value(shape: Shape, leaves: Iterator[Array]) -> Value:
    if isinstance(shape, TupleShape):
        return tuple(_value(element, leaves) for element in shape.elements)
    if isinstance(shape, ArrayShape | BufferShape):
        return next(leaves)
    return None
