"""The one way up between floors: what a module does for a person, when a person asks."""

from __future__ import annotations

from hlotool.ir.lazy import LazyModule


class Upward(LazyModule):
    """Stands for a module of a floor above, which is imported when a name in it is used.

    `module.evaluate(x)` reads better than a function that takes the module, and the graph must
    not depend on what evaluates it. `tests/test_floors.py` lists every use of this class.
    """
