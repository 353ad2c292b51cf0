"""Every pass by its name."""

from __future__ import annotations

from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from hlotool.passes.pass_base import Pass

PASSES: tuple[type[Pass], ...] = (
    # identities
    AlgebraicSimplifier,
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
        near = near_names(name, list(BY_NAME))
        raise UsageError(f"unknown pass {name}{near}", notes=("--list-passes lists all",))
    return found
