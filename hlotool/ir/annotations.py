"""What any instruction may carry beside its opcode: sharding, metadata, backend_config."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir.attribute import TEXT, TEXT_OR_DICTIONARY
from hlotool.ir.metadata import (
    DEFAULT_ACCURACY,
    FRONTEND_ATTRIBUTES,
    METADATA,
    NO_FRONTEND_ATTRIBUTES,
    NO_METADATA,
    NO_STATISTICS,
    ORIGIN,
    RESULT_ACCURACY,
    STATISTICS,
    FrontendAttributes,
    Metadata,
    Origin,
    ResultAccuracy,
    Statistics,
)
from hlotool.ir.record import Record, attr
from hlotool.ir.sharding import SHARDING, Sharding


class Annotations(Record):
    """What any instruction may carry; control predecessors are edges of `Instruction`."""

    sharding: Sharding | None = attr(SHARDING, default=None)
    frontend_attributes: FrontendAttributes = attr(
        FRONTEND_ATTRIBUTES, default=NO_FRONTEND_ATTRIBUTES
    )
    statistics: Statistics = attr(STATISTICS, default=NO_STATISTICS)
    result_accuracy: ResultAccuracy = attr(RESULT_ACCURACY, default=DEFAULT_ACCURACY)
    origin: Origin | None = attr(ORIGIN, default=None)
    metadata: Metadata = attr(METADATA, default=NO_METADATA)
    backend_config: str = attr(TEXT_OR_DICTIONARY, default="")
    unknown: str = attr(TEXT, default="", named=False)
    """Attributes that only lenient reading takes, as they stand in the text: `, name=value`."""

    def written(self, *, after_calls: bool = False) -> Iterator[tuple[str, str]]:
        """Yields name and text of each annotation that is printed, in print order."""
        for name, text in super().written(after_calls=after_calls):
            is_hidden = (name == "metadata" and not self.metadata.is_shown) or (
                name == "statistics" and not self.statistics.is_shown
            )
            if not is_hidden:
                yield name, text


NO_ANNOTATIONS = Annotations()
"""The annotations of an instruction that has none; shared."""
