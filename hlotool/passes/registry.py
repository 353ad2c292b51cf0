"""Every pass by its name."""

from __future__ import annotations

from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from hlotool.passes.pass_base import Pass
from hlotool.passes.types.bf16_mixed_precision_removal import Bf16MixedPrecisionRemoval
from hlotool.passes.types.bfloat16_fold import BFloat16Fold
from hlotool.passes.types.bfloat16_propagation import BFloat16Propagation
from hlotool.passes.types.change_op_data_type import ChangeOpDataType
from hlotool.passes.types.convert_mover import ConvertMover
from hlotool.passes.types.convert_operand_folding import ConvertOperandFolding
from hlotool.passes.types.element_type_converter import ElementTypeConverter
from hlotool.passes.types.float_normalization import FloatNormalizationBf16
from hlotool.passes.types.operand_upcaster import OperandUpcaster
from hlotool.passes.types.result_caster import ResultCaster
from hlotool.passes.types.simplify_fp_conversions import SimplifyFpConversions

PASSES: tuple[type[Pass], ...] = (
    # identities
    AlgebraicSimplifier,
    # moving and dropping
    DeadCodeElimination,
    TupleSimplifier,
    # element types
    SimplifyFpConversions,
    ConvertMover,
    ConvertOperandFolding,
    OperandUpcaster,
    ResultCaster,
    ElementTypeConverter,
    ChangeOpDataType,
    FloatNormalizationBf16,
    Bf16MixedPrecisionRemoval,
    BFloat16Fold,
    BFloat16Propagation,
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
