"""Kernels of dots against the evaluator: any dimensions, layouts, types and fusions."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import hlotool
from hlotool.codegen.kernels.body import body_of
from hlotool.codegen.kernels.kernel import Kernel
from hlotool.codegen.kernels.products.axes import Role, axes_of
from hlotool.codegen.kernels.products.cuts import equal_cuts, even_cuts, full_cuts
from hlotool.codegen.kernels.products.plan import Form, plan_for
from hlotool.codegen.target import Target
from hlotool.ops.contraction import Dot
from hlotool.runtime.compilation import generated
from hlotool.runtime.llvm import PASSES, assembly, host_target, optimize, parsed
from hlotool.runtime.targets import target_named
from hlotool.text.parser import parse
from tests.codegen.kernels.comparing import assert_near, check_compiled
from tests.codegen.kernels.module_texts import shape_text
from tests.codegen.kernels.one_kernel import OneKernel, random_arguments
from tests.codegen.kernels.product_modules import product_module
from tests.runtime.guarded import guarded

MATRICES = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
BATCH = "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"


def dot(left: str, right: str, result: str, numbers: str = MATRICES) -> str:
    return (
        "HloModule m, is_scheduled=true\nENTRY e {\n"
        f"  a = {left} parameter(0)\n  b = {right} parameter(1)\n"
        f"  ROOT d = {result} dot(a, b), {numbers}\n}}\n"
    )


def matrices(kind: str, rows: int, terms: int, columns: int) -> str:
    return dot(f"{kind}[{rows},{terms}]", f"{kind}[{terms},{columns}]", f"{kind}[{rows},{columns}]")


@pytest.mark.parametrize("seed", range(16))
def test_any_product(seed: int) -> None:
    check_compiled(product_module(seed))


@pytest.mark.slow
@pytest.mark.parametrize("width", [16, 32, 64])
@pytest.mark.parametrize("seed", range(100, 300))
def test_any_product_with_any_vectors(width: int, seed: int) -> None:
    registers = 16 if width == 32 else 32
    check_compiled(
        product_module(seed), target=replace(host_target(), vector_bytes=width, registers=registers)
    )


@pytest.mark.parametrize(
    "sizes",
    [(200, 700, 130), (3, 700, 3), (700, 300, 1), (1, 300, 700), (1, 5000, 1), (33, 0, 5)],
)
def test_sizes_of_every_form(sizes: tuple[int, int, int]) -> None:
    check_compiled(matrices("f32", *sizes))


def test_sums_of_many_terms_are_made_in_chunks() -> None:
    text = matrices("f32", 70, 5000, 40)
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    assert plan_for(kernel, kernel.body.instruction).chunk
    check_compiled(text)


def test_several_dimensions_become_one_axis() -> None:
    text = dot(
        "f32[4,6,5]", "f32[5,7]", "f32[4,6,7]", "lhs_contracting_dims={2}, rhs_contracting_dims={0}"
    )
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    axes = axes_of(kernel, kernel.body.instruction)
    assert [axis.extent for axis in axes.of_role[Role.LEFT]] == [24]
    assert [axis.extent for axis in axes.of_role[Role.RIGHT]] == [7]


def test_a_matrix_times_a_vector_has_terms_in_lanes() -> None:
    text = dot("f32[300,200]", "f32[200]", "f32[300]")
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    assert plan_for(kernel, kernel.body.instruction).form is Form.INNER


@pytest.mark.parametrize("extent", [1, 5, 13, 14, 15, 27, 100, 128])
def test_cuts_cover_an_axis(extent: int) -> None:
    for cuts in (even_cuts(extent, 14), equal_cuts(extent, 14), full_cuts(extent, 32)):
        covered = cuts.first_count * cuts.first_size + cuts.second_count * cuts.second_size
        assert covered == extent
        assert cuts.first_size >= cuts.second_size


@pytest.mark.parametrize(
    "text",
    [
        matrices("f32", 150, 40, 200),
        dot("f32[9,20,30]", "f32[9,30,40]", "f32[9,20,40]", BATCH),
        matrices("bf16", 100, 64, 70),
    ],
)
def test_results_do_not_depend_on_how_the_work_is_cut(text: str) -> None:
    kernel = OneKernel(text)
    arguments = random_arguments(text)
    whole = kernel.run(arguments)[0]
    pieces = -(-kernel.launch.count // kernel.launch.grain)
    for cuts in ((1,), (pieces // 2, pieces - 1), tuple(range(pieces))):
        np.testing.assert_array_equal(
            whole.view(np.uint8), kernel.run(arguments, cuts)[0].view(np.uint8)
        )


def test_equal_products_have_equal_texts() -> None:
    text = """
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[64,64] parameter(0)
  b = f32[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT c = f32[64,64] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    names = [launch.kernel for launch in generated(parse(text), host_target()).launches]
    assert len(names) == 2
    assert all(one == other for one, other in pairwise(names))


@pytest.mark.parametrize("kind", ["s8", "u8", "s16", "u32", "s64", "pred"])
def test_integers_are_exact(kind: str) -> None:
    check_compiled(matrices(kind, 20, 300, 33))


@pytest.mark.parametrize("kind", ["bf16", "f16", "f32", "f64", "c64", "c128"])
def test_operands_that_lie_the_other_way(kind: str) -> None:
    result = shape_text(kind, (40, 60))
    for left, right, numbers in (
        ((90, 40), (90, 60), "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
        ((40, 90), (60, 90), "lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
        ((90, 40), (60, 90), "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
    ):
        check_compiled(dot(shape_text(kind, left), shape_text(kind, right), result, numbers))


@pytest.mark.parametrize("target", ["aarch64", "x86-64-v3", "x86-64-v4"])
def test_code_for_other_processors_calls_nothing_outside(target: str) -> None:
    machine = target_named(target)
    for kind in ("f32", "s32"):
        unit = parsed(generated(parse(matrices(kind, 40, 300, 40)), machine).text, machine)
        optimize(unit, machine, PASSES)
        text = assembly(unit, machine)
        assert kind == "s32" or "fmadd" in text or "fmla" in text
        outside = [one.name for one in unit.functions if one.is_declaration]
        assert all(name.startswith("llvm.") for name in outside)
        assert "fmaf\n" not in text


def with_library(width: int) -> Target:
    libraries = frozenset({"sgemm", "dgemm"})
    return replace(host_target(), vector_bytes=width, registers=16, libraries=libraries)


LARGE = [
    dot("f32[600,520]", "f32[520,530]", "f32[600,530]"),
    dot(
        "f64[520,600]", "f64[530,520]", "f64[600,530]",
        "lhs_contracting_dims={0}, rhs_contracting_dims={1}",
    ),
    dot("f32[2,530,520]", "f32[2,520,515]", "f32[2,530,515]{1,2,0}", BATCH),
    """
HloModule m, is_scheduled=true
f {
  a = f32[520,515] parameter(0)
  turned = f32[515,520] transpose(a), dimensions={1,0}
  b = f32[520,517] parameter(1)
  c = f32[517] parameter(2)
  d = f32[515,517] dot(turned, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  spread = f32[515,517] broadcast(c), dimensions={1}
  ROOT x = f32[515,517] add(d, spread)
}
ENTRY e {
  p0 = f32[520,515] parameter(0)
  p1 = f32[520,517] parameter(1)
  p2 = f32[517] parameter(2)
  ROOT r = f32[515,517] fusion(p0, p1, p2), kind=kOutput, calls=f
}
""",
]  # fmt: skip


@pytest.mark.parametrize("text", LARGE)
def test_large_products_by_a_library(text: str) -> None:
    pytest.importorskip("scipy_openblas64")
    target = with_library(32)
    assert generated(parse(text), target).libraries
    check_compiled(text, target=target)


def test_a_library_is_not_called_where_tiles_are_faster() -> None:
    assert not generated(parse(LARGE[0]), with_library(64)).libraries
    assert not generated(parse(matrices("f32", 100, 600, 600)), with_library(32)).libraries
    without = replace(with_library(32), libraries=frozenset())
    assert not generated(parse(LARGE[0]), without).libraries


def test_the_result_may_lie_over_what_is_added() -> None:
    text = """
HloModule m, is_scheduled=true
f {
  a = f32[40,30] parameter(0)
  b = f32[30,50] parameter(1)
  c = f32[40,50] parameter(2)
  d = f32[40,50] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT x = f32[40,50] add(d, c)
}
ENTRY e {
  p0 = f32[40,30] parameter(0)
  p1 = f32[30,50] parameter(1)
  p2 = f32[40,50] parameter(2)
  ROOT r = f32[40,50] fusion(p0, p1, p2), kind=kOutput, calls=f
}
"""
    arguments = random_arguments(text)
    (found,) = OneKernel(text, shared=((2, 0),)).run(arguments)
    assert_near(found, np.asarray(hlotool.evaluate(text, *arguments)))


@pytest.mark.parametrize("operand", [0, 1])
def test_the_result_may_lie_over_an_operand(operand: int) -> None:
    text = matrices("f32", 40, 40, 40)
    arguments = random_arguments(text)
    (found,) = OneKernel(text, shared=((operand, 0),)).run(arguments)
    assert_near(found, np.asarray(hlotool.evaluate(text, *arguments)))


TURNED = (
    "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}"
)
COMPUTED = """
HloModule m, is_scheduled=true
f {
  a = f32[14,32] parameter(0)
  n = f32[14,32] negate(a)
  b = f32[96,32] parameter(1)
  ROOT d = f32[14,96] dot(n, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
ENTRY e {
  a = f32[14,32] parameter(0)
  b = f32[96,32] parameter(1)
  ROOT r = f32[14,96] fusion(a, b), kind=kOutput, calls=f
}
"""


@pytest.mark.parametrize(
    ("text", "are_local"),
    [
        (dot("f32[9,20,30]", "f32[9,41,30]", "f32[9,20,41]", TURNED), (False, True)),
        (matrices("s8", 61, 40, 67), (True, True)),
        (dot("f32[300,200]", "f32[200,2]", "f32[300,2]"), (False, True)),
        (COMPUTED, (True, True)),
    ],
)
def test_items_pack_small_operands_that_they_alone_read(
    text: str, are_local: tuple[bool, bool]
) -> None:
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    plan = plan_for(kernel, next(one for one in kernel.body.members if isinstance(one.op, Dot)))
    assert (plan.left.is_local, plan.right.is_local) == are_local
    assert kernel.workspace_bytes == 0
    check_compiled(text)


@pytest.mark.parametrize(
    "text",
    [
        # A panel is large, both matrices of the first operand need all of the second one, and
        # several items read one panel.
        dot(
            "f32[32,900]", "f32[64,900]", "f32[32,64]",
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        ),
        dot(
            "f32[2,8,20]{0,2,1}", "f32[41,20]", "f32[2,8,41]",
            "lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        ),
        matrices("bf16", 900, 64, 300),
    ],
)  # fmt: skip
def test_other_packed_operands_are_in_the_workspace(text: str) -> None:
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    plan = plan_for(kernel, kernel.body.instruction)
    assert plan.right.is_packed
    assert not plan.right.is_local
    assert kernel.workspace_bytes > 0
    check_compiled(text)


def test_an_operand_of_the_bytes_of_another_type() -> None:
    check_compiled(
        """HloModule m, is_scheduled=true
f {
  p0 = u8[9,20]{1,0} parameter(0)
  p1 = s8[20,7]{1,0} parameter(1)
  b = s8[9,20]{1,0} bitcast(p0)
  ROOT d = s32[9,7]{1,0} dot(b, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY e {
  p0 = u8[9,20]{1,0} parameter(0)
  p1 = s8[20,7]{1,0} parameter(1)
  ROOT r = s32[9,7]{1,0} fusion(p0, p1), kind=kOutput, calls=f
}
"""
    )


def test_three_axes_of_terms() -> None:
    check_compiled(
        dot(
            "f32[12,5,6,7]",
            "f32[7,6,5,40]",
            "f32[12,40]",
            "lhs_contracting_dims={1,2,3}, rhs_contracting_dims={2,1,0}",
        )
    )


def test_the_result_over_an_operand_that_is_packed() -> None:
    text = dot("f32[48,48]", "f32[48,48]", "f32[48,48]", MATRICES.replace("{0}", "{1}"))
    arguments = random_arguments(text)
    (found,) = OneKernel(text, shared=((1, 0),)).run(arguments)
    assert_near(found, np.asarray(hlotool.evaluate(text, *arguments)))


def test_processors_convert_narrow_floats_in_lanes() -> None:
    text = dot("f16[400,512]", "f16[512,1]", "f16[400,1]")
    check_compiled(text)
    target = target_named("x86-64-v4")
    assert "half" in target.native
    assert " half>" in OneKernel(text, target=replace(target, libraries=frozenset())).text


def test_a_last_panel_repeats_its_last_row() -> None:
    # Pieces have 13 rows and 12: the last one has no row behind it to fill its panel with.
    text = matrices("f32", 1024, 600, 256)
    arguments = [guarded(np.asarray(one)) for one in random_arguments(text)]
    kernel = Kernel(body_of(parse(text).entry.root), host_target(), frozenset())
    plan = plan_for(kernel, kernel.body.instruction)
    assert plan.repeats(plan.left) == (plan.rows.second_count > 0)
    assert_near(hlotool.compile(text)(*arguments), np.asarray(hlotool.evaluate(text, *arguments)))


def test_rows_side_by_side_have_one_address() -> None:
    text = matrices("f32", 1024, 600, 256)
    callees = OneKernel(text).kernel.callees
    assert len(callees) == 1, "packed rows are all read by one function"
