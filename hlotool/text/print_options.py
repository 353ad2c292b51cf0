"""What a printed module shows; the presets are the reference's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from hlotool.ir.op import LargeConstants


class Subcomputations(Enum):
    """How an instruction shows the computations that it calls."""

    NAMES = "names"
    BODIES = "bodies"  # written out in place
    OFF = "off"


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Switches of the printer; the defaults are the reference's default print.

    Canonical computations stand in the order of the text that was read, not in post order.
    Listed groups are replica groups written out, whatever form they have.
    Canonical names show whether or not `operand_names` is set. `indent` is the number of levels,
    two spaces each, in front of the header and of every line of computations.
    """

    percent: bool = True
    program_shape: bool = True
    operand_shapes: bool = False
    operand_names: bool = True
    result_shape: bool = True
    layouts: bool = True
    metadata: bool = True
    backend_config: bool = True
    control_predecessors: bool = True
    attributes: bool = True
    operand_marks: bool = True
    ids: bool = True
    canonical_names: bool = False
    canonical_computations: bool = False
    compact_operands: bool = False
    listed_groups: bool = False
    subcomputations: Subcomputations = Subcomputations.NAMES
    large_constants: LargeConstants = LargeConstants.ELIDED
    indent: int = 0


_BARE = PrintOptions(percent=False, program_shape=False, operand_marks=False)
_CANONICAL = replace(
    _BARE,
    operand_shapes=True,
    operand_names=False,
    metadata=False,
    backend_config=False,
    control_predecessors=False,
    canonical_names=True,
    subcomputations=Subcomputations.BODIES,
)

PRESETS: dict[str, PrintOptions] = {
    "default": PrintOptions(),
    "canonical": _CANONICAL,
    "short-parsable": replace(
        _BARE,
        metadata=False,
        control_predecessors=False,
        large_constants=LargeConstants.PRINTED,
    ),
    "fingerprint": replace(
        _CANONICAL,
        ids=False,
        canonical_computations=True,
        listed_groups=True,
        large_constants=LargeConstants.ESSENTIAL,
    ),
    "long": PrintOptions(operand_shapes=True, large_constants=LargeConstants.PRINTED),
}
"""Print options by the name that commands take."""
