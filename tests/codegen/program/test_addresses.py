"""Where a compiled module has its arrays: among temporaries, in results, in room of kernels."""

import numpy as np

import hlotool
from hlotool.analysis.buffer_assignment import buffer_assignment
from hlotool.codegen.llvm.writer import FunctionWriter
from hlotool.codegen.program.addresses import Addresses
from hlotool.runtime.compilation import compiled
from hlotool.text.parser import parse
from tests.codegen.kernels.comparing import check_compiled, random_arguments

IN_RESULTS = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[3000] parameter(0)
  a = f32[3000] reverse(x), dimensions={0}
  b = f32[3000] concatenate(a), dimensions={0}
  t = (f32[3000], f32[3000]) tuple(b, a)
  g = f32[3000] get-tuple-element(t), index=1
  c = f32[1000] slice(g), slice={[1000:2000]}
  d = f32[1000] slice(b), slice={[500:1500]}
  s = f32[1000] add(c, d)
  r = f32[1000] reverse(s), dimensions={0}
  y = f32[3000] negate(x), control-predecessors={d}
  ROOT o = (f32[1000], f32[3000]) tuple(r, y)
}
"""


def test_arrays_in_the_memory_of_results_are_right_and_take_no_other() -> None:
    made = compiled(parse(IN_RESULTS))
    # One of the two long arrays is in the long result, `d` in the other one: `b` and `c` are left.
    assert made.temporary_bytes == 12032 + 4000
    check_compiled(IN_RESULTS)


def test_calls_at_the_same_time_have_results_of_their_own() -> None:
    made = compiled(parse(IN_RESULTS))
    first, second = (random_arguments(IN_RESULTS, seed) for seed in range(2))
    results = [made.run(first), made.run(second)]
    for found, arguments in zip(results, (first, second), strict=True):
        wanted = hlotool.evaluate(IN_RESULTS, *arguments)
        assert isinstance(wanted, tuple)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, np.asarray(other))


ROOM = """HloModule m, is_scheduled=true
ENTRY e {
  x = f32[400] parameter(0)
  a = f32[400] reverse(x), dimensions={0}
  b = f32[300] slice(a), slice={[0:300]}
  c = f32[300] reverse(b), dimensions={0}
  d = f32[1] slice(c), slice={[0:1]}
  ROOT r = f32[1] negate(d)
}
"""


def test_room_lies_where_nothing_is_needed_meanwhile() -> None:
    module = parse(ROOM)
    by_name = {one.name: one for one in module.entry.instructions}
    addresses = Addresses(FunctionWriter("f", []), buffer_assignment(module))
    before = addresses.temporary_bytes
    assert before == 1600 + 1200
    # While the last one is computed only few bytes are needed.
    addresses.room(by_name["r"], 2000)
    assert addresses.temporary_bytes == before
    addresses.room(by_name["b"], 0)
    assert addresses.temporary_bytes == before
    # Both arrays are needed: there is room behind them alone.
    addresses.room(by_name["b"], 100)
    assert addresses.temporary_bytes == before + 100
