"""What compiled modules leave to the host, and ops that need a host, other devices, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hlotool
from hlotool.errors import EvaluationError, UnsupportedError
from hlotool.ir.shape import ArrayShape
from hlotool.runtime.compilation import compiled
from hlotool.runtime.executable import Executable
from hlotool.text.parser import parse
from tests.runtime.calling import called

ADD = """add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def _module(body: str, *, before: str = "") -> str:
    # A module that is scheduled is compiled as it stands.
    return f"HloModule m, is_scheduled=true\n{before}ENTRY main {{\n{body}}}\n"


def _compiled(text: str) -> Executable:
    return compiled(parse(text), uses_cache=False)


def _flat(value: Any) -> list[NDArray[Any]]:
    if isinstance(value, tuple):
        return [array for part in value for array in _flat(part)]
    return [] if value is None else [np.asarray(value)]


def _check(text: str, *arguments: Any) -> Executable:
    executable = _compiled(text)
    wanted = _flat(hlotool.evaluate(text, *arguments))
    for _ in range(2):
        found = _flat(called(executable, arguments))
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)
    return executable


@pytest.mark.parametrize(
    "body",
    [
        """  x = f32[2,3] parameter(0)
  s = ((f32[2,3]), f32[2,3], s32[]) async-start(x), calls=negated
  u = ((f32[2,3]), f32[2,3], s32[]) async-update(s)
  ROOT d = f32[2,3] async-done(u)
""",
        """  x = f32[2,3] parameter(0)
  t = token[] after-all()
  b = f32[2,3] opt-barrier(x)
  d = f32[2,3] domain(b), domain={kind="sharding", entry={replicated}, exit={replicated}}
  ROOT r = f32[2,3] add-dependency(d, t)
""",
        """  x = f32[2,3] parameter(0)
  r = f32[2,3] all-reduce(x), replica_groups={}, to_apply=add
  g = f32[2,3] all-gather(r), replica_groups={{0}}, dimensions={0}
  c = f32[2,3] reduce-scatter(g), replica_groups={}, dimensions={0}, to_apply=add
  s = f32[2,3] all-reduce-start(c), replica_groups={}, to_apply=add
  d = f32[2,3] all-reduce-done(s)
  i = u32[] replica-id()
  j = u32[] partition-id()
  ROOT t = (f32[2,3], u32[], u32[]) tuple(d, i, j)
""",
    ],
    ids=["asynchronous", "order", "collectives"],
)
def test_needs_no_host_with_one_device(body: str) -> None:
    negated = """negated {
  p = f32[2,3] parameter(0)
  ROOT n = f32[2,3] negate(p)
}
"""
    executable = _check(_module(body, before=ADD + negated), X)
    assert not executable.program.host_calls


@pytest.mark.parametrize(
    "body",
    [
        """  x = f32[2,3] parameter(0)
  s = (f32[2,3], f32[2,3], u32[]) copy-start(x)
  ROOT d = f32[2,3] copy-done(s)
""",
        """  x = f32[2,3] parameter(0)
  s = (f32[2,3], f32[2,3]) all-gather-start(x), replica_groups={}, dimensions={0}
  g = f32[2,3] all-gather-done(s)
  p = (f32[2,3], f32[2,3], u32[], u32[]) collective-permute-start(g), source_target_pairs={{0,0}}
  q = f32[2,3] collective-permute-done(p)
  ROOT t = (f32[2,3], f32[2,3]) tuple(g, q)
""",
        """  x = f32[2,3] parameter(0)
  t = token[] after-all()
  s = (f32[2,3], u32[], token[]) send(x, t), channel_id=1
  sd = token[] send-done(s), channel_id=1
  r = (f32[2,3], u32[], token[]) recv(sd), channel_id=1
  rd = (f32[2,3], token[]) recv-done(r), channel_id=1
  ROOT g = f32[2,3] get-tuple-element(rd), index=0
""",
        """  x = f32[2,3] parameter(0)
  ROOT c = (f32[2,3], f32[2,3]) custom-call(x, x), custom_call_target="Sharding"
""",
    ],
    ids=["copy", "starts", "transfers", "marker"],
)
def test_host_moves_arrays(body: str) -> None:
    _check(_module(body), X)


def test_arrays_of_a_bounded_size_inside() -> None:
    text = _module(
        """  x = f32[6] parameter(0)
  n = s32[] parameter(1)
  d = f32[<=6] set-dimension-size(x, n), dimensions={0}
  e = f32[<=6] negate(d)
  zero = f32[] constant(0)
  r = f32[] reduce(e, zero), dimensions={0}, to_apply=add
  g = s32[] get-dimension-size(e), dimensions={0}
  six = s32[] constant(6)
  back = f32[6] set-dimension-size(e, six), dimensions={0}
  ROOT t = (f32[], s32[], f32[6]) tuple(r, g, back)
""",
        before=ADD,
    )
    for live in (0, 4, 6):
        _check(text, np.arange(1, 7, dtype=np.float32), np.int32(live))


@pytest.mark.parametrize("layout", ["{1,0:T(2,128)}", "{1,0:E(4)}"])
def test_elements_that_do_not_lie_side_by_side_are_refused(layout: str) -> None:
    text = _module(f"  x = s4[2,3]{layout} parameter(0)\n  ROOT n = s4[2,3]{layout} negate(x)\n")
    with pytest.raises(UnsupportedError, match="x has the layout") as found:
        _compiled(text)
    assert found.value.location is not None


def test_mutable_buffers_are_refused() -> None:
    text = _module(
        """  x = f32[2,3] parameter(0)
  p = b(f32[2,3]) custom-call(x), custom_call_target="Pin"
  ROOT u = f32[2,3] custom-call(p), custom_call_target="Unpin"
"""
    )
    with pytest.raises(UnsupportedError, match="p has the layout"):
        _compiled(text)


RANDOM = _module(
    """  low = f32[] constant(-1)
  high = f32[] constant(2)
  first = s32[] constant(-5)
  behind = s32[] constant(9)
  u = f32[4,5]{0,1} rng(low, high), distribution=rng_uniform
  i = s32[70] rng(first, behind), distribution=rng_uniform
  n = f32[6] rng(low, high), distribution=rng_normal
  s = u64[2] rng-get-and-update-state(), delta=3
  t = u64[2] rng-get-and-update-state(), delta=3
  ROOT r = (f32[4,5]{0,1}, s32[70], f32[6], u64[2], u64[2]) tuple(u, i, n, s, t)
"""
)


def test_random_numbers_are_those_of_the_seed() -> None:
    executable = _compiled(RANDOM)
    for seed in (0, 7):
        wanted = _flat(hlotool.evaluate(RANDOM, seed=seed))
        for one, other in zip(executable.run([], seed), wanted, strict=True):
            assert np.array_equal(one, other)
    assert not np.array_equal(executable.run([], 1)[0], executable.run([], 2)[0])


@pytest.mark.parametrize("algorithm", ["rng_default", "rng_philox", "rng_three_fry"])
def test_random_bits(algorithm: str) -> None:
    size = 3 if algorithm == "rng_philox" else 2
    text = f"""HloModule bits
ENTRY main {{
  s = u64[{size}] parameter(0)
  ROOT r = (u64[{size}], u32[33]) rng-bit-generator(s), algorithm={algorithm}
}}
"""
    _check(text, np.arange(3, 3 + size, dtype=np.uint64))


@pytest.mark.parametrize(
    ("kind", "given", "wanted", "length"),
    [
        ("FFT", "c64[3,12]", "c64[3,12]", "12"),
        ("IFFT", "c64[2,3,8]{0,1,2}", "c64[2,3,8]{0,1,2}", "3,8"),
        ("RFFT", "f32[3,10]", "c64[3,6]", "10"),
        ("IRFFT", "c64[3,6]", "f32[3,11]", "11"),
        ("FFT", "c128[2,7]", "c128[2,7]", "7"),
        ("FFT", "c64[0,4]", "c64[0,4]", "4"),
    ],
)
def test_transforms_in_the_precision_of_the_operand(
    kind: str, given: str, wanted: str, length: str
) -> None:
    text = _module(
        f"  x = {given} parameter(0)\n"
        f"  ROOT y = {wanted} fft(x), fft_type={kind}, fft_length={{{length}}}\n"
    )
    shape = parse(text).entry.parameters[0].shape
    assert isinstance(shape, ArrayShape)
    random = np.random.default_rng(0)
    parts = [random.standard_normal(shape.dimensions) for _ in range(2)]
    x = (parts[0] + 1j * parts[1] if shape.element_type.is_complex else parts[0]).astype(
        shape.element_type.numpy
    )
    (found,) = _compiled(text).run([x])
    exact = hlotool.evaluate(text, x)
    assert found.dtype == exact.dtype
    tolerance = 1e-14 if given.startswith("c128") else 2e-6
    assert np.allclose(found, exact, rtol=tolerance, atol=tolerance)


class _Registered:
    """Registers a function for the target `ours` as long as a block runs."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __enter__(self) -> None:
        hlotool.register_custom_call("ours", self._function)

    def __exit__(self, *_: object) -> None:
        hlotool.unregister_custom_call("ours")


CALL = _module(
    """  x = f32[2,3] parameter(0)
  y = f32[2,3]{0,1} copy(x)
  c = (f32[2,3], s32[]) custom-call(y), custom_call_target="ours"
  g = f32[2,3] get-tuple-element(c), index=0
  ROOT n = f32[2,3] negate(g)
"""
)


def test_functions_of_the_user() -> None:
    seen = []

    def function(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        seen.append(x.flags.writeable)
        return x * 2, np.array(3, np.int32)

    with _Registered(function):
        executable = _compiled(CALL)
        assert np.array_equal(executable.run([X])[0], X * -2)
        assert np.array_equal(executable.run([X + 1])[0], (X + 1) * -2)
    assert seen == [False, False]


def test_exceptions_of_a_function_come_to_the_caller_with_the_instruction() -> None:
    def function(_: NDArray[Any]) -> NDArray[Any]:
        raise LookupError("nothing is here")

    with _Registered(function):
        executable = _compiled(CALL)
        with pytest.raises(EvaluationError, match="LookupError: nothing is here") as found:
            executable.run([X])
    assert found.value.notes == ("in instruction c",)
    assert found.value.location is not None
    assert isinstance(found.value.__cause__, LookupError)


def test_results_that_are_not_as_declared() -> None:
    with _Registered(lambda x: (x[0], np.array(3, np.int32))):
        executable = _compiled(CALL)
        with pytest.raises(EvaluationError, match="declared"):
            executable.run([X])


def test_result_over_an_operand() -> None:
    text = _module(
        """  x = f32[2,3] parameter(0)
  y = f32[2,3] negate(x)
  c = (f32[2,3], f32[2,3]) custom-call(y), custom_call_target="ours",
    output_to_operand_aliasing={{0}: (0, {})}
  a = f32[2,3] get-tuple-element(c), index=0
  b = f32[2,3] get-tuple-element(c), index=1
  ROOT t = (f32[2,3], f32[2,3]) tuple(a, b)
"""
    )
    with _Registered(lambda y: (y + 1, y)):
        first, second = _compiled(text).run([X])
    assert np.array_equal(first, 1 - X)
    assert np.array_equal(second, -X)


@pytest.mark.parametrize("effect", ["", ", custom_call_has_side_effect=true"])
def test_functions_may_keep_their_operands(effect: str) -> None:
    kept = []

    def function(x: NDArray[Any]) -> NDArray[Any]:
        kept.append(x)
        return x

    text = _module(
        """  x = f32[2,3] parameter(0)
  y = f32[2,3] negate(x)
  ROOT c = f32[2,3] custom-call(y), custom_call_target="ours"EFFECT
""".replace("EFFECT", effect)
    )
    with _Registered(function):
        executable = _compiled(text)
        executable.run([X])
        executable.run([X + 5])
    assert np.array_equal(kept[0], -X)
    assert np.array_equal(kept[1], -X - 5)


def test_calls_that_yield_nothing_are_made() -> None:
    text = _module(
        """  x = f32[2,3] parameter(0)
  holds = pred[] constant(false)
  c = () custom-call(holds), custom_call_target="shape_assertion",
    custom_call_has_side_effect=true
  ROOT n = f32[2,3] negate(x)
"""
    )
    with pytest.raises(EvaluationError, match="shape_assertion"):
        _compiled(text).run([X])


def test_a_function_supplied_later_counts_for_what_is_compiled_later() -> None:
    # Also where the cache has the module with our own kernel.
    text = _module(
        """  x = f32[300] parameter(0)
  ROOT t = (f32[2], s32[2]) custom-call(x), custom_call_target="TopK"
"""
    )
    x = np.arange(300, dtype=np.float32)
    values, _ = hlotool.compile(text)(x)
    assert list(values) == [299, 298]
    hlotool.register_custom_call("TopK", lambda x: (x[:2], np.zeros(2, np.int32)))
    try:
        values, _ = hlotool.compile(text)(x)
        assert list(values) == [0, 1]
    finally:
        hlotool.unregister_custom_call("TopK")
    values, _ = hlotool.compile(text)(x)
    assert list(values) == [299, 298]


@pytest.mark.parametrize("passes", [None, ""])
def test_tokens_alone_are_yielded(passes: str | None) -> None:
    text = _module(
        """  x = f32[2,3] parameter(0)
  t = token[] after-all()
  ROOT o = token[] outfeed(x, t), outfeed_shape=f32[2,3]
"""
    )
    assert hlotool.compile(text, passes=passes)(X) is None
