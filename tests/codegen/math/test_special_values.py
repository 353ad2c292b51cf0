"""Zeros, infinities, NaN, denormals and branch cuts: as the evaluator has them."""

import itertools

import numpy as np
import pytest

from hlotool.codegen.math.functions import COMPLEX_FUNCTIONS, FUNCTIONS
from hlotool.ir.element_type import C64, C128, F32, F64, ElementType
from hlotool.ir.op import OPCODES
from hlotool.ops.elementwise import Binary
from hlotool.ops.numerics.widths import narrowed, widened
from hlotool.ops.unary import Unary
from tests.codegen.compiling import DTYPES, Array, Compiled, applied, elementwise, module_text
from tests.codegen.math.references import LANES, OPERANDS
from tests.codegen.math.test_lanes import PAIRS, complex_writer

NOT_OPCODES = {"digamma", "erf-inv", "erfc", "exp2", "lgamma", "log2"}
REAL = [
    0.0, 1.0, np.inf, np.nan, 0.5, 1.5, 2.0, 3.0, 1e-42, 1e-310, 5e-324, 1e30, 3e38, 1e300, 100.0,
    1000.0, 101.0, 2.0**53, 2.0**24, 4.0, 1e-30,
]  # fmt: skip
PARTS = [0.0, 1.0, np.inf, np.nan, 0.5, 2.0, 1e-3, 1e30, 300.0]
TYPES = {"float": (F32, C64), "double": (F64, C128)}


def evaluated(name: str, operands: list[Array], element_type: ElementType) -> Array:
    op = OPCODES[name]()
    wide = [widened(one, element_type) for one in operands]
    with np.errstate(all="ignore"):
        if isinstance(op, Binary):
            found = op._compute(wide[0], wide[1], element_type)
        else:
            assert isinstance(op, Unary)
            found = op._compute(wide[0], element_type)
        return np.asarray(narrowed(found, op.result_type(element_type)))


def assert_close(found: Array, wanted: Array, operands: list[Array], places: float) -> None:
    """Says where numbers differ by more than some places, or in kind, or in the sign of zero."""
    with np.errstate(all="ignore"):
        error = np.abs(found.astype("f8") - wanted) / np.spacing(np.abs(wanted))
    is_same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    is_same |= np.isnan(found) & np.isnan(wanted)
    is_same |= (error <= places) & (found != 0) & (wanted != 0)
    wrong = [
        ([one[place] for one in operands], found[place], wanted[place])
        for place in np.flatnonzero(~is_same)
    ]
    assert not wrong, wrong[:8]


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - NOT_OPCODES))
def test_real_functions(name: str, lane: str) -> None:
    with np.errstate(over="ignore"):
        values = np.array([sign * number for number in REAL for sign in (1, -1)], DTYPES[lane])
    count = OPERANDS.get(name, 1)
    operands = [np.array(one) for one in zip(*itertools.product(values, repeat=count), strict=True)]
    writer = elementwise("function", FUNCTIONS[name], [lane] * count, [lane], 4)
    (found,) = applied(Compiled(module_text(writer)), "function", operands, [lane], 4)
    assert_close(found, evaluated(name, operands, TYPES[lane][0]), operands, 3)


@pytest.mark.parametrize(
    ("name", "operand", "wanted"),
    [
        ("exp2", -149.0, 2.0**-149),
        ("exp2", 127.0, 2.0**127),
        ("exp2", 128.0, np.inf),
        ("exp2", -np.inf, 0.0),
        ("log2", 2.0**-149, -149.0),
        ("log2", 2.0**100, 100.0),
        ("log2", -0.0, -np.inf),
        ("log2", -1.0, np.nan),
        ("erf-inv", 1.0, np.inf),
        ("erf-inv", -1.0, -np.inf),
        ("erf-inv", 1.5, np.nan),
        ("erf-inv", -0.0, -0.0),
        ("erfc", np.inf, 0.0),
        ("erfc", -np.inf, 2.0),
        ("lgamma", -3.0, np.inf),
        ("lgamma", -np.inf, np.inf),
        ("lgamma", 2.0, 0.0),
        ("digamma", 0.0, np.nan),
        ("digamma", np.inf, np.inf),
        ("erf-inv", np.nan, np.nan),
        ("erfc", np.nan, np.nan),
        ("lgamma", np.nan, np.nan),
        ("digamma", np.nan, np.nan),
        ("log2", np.nan, np.nan),
        ("exp2", np.nan, np.nan),
        ("cosine", 0.0, 1.0),
        ("cosh", -0.0, 1.0),
    ],
)
def test_functions_that_are_no_opcodes(name: str, operand: float, wanted: float) -> None:
    writer = elementwise("function", FUNCTIONS[name], ["float"], ["float"], 1)
    operands = [np.array([operand], "f4")]
    (found,) = applied(Compiled(module_text(writer)), "function", operands, ["float"], 1)
    assert_close(found, np.array([wanted], "f4"), operands, 0)


@pytest.mark.parametrize("bits", [32, 64])
def test_sines_are_never_beyond_one(bits: int) -> None:
    lane = "float" if bits == 32 else "double"
    multiples = np.arange(-20000, 20000) * (np.pi / 2)
    operands = [multiples.astype(DTYPES[lane])]
    for name in ("sine", "cosine"):
        writer = elementwise("function", FUNCTIONS[name], [lane], [lane], 4)
        (found,) = applied(Compiled(module_text(writer)), "function", operands, [lane], 4)
        assert np.abs(found).max() == 1.0


def of_parts(parts: list[float], lane: str) -> Array:
    """Returns the complex numbers with these parts and their opposites."""
    signed = [sign * number for number in parts for sign in (1, -1)]
    pairs = np.array(list(itertools.product(signed, repeat=2)), DTYPES[lane])
    return pairs.view(f"c{2 * pairs.itemsize}").ravel()


def two_of(parts: list[float], lane: str) -> list[Array]:
    random = np.random.default_rng(3)
    numbers = of_parts(parts, lane)
    return [random.choice(numbers, 4000), random.choice(numbers, 4000)]


def computed(name: str, lane: str, operands: list[Array]) -> list[Array]:
    parts = [np.ascontiguousarray(part) for one in operands for part in (one.real, one.imag)]
    writer = complex_writer(name, lane, 4)
    return applied(Compiled(module_text(writer)), writer.name, parts, [lane] * 2, 4)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", sorted(COMPLEX_FUNCTIONS.keys() - {"atan2", "multiply", "power"}))
def test_complex_functions(name: str, lane: str) -> None:
    operands = two_of(PARTS, lane) if name in PAIRS else [of_parts(PARTS, lane)]
    real, imaginary = computed(name, lane, operands)
    wanted = evaluated(name, operands, TYPES[lane][1])
    assert_close(real, wanted.real, operands, 64)
    assert_close(imaginary, wanted.imag, operands, 64)


@pytest.mark.parametrize("lane", LANES)
def test_products_round_each_part_three_times(lane: str) -> None:
    one, other = two_of(PARTS, lane)
    real, imaginary = computed("multiply", lane, [one, other])
    # numpy's own product may be fused on some machines.
    with np.errstate(all="ignore"):
        wanted_real = one.real * other.real - one.imag * other.imag
        wanted_imaginary = one.real * other.imag + one.imag * other.real
    assert_close(real, wanted_real, [one, other], 0)
    assert_close(imaginary, wanted_imaginary, [one, other], 0)


@pytest.mark.parametrize("lane", LANES)
@pytest.mark.parametrize("name", ["atan2", "power"])
def test_functions_made_of_products(name: str, lane: str) -> None:
    # Products of the evaluator may be fused, so that parts differ by errors of the whole.
    operands = two_of([0.0, 1.0, np.inf, np.nan, 0.5, 2.0, 3.0], lane)
    real, imaginary = computed(name, lane, operands)
    wanted = evaluated(name, operands, TYPES[lane][1])
    size = np.abs(wanted)
    for found, part in ((real, wanted.real), (imaginary, wanted.imag)):
        with np.errstate(all="ignore"):
            is_near = np.abs(found - part) <= size * (1e-6 if lane == "float" else 1e-14)
        is_same = (found == part) | (np.isnan(found) & np.isnan(part)) | is_near
        wrong = [
            ([one[place] for one in operands], found[place], part[place])
            for place in np.flatnonzero(~is_same)
        ]
        assert not wrong, (len(wrong), wrong[:8])
