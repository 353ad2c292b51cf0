"""Families of ops as pictures tell them apart."""

from __future__ import annotations

from enum import Enum

from hlotool.ir.op import Op


class Family(Enum):
    """What an op does, so that graphs can colour it."""

    SOURCE = "source"
    ELEMENTWISE = "elementwise"
    MOVEMENT = "movement"
    REDUCTION = "reduction"
    CONTRACTION = "contraction"
    CONTROL = "control"
    COLLECTIVE = "collective"
    OTHER = "other"


_BY_MODULE = {
    "source": Family.SOURCE,
    "elementwise": Family.ELEMENTWISE,
    "unary": Family.ELEMENTWISE,
    "conversion": Family.ELEMENTWISE,
    "shape_changing": Family.MOVEMENT,
    "indexing": Family.MOVEMENT,
    "reduction": Family.REDUCTION,
    "contraction": Family.CONTRACTION,
    "convolution": Family.CONTRACTION,
    "control_flow": Family.CONTROL,
    "collective": Family.COLLECTIVE,
    "permuting": Family.COLLECTIVE,
    "tuples": Family.SOURCE,
}
"""The families by the files of `hlotool.ops`, which are sorted by them already."""


def family_of(op: Op) -> Family:
    """Returns the family of an op."""
    return _BY_MODULE.get(type(op).__module__.rpartition(".")[2], Family.OTHER)
