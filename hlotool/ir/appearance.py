"""How pictures of modules tell ops apart: what an op does, and what a node of it looks like."""

from __future__ import annotations

from enum import Enum


class Category(Enum):
    """What an op does, so that pictures can colour it; the values name rows of the palette."""

    CONTRACTION = "contraction"  # sums of products, and what is solved with them
    ELEMENTWISE = "elementwise"  # each element from those at the same index
    REDUCTION = "reduction"  # folds, windows, sorting
    MOVEMENT = "movement"  # the same elements elsewhere, tuples too
    INDEXING = "indexing"  # elements at places that are computed
    CONTROL = "control"  # loops, branches, calls, order
    COLLECTIVE = "collective"  # devices together
    EXTERNAL = "external"  # the host, libraries, random bits
    SOURCE = "source"  # what a computation starts from


class Drawn(Enum):
    """What a node is in a picture, beside a box with its title."""

    BOX = ""
    CONSTANT = "constant"
    PARAMETER = "parameter"
    BROADCAST = "broadcast"
    TUPLE = "tuple"
    ELEMENT = "element"  # one part of a tuple
    FUSION = "fusion"
    WHILE = "while"
    CONDITIONAL = "conditional"
    CALL = "call"
