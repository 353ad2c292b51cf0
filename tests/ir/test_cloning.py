from hlotool.analysis.fingerprint import fingerprint
from hlotool.ir.cloning import cloned_computations
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from tests.conftest import MODELS


def test_clone_of_the_entry_is_the_whole_module() -> None:
    text = (MODELS / "tf" / "tf_lstm_while.hlo").read_text()
    module = parse(text)
    clones = cloned_computations([module.entry])
    entry = clones[module.entry]
    copy = Module(module.name, list(clones.values()), entry, module.header)
    assert fingerprint(copy) == fingerprint(module)
    assert entry is not module.entry
    assert not set(copy.instructions()) & set(module.instructions())


def test_control_edges_lead_to_copies() -> None:
    module = parse(
        "HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] negate(a)\n"
        "  ROOT c = f32[] add(a, a), control-predecessors={b}\n}"
    )
    entry = cloned_computations([module.entry])[module.entry]
    assert entry.root.control_predecessors == (entry.instructions[1],)
    assert entry.parameters == (entry.instructions[0],)
