"""Gathers the errors of a module and puts them into text order."""

from __future__ import annotations

from hlotool.errors import HloError, Location, VerificationError
from hlotool.ir.computation import Computation
from hlotool.ir.instruction import NOWHERE, Instruction
from hlotool.ir.module import Module

Place = Instruction | Computation | None
"""What an error is about; `None` is the header of the module."""


class Faults:
    """The errors of one module that were found so far, each with its place."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._found: list[tuple[Place, HloError]] = []

    def add(self, place: Place, message: str) -> None:
        """Adds a broken rule."""
        self.add_error(place, VerificationError(message))

    def add_error(self, place: Place, error: HloError) -> None:
        """Adds an error that was raised; one that knows where it stands keeps its location."""
        location = error.location or self._location(place)
        notes = error.notes if location or place is None else (*error.notes, _words(place))
        self._found.append((place, type(error)(error.message, location, notes)))

    def in_text_order(self) -> list[HloError]:
        """Returns all errors: of the header, then as computations and instructions stand."""
        if not self._found:
            return []
        positions = self._positions()
        # A place that the module does not hold comes last.
        last = len(positions)
        found = sorted(self._found, key=lambda fault: positions.get(fault[0], last))
        return [error for _, error in found]

    def _positions(self) -> dict[Place, int]:
        places: list[Place] = [None]
        for computation in self._module.computations:
            places.append(computation)
            places.extend(computation.instructions)
        if self._module.source is not None:
            # A computation that stands inline in an instruction comes first in the list.
            places[1:] = sorted(places[1:], key=_offset)
        return {place: position for position, place in enumerate(places)}

    def _location(self, place: Place) -> Location | None:
        source = self._module.source
        if source is None:
            return None
        offset = self._module.offset if place is None else _offset(place)
        return None if offset == NOWHERE else Location(source, offset)


def _offset(place: Place) -> int:
    assert place is not None
    return place.offset


def _words(place: Instruction | Computation) -> str:
    if isinstance(place, Computation):
        return f"in computation {place.name}"
    parent = "no computation" if place.parent is None else f"computation {place.parent.name}"
    return f"in instruction {place.name} of {parent}"
