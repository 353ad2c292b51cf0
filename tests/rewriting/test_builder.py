from hlotool.ir.element_type import F32, S32
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape
from hlotool.ops.elementwise import Add, Multiply
from hlotool.rewriting.builder import Builder
from hlotool.text.parser import parse


def _module() -> tuple[Module, Builder]:
    module = parse(
        """HloModule m
ENTRY e {
  ROOT x = f32[3,3] parameter(0)
}
"""
    )
    return module, Builder(module.entry)


def test_a_module_gets_one_function_for_an_op_and_a_type() -> None:
    module, build = _module()
    first = build.scalar_function(Add(), F32)
    assert Builder(module.entry).scalar_function(Add(), F32) is first
    others = [build.scalar_function(Add(), S32), build.scalar_function(Multiply(), F32)]
    assert len({first, *others}) == 3
    assert first.root.op == Add()
    assert [parameter.shape for parameter in first.parameters] == [ArrayShape(F32)] * 2


def test_a_function_that_is_gone_is_built_again() -> None:
    module, build = _module()
    first = build.scalar_function(Add(), F32)
    build.discard()
    again = build.scalar_function(Add(), F32)
    assert again is not first
    assert again.parent is module


def test_a_function_that_was_changed_is_built_again() -> None:
    _, build = _module()
    first = build.scalar_function(Add(), F32)
    first.root.op = Multiply()
    assert build.scalar_function(Add(), F32).root.op == Add()


def test_a_broadcast_in_another_order_is_no_copy_of_a_square() -> None:
    module, build = _module()
    x = module.entry.root
    shape = ArrayShape(F32, [3, 3])
    assert build.broadcast(x, (0, 1), shape) is x
    assert build.broadcast(x, (1, 0), shape) is not x
