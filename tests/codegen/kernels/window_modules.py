"""Modules with one op that slides a window: reduce-window and select-and-scatter of any form."""

from __future__ import annotations

from math import prod
from random import Random

from hlotool.ir.window import WINDOW, Window, WindowDimension
from tests.codegen.kernels.module_texts import reducer, shape_text

_STILL = WindowDimension(1)
_TYPES = ("f32",) * 6 + ("bf16", "f64", "s32", "f16")
_REDUCERS = {"add": "0", "maximum": "-100", "minimum": "100"}
_PICKING = """pick {
  x = f32[] parameter(0)
  i = s32[] parameter(1)
  y = f32[] parameter(2)
  j = s32[] parameter(3)
  keeps = pred[] compare(x, y), direction=GE
  value = f32[] select(keeps, x, y)
  place = s32[] select(keeps, i, j)
  ROOT both = (f32[], s32[]) tuple(value, place)
}
"""


def _sizes(random: Random, rank: int) -> list[int]:
    found = [random.choice([1, 2, 3, 5, 8, 9, 16, 17, 21, 33]) for _ in range(rank)]
    while prod(found) > 20_000:
        found[random.randrange(rank)] = random.choice([1, 2, 3, 5])
    return found


def _layout(random: Random, rank: int) -> list[int]:
    order = list(range(rank))[::-1]
    if random.random() < 0.25:
        random.shuffle(order)
    return order


def _results(window: Window, sizes: list[int]) -> list[int]:
    return [one.output_size(size) for one, size in zip(window, sizes, strict=True)]


def _sliding(random: Random, rank: int) -> Window:
    found = []
    for _ in range(rank):
        if random.random() < 0.45:
            found.append(_STILL)
            continue
        found.append(
            WindowDimension(
                random.choice([1, 2, 3, 3, 4, 5]),
                random.choice([1, 1, 2, 3]),
                random.choice([0, 0, 1, 1, 2, -1]),
                random.choice([0, 0, 1, 1, 2, -1]),
                random.choice([1] * 6 + [2, 3]),
                random.choice([1, 1, 1, 2]),
            )
        )
    return tuple(found)


def running(size: int, *, backward: bool) -> WindowDimension:
    """Returns the window that shows at each place all elements up to it, or from it on."""
    if backward:
        return WindowDimension(size, padding_high=size - 1)
    return WindowDimension(size, padding_low=size - 1)


def random_reduction(seed: int) -> str | None:
    """Returns a module with a reduce-window, alone or fused; `None` where it would be empty."""
    random = Random(seed)  # noqa: S311 - forms of modules are no secrets
    rank = random.choice([1, 2, 2, 3, 4, 4, 4])
    sizes, kind, layout = _sizes(random, rank), random.choice(_TYPES), _layout(random, rank)
    window = _sliding(random, rank)
    if random.random() < 0.3:
        along = random.randrange(rank)
        one = running(sizes[along], backward=random.random() < 0.4)
        window = tuple(one if d == along else _STILL for d in range(rank))
    results = _results(window, sizes)
    if 0 in results:
        return None
    given, result = shape_text(kind, sizes, layout), shape_text(kind, results, layout)
    if kind == "f32" and random.random() < 0.15:
        return picking_module(given, result, window)
    opcode = random.choice(list(_REDUCERS))
    initial = _REDUCERS[opcode] if random.random() < 0.7 else "1"
    return reduction_module(given, result, window, opcode, initial, fused=random.random() < 0.35)


def reduction_module(
    given: str, result: str, window: Window, opcode: str, initial: str, *, fused: bool
) -> str:
    """Returns a module that folds the windows of an array, or of its squares where it is fused."""
    kind = given.partition("[")[0]
    operand = "s" if fused else "a"
    slid = f"window={WINDOW.write(window)}"
    folded = f"c = {result} reduce-window({operand}, i), {slid}, to_apply=fold\n"
    start = f"  a = {given} parameter(0)\n  i = {kind}[] constant({initial})\n"
    head = f"HloModule m\n{reducer(opcode, kind, 'fold')}"
    if not fused:
        return f"{head}ENTRY e {{\n{start}  ROOT {folded}}}\n"
    return (
        f"{head}fused {{\n{start}  s = {given} multiply(a, a)\n"
        f"  {folded}  ROOT t = {result} add(c, c)\n}}\n"
        f"ENTRY e {{\n  a = {given} parameter(0)\n"
        f"  ROOT f = {result} fusion(a), kind=kInput, calls=fused\n}}\n"
    )


def picking_module(given: str, result: str, window: Window) -> str:
    """Returns a module that finds the largest element of each window, and a number beside it."""
    numbers, found = given.replace("f32", "s32"), result.replace("f32", "s32")
    return (
        f"HloModule m\n{_PICKING}ENTRY e {{\n  a = {given} parameter(0)\n"
        f"  b = {numbers} parameter(1)\n  x = f32[] constant(-1000)\n  i = s32[] constant(-1)\n"
        f"  ROOT c = ({result}, {found}) reduce-window(a, b, x, i),"
        f" window={WINDOW.write(window)}, to_apply=pick\n}}\n"
    )


def random_scattering(seed: int) -> str | None:
    """Returns a module with a select-and-scatter; `None` where there would be no windows."""
    random = Random(seed)  # noqa: S311 - forms of modules are no secrets
    rank = random.choice([1, 2, 3, 4, 4])
    sizes, kind, layout = _sizes(random, rank), random.choice(_TYPES), _layout(random, rank)
    window = []
    for _ in range(rank):
        size = 1 if random.random() < 0.45 else random.choice([1, 2, 3, 4])
        low, high = (random.choice(range(size)) for _ in range(2))
        window.append(WindowDimension(size, random.choice([1, 1, 2, 3]), low, high))
    results = _results(tuple(window), sizes)
    if 0 in results:
        return None
    given, source = shape_text(kind, sizes, layout), shape_text(kind, results, layout)
    direction = random.choice(["GE", "GT", "LE"])
    return (
        f"HloModule m\n{reducer('add', kind, 'fold')}keep {{\n  x = {kind}[] parameter(0)\n"
        f"  y = {kind}[] parameter(1)\n  ROOT r = pred[] compare(x, y), direction={direction}\n}}\n"
        f"ENTRY e {{\n  a = {given} parameter(0)\n  b = {source} parameter(1)\n"
        f"  i = {kind}[] constant({random.choice([0, 1])})\n"
        f"  ROOT c = {given} select-and-scatter(a, b, i), window={WINDOW.write(tuple(window))},"
        f" select=keep, scatter=fold\n}}\n"
    )
