from hlotool.analysis.reachability import GroupOrder
from hlotool.ir.module import Module
from hlotool.text.parser import parse


def graph() -> Module:
    return parse("""HloModule m
ENTRY e {
  x = f32[] parameter(0)
  a = f32[] negate(x)
  b = f32[] sine(a)
  c = f32[] add(a, b)
  d = f32[] cosine(x)
  t = (f32[], f32[]) tuple(c, d)
  g = f32[] get-tuple-element(t), index=0
  ROOT r = f32[] negate(g)
}
""")


def test_what_has_something_between_cannot_be_merged() -> None:
    module = graph()
    by_name = {one.name: one for one in module.entry.instructions}
    order = GroupOrder(module.entry)
    a, b, c, d = (order.group(by_name[name]) for name in "abcd")
    assert order.can_merge(a, b)
    assert order.can_merge(b, c)
    assert not order.can_merge(a, c)
    assert order.can_merge(a, d)


def test_a_merge_changes_what_can_be_merged() -> None:
    module = graph()
    by_name = {one.name: one for one in module.entry.instructions}
    order = GroupOrder(module.entry)
    a, b, c, d = (order.group(by_name[name]) for name in "abcd")
    made = order.merge(a, d)
    # b needs what was merged, so it stands behind it now.
    assert order.position(made) < order.position(b) < order.position(c)
    assert order.can_merge(made, b)
    assert not order.can_merge(made, c)
    whole = order.merge(made, b)
    assert order.can_merge(whole, c)


def test_elements_are_in_the_group_of_their_tuple() -> None:
    module = graph()
    by_name = {one.name: one for one in module.entry.instructions}
    order = GroupOrder(module.entry)
    assert order.group(by_name["g"]) is order.group(by_name["t"])
    assert len(list(order)) == 7
