"""Arguments for tests: generates those of a module in text, which must be verified."""

from __future__ import annotations

from typing import Any

from hlotool.analysis.verifier import verify
from hlotool.evaluation.generation.arguments import Generated, generated_arguments
from hlotool.evaluation.interpreter.run import check_arguments
from hlotool.ir.module import Module
from hlotool.text.parser import parse
from tests.evaluating import entry

SEEDS = range(6)
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"


def module_of(body: str, *called: str) -> Module:
    module = parse(entry(body, *called))
    assert verify(module) == []
    return module


def made(module: Module, seed: int = 0, **options: bool) -> Generated:
    found = generated_arguments(module, seed, **options)
    check_arguments(module, found.values)
    return found


def argument(body: str, *called: str, number: int = 0, seed: int = 0) -> Any:
    found = made(module_of(body, *called), seed)
    assert found.notes == ()
    return found.values[number]
