from hlotool.analysis.evaluation_work import EvaluationWork
from hlotool.text.parser import parse


def test_work_counts_what_calls_run_however_deep_they_nest() -> None:
    depth = 3000
    text = "HloModule m\nd0 { p = f32[4] parameter(0) ROOT r = f32[4] negate(p) }\n"
    for level in range(1, depth):
        text += f"d{level} {{ p = f32[4] parameter(0)"
        text += f" ROOT r = f32[4] call(p), to_apply=d{level - 1} }}\n"
    text += f"ENTRY e {{ p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=d{depth - 1} }}"
    module = parse(text)
    # Each call has 4 elements given and 4 yielded, the one negation 4 operations beside.
    assert EvaluationWork(module).of(module.entry.root) == 8 * depth + 12


def test_own_work_leaves_out_what_is_called() -> None:
    module = parse("""HloModule m
twice { p = f32[4] parameter(0) q = f32[4] add(p, p) ROOT r = f32[4] multiply(q, q) }
ENTRY e {
  p = f32[4] parameter(0)
  a = f32[4] call(p), to_apply=twice
  ROOT b = f32[4] call(a), to_apply=twice
}
""")
    work = EvaluationWork(module)
    assert work.of(module.entry.root) == 8 + 2 * (12 + 4)
    assert work.own(module.entry.root) == 8
