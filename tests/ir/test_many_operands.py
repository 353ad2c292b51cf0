"""Operands of instructions that have many, replaced one by one."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.text.parser import parse

_VALUES = 6
_OPERANDS = 70


def wide(operands: int) -> Module:
    lines = [f"  v{n} = s32[] parameter({n})" for n in range(_VALUES)]
    shapes = ", ".join(["s32[]"] * operands)
    names = ", ".join(f"v{n % _VALUES}" for n in range(operands))
    lines.append(f"  ROOT t = ({shapes}) tuple({names})")
    return parse("HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n", "m")


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, _VALUES - 1), st.integers(0, _VALUES - 1), st.booleans()),
        max_size=12,
    )
)
def test_replacing_in_any_order_is_as_replacing_at_once(
    steps: list[tuple[int, int, bool]],
) -> None:
    entry = wide(_OPERANDS).entry
    root, values = entry.root, entry.parameters
    expected: list[Instruction] = list(root.operands)
    for old, new, is_looked_at in steps:
        if old == new or values[old] not in expected:
            continue
        entry.replace_uses(values[old], values[new])
        expected = [values[new] if one is values[old] else one for one in expected]
        assert {one for one in values if root in one.users} == set(expected)
        if is_looked_at:
            assert list(root.operands) == expected
    assert list(root.dependencies) == expected
    entry.settle()
    assert list(root.operands) == expected


def test_what_is_removed_after_its_replacement_is_no_operand() -> None:
    entry = wide(_OPERANDS).entry
    first, second, third, *_ = entry.parameters
    entry.replace_uses(first, second)
    entry.replace_uses(second, third)
    assert not first.users
    assert not second.users
    assert not {first, second} & set(entry.root.operands)
    assert entry.root.operands.count(third) >= 3 * (_OPERANDS // _VALUES)


def test_setting_operands_drops_what_was_replaced_before() -> None:
    entry = wide(_OPERANDS).entry
    first, second, *_ = entry.parameters
    entry.replace_uses(first, second)
    entry.root.operands = [first] * _OPERANDS
    assert entry.root.operands == (first,) * _OPERANDS
    assert not second.users
    assert list(first.users) == [entry.root]


def test_replacing_all_operands_takes_time_for_each_only() -> None:
    def seconds(count: int) -> float:
        lines = [f"  v{n} = s32[] parameter({n})" for n in range(2 * count)]
        shapes = ", ".join(["s32[]"] * count)
        names = ", ".join(f"v{n}" for n in range(count))
        lines.append(f"  ROOT t = ({shapes}) tuple({names})")
        text = "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"
        entry = parse(text, "m").entry
        values = entry.parameters
        assert not values[-1].users
        start = time.process_time()
        for old, new in zip(values[:count], values[count:], strict=True):
            entry.replace_uses(old, new)
        assert entry.root.operands == values[count:]
        return time.process_time() - start

    # Each of so many operands would be copied once for each other: minutes.
    assert seconds(20_000) < 5
