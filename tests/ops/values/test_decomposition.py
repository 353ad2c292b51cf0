"""Values of factors, solutions and batch normalization, by hand and against their definitions."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.errors import EvaluationError
from tests.evaluating import evaluated

NUMPY_TYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}
TOLERANCE = {"f32": 1e-4, "f64": 1e-9, "c64": 1e-4, "c128": 1e-9}


def shape_text(name: str, array: Any) -> str:
    return f"{name}[{','.join(map(str, array.shape))}]"


def factor(matrices: Any, name: str = "f32", *, lower: bool = True) -> Any:
    text = shape_text(name, np.asarray(matrices))
    flag = "true" if lower else "false"
    array = np.array(matrices, NUMPY_TYPES[name])
    return evaluated(f"{text} cholesky({text} a), lower={flag}", array)


def normal(seed: int, name: str, *sizes: int) -> Any:
    generator = np.random.default_rng(seed)
    real = generator.normal(size=sizes)
    if name[0] == "c":
        return (real + 1j * generator.normal(size=sizes)).astype(NUMPY_TYPES[name])
    return real.astype(NUMPY_TYPES[name])


def adjoint(matrices: Any) -> Any:
    return np.conj(np.swapaxes(matrices, -1, -2))


def test_factors_by_hand() -> None:
    a = [[4, 2], [2, 10]]
    assert factor(a).tolist() == [[2, 0], [1, 3]]
    assert factor(a, lower=False).tolist() == [[2, 1], [0, 3]]
    b = [[4, -2j], [2j, 10]]
    assert factor(b, "c64").tolist() == [[2, 0], [1j, 3]]
    assert factor(b, "c64", lower=False).tolist() == [[2, -1j], [0, 3]]


def test_only_one_triangle_is_read() -> None:
    nan = np.nan
    assert factor([[4, nan], [2, 10]]).tolist() == [[2, 0], [1, 3]]
    assert factor([[4, 2], [nan, 10]], lower=False).tolist() == [[2, 1], [0, 3]]
    # A diagonal is real; what stands beside that is not read either.
    assert factor([[4 + 9j]], "c64").tolist() == [[2]]


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("name", ["f32", "c64"])
@pytest.mark.parametrize("bad", [[[4, 2], [2, 1]], [[-1, 0], [0, 1]], [[1, 0], [0, np.nan]]])
def test_matrices_that_are_not_positive_definite(bad: Any, name: str, *, lower: bool) -> None:
    result = factor([bad, [[4, 2], [2, 10]]], name, lower=lower)
    assert np.isnan(result[0]).all()
    assert result[1].tolist() == ([[2, 0], [1, 3]] if lower else [[2, 1], [0, 3]])


def test_no_matrices() -> None:
    assert factor(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert factor(np.zeros((2, 0, 0))).shape == (2, 0, 0)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    name=st.sampled_from(sorted(NUMPY_TYPES)),
    size=st.integers(1, 5),
    batch=st.lists(st.integers(1, 2), max_size=2),
    lower=st.booleans(),
)
def test_factors_multiply_to_the_matrix(
    *, name: str, size: int, batch: list[int], lower: bool
) -> None:
    root = normal(size, name, *batch, size, size)
    matrices = root @ adjoint(root) + np.eye(size, dtype=root.dtype)
    result = factor(matrices, name, lower=lower)
    left, right = (result, adjoint(result)) if lower else (adjoint(result), result)
    np.testing.assert_allclose(left @ right, matrices, rtol=TOLERANCE[name], atol=TOLERANCE[name])
    assert not np.triu(left, 1).any()
    assert (np.diagonal(left, axis1=-2, axis2=-1).real > 0).all()


def test_factors_of_single_precision_are_rounded_once() -> None:
    root = normal(0, "f32", 20, 20).astype(np.float64)
    matrix = (root @ root.T + np.eye(20)).astype(np.float32)
    exact = np.linalg.cholesky(matrix.astype(np.float64))
    np.testing.assert_array_max_ulp(factor(matrix), exact.astype(np.float32), 1)


def solve(a: Any, b: Any, name: str = "f32", **flags: str) -> Any:
    attributes = {"left_side": "true", "lower": "true", "transpose_a": "NO_TRANSPOSE", **flags}
    one, other = (np.array(array, NUMPY_TYPES[name]) for array in (a, b))
    texts = [shape_text(name, array) for array in (one, other)]
    fields = ", ".join(f"{name}={value}" for name, value in attributes.items())
    text = f"{texts[1]} triangular-solve({texts[0]} a, {texts[1]} b), {fields}"
    return evaluated(text, one, other)


def test_solutions_by_hand() -> None:
    nan = np.nan
    assert solve([[2, nan], [1, 4]], [[6], [11]]).tolist() == [[3], [2]]
    assert solve([[2, 1], [nan, 4]], [[8], [8]], lower="false").tolist() == [[3], [2]]
    assert solve([[nan, nan], [1, nan]], [[6], [11]], unit_diagonal="true").tolist() == [[6], [5]]
    assert solve([[2, nan], [1, 4]], [[8, 8]], left_side="false").tolist() == [[3, 2]]
    assert solve([[2, nan], [1, 4]], [[8], [8]], transpose_a="TRANSPOSE").tolist() == [[3], [2]]
    assert solve([[2j]], [[4]], "c64", transpose_a="ADJOINT").tolist() == [[2j]]


def test_zeros_on_the_diagonal_divide() -> None:
    assert solve([[0, 0], [1, 1]], [[1], [1]]).tolist() == [[np.inf], [-np.inf]]
    assert np.isnan(solve([[0, 0], [1, 1]], [[0], [1]])).all()
    assert solve([[1, 0], [1, 0]], [[1], [3]]).tolist() == [[1], [np.inf]]


def test_solutions_of_nothing() -> None:
    assert solve(np.zeros((2, 2)), np.zeros((2, 0))).shape == (2, 0)
    assert solve(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
    assert solve(np.zeros((0, 2, 2)), np.zeros((0, 2, 1))).shape == (0, 2, 1)


flag = st.sampled_from(["true", "false"])


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    name=st.sampled_from(sorted(NUMPY_TYPES)),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 3)),
    batch=st.lists(st.integers(1, 2), max_size=2),
    flags=st.fixed_dictionaries(
        {
            "left_side": flag,
            "lower": flag,
            "unit_diagonal": flag,
            "transpose_a": st.sampled_from(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
        }
    ),
)
def test_solutions_solve(
    name: str, sizes: tuple[int, int], batch: list[int], flags: dict[str, str]
) -> None:
    size, count = sizes
    a = normal(size, name, *batch, size, size) + np.eye(size) * 3
    is_left = flags["left_side"] == "true"
    b = normal(9, name, *batch, *((size, count) if is_left else (count, size)))
    result = solve(a, b, name, **flags)
    used = np.tril(a) if flags["lower"] == "true" else np.triu(a)
    if flags["unit_diagonal"] == "true":
        used = used * (1 - np.eye(size)) + np.eye(size)
    if flags["transpose_a"] != "NO_TRANSPOSE":
        used = np.swapaxes(used, -1, -2)
    if flags["transpose_a"] == "ADJOINT":
        used = used.conj()
    product = used @ result if is_left else result @ used
    np.testing.assert_allclose(product, b, rtol=1e-3, atol=TOLERANCE[name] * 10)


def normalized(name: str, x: Any, *vectors: Any, epsilon: float = 0.0, feature: int = 1) -> Any:
    """Returns batch-norm-training of f32, or of what `name` starts with."""
    operand = shape_text(name, x)
    vector = f"{name}[{x.shape[feature]}]"
    return evaluated(
        f"({operand}, {vector}, {vector}) batch-norm-training({operand} x, {vector} s,"
        f" {vector} o), epsilon={epsilon}, feature_index={feature}",
        x, *vectors,
    )  # fmt: skip


def vector(*numbers: float) -> Any:
    return np.array(numbers, np.float32)


def test_training_by_hand() -> None:
    x = np.array([[1, 10], [3, 10]], np.float32)
    y, mean, variance = normalized("f32", x, vector(2, 1), vector(5, 7), epsilon=3)
    assert y.tolist() == [[4, 7], [6, 7]]
    assert mean.tolist() == [2, 10]
    assert variance.tolist() == [1, 0]


def test_training_without_elements() -> None:
    y, mean, variance = normalized("f32", np.zeros((0, 1), np.float32), vector(1), vector(0))
    assert y.shape == (0, 1)
    assert np.isnan([mean, variance]).all()


def test_variance_of_numbers_far_from_zero() -> None:
    # The mean of squares less the square of the mean has no digits left here in f32.
    x = np.array([[4096], [4097], [4098]], np.float32)
    _, _, variance = normalized("f32", x, vector(1), vector(0))
    assert variance.tolist() == [np.float32(2 / 3)]


def test_training_of_narrow_floats_is_rounded_once() -> None:
    x = np.array([[1], [258]], ml_dtypes.bfloat16)
    one, zero = np.ones(1, x.dtype), np.zeros(1, x.dtype)
    y, mean, variance = normalized("bf16", x, one, zero)
    assert [part.dtype for part in (y, mean, variance)] == [x.dtype] * 3
    # The mean 129.5 is a tie of bf16; the array is made with what it was before rounding.
    assert mean.astype(float).tolist() == [130]
    assert y.astype(float).tolist() == [[-1], [1]]


def test_inference_by_hand() -> None:
    x = np.array([[[5, 7]]], np.float32)
    result = evaluated(
        "f32[1,1,2] batch-norm-inference(f32[1,1,2] x, f32[1] s, f32[1] o, f32[1] m, f32[1] v),"
        " epsilon=1, feature_index=1",
        x, vector(4), vector(1), vector(3), vector(3),
    )  # fmt: skip
    assert result.tolist() == [[[5, 9]]]


def gradients(x: Any, scale: Any, moments: Any, dy: Any, epsilon: float, feature: int) -> Any:
    operand, one = shape_text("f32", x), shape_text("f32", scale)
    return evaluated(
        f"({operand}, {one}, {one}) batch-norm-grad({operand} x, {one} s, {one} m, {one} v,"
        f" {operand} d), epsilon={epsilon}, feature_index={feature}",
        x, scale, *moments, dy,
    )  # fmt: skip


def test_gradients_by_hand() -> None:
    x, dy = np.array([[1], [3]], np.float32), np.array([[10], [30]], np.float32)
    dx, by_scale, by_offset = gradients(x, vector(2), (vector(2), vector(1)), dy, 0, 1)
    assert dx.tolist() == [[0], [0]]
    assert by_scale.tolist() == [20]
    assert by_offset.tolist() == [40]


def train(x: Any, scale: Any, offset: Any, epsilon: float) -> Any:
    """Returns batch normalization of [features, elements] in f64, feature by feature."""
    rows = []
    for row, factor_of, shift in zip(x, scale, offset, strict=True):
        mean = sum(row) / len(row)
        variance = sum((value - mean) ** 2 for value in row) / len(row)
        rows.append([(v - mean) / (variance + epsilon) ** 0.5 * factor_of + shift for v in row])
    return np.array(rows)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_training_and_gradients_by_definition(sizes: list[int], data: st.DataObject) -> None:
    feature = data.draw(st.integers(0, len(sizes) - 1))
    x, dy = normal(1, "f32", *sizes), normal(2, "f32", *sizes)
    scale, offset = normal(3, "f32", sizes[feature]), normal(4, "f32", sizes[feature])
    rows = np.moveaxis(x, feature, 0).reshape(sizes[feature], -1).astype(np.float64)
    slopes = np.moveaxis(dy, feature, 0).reshape(rows.shape).astype(np.float64)
    y, mean, variance = normalized("f32", x, scale, offset, epsilon=0.5, feature=feature)
    wanted = train(rows, scale, offset, 0.5)
    turned = np.moveaxis(y, feature, 0).reshape(rows.shape)
    np.testing.assert_allclose(turned, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(variance, rows.var(axis=1), rtol=1e-5, atol=1e-6)

    dx, by_scale, by_offset = gradients(x, scale, (mean, variance), dy, 0.5, feature)
    step, wide = 1e-5, [vector.astype(np.float64) for vector in (scale, offset)]

    def slope(*changes: Any) -> Any:
        """Returns how fast the loss, the sum of y·dy, grows for each feature's change."""
        up, down = (
            train(rows + s * changes[0], wide[0] + s * changes[1], wide[1] + s * changes[2], 0.5)
            for s in (step, -step)
        )
        return ((up - down) * slopes).sum(axis=1) / (2 * step)

    np.testing.assert_allclose(by_scale, slope(0, 1, 0), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(by_offset, slope(0, 0, 1), rtol=1e-3, atol=1e-3)
    moved = np.moveaxis(dx, feature, 0).reshape(rows.shape)
    for element in range(rows.shape[1]):
        change = np.zeros(rows.shape)
        change[:, element] = 1
        np.testing.assert_allclose(moved[:, element], slope(change, 0, 0), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("text", "sizes", "words"),
    [
        (
            "f32[<=3,3] cholesky(f32[<=3,3] a), lower=true",
            [(2, 3)],
            r"cholesky: an operand of \[2, 3\] live elements is given",
        ),
        (
            (
                "f32[3,1] triangular-solve(f32[<=3,<=3] a, f32[3,1] b), left_side=true,"
                " transpose_a=NO_TRANSPOSE"
            ),
            [(2, 2), (3, 1)],
            r"operands of \[2, 2\] and \[3, 1\] live elements are given",
        ),
        (
            (
                "f32[1,<=3] batch-norm-inference(f32[1,<=3] x, f32[3] s, f32[3] o, f32[3] m,"
                " f32[3] v), epsilon=1, feature_index=1"
            ),
            [(1, 2), *[(3,)] * 4],
            "batch-norm-inference: 3 live values are given, 2 are wanted: one a feature",
        ),
    ],
)
def test_live_elements_that_do_not_fit(text: str, sizes: Any, words: str) -> None:
    with pytest.raises(EvaluationError, match=words):
        evaluated(text, *(np.ones(size, np.float32) for size in sizes))
