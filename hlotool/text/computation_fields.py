"""What stands behind a computation's closing brace."""

from __future__ import annotations

from hlotool.ir.attribute import TEXT
from hlotool.ir.computation import MAIN_THREAD
from hlotool.ir.record import Record, attr


class ComputationFields(Record):
    """The attributes of a computation."""

    execution_thread: str = attr(TEXT, default=MAIN_THREAD)
    unknown: str = attr(TEXT, default="", named=False)
    """Attributes that only lenient reading takes, as they stand in the text: `, name=value`."""
