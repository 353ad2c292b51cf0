"""What changes the fingerprint of a module, and what does not."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hlotool import Module, fingerprint, load, parse, print_module
from hlotool.text.print_options import PRESETS

BASE = """\
HloModule base, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY main {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  zero = f32[] constant(0)
  difference = f32[2,3] subtract(x, y), sharding={replicated}
  reduced = f32[2] reduce(difference, zero), dimensions={1}, to_apply=add
  other = f32[2] custom-call(reduced), custom_call_target="f", control-predecessors={difference}
  dead = f32[2,3] negate(y)
  ROOT result = (f32[2], f32[2]) tuple(reduced, other)
}
"""

LAYOUT = "{(f32[2,3]{1,0}, f32[2,3]{1,0})->(f32[2]{0}, f32[2]{0})}"


def digest(text: str) -> str:
    return fingerprint(parse(text))


def test_is_128_bits_in_hexadecimal() -> None:
    found = digest(BASE)
    assert len(found) == 32
    assert found == f"{int(found, 16):032x}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HloModule base", "HloModule another"),
        ("difference", "d.1"),
        ("add {", "plus {"),
        ("to_apply=add", 'to_apply=add, metadata={op_name="jit(f)/sum" source_line=3}'),
        ("f32[2,3] parameter", "f32[2,3]{1,0} parameter"),
        ("  dead", "  // a remark\n  dead"),
        (
            "  x = f32[2,3] parameter(0)\n  y = f32[2,3] parameter(1)\n",
            "  y = f32[2,3] parameter(1)\n  x = f32[2,3] parameter(0)\n",
        ),
        ("  zero = f32[] constant(0)\n", ""),
        (", replica_count=2", f", replica_count=2, entry_computation_layout={LAYOUT}"),
    ],
)  # fmt: skip
def test_what_does_not_count(old: str, new: str) -> None:
    changed = BASE.replace(old, new)
    if old == "add {":
        changed = changed.replace("to_apply=add", "to_apply=plus")
    if not new:
        # The constant moves to another place.
        changed = changed.replace("  reduced =", old + "  reduced =")
    assert changed != BASE
    assert digest(changed) == digest(BASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("replica_count=2", "replica_count=3"),
        ("HloModule base,", "HloModule base, is_scheduled=true,"),
        ("add(a, b)", "add(b, a)"),
        ("add(a, b)", "multiply(a, b)"),
        ("subtract(x, y)", "subtract(y, x)"),
        ("constant(0)", "constant(-0.0)"),
        ("constant(0)", "constant(1e-45)"),
        ("dimensions={1}, to_apply=add", "dimensions={1}, to_apply=add, backend_config={}"),
        ("sharding={replicated}", "sharding={maximal device=0}"),
        ("sharding={replicated}", 'frontend_attributes={a="b"}'),
        (", control-predecessors={difference}", ""),
        ('target="f"', 'target="g"'),
        ("  dead = f32[2,3] negate(y)\n", ""),
        ("negate(y)", "negate(x)"),
        ("f32[2,3] negate", "f32[2,3]{0,1} negate"),
        ("tuple(reduced, other)", "tuple(other, reduced)"),
        ("x = f32[2,3] parameter(0)\n  y = f32[2,3] parameter(1)",
         "x = f32[2,3] parameter(1)\n  y = f32[2,3] parameter(0)"),
        ("ENTRY main {", "unused {\n  c = f32[] constant(1)\n}\nENTRY main {"),
        ("ROOT sum = f32[] add(a, b)\n}", 'ROOT sum = f32[] add(a, b)\n}, execution_thread="t"'),
    ],
)  # fmt: skip
def test_what_counts(old: str, new: str) -> None:
    changed = BASE.replace(old, new)
    assert changed != BASE
    assert digest(changed) != digest(BASE)


def test_the_root_counts() -> None:
    text = """ENTRY e {{
      p = f32[] parameter(0)
      {} n = f32[] negate(p)
      {} m = f32[] exponential(p)
    }}"""
    assert digest(text.format("ROOT", "")) != digest(text.format("", "ROOT"))


def random_twins(uses: str) -> str:
    return f"""ENTRY e {{
  one = f32[] constant(1)
  zero = f32[] constant(0)
  r = f32[2] rng(zero, one), distribution=rng_uniform
  s = f32[2] rng(zero, one), distribution=rng_uniform
  f = f32[2] negate(r)
  g = f32[2] negate(s)
  {uses}
}}"""


def test_equal_instructions_are_told_apart_by_their_users() -> None:
    one_random_number = random_twins("ROOT t = (f32[2], f32[2]) tuple(f, r)")
    two = random_twins("ROOT t = (f32[2], f32[2]) tuple(f, s)")
    the_same_two = random_twins("ROOT t = (f32[2], f32[2]) tuple(g, r)")
    assert digest(one_random_number) != digest(two)
    assert digest(two) == digest(the_same_two)
    crossed = "ROOT t = (f32[2], f32[2], f32[2], f32[2]) tuple(f, g, {}, {})"
    assert digest(random_twins(crossed.format("r", "s"))) != digest(
        random_twins(crossed.format("s", "r"))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f32[2] constant({1, 2})", "f32[2] constant({2, 1})"),
        ("f64[] constant(0.1)", "f64[] constant(0.10000000000000002)"),
        ("f32[] constant(nan)", "f32[] constant(-nan)"),
        ("f32[] constant(nan)", "f32[] constant(nan(0x1))"),
        ("s32[11] constant({...})", "s32[11] constant({0,0,0,0,0,0,0,0,0,0,0})"),
        ("u8[] constant(1)", "s8[] constant(1)"),
    ],
)
def test_every_bit_of_a_constant_counts(one: str, other: str) -> None:
    assert digest(f"ENTRY e {{ ROOT c = {one} }}") != digest(f"ENTRY e {{ ROOT c = {other} }}")


def shuffled(module: Module, seed: int) -> Module:
    """Returns the module with instructions in another order and with other names."""
    order = random.Random(seed)  # noqa: S311  # nothing secret
    for number, computation in enumerate(module.computations):
        computation.name = f"c{number}"
        waiting = list(computation.instructions)
        order.shuffle(waiting)
        placed: dict[object, None] = {}
        while waiting:
            ready = [
                one for one in waiting
                if all(o in placed for o in (*one.operands, *one.control_predecessors))
            ]  # fmt: skip
            for one in ready[: max(1, len(ready) // 2)]:
                placed[one] = None
                waiting.remove(one)
        computation.instructions[:] = [one for one in computation.instructions if one in placed]
        computation.instructions.sort(key=list(placed).index)
        for position, instruction in enumerate(computation.instructions):
            instruction.name = f"i{number}.{position}"
    module.name = "twin"
    return module


@pytest.mark.parametrize("seed", [1, 2])
def test_twins_of_real_modules(model_module: Path, seed: int) -> None:
    module = load(model_module)
    wanted = fingerprint(module)
    assert fingerprint(shuffled(module, seed)) == wanted
    text = print_module(module, PRESETS["long"])
    assert fingerprint(parse(text)) == wanted


def test_real_modules_have_their_own(models: Path) -> None:
    paths = sorted(models.rglob("*.hlo"))
    assert len(paths) > 1
    texts = {print_module(load(path), PRESETS["fingerprint"]) for path in paths}
    assert len({fingerprint(load(path)) for path in paths}) >= len(texts)


def test_is_the_same_in_every_process(root: Path) -> None:
    code = f"from hlotool import *; print(fingerprint(parse({BASE!r})))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }  # fmt: skip
    assert found == {digest(BASE)}


@pytest.mark.slow
def test_is_linear_in_the_number_of_instructions() -> None:
    lines = ["  v0 = f32[8] parameter(0)"]
    lines += (
        f'  v{i} = f32[8] add(v{i - 1}, v{max(0, i - 1 - i % 7)}), metadata={{op_name="f/{i}"}}'
        for i in range(1, 100_001)
    )
    module = parse("ENTRY e {\n" + "\n".join(lines) + "\n}")
    start = time.perf_counter()
    fingerprint(module)
    # Doubled at each level, a walk over the tree of operands would never end.
    assert time.perf_counter() - start < 20
