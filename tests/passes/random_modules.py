"""Modules made at random of operations of every family, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.passes.random_computations import (
    BINARY_COMPLEX,
    BINARY_PRED,
    Array,
    Computation,
    Focus,
    Weighted,
    braced,
)
from tests.passes.random_operations import COMBINING, ELEMENTWISE, MOVING, reduce

# Ops that call computations, and tuples.


def tuple_of(c: Computation, arrays: Sequence[Array]) -> str:
    return c.line(f"tuple({', '.join(array.name for array in arrays)})")


def tuple_shape(arrays: Sequence[Array]) -> str:
    return f"({', '.join(array.shape for array in arrays)})"


def part(c: Computation, name: str, one: Array, index: int) -> Array:
    return c.add(one.element_type, one.sizes, f"get-tuple-element({name}), index={index}")


def tuples(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    name = tuple_of(c, arrays)
    if c.chance(0.3):
        name = c.line(f"opt-barrier({name})")
    nested = c.chance(0.3)
    if nested:
        name = c.line(f"tuple({name}, {arrays[0].name})")
        name = c.line(f"get-tuple-element({name}), index=0")
    for index in c.random.sample(range(len(arrays)), c.random.randint(1, len(arrays))):
        part(c, name, arrays[index], index)


def result_like(c: Computation, one: Array) -> Array:
    """Returns an array of the shape of another one, made in this computation if need be."""
    c.arrays.append(one)
    for _ in range(2):
        if c.chance(0.7):
            binary_of(c, one)
    found = [
        array
        for array in c.arrays
        if (array.element_type, array.sizes) == (one.element_type, one.sizes)
    ]
    return found[-1]


def binary_of(c: Computation, one: Array) -> None:
    opcode = c.choice(BINARY_PRED[:3] if one.element_type == "pred" else BINARY_COMPLEX[:3])
    c.add(one.element_type, one.sizes, f"{opcode}({one.name}, {c.like(one).name})")


def call(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    body = c.inner(arrays)
    body.grow(c.random.randint(1, 4))
    result = body.arrays[-1]
    names = ", ".join(array.name for array in arrays)
    c.add(
        result.element_type, result.sizes, f"call({names}), to_apply={body.finished(result.name)}"
    )


def fusion(c: Computation) -> None:
    arrays = [c.pick() for _ in range(c.random.choice((1, 2, 3)))]
    body = c.inner(arrays)
    for make in c.random.choices(FUSED_MAKERS, k=c.random.randint(1, 4)):
        make(body)
    result = body.arrays[-1]
    operands = ", ".join(array.name for array in arrays)
    several = c.chance(0.2)
    if several:
        root = tuple_of(body, [result, body.arrays[0]])
        shape = tuple_shape((result, arrays[0]))
        name = c.line(f"fusion({operands}), kind=kLoop, calls={body.finished(root)}", shape)
        part(c, name, result, 0)
        part(c, name, arrays[0], 1)
        return
    if result.name in {array.name for array in body.arrays[: len(arrays)]}:
        result = body.add(result.element_type, result.sizes, f"copy({result.name})")
    called = body.finished(result.name)
    c.add(result.element_type, result.sizes, f"fusion({operands}), kind=kLoop, calls={called}")


def conditional(c: Computation) -> None:
    one, other = c.pick(), c.pick()
    by_predicate = c.chance(0.5)
    count = 2 if by_predicate else c.random.choice((1, 2, 3))
    names = [branch(c, one, other) for _ in range(count)]
    state = tuple_of(c, (one, other))
    index = c.array("pred" if by_predicate else "s32", ())
    operands = ", ".join([index.name, *[state] * count])
    if by_predicate:
        called = f"true_computation={names[0]}, false_computation={names[1]}"
    else:
        called = f"branch_computations={braced(names)}"
    c.add(one.element_type, one.sizes, f"conditional({operands}), {called}")


def branch(c: Computation, one: Array, other: Array) -> str:
    """Returns the name of a computation from two arrays in a tuple to one like the first."""
    body = c.inner((one, other))
    body.grow(c.random.randint(0, 3))
    result = result_like(body, body.arrays[0])
    as_tuple_body(body, (one, other))
    return body.finished(result.name)


def as_tuple_body(body: Computation, parameters: Sequence[Array]) -> None:
    """Makes parameters elements of one tuple."""
    lines = body.lines[: len(parameters)]
    state = f"{body.prefix}.state"
    body.lines[: len(parameters)] = [
        f"{line.split(' parameter(')[0]} get-tuple-element({state}), index={index}"
        for index, line in enumerate(lines)
    ]
    body.lines.insert(0, f"  {state} = {tuple_shape(parameters)} parameter(0)")


def while_(c: Computation) -> None:
    kind = c.choice(("s32", "s32", "s64", "u32", "s8"))
    counter = c.add(kind, (), f"constant({c.random.choice((0, 0, 0, 1, 5))})")
    state = [counter, *(c.pick() for _ in range(c.random.choice((1, 2, 3))))]
    body = c.inner(state)
    step = body.add(kind, (), f"constant({c.random.choice((1, 1, 2))})")
    following = body.add(kind, (), f"add({body.arrays[0].name}, {step.name})")
    entering = body.arrays[1 : len(state)]
    body.grow(c.random.randint(1, 4))
    leaving = [result_like(body, one) if body.chance(0.7) else one for one in entering]
    if c.chance(0.1) and len({(one.element_type, one.sizes) for one in leaving}) == 1:
        leaving.reverse()
    root = tuple_of(body, [following, *leaving])
    as_tuple_body(body, state)
    name = body.finished(root)
    condition = c.inner(state)
    limit = condition.add(kind, (), f"constant({c.random.choice((0, 1, 3, 4, 7))})")
    test = condition.line(f"compare({condition.arrays[0].name}, {limit.name}), direction=LT")
    as_tuple_body(condition, state)
    limits = condition.finished(test)
    loop = c.line(f"while({tuple_of(c, state)}), condition={limits}, body={name}")
    for index in range(len(state)):
        if c.chance(0.7):
            part(c, loop, state[index], index)


# Ops of which there are few.


def control_edge(c: Computation) -> None:
    if len(c.arrays) < 3:
        return
    first, last = c.arrays[c.random.randrange(len(c.arrays) - 1)], c.arrays[-1]
    line = c.lines[-1]
    plain = "parameter(" not in line and "control" not in line and line.split()[0] == last.name
    if plain and first.name != last.name:
        c.lines[-1] = f"{line}, control-predecessors={{{first.name}}}"


def random_numbers(c: Computation) -> None:
    low, high = (c.array("f32", ()).name for _ in range(2))
    c.add("f32", c.sizes(1), f"rng({low}, {high}), distribution=rng_uniform")


def generator(c: Computation) -> None:
    state = c.array("u64", (2,))
    sizes = c.sizes(1)
    bits = Array("", "u32", sizes)
    shape = tuple_shape((state, bits))
    name = c.line(f"rng-bit-generator({state.name}), algorithm=rng_three_fry", shape)
    part(c, name, state, 0)
    part(c, name, bits, 1)


def custom_call(c: Computation) -> None:
    one = c.pick()
    effect = ", custom_call_has_side_effect=true" if c.chance(0.5) else ""
    call = f'custom-call({one.name}), custom_call_target="unknown"{effect}'
    c.add(one.element_type, one.sizes, call)


def live_size(c: Computation) -> None:
    """Sets a size, and works with the live elements only."""
    one = c.pick(lambda array: array.rank >= 1 and array.element_type in ("f32", "s32"))
    dimension = c.random.randrange(one.rank)
    size = c.add("s32", (), f"constant({c.random.randint(0, one.sizes[dimension])})")
    call = f"set-dimension-size({one.name}, {size.name}), dimensions={{{dimension}}}"
    bounds = ",".join(f"<={n}" if d == dimension else str(n) for d, n in enumerate(one.sizes))
    name = c.line(call, f"{one.element_type}[{bounds}]")
    if c.chance(0.5):
        name = c.line(f"{c.choice(('negate', 'abs', 'copy'))}({name})")
    start = c.array(one.element_type, ())
    dimensions = braced(range(one.rank))
    reducer = c.reducer(one.element_type)
    reduced = f"reduce({name}, {start.name}), dimensions={dimensions}, to_apply={reducer}"
    c.add(one.element_type, (), reduced)
    c.add("s32", (), f"get-dimension-size({name}), dimensions={{{dimension}}}")


def all_reduce(c: Computation) -> None:
    one = c.pick()
    reducer = c.reducer(one.element_type)
    c.add(
        one.element_type,
        one.sizes,
        f"all-reduce({one.name}), replica_groups={{}}, to_apply={reducer}",
    )


def batch_norm(c: Computation) -> None:
    one = c.array("f32", (2, 3, 2))
    scale, offset, mean, variance = (c.array("f32", (3,)).name for _ in range(4))
    operands = f"{one.name}, {scale}, {offset}, {mean}, {variance}"
    c.add("f32", one.sizes, f"batch-norm-inference({operands}), epsilon=0.1, feature_index=1")


def top(c: Computation) -> None:
    one = c.pick(
        lambda array: (
            array.rank >= 1 and array.element_type in ("f32", "s32") and array.sizes[-1] > 0
        )
    )
    sizes = (*one.sizes[:-1], 1)
    values, places = Array("", one.element_type, sizes), Array("", "s32", sizes)
    name = c.line(f"topk({one.name}), k=1, largest=true", tuple_shape((values, places)))
    part(c, name, values, 0)
    part(c, name, places, 1)


CALLING: Weighted = (
    (tuples, 3), (call, 1), (fusion, 2), (conditional, 2), (while_, 3),
)  # fmt: skip
RARE: Weighted = (
    (control_edge, 2), (random_numbers, 1), (generator, 1), (live_size, 1), (all_reduce, 1),
    (batch_norm, 1), (top, 1), (custom_call, 1),
)  # fmt: skip
NESTED_MAKERS = (*ELEMENTWISE, *MOVING, *COMBINING, (tuples, 2))
MAKERS = (*NESTED_MAKERS, *CALLING, *RARE)
FUSED_MAKERS = [make for make, _ in (*ELEMENTWISE, *MOVING)] + [reduce]


def random_module(seed: int, length: int = 14) -> str:
    """Returns the text of a module; nearly all of them verify."""
    random = Random(seed)  # noqa: S311  # not for secrets
    written: list[str] = []
    entry = Computation(random, written, 0, Focus(random, MAKERS, NESTED_MAKERS))
    for _ in range(random.choice((1, 2, 3))):
        entry.parameter(entry.element_type(), entry.sizes())
    entry.grow(random.randint(1, length))
    results = entry.arrays[-random.choice((1, 2, 3, 5)) :]
    if len(results) == 1 and random.random() < 0.7:  # a share
        root = results[0].name
    else:
        root = tuple_of(entry, results)
    name = entry.finished(root)
    written[-1] = written[-1].replace(f"{name} {{", f"ENTRY {name} {{", 1)
    return "\n\n".join([f"HloModule random{seed}", *written]) + "\n"
