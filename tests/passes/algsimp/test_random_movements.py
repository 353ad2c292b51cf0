"""Identities of data movement on modules made at random: they end, and keep every bit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hlotool.passes.algsimp.broadcast_canonicalizer import BroadcastCanonicalizer
from hlotool.passes.algsimp.moving import patterns
from hlotool.passes.algsimp.reshape_mover import ReshapeMover
from hlotool.passes.algsimp.slice_sinker import SliceSinker
from hlotool.passes.cleaning.hlo_constant_splitter import HloConstantSplitter
from hlotool.passes.cleaning.zero_sized_hlo_elimination import ZeroSizedHloElimination
from hlotool.passes.pass_base import Pass
from tests.passes.algsimp.movements import Moving, check_pass
from tests.passes.algsimp.random_movements import Program

PASSES = [
    Moving(patterns),
    ReshapeMover(),
    SliceSinker(),
    BroadcastCanonicalizer(),
    ZeroSizedHloElimination(),
    HloConstantSplitter(),
]


@pytest.mark.parametrize("one", PASSES, ids=lambda one: one.name)
@settings(derandomize=True, deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6), length=st.integers(2, 25))
def test_random_movements_keep_their_values(one: Pass, seed: int, length: int) -> None:
    check_pass(Program(seed, "f32").text(length), one)
    check_pass(Program(seed, "s32").text(length), one)
