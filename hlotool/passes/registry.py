"""Every pass by its name."""

from __future__ import annotations

from difflib import get_close_matches

from hlotool.errors import UsageError
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.pass_base import Pass
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier

PASSES: tuple[type[Pass], ...] = (
    # moving and dropping
    DeadCodeElimination,
    TupleSimplifier,
)
"""The passes, those that belong together beside each other."""

BY_NAME: dict[str, type[Pass]] = {one.name: one for one in PASSES}


def pass_named(name: str) -> type[Pass]:
    """Returns the class of a pass; raises `UsageError` with the near names for an unknown one."""
    found = BY_NAME.get(name)
    if found is None:
        near = get_close_matches(name, BY_NAME, n=3)
        hint = f"; near ones: {', '.join(near)}" if near else ""
        raise UsageError(f"unknown pass {name}{hint}", notes=("--list-passes lists all",))
    return found
