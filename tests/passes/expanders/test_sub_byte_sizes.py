from hlotool.passes.expanders.sub_byte import SubByteSizeRemoval, SubByteSizeSetter
from hlotool.text.printer import print_module
from tests.passes.checking import opcodes, passed

_LAYOUT = "(s4[3,2]{1,0}, pred[3,2]{1,0})->(s4[3,2]{0,1}, s8[3,2]{1,0})"
_TEXT = f"""HloModule m, entry_computation_layout={{{_LAYOUT}}}
"""
_TEXT += """
ENTRY e {
  x = s4[3,2]{1,0} parameter(0)
  p = pred[3,2]{1,0} parameter(1)
  c = s4[] constant(2)
  b = s4[3,2]{1,0} broadcast(c), dimensions={}
  s = s4[3,2]{1,0} select(p, x, b)
  t = s4[3,2]{0,1} copy(s)
  w = s8[3,2]{1,0} convert(s)
  ROOT r = (s4[3,2]{0,1}, s8[3,2]{1,0}) tuple(t, w)
}
"""


def test_layouts_say_how_narrow_elements_are_packed() -> None:
    module = passed(_TEXT, SubByteSizeSetter())
    text = print_module(module)
    assert "(s4[3,2]{1,0:E(4)}, pred[3,2]{1,0})->(s4[3,2]{0,1:E(4)}, s8[3,2]{1,0})" in text
    assert "s4[3,2]{1,0}" not in text
    assert "pred[3,2]{1,0:E" not in text


def test_packing_is_taken_back() -> None:
    packed = print_module(passed(_TEXT, SubByteSizeSetter()))
    module = passed(packed, SubByteSizeRemoval())
    assert "E(4)" not in print_module(module)
    assert print_module(module) == print_module(passed(_TEXT, SubByteSizeRemoval()))


def test_modules_without_narrow_elements_stay() -> None:
    text = _TEXT.replace("s4", "s16")
    assert print_module(passed(text, SubByteSizeSetter())) == print_module(
        passed(text, SubByteSizeRemoval())
    )


def test_a_bitcast_to_another_width_leaves_all_as_it_is() -> None:
    text = """HloModule m
ENTRY e {
  x = s4[4]{0} parameter(0)
  ROOT y = s8[4]{0} bitcast(x)
}
"""
    module = passed(text, SubByteSizeSetter())
    assert opcodes(module) == ["bitcast"]
    assert "E(4)" not in print_module(module)
