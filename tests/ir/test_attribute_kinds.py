"""Every kind of attribute value: what is written reads as the same value.

Literals, which the grammar does not read, have round trips of their own.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.ir.annotations import Annotations
from hlotool.ir.header import ModuleHeader
from hlotool.ir.metadata import Metadata
from hlotool.ir.op import OPCODES
from hlotool.ir.record import AttributeKind, Record
from hlotool.text.grammar import OUTSIDE_RULES
from tests.ir.texts import read
from tests.strategies import of_kind

RECORDS: list[type[Record]] = [*OPCODES.values(), Annotations, ModuleHeader, Metadata]


def kinds() -> list[AttributeKind[Any]]:
    found: dict[tuple[str, str], AttributeKind[Any]] = {}
    for record in RECORDS:
        for field in record.readable.values():
            if field.kind.rule not in OUTSIDE_RULES:
                found.setdefault((field.kind.rule, field.kind.words), field.kind)
    return list(found.values())


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: f"{kind.rule}: {kind.words}"[:50])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_written_reads_as_the_same_value(
    kind: AttributeKind[Any], data: st.DataObject
) -> None:
    value = data.draw(of_kind(kind))
    text = kind.write(value)
    again = read(kind, text)
    assert again == value
    assert kind.write(again) == text
