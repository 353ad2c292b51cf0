"""What the header of a module says, and its stack tables."""

from __future__ import annotations

from hlotool.ir.attribute import BOOLEAN
from hlotool.ir.record import Record, attr


class ModuleHeader(Record):
    """The attributes of a module."""

    is_scheduled: bool = attr(BOOLEAN, default=False)


class StackTables:
    """Where stack frames of metadata point to."""
