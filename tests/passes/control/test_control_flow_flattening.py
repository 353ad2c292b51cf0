import numpy as np

from hlotool.analysis.trip_count import trip_count
from hlotool.ir.module import Module
from hlotool.passes.control.control_flow_flattening import ControlFlowFlattening
from hlotool.text.parser import parse
from tests.passes.checking import changed_by, values_of
from tests.passes.control.loops_to_move import loop_text

KNOWN = loop_text("  y = f32[2] add(x, u)", rounds=5)
UNKNOWN = KNOWN.replace("z = s32[] constant(0)", "z = s32[] parameter(2)")


def rounds_of(module: Module) -> int | None:
    """Returns the trip count of the only loop."""
    (loop,) = (one for one in module.entry.instructions if one.opcode == "while")
    return trip_count(loop)


def test_unknown_counts_become_fixed() -> None:
    module = parse(UNKNOWN)
    assert changed_by(module, ControlFlowFlattening(while_execution_count=4))
    assert rounds_of(module) == 4
    given = [np.zeros(2, np.float32), np.ones(2, np.float32), np.asarray(np.int32(99))]
    (result,) = values_of(module, given)
    assert int(result[0]) == 103
    assert result[1].tolist() == [4, 4]


def test_known_counts_stay_unless_they_are_great() -> None:
    assert not changed_by(parse(KNOWN), ControlFlowFlattening())
    module = parse(KNOWN)
    assert changed_by(module, ControlFlowFlattening(max_loop_count=2))
    assert rounds_of(module) == 2


def test_what_was_noted_of_the_count_goes() -> None:
    text = KNOWN.replace("body=body", 'body=body, backend_config={"known_trip_count":{"n":"5"}}')
    module = parse(text)
    assert changed_by(module, ControlFlowFlattening(max_loop_count=2))
    loop = next(one for one in module.entry.instructions if one.opcode == "while")
    assert loop.annotations.backend_config == ""
