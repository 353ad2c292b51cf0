"""Files of arguments: every kind is read as it was written, and faults are named."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError, HloError, ParseError, UnsupportedError
from hlotool.evaluation.files.argument_files import (
    RESULTS,
    arguments_of_literals,
    read_argument_lists,
    read_arguments,
    read_results,
    write_literals,
    write_npz,
)
from hlotool.evaluation.files.literal_values import literal_of
from hlotool.evaluation.generation.arguments import edge_arguments, generated_arguments
from hlotool.ir.element_type import ELEMENT_TYPES
from hlotool.ir.literal_text import typed_literal_text
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.proto.iterations import Iteration, read_iterations, write_iterations
from hlotool.proto.schema import LiteralProto, RunHloModuleIterationLiterals
from hlotool.proto.snapshots import Snapshot, write_snapshot
from hlotool.text.parser import parse
from tests.evaluation.constraints.generating import module_of

ALL_TYPES = sorted(ELEMENT_TYPES)
PAIR = module_of(
    """
  x = f32[2] parameter(0)
  state = (s32[], (bf16[3], token[])) parameter(1)
  ROOT r = (f32[2], (s32[], (bf16[3], token[]))) tuple(x, state)"""
)
VALUES: list[Any] = [
    np.array([1.5, -0.0], np.float32),
    (np.array(7, np.int32), (np.array([1, 2, 3], ml_dtypes.bfloat16), None)),
]
VECTOR = module_of("x = f32[2] parameter(0)\nROOT y = f32[2] negate(x)")
ONE = np.array([1, 2], np.float32)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield value


def assert_same(one: Any, other: Any) -> None:
    ours, theirs = list(leaves(one)), list(leaves(other))
    assert [(x.dtype, x.shape) for x in ours] == [(x.dtype, x.shape) for x in theirs]
    assert [x.tobytes() for x in ours] == [x.tobytes() for x in theirs]


def module_of_type(name: str) -> Module:
    return module_of(f"x = {name}[4,5] parameter(0)\nROOT y = {name}[4,5] copy(x)")


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


# ---- what is written is read again -----------------------------------------------------------


@pytest.mark.parametrize("name", ALL_TYPES)
def test_every_element_type_comes_back_from_an_npz(name: str) -> None:
    module = module_of_type(name)
    for values in (generated_arguments(module, 3).values, edge_arguments(module, 3).values):
        assert_same(read_arguments(module, write_npz(values), "a.npz"), values)
        assert_same(read_results(module, write_npz(values, RESULTS), "a.npz")[0], values)


@pytest.mark.parametrize("name", ALL_TYPES)
def test_every_element_type_comes_back_from_protos(name: str) -> None:
    module = module_of_type(name)
    values = edge_arguments(module, 3).values
    data = write_literals(module, [(values, values[0], values[0])])
    assert_same(read_arguments(module, data, "a.pb"), values)
    assert_same(read_results(module, data, "a.pb")[0], values)


@pytest.mark.parametrize("name", ALL_TYPES)
def test_every_element_type_comes_back_from_text(name: str) -> None:
    module = module_of_type(name)
    values = generated_arguments(module, 3).values
    text = typed_literal_text(literal_of(values[0], module.entry.root.shape))
    (found,) = read_arguments(module, text.encode(), "a.txt")
    assert found.dtype == values[0].dtype
    # Texts of whole numbers have no negative zero.
    assert (found == values[0]).all()


def test_tuples_are_leaves_in_order() -> None:
    data = write_npz(VALUES)
    assert sorted(np.load(io.BytesIO(data)).files) == ["in0", "in1", "in2__bfloat16"]
    assert_same(read_arguments(PAIR, data, "a.npz"), VALUES)
    assert read_arguments(PAIR, data, "a.npz")[1][1][1] is None


def test_npz_has_the_same_bytes_for_the_same_values() -> None:
    assert write_npz(VALUES) == write_npz(VALUES)


def test_tuples_and_tokens_come_back_from_protos() -> None:
    runs = [(VALUES, tuple(VALUES), tuple(VALUES))] * 2
    data = write_literals(PAIR, runs)
    assert len(read_argument_lists(PAIR, data, "a.pb")) == 2
    assert_same(read_arguments(PAIR, data, "anything"), VALUES)
    assert_same(read_results(PAIR, data, "a.pb")[0], tuple(VALUES))
    first, _ = read_iterations(data)
    assert first.reference_result == first.result
    (alone,) = read_iterations(write_literals(PAIR, runs[:1], has_references=False))
    assert alone.reference_result is None


def test_single_messages_are_read() -> None:
    literal = literal_of(ONE, VECTOR.entry.root.shape)
    several = write_iterations([Iteration((literal,), literal)])
    single = RunHloModuleIterationLiterals.FromString(several[2:])
    assert len(single.arguments) == 1
    bare = single.arguments[0]
    for data in (several, single.SerializeToString(), bare.SerializeToString()):
        for file in ("a.pb", "a"):
            assert_same(read_arguments(VECTOR, data, file), [ONE])


def test_snapshots_give_their_arguments() -> None:
    literal = literal_of(ONE, VECTOR.entry.root.shape)
    data = write_snapshot(Snapshot(VECTOR, (literal,), literal))
    assert_same(read_arguments(VECTOR, data, "a.hlo.pb"), [ONE])
    assert_same(arguments_of_literals(VECTOR, (literal,)), [ONE])


@pytest.mark.parametrize(
    "text",
    [
        (
            "iterations { arguments { shape { element_type: F32 dimensions: 2"
            " layout { minor_to_major: 0 } } f32s: [1, 2] } }"
        ),
        "# a comment\narguments { shape { element_type: F32 dimensions: 2 } f32s: 1 f32s: 2 }",
        "shape { element_type: F32 dimensions: 2 } f32s: [1, 2]",
    ],
)
def test_text_form_of_protos_is_read(text: str) -> None:
    for file in ("a.pbtxt", "a.txt"):
        assert_same(read_arguments(VECTOR, text.encode(), file), [ONE])


def test_literals_may_take_many_lines_and_have_comments() -> None:
    module = module_of(
        """
      x = s32[2,2] parameter(0)
      t = (s32[], f32[2]) parameter(1)
      c = c64[] parameter(2)
      ROOT r = (s32[2,2], (s32[], f32[2]), c64[]) tuple(x, t, c)"""
    )
    text = """
      // the matrix
      s32[2,2]{0,1} {
        { 1, 2 },
        { 3, 4 }
      }
      ( s32[] 5, f32[2] {-0.0, nan} )  /* the state */
      c64[] (1, -2)
    """
    x, (number, floats), c = read_arguments(module, text.encode(), "a.txt")
    assert x.tolist() == [[1, 2], [3, 4]]
    assert number == 5
    assert np.signbit(floats[0])
    assert np.isnan(floats[1])
    assert c == 1 - 2j


def test_large_literals_stand_beside_others() -> None:
    module = module_of(
        """
      x = s32[20000] parameter(0)
      y = s32[20000] parameter(1)
      ROOT z = s32[20000] add(x, y)"""
    )
    line = f"s32[20000] {{{', '.join(map(str, range(20000)))}}}\n"
    x, y = read_arguments(module, (line * 2).encode(), "a.txt")
    assert x.tolist() == y.tolist() == list(range(20000))


def test_names_of_parameters_are_keys() -> None:
    data = npz(
        x=VALUES[0],
        **{"state.0": VALUES[1][0], "state.1.0__bfloat16": VALUES[1][1][0].view(np.uint16)},
    )
    assert_same(read_arguments(PAIR, data, "a.npz"), VALUES)
    assert_same(read_arguments(VECTOR, npz(in0=ONE), "a.npz"), [ONE])


def test_results_beside_arguments_are_left_alone() -> None:
    data = npz(in0=ONE, out0=-ONE)
    assert_same(read_arguments(VECTOR, data, "a.npz"), [ONE])
    assert_same(read_results(VECTOR, data, "a.npz")[0], -ONE)


def test_a_single_array_is_an_argument() -> None:
    for file in ("a.npy", "a"):
        assert_same(read_arguments(VECTOR, npy(ONE), file), [ONE])
    assert_same(read_arguments(VECTOR, npy(ONE.astype(">f4")), "a.npy"), [ONE])
    matrix = module_of("x = f32[2,3] parameter(0)\nROOT y = f32[2,3] negate(x)")
    column_major = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert read_arguments(matrix, npy(column_major), "a.npy")[0].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_numpy_may_have_forgotten_a_type() -> None:
    module = module_of("x = bf16[2] parameter(0)\nROOT y = bf16[2] negate(x)")
    data = npz(in0=np.array([1, 2], ml_dtypes.bfloat16))
    assert read_arguments(module, data, "a.npz")[0].dtype == ml_dtypes.bfloat16


def test_dynamic_dimensions_may_be_shorter() -> None:
    module = module_of("x = f32[<=5] parameter(0)\nROOT y = f32[<=5] negate(x)")
    for data in (write_npz([ONE]), b"f32[2] {1, 2}", write_literals(module, [([ONE], ONE, ONE)])):
        assert_same(read_arguments(module, data, "a"), [ONE])
    with pytest.raises(EvaluationError, match=r"in0 is float32\[6\], parameter x is f32\[<=5\]"):
        read_arguments(module, npz(in0=np.zeros(6, np.float32)), "a.npz")


def test_modules_without_parameters_take_empty_files() -> None:
    module = module_of("ROOT c = f32[] constant(1)")
    for data in (write_npz([]), b"", b"// nothing\n"):
        assert read_arguments(module, data, "a") == []


# ---- faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npz(in1=ONE), "a.npz: no in0 for parameter x, f32[2]; found in1"),
        (npz(), "a.npz: no in0 for parameter x, f32[2]; found nothing"),
        (npz(in0=ONE, in1=ONE), "a.npz: in1 given beside the 1 array wanted"),
        (npz(in0=ONE, x=ONE), "a.npz: parameter x is given twice: in0 and x"),
        (npz(in0=ONE.astype(np.float64)), "a.npz: in0 is float64[2], parameter x is f32[2]"),
        (npz(in0=np.zeros((2, 1), np.float32)),
         "a.npz: in0 is float32[2,1], parameter x is f32[2]"),
        (npz(in0=np.array(["a"])), "a.npz: in0 is str32[1], parameter x is f32[2]"),
    ],
)  # fmt: skip
def test_other_arrays_than_wanted_are_named(data: bytes, message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read_arguments(VECTOR, data, "a.npz")
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.npz: this is no .npz, or a broken one: file is not a zip file"),
        (b"PK\3\4", "a.npz: this is no .npz, or a broken one: file is not a zip file"),
        (npz(in0=np.array([{}])), "a.npz: in0.npy holds pickled objects, which are not read"),
        (npz(in0__float8_e5m2=ONE),
         "a.npz: in0__float8_e5m2 is float32, raw bits of f8e5m2 are wanted: uint8"),
        (npz(in0__bfloat16=np.zeros(2, np.uint8)),
         "a.npz: in0__bfloat16 is uint8, raw bits of bf16 are wanted: uint16"),
        (npz(in0__int4=np.array([1, 16], np.uint8)),
         "a.npz: in0__int4 has the bits 0x10, s4 has 4 of them"),
        (npz(in0=ONE, in0__float32=np.zeros(2, np.uint32)), "a.npz: in0 is there twice"),
    ],
)  # fmt: skip
def test_broken_archives_are_told(data: bytes, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_arguments(VECTOR, data, "a.npz")
    assert caught.value.message == message


def test_broken_arrays_in_archives_are_told() -> None:
    for stored, message in (
        (npy(ONE)[:-1], "in0.npy has 7 bytes of data, 8 are wanted for float32[2]"),
        (b"nothing", "in0.npy is no .npy, or a broken one"),
        (npy(ONE).replace(b"(2,)", b"(-2,"), "in0.npy is no .npy"),
        (npy(ONE).replace(b"(2,)", b"(9**9,"), "in0.npy is no .npy"),
    ):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("in0.npy", stored)
        with pytest.raises(ParseError, match=re.escape(message)):
            read_arguments(VECTOR, stream.getvalue(), "a.npz")


def test_one_bit_numbers_are_checked() -> None:
    module = module_of("x = s1[2] parameter(0)\nROOT y = s1[2] copy(x)")
    good = np.array([-1, 0], np.int8)
    assert_same(read_arguments(module, npz(in0=good), "a.npz"), [good])
    with pytest.raises(EvaluationError, match=r"in0 is int8\[2\], parameter x is s1\[2\]"):
        read_arguments(module, npz(in0=-good), "a.npz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f32[2] {1}", "a.txt:1:10: 2 elements expected in dimension 0, 1 found"),
        ("f32[2] {1, 2}\nx", "a.txt:2:1: a shape or '(' expected, 'x' found"),
        ("f33[2] {1, 2}", "a.txt:1:1: unknown element type"),
        ("f32[3] {1, 2, 3}", "a.txt: argument 0 is float32[3], parameter x is f32[2]"),
        ("f32[2] {...}", "a.txt: argument 0: a literal of f32[2]{0} has no elements"),
        ("f32[] 1\nf32[] 2", "a.txt: 2 arrays found, 1 wanted"),
        ("", "a.txt: 0 arrays found, 1 wanted"),
        ("f32[2] {1, \x1b2}", "a.txt: this is neither a text of literals nor a proto of them"),
        (
            "arguments { shape { element_type: F32 dimensions: 2 } f32s: 1 }",
            "a.txt: argument 0: a literal of f32[2]{0} takes 8 bytes, 4 are given",
        ),
    ],
)
def test_faults_of_text_have_a_place(text: str, message: str) -> None:
    with pytest.raises(HloError, match=re.escape(message)):
        read_arguments(VECTOR, text.encode(), "a.txt")


def test_faults_of_protos_are_told() -> None:
    literal = literal_of(ONE, VECTOR.entry.root.shape)
    data = write_iterations([Iteration((literal,))])
    with pytest.raises(ParseError, match=r"a.pb: this is no proto of literals, or one that is cut"):
        read_arguments(VECTOR, data[:-3], "a.pb")
    with pytest.raises(EvaluationError, match=r"a.pb: there is no result"):
        read_results(VECTOR, write_iterations([Iteration((), None, literal)]), "a.pb")
    proto = LiteralProto()
    proto.shape.element_type = 11
    proto.shape.dimensions.append(2)
    proto.f32s.append(1)
    with pytest.raises(ParseError, match=r"a.pb: argument 0: a literal of .* takes 8 bytes, 4"):
        read_arguments(VECTOR, proto.SerializeToString(), "a.pb")
    with pytest.raises(ParseError, match=r"a.pbtxt:1:9: "):
        read_arguments(VECTOR, b"shape { nothing: 1 }", "a.pbtxt")
    with pytest.raises(EvaluationError, match=r"the snapshot: 2 arrays found, 1 wanted"):
        arguments_of_literals(VECTOR, (literal, literal))


def test_values_that_no_literal_holds_are_not_written() -> None:
    module = module_of("""
      x = f32[2] parameter(0)
      p = (f32[2], opaque[]) parameter(1)
      ROOT y = f32[2] negate(x)""")
    with pytest.raises(UnsupportedError) as caught:
        write_literals(module, [([ONE, (ONE, None)], ONE, ONE)])
    assert caught.value.message == (
        "parameter p, (f32[2], opaque[]): no literal holds a value of opaque[]"
    )


FILES = {
    "a.npz": write_npz([ONE]),
    "a.npy": npy(ONE),
    "a.txt": b"f32[2] {1, 2}",
    "a.pb": write_literals(VECTOR, [([ONE], ONE, ONE)]),
    "a.pbtxt": b"shape { element_type: F32 dimensions: 2 } f32s: [1, 2]",
}


@given(
    file=st.sampled_from(sorted(FILES)),
    place=st.floats(0, 1, exclude_max=True),
    patch=st.binary(max_size=6),
    cut=st.integers(0, 8),
)
@settings(derandomize=True, deadline=None, max_examples=600)
def test_broken_bytes_raise_errors_of_ours(file: str, place: float, patch: bytes, cut: int) -> None:
    good = FILES[file]
    start = int(place * len(good))
    data = good[:start] + patch + good[start + cut :]
    for name in (file, "a"):
        try:
            (found,) = read_arguments(VECTOR, data, name)
        except HloError:
            continue
        assert (found.dtype, found.shape) == (np.float32, (2,))


@given(data=st.binary(max_size=80), file=st.sampled_from([*FILES, "a"]))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_any_bytes_raise_errors_of_ours(data: bytes, file: str) -> None:
    with pytest.raises(HloError):
        read_arguments(VECTOR, data, file)


def test_files_beside_real_modules_are_read(corpus: Path) -> None:
    count = 0
    for path in sorted(corpus.rglob("*.npz")):
        module_path = path.with_suffix(".hlo")
        if path.parent.name not in {"jax", "tf"} or not module_path.exists():
            continue
        module = parse(module_path.read_text(encoding="utf-8"))
        if module.header.num_partitions > 1:
            continue
        read_results(module, path.read_bytes(), path.name)
        values = read_arguments(module, path.read_bytes(), path.name)
        assert all(isinstance(p.shape, ArrayShape) for p in module.entry.parameters)
        assert len(values) == len(module.entry.parameters)
        count += 1
    assert count > 5
