import pytest

from hlotool.analysis.cost import CostAnalysis, used_bytes
from hlotool.analysis.fusion_report import fusion_report
from hlotool.ir.cost import Cost, byte_count, element_count
from hlotool.ir.element_type import F32, S8
from hlotool.ir.shape import UNBOUNDED, ArrayShape, TupleShape
from hlotool.text.parser import parse

SUM = "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }"


def cost_of_root(body: str, called: str = SUM) -> Cost:
    module = parse(f"HloModule m\n{called}\nENTRY e {{\n{body}\n}}\n")
    return CostAnalysis(module).instruction_cost(module.entry.root)


@pytest.mark.parametrize(
    ("body", "cost"),
    [
        ("x = f32[10] parameter(0) ROOT r = f32[10] add(x, x)", Cost(10, 0, 80, 40)),
        ("x = f32[10] parameter(0) ROOT r = f32[10] tanh(x)", Cost(0, 10, 40, 40)),
        ("x = f16[10] parameter(0) ROOT r = f32[10] convert(x)", Cost(10, 0, 20, 40)),
        ("x = f32[10] parameter(0) ROOT r = f32[2] slice(x), slice={[0:2]}", Cost(0, 0, 8, 8)),
        (
            (
                "x = f32[10] parameter(0) i = s32[] parameter(1)"
                " ROOT r = f32[2] dynamic-slice(x, i), dynamic_slice_sizes={2}"
            ),
            Cost(0, 0, 12, 8),
        ),
        (
            (
                "x = f32[10] parameter(0) u = f32[2] parameter(1) i = s32[] parameter(2)"
                " ROOT r = f32[10] dynamic-update-slice(x, u, i)"
            ),
            Cost(0, 0, 12, 8),
        ),
        (
            (
                "x = f32[9,4] parameter(0) i = s32[3,1] parameter(1)"
                " ROOT r = f32[3,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},"
                " start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}"
            ),
            Cost(0, 0, 60, 48),
        ),
        (
            (
                "x = f32[2,3] parameter(0) y = f32[3,5] parameter(1) ROOT r = f32[2,5] dot(x, y),"
                " lhs_contracting_dims={1}, rhs_contracting_dims={0}"
            ),
            Cost(60, 0, 84, 40),
        ),
        (
            (
                "x = f32[1,6,3] parameter(0) y = f32[2,3,4] parameter(1)"
                " ROOT r = f32[1,5,4] convolution(x, y), window={size=2}, dim_labels=b0f_0io->b0f"
            ),
            Cost(240, 0, 168, 80),
        ),
        (
            (
                "x = f32[6,4] parameter(0) z = f32[] parameter(1)"
                " ROOT r = f32[6] reduce(x, z), dimensions={1}, to_apply=sum"
            ),
            Cost(24, 0, 100, 24),
        ),
        (
            (
                "x = f32[8] parameter(0) z = f32[] parameter(1)"
                " ROOT r = f32[4] reduce-window(x, z), window={size=2 stride=2}, to_apply=sum"
            ),
            Cost(8, 0, 36, 16),
        ),
        ("x = f32[4,2] parameter(0) ROOT r = f32[8] reshape(x)", Cost()),
        ("x = f32[4,2] parameter(0) ROOT r = f32[8] bitcast(x)", Cost()),
        ("x = f32[4,2]{0,1} parameter(0) ROOT r = f32[8] reshape(x)", Cost(0, 0, 32, 32)),
    ],
)
def test_cost_of_one_instruction(body: str, cost: Cost) -> None:
    assert cost_of_root(body) == cost


def test_bytes_and_elements_of_shapes() -> None:
    both = TupleShape([ArrayShape(F32, (2, 3)), ArrayShape(S8, (UNBOUNDED, 4))])
    assert element_count(both) == 10
    assert byte_count(both) == 28


FUSED = """HloModule m
f {
  x = f32[100] parameter(0)
  i = s32[] parameter(1)
  y = f32[10] parameter(2)
  d = f32[10] dynamic-slice(x, i), dynamic_slice_sizes={10}
  e = f32[10] exponential(d)
  ROOT r = f32[10] add(e, y)
}
ENTRY e {
  x = f32[100] parameter(0)
  i = s32[] parameter(1)
  y = f32[10] parameter(2)
  ROOT r = f32[10] fusion(x, i, y), kind=kLoop, calls=f
}
"""


def test_a_fusion_reads_what_its_body_uses() -> None:
    module = parse(FUSED)
    assert CostAnalysis(module).total.cost == Cost(10, 10, 40 + 4 + 40, 40)
    used = used_bytes(module.entry.root.calls[0])
    assert sorted(used[p] for p in module.entry.root.calls[0].parameters) == [4, 40, 40]
    report = fusion_report(module)
    assert (report.kernels, report.fusions, report.fused, report.outside) == (1, 1, 3, 0)
    # slice 44 + 40, function 40 + 40, sum 80 + 40, less the 124 of the fusion.
    assert report.bytes_saved == 160
    assert report.rate == 1


def test_an_update_in_a_fusion_writes_the_update_where_the_array_is_given() -> None:
    text = """HloModule m
f {
  x = f32[100] parameter(0)
  u = f32[10] parameter(1)
  i = s32[] parameter(2)
  n = f32[10] negate(u)
  ROOT r = f32[100] dynamic-update-slice(x, n, i)
}
ENTRY e {
  x = f32[100] parameter(0)
  u = f32[10] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[100] fusion(x, u, i), kind=kLoop, calls=f
}
"""
    cost = CostAnalysis(parse(text)).total.cost
    assert (cost.bytes_read, cost.bytes_written) == (44, 40)
    made = text.replace(
        "x = f32[100] parameter(0)\n  u = f32[10] parameter(1)\n  i = s32[] parameter(2)\n  n",
        "x0 = f32[100] parameter(0)\n  u = f32[10] "
        "parameter(1)\n  i = s32[] parameter(2)\n  x = f32[100] sine(x0)\n  n",
    )
    assert CostAnalysis(parse(made)).total.cost.bytes_written == 400


def test_loops_count_once_and_calls_once_a_place() -> None:
    text = """HloModule m
body { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }
condition { x = f32[4] parameter(0) ROOT p = pred[] constant(false) }
twice { x = f32[4] parameter(0) ROOT y = f32[4] sine(x) }
ENTRY e {
  x = f32[4] parameter(0)
  w = f32[4] while(x), condition=condition, body=body
  a = f32[4] call(w), to_apply=twice
  ROOT b = f32[4] call(a), to_apply=twice
}
"""
    report = fusion_report(parse(text))
    assert report.kernels == 3
    assert report.cost == Cost(4, 8, 48, 48)
    # while, negate, constant, two calls, two sines.
    assert report.outside == 7
    assert (report.fusible, report.fused) == (3, 0)
    assert report.rate == 0
